"""What an upgrade of torch changes for someone's code: the clauses that differ, for just the hook APIs it uses.

The code is parsed, never run. A use is a registration, a retain_grad(), or an access to a dict of hooks.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reports.data.about import about, apis, known_apis, need
from reports.data.atlas import Atlas, Cell, Column
from reports.data.names import add_sources, column_named, read_atlas
from reports.data.statements import Statement, in_contrast, statement
from reports.data.strict import FORMAT, one_line
from reports.usage.uses import Code, Use, read_code
from reports.verbs import forms
from reports.verbs.chapters import order
from reports.verbs.diff import state

GRAD = "autograd.grad"
MOST_PLACES = 6
EPILOG = """exit status: 0 nothing that the code uses differs, 1 something does, 2 the code cannot be read.
example: python -m reports affects src/mylib --from 1.13 --to 2.15"""


@dataclass(frozen=True)
class Change:
    """One clause that differs, and the uses it is about."""

    clause: str
    says: str
    before: Cell
    after: Cell
    statements: tuple[Statement, Statement]
    uses: tuple[Use, ...]


@dataclass(frozen=True)
class Missing:
    """An API or an option that the code uses and one of the two releases does not have."""

    api: str
    option: str
    torch: str
    uses: tuple[Use, ...]

    @property
    def name(self) -> str:
        """The name with its option."""
        return f"{self.api}({self.option}=)" if self.option else self.api


@dataclass(frozen=True)
class Effect:
    """The answer."""

    path: str
    before: Column
    after: Column
    code: Code
    missing: tuple[Missing, ...]
    changes: tuple[Change, ...]
    elsewhere: Mapping[str, str]  # clauses that differ only together with what this code does not use
    unstated: tuple[str, ...]

    @property
    def summary(self) -> str:
        """The counts in words."""
        used = len({use.api for use in self.code.uses})
        files = forms.counted(self.code.files, "file uses", "files use")
        apis = forms.counted(used, "hook API", "hook APIs")
        head = f"torch {self.before.label} -> {self.after.label}: {files} {apis}"
        differ = forms.counted(len(self.changes), "clause differs", "clauses differ")
        return f"{head}; {len(self.missing)} not in both, {differ}"


def affects(atlas: Atlas, before: Column, after: Column, code: Code, path: str) -> Effect:
    """Return what differs between two releases for the uses in some code."""
    mode = atlas.modes[0]
    changes: list[Change] = []
    elsewhere: dict[str, str] = {}
    for clause in sorted(atlas.clauses, key=lambda name: order(name, atlas.clauses[name])):
        record = atlas.clauses[clause]
        old, new = (atlas.cell(clause, column, mode) for column in (before, after))
        if state(old) == state(new) or {old.verdict, new.verdict} & {"absent", "unseen"}:
            continue  # what one release does not have is reported once for each API, not for each clause
        uses = tuple(use for use in code.uses if use.api in apis(record))
        lacking = _lacking(record, code)
        if uses and lacking:
            elsewhere[clause] = lacking
        elif uses:
            said = statement(record, old), statement(record, new)
            changes.append(Change(clause, record["says"], old, new, said, uses))
    stated = known_apis(atlas.clauses)
    unstated = tuple(sorted({use.api for use in code.uses} - stated))
    missing = tuple(_missing(atlas, (before, after), code, mode))
    return Effect(path, before, after, code, missing, tuple(changes), elsewhere, unstated)


def _lacking(record: Mapping[str, Any], code: Code) -> str:
    """Return what a clause speaks of and the code does not use, nothing where it uses all of that."""
    named = about(record)
    further = {one for one in map(need, record["needs"]) if one[0] not in apis(record)}
    lacking = {one for one in further if not code.mentions(*one)}
    for api, option in named:
        if not (code.asks if api == GRAD else any(use.api == api and use.has(option) for use in code.uses)):
            lacking.add((api, option))
    return ", ".join(sorted(f"{name}({option}=)" if option else name for name, option in lacking))


def _missing(atlas: Atlas, columns: Iterable[Column], code: Code, mode: str) -> Iterable[Missing]:
    """Yield what the code uses and a release does not have: a clause that needs only this is absent there."""
    known = known_apis(atlas.clauses)
    needs = {tuple(map(need, record["needs"])) for record in atlas.clauses.values()}
    for alone in sorted(each[0] for each in needs if len(each) == 1 and each[0][0] in known):
        uses = tuple(use for use in code.uses if use.api == alone[0] and (use.has(alone[1]) and not use.unsure))
        for column in columns:
            verdicts = {
                atlas.cell(clause, column, mode).verdict
                for clause, record in atlas.clauses.items()
                if tuple(map(need, record["needs"])) == (alone,)
            }
            if uses and verdicts == {"absent"}:
                yield Missing(*alone, column.label, uses)


def _places(uses: Iterable[Use]) -> str:
    places = [use.place for use in uses]
    more = f" and {len(places) - MOST_PLACES} more" if len(places) > MOST_PLACES else ""
    return ", ".join(dict.fromkeys(places[:MOST_PLACES])) + more


def _spelled(use: Use) -> str:
    inside = sorted(use.options) + (["**"] if use.unsure else [])
    return f"{use.api}({', '.join(inside)})" if inside else use.api


def _by_spelling(code: Code) -> dict[str, list[Use]]:
    found: dict[str, list[Use]] = {}
    for use in code.uses:
        found.setdefault(_spelled(use), []).append(use)
    return dict(sorted(found.items()))


def _by_uses(told: Effect) -> dict[tuple[Use, ...], list[Change]]:
    found: dict[tuple[Use, ...], list[Change]] = {}
    for change in told.changes:
        found.setdefault(change.uses, []).append(change)
    return found


def as_text(told: Effect) -> str:
    """Return the answer for a terminal."""
    lines = [told.summary, "", "uses"]
    lines += [f"  {name}  {_places(uses)}" for name, uses in _by_spelling(told.code).items()]
    for one in told.missing:
        lines += ["", f"torch {one.torch} has no {one.name}", f"  at {_places(one.uses)}"]
    for uses, changes in _by_uses(told).items():
        lines += ["", ", ".join(sorted({_spelled(use) for use in uses})), f"  at {_places(uses)}"]
        for change in changes:
            before, after = in_contrast(*change.statements)
            lines += [f"    {change.clause}", f"      - {before}", f"      + {after}"]
    lines += _footnotes(told)
    return "\n".join(lines) + "\n"


def _footnotes(told: Effect) -> list[str]:
    lines = []
    if told.elsewhere:
        differ = forms.counted(len(told.elsewhere), "more differs", "more differ")
        lines += ["", f"{differ} only together with what this code does not use:"]
        lines += [f"  {name}  ({lacking})" for name, lacking in told.elsewhere.items()]
    if told.unstated:
        lines += ["", f"no clause speaks of {', '.join(told.unstated)}"]
    return lines


def as_json(told: Effect) -> str:
    """Return the answer as JSON."""

    def plain(uses: Iterable[Use]) -> list[dict[str, Any]]:
        return [
            {"file": use.file, "line": use.line, "api": use.api, "options": sorted(use.options), "unsure": use.unsure}
            for use in uses
        ]

    def side(cell: Cell, said: Statement) -> dict[str, Any]:
        return {"verdict": cell.verdict, "reading": cell.reading, **said.plain()}

    return forms.as_json(
        {
            "format": FORMAT,
            "path": told.path,
            "from": told.before.torch,
            "to": told.after.torch,
            "files": told.code.files,
            "skipped": told.code.skipped,
            "uses": plain(told.code.uses),
            "missing": [
                {"api": one.api, "option": one.option or None, "torch": one.torch, "uses": plain(one.uses)}
                for one in told.missing
            ],
            "changes": [
                {
                    "clause": change.clause,
                    "says": change.says,
                    "before": side(change.before, change.statements[0]),
                    "after": side(change.after, change.statements[1]),
                    "uses": plain(change.uses),
                }
                for change in told.changes
            ],
            "elsewhere": dict(told.elsewhere),
            "unstated": list(told.unstated),
        }
    )


def as_markdown(told: Effect) -> str:
    """Return the answer for an issue."""
    lines = [f"**{forms.escaped(told.summary)}**", ""]
    lines += [f"* torch {one.torch} has no `{one.name}`: {forms.escaped(_places(one.uses))}" for one in told.missing]
    if told.changes:
        lines += ["", "| clause | before | after | at |", "|---|---|---|---|"]
    for change in told.changes:
        row = (*in_contrast(*change.statements), _places(change.uses))
        lines.append(f"| `{change.clause}` | {' | '.join(map(forms.escaped, row))} |")
    return "\n".join([*lines, *map(forms.escaped, _footnotes(told))]) + "\n"


FORMS = {"text": as_text, "json": as_json, "markdown": as_markdown}


def add_parser(sub: Any) -> None:
    """Add the verb to the command line."""
    parser = sub.add_parser(
        "affects",
        help="what an upgrade of torch changes for someone's code",
        description=__doc__,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("path", type=Path, metavar="PATH", help="a Python file, or a folder of them")
    parser.add_argument("--from", dest="first", metavar="A", required=True, help="the release the code runs on now")
    parser.add_argument(
        "--to", dest="last", metavar="B", help="the release it is to run on (default: that of --run, or the newest)"
    )
    forms.add_format(parser, FORMS)
    add_sources(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print the answer; 1 when something differs."""
    atlas = read_atlas(args)
    before = column_named(atlas.columns, args.first)
    after = column_named(atlas.columns, args.last) if args.last else atlas.focus
    code = read_code(args.path, known_apis(atlas.clauses))
    for fault in code.skipped:
        print(one_line(f"left out: {fault}"), file=sys.stderr)
    told = affects(atlas, before, after, code, str(args.path))
    forms.show(told, FORMS, args.format)
    return 1 if told.changes or told.missing else 0
