"""What differs between the releases of torch that a project supports, for just the hooks that its code uses.

The code is parsed, never run. Without --from and --to the releases are those that the project's own metadata admit, and
every release between counts. Printed is what the code alone decides; what it does not show is counted, and listed by
--unsure. A comment `# hook-conformance: CLAUSE` on a line accepts that clause there, `# hook-conformance: all` all.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from fixtures.judge.concern import DICTS as DICT_KINDS
from fixtures.judge.concern import NEVER, SEEN, UNSEEN
from reports.data.atlas import Atlas, Cell, Column
from reports.data.names import add_range, add_sources, between, read_atlas
from reports.data.neighbours import from_to, neighbours
from reports.data.statements import HARMS, Statement, statement
from reports.data.strict import BadInput, one_line, parse, read_bytes, write_atomic
from reports.usage.bounds import read_bounds
from reports.usage.lacks import Table
from reports.usage.uses import Code, Use, read_code
from reports.verbs import forms
from reports.verbs.diff import state

EPILOG = """exit status: 0 nothing differs that does this harm or worse, 1 something does, 2 the code cannot be read.
example: python -m reports affects src/mylib --from 1.13 --to 2.15"""
#: Of an API that a release lacks: it comes before the name of the API, where other findings name a clause.
MISSING = "missing."


@dataclass(frozen=True)
class Span:
    """Neighbouring releases on which a clause says the same."""

    first: str
    last: str
    said: Statement


@dataclass(frozen=True)
class Finding:
    """One difference, and the uses that it concerns; `open` are the words that code does not decide."""

    clause: str
    says: str
    spans: tuple[Span, ...]
    uses: tuple[Use, ...]
    instead: str = ""
    open: tuple[str, ...] = ()

    @property
    def rank(self) -> int:
        """How bad the worst is that it does: its place in HARMS."""
        return min(HARMS.index(span.said.harm) for span in self.spans)

    @property
    def words(self) -> list[str]:
        """The finding as lines: the worst first, then what is true on the other releases.

        A sentence is that of the reading, where the clause's own is true on all sides.
        """
        where: dict[tuple[int, str], list[str]] = {}
        for span in self.spans:
            says = span.said.detail or span.said.says
            where.setdefault((HARMS.index(span.said.harm), says), []).append(from_to(span.first, span.last))
        worst = min(where, key=lambda one: one[0])
        first = f"{HARMS[worst[0]]}, {' and '.join(where.pop(worst))}: {worst[1]}"
        return [first, *(f"{' and '.join(on)}: {text}" for (_, text), on in where.items())]

    @property
    def condition(self) -> str:
        """What it hangs on, in words."""
        return ", and ".join(UNSEEN[word[1:]] if word[0] == "?" else SEEN[word] for word in self.open)


@dataclass(frozen=True)
class Effect:
    """The answer."""

    path: str
    columns: tuple[Column, ...]
    why: str
    differ: int
    clauses: int
    code: Code
    findings: tuple[Finding, ...]
    unsure: tuple[Finding, ...]


def spans(record: Mapping[str, Any], cells: Sequence[tuple[Column, Cell]]) -> tuple[Span, ...]:
    """Return the runs of releases on which a clause says the same; what is absent or was not run says nothing."""
    seen = [(column, cell) for column, cell in cells if cell.verdict not in ("absent", "unseen")]
    runs = neighbours(seen, key=lambda one: state(one[1]))
    return tuple(Span(run[0][0].label, run[-1][0].label, statement(record, run[-1][1])) for _, run in runs)


def concerned(concern: str, use: Use) -> tuple[str, ...] | None:
    """Return the words that this use leaves open, none where all are met; None where it does not concern the use."""
    kinds, *words = concern.split()
    kind = use.kinds & {*kinds.split("|")}
    words += kind & {*DICT_KINDS}
    if not kind or any(use.seen.get(word) is False for word in words):
        return None
    return tuple(word for word in words if word not in use.seen)


def affects(atlas: Atlas, columns: tuple[Column, ...], code: Code, table: Table, path: str, why: str) -> Effect:
    """Return what differs between some releases for the uses in some code."""
    on = {use: [column for column in columns if use.on(column.version, code.guards)] for use in code.uses}
    found = [*_missing(columns, code, table, on)]
    differ = 0
    for clause, record in atlas.clauses.items():
        cells = {column: atlas.cell(clause, column, atlas.modes[0]) for column in columns}
        if len(spans(record, [*cells.items()])) < 2:
            continue
        differ += 1
        groups: dict[tuple[Any, ...], list[Use]] = {}
        for use in code.uses if record.get("concern", NEVER) not in ("", NEVER) else ():
            left = concerned(record["concern"], use)
            if left is not None and not code.accepts(use, clause):
                mine = spans(record, [(column, cells[column]) for column in on[use]])
                groups.setdefault((left, mine), []).append(use)
        for (left, mine), uses in groups.items():
            if len(mine) > 1:
                found.append(Finding(clause, record["says"], mine, tuple(uses), record.get("instead", ""), left))
    found.sort(key=lambda one: (one.rank, one.clause, one.uses))
    sure, unsure = (tuple(one for one in found if bool(one.open) is hangs) for hangs in (False, True))
    return Effect(path, columns, why, differ, len(atlas.clauses), code, sure, unsure)


def _missing(columns: Sequence[Column], code: Code, table: Table, on: Mapping[Use, list[Column]]) -> Iterator[Finding]:
    """Yield what the code uses and a release does not have, once for each API; what is guarded there is not used."""
    found: dict[str, dict[Use, list[Column]]] = {}
    for use in code.uses:
        api = table.name(use)
        there = on[use]
        for option in ("", *use.options):
            name = f"{api}({option}=)" if option else api
            lacking = [column for column in there if table.has(api, option, column.version) is False]
            if lacking and not use.caught and not code.accepts(use, name):
                found.setdefault(name, {})[use] = lacking
            if not option:  # what an option needs is reported with the API
                there = [column for column in there if column not in lacking]
    for name, uses in found.items():
        says = Statement(f"torch has no {name}", "absent", "error")
        runs = neighbours(columns, key=lambda column: any(column in lacking for lacking in uses.values()))
        mine = tuple(Span(run[0].label, run[-1].label, says) for lacks, run in runs if lacks)
        yield Finding(MISSING + name, says.says, mine, tuple(uses))


def add_parser(sub: Any) -> None:
    """Add the verb to the command line."""
    from reports.usage.answer import FORMS

    parser = sub.add_parser(
        "affects",
        help="what differs between the releases that someone's code supports",
        description=__doc__,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("path", type=Path, metavar="PATH", help="a Python file, a notebook, or a folder of them")
    add_range(parser)
    parser.add_argument(
        "--min-harm", choices=HARMS, default="none", help="only what does this harm or worse (default: none, all)"
    )
    parser.add_argument("--unsure", action="store_true", help="list what may concern the code, and is counted")
    parser.add_argument("--baseline", type=Path, metavar="FILE", help="leave out what this answer in JSON has already")
    parser.add_argument("--write-baseline", type=Path, metavar="FILE", help="write this answer in JSON, for --baseline")
    forms.add_format(parser, FORMS)
    add_sources(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print the answer; 1 when something differs."""
    from reports.usage.answer import FORMS, as_json, lines_of

    atlas = read_atlas(args)
    columns, why = releases(atlas, args)
    table = Table(atlas)
    code = read_code(args.path, table.has)
    for fault in code.skipped:
        print(one_line(f"left out: {fault}"), file=sys.stderr)
    effect = affects(atlas, columns, code, table, str(args.path), why)
    least = HARMS.index(args.min_harm)
    found, unsure = (tuple(one for one in some if one.rank <= least) for some in (effect.findings, effect.unsure))
    effect = replace(effect, findings=found, unsure=unsure)
    if args.write_baseline:
        write_atomic(args.write_baseline, as_json(effect))
    if args.baseline:
        effect = replace(effect, findings=tuple(_new(effect.findings, args.baseline)))
    forms.show(effect, FORMS, args.format)
    if args.unsure and args.format == "text":
        print("\n".join(lines_of(effect)))
    return 1 if effect.findings else 0


