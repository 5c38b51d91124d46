"""All that one clause must have, one line for each step, and what is missing."""

from __future__ import annotations

import argparse
import sys

PROG = "python -m suites.selfcheck.author"
EPILOG = """ok: nothing to do; missing: what to do, with the file or the command; read: what only a person can judge.
exit status: 0 nothing is missing, 1 something is, 2 no such clause, or not with this Python."""


def main(arguments: list[str] | None = None) -> int:
    """Go through all steps, whatever fails; return the exit status."""
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(prog=PROG, description=__doc__, epilog=EPILOG, formatter_class=form)
    parser.add_argument("clause", metavar="CLAUSE", help="the id of a clause")
    asked = parser.parse_args(arguments).clause
    try:
        return checked(asked)
    except ModuleNotFoundError as lacking:
        print(f"{PROG}: there is no {lacking.name} here: use the Python of `tox -e selfcheck`", file=sys.stderr)
        return 2


def checked(asked: str) -> int:
    """Check the clause of that name; loads all that this needs."""
    from fixtures.clause.clause import CLAUSES, BadClause
    from fixtures.model.contract import installed_version
    from reports.data.names import did_you_mean
    from suites.examples import import_suites

    try:
        installed_version()
    except LookupError as no_torch:
        print(f"{PROG}: {no_torch}", file=sys.stderr)
        return 2
    try:
        import_suites()
    except BadClause as rule:
        print(f"missing  mark  {rule}")
        return 1
    if asked not in CLAUSES:
        hint = did_you_mean(asked, CLAUSES) or "its id is in @clause(...) above its test"
        print(f"{PROG}: there is no clause {asked!r}; {hint}", file=sys.stderr)
        return 2
    from suites.selfcheck.author.steps import report  # it asks all clauses for what they draw: they must be there

    return report(CLAUSES[asked])


if __name__ == "__main__":
    sys.exit(main())
