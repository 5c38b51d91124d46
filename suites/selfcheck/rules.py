"""The tables of rules in docs/ways.md, written from the modes: `python -m suites.selfcheck.rules`."""

from __future__ import annotations

import argparse
from pathlib import Path

from fixtures.stages.mode import Rule
from fixtures.stages.modes import MODES
from reports.verbs import tables

PAGE = Path(__file__).parents[2] / "docs" / "ways.md"
COMMAND = "python -m suites.selfcheck.rules"


def table(rules: tuple[Rule, ...]) -> str:
    """Return the rules of a mode as markdown."""
    rows = ["| rule | what differs from eager | torch | source |", "|---|---|---|---|"]
    for rule in rules:
        source = f"[source]({rule.ref})" if rule.ref.startswith("https:") else rule.ref
        rows.append(f"| `{rule.name}` | {rule.says} | {rule.torch or 'all'} | {source} |")
    return "\n".join(rows) + "\n"


def main(arguments: list[str] | None = None, page: Path = PAGE) -> int:
    """Write the tables; with --check return 1 where one of them is out of date."""
    parser = argparse.ArgumentParser(prog=COMMAND, description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 where a table is out of date")
    check = parser.parse_args(arguments).check
    made = {f"rules of {mode.name}": table(mode.rules) for mode in MODES.values() if mode.rules}
    return max(tables.write(page, name, text, check=check, command=COMMAND) for name, text in made.items())


if __name__ == "__main__":
    raise SystemExit(main())
