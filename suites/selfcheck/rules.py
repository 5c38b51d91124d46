"""The tables of rules in docs/ways.md and docs/compiled.md, and of what is left out: this writes them."""

from __future__ import annotations

import argparse
from pathlib import Path

from fixtures.rules.rule import Rule
from fixtures.stages.modes import MODES
from reports.verbs import tables

DOCS = Path(__file__).parents[2] / "docs"
COMMAND = "python -m suites.selfcheck.rules"


def table(rules: tuple[Rule, ...]) -> str:
    """Return the rules of a mode as markdown."""
    rows = ["| rule | what differs from eager | torch | source |", "|---|---|---|---|"]
    for rule in rules:
        source = f"[source]({rule.ref})" if rule.ref.startswith("https:") else rule.ref
        rows.append(f"| `{rule.name}` | {rule.says} | {rule.torch or 'all'} | {source} |")
    return "\n".join(rows) + "\n"


def left_out() -> str:
    """Return what plans are left out of modes on some releases, as markdown."""
    rows = ["| left out are plans that need | because | torch | modes |", "|---|---|---|---|"]
    for gap in dict.fromkeys(gap for mode in MODES.values() for gap in mode.gaps):
        modes = ", ".join(f"`{mode.name}`" for mode in MODES.values() if gap in mode.gaps)
        rows.append(f"| {gap.needs} | {gap.why} | {gap.torch} | {modes} |")
    return "\n".join(rows) + "\n"


def main(arguments: list[str] | None = None) -> int:
    """Write the tables; with --check return 1 where one of them is out of date."""
    parser = argparse.ArgumentParser(prog=COMMAND, description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 where a table is out of date")
    check = parser.parse_args(arguments).check
    done = []
    for mode in MODES.values():
        if mode.rules:
            page = DOCS / ("compiled.md" if mode.costly else "ways.md")
            done.append(tables.write(page, f"rules of {mode.name}", table(mode.rules), check=check, command=COMMAND))
    done.append(tables.write(DOCS / "compiled.md", "left out", left_out(), check=check, command=COMMAND))
    return max(done)


if __name__ == "__main__":
    raise SystemExit(main())