def releases(atlas: Atlas, args: argparse.Namespace) -> tuple[tuple[Column, ...], str]:
    """Return the releases that are asked for, and why these: named, or admitted by the metadata of the code."""
    if args.first is not None or args.last is not None or args.runs:
        return between(atlas, args.first, args.last), "as asked"
    bounds = read_bounds(args.path)
    if bounds is None:
        return atlas.columns, "all that are recorded: no bound on torch was found in metadata"
    columns = tuple(column for column in atlas.columns if bounds.admits(column.version))
    if not columns:
        raise BadInput(args.path, "", f"no recorded release is in {bounds}", "name others with --from and --to")
    return columns, f"as {bounds} admits"


def _new(found: Sequence[Finding], baseline: Path) -> Iterator[Finding]:
    """Yield what a baseline does not hold: by clause, file and API, for lines move."""
    try:
        old = parse(read_bytes(baseline), baseline, "")["findings"]
        known = {(one["clause"], use["file"], use["api"]) for one in old for use in one["uses"]}
    except (KeyError, TypeError):
        raise BadInput(baseline, "", "is no answer of affects", "write one with --write-baseline") from None
    for one in found:
        uses = tuple(use for use in one.uses if (one.clause, use.file, use.api) not in known)
        if uses:
            yield replace(one, uses=uses)
