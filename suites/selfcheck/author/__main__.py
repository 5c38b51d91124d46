"""All that one clause must have, one line for each step, and what is missing."""

from __future__ import annotations

import argparse
import sys

from fixtures.clause.clause import CLAUSES, BadClause
from fixtures.run.recorded import Damaged
from reports.data.names import did_you_mean
from suites.examples import import_suites

PROG = "python -m suites.selfcheck.author"
EPILOG = """ok: nothing to do; missing: what to do, with the file or the command; read: what only a person can judge.
exit status: 0 nothing is missing, 1 something is, 2 no such clause."""


def main(arguments: list[str] | None = None) -> int:
    """Go through all steps, whatever fails; return the exit status."""
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(prog=PROG, description=__doc__, epilog=EPILOG, formatter_class=form)
    parser.add_argument("clause", metavar="CLAUSE", help="the id of a clause")
    asked = parser.parse_args(arguments).clause
    try:
        import_suites()
    except BadClause as rule:
        print(f"missing  mark          {rule}")
        return 1
    if asked not in CLAUSES:
        hint = did_you_mean(asked, CLAUSES) or "its id is in @clause(...) above its test"
        print(f"{PROG}: there is no clause {asked!r}; {hint}", file=sys.stderr)
        return 2
    from suites.selfcheck.author.steps import report  # loaded here: it reads all clauses, which may break a rule

    try:
        return report(CLAUSES[asked])
    except Damaged as damage:
        print(f"{PROG}: {damage}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
