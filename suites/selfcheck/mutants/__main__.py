"""`python -m suites.selfcheck.mutants`: record what rejects mutants, so that the tests try that first.

`--record` finds for each clause that draws plans a mutant of the model (3 minutes), or for those that are named.
`--torch` finds for each mutant of the installed torch a clause that rejects it, and prints those that none does: they
need a clause, or an excuse in `excused.json`.
"""

import argparse
import sys


def main() -> int:
    """Record. Returns 1 where a clause rejects no mutant, or no clause a mutant of torch."""
    parser = argparse.ArgumentParser(prog="python -m suites.selfcheck.mutants", description=__doc__)
    parser.add_argument("--record", action="store_true", help="of the model: which mutant each clause rejects")
    parser.add_argument("--torch", action="store_true", help="of torch: which clause rejects each mutant")
    parser.add_argument("clauses", nargs="*", metavar="CLAUSE", help="with --record: only these, the others stay")
    given = parser.parse_args()
    if not (given.record or given.torch):
        parser.error("say --record or --torch")
    failed = 0
    if given.record:
        from suites.selfcheck.mutants import record

        if unknown := set(given.clauses) - set(record.DRAWING):
            parser.error(f"no clause that draws plans here: {', '.join(sorted(unknown))}")
        failed |= record.record(given.clauses)
    if given.torch:
        from suites.selfcheck.mutants import installed  # loads torch

        failed |= installed.record()
    return failed


if __name__ == "__main__":
    sys.exit(main())
