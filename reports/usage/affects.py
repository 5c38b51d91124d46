"""What differs between the releases of torch that a project supports, for just the hooks that its code uses.

The code is parsed, never run. Without --from and --to the releases are those that the project's own metadata admit, and
every release between counts. Printed is what the code alone decides; what hangs on data is counted, and listed by
--unsure. A comment `# hook-conformance: CLAUSE` on a line accepts that clause there, `# hook-conformance: all` all.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from fixtures.judge.concern import DICTS as DICT_KINDS
from fixtures.judge.concern import NEVER, SEEN, UNSEEN
from reports.data.atlas import Atlas, Cell, Column
from reports.data.names import add_range, add_sources, between, read_atlas
from reports.data.statements import HARMS, Statement, statement
from reports.data.strict import BadInput, one_line, parse, read_bytes, write_atomic
from reports.usage.bounds import read_bounds
from reports.usage.lacks import Table
from reports.usage.uses import DICTS, KIND_OF, Code, Use, read_code
from reports.verbs import forms
from reports.verbs.diff import state

EPILOG = """exit status: 0 nothing differs that does this harm or worse, 1 something does, 2 the code cannot be read.
example: python -m reports affects src/mylib --from 1.13 --to 2.15"""


@dataclass(frozen=True)
class Span:
    """Neighbouring releases on which a clause says the same."""

    first: str
    last: str
    said: Statement

    @property
    def text(self) -> str:
        """The sentence: that of the reading, where the clause's own is true on all sides."""
        return self.said.detail or self.said.says


@dataclass(frozen=True)
class Finding:
    """One difference, and the uses that it concerns; `open` are the words that code does not decide."""

    clause: str
    says: str
    harm: str
    spans: tuple[Span, ...]
    uses: tuple[Use, ...]
    instead: str = ""
    open: tuple[str, ...] = ()

    @property
    def words(self) -> list[str]:
        """The finding as lines: the worst first, then what is true on the other releases."""
        where: dict[tuple[int, str], list[str]] = {}
        for span in self.spans:
            where.setdefault((_rank(span.said.harm), span.text), []).append(_releases(span.first, span.last))
        worst = min(where, key=lambda one: one[0])
        first = f"{self.harm}, {' and '.join(where.pop(worst))}: {worst[1]}"
        return [first, *(f"{' and '.join(on)}: {text}" for (_, text), on in where.items())]


@dataclass(frozen=True)
class Missing:
    """An API or an option that the code uses and some releases of the range do not have."""

    api: str
    option: str
    first: str
    last: str
    uses: tuple[Use, ...]

    @property
    def name(self) -> str:
        """The name with its option."""
        return f"{self.api}({self.option}=)" if self.option else self.api

    @property
    def words(self) -> str:
        """The fault in words."""
        verb = "has" if self.first == self.last else "have"
        return f"torch {_releases(self.first, self.last)} {verb} no {self.name}"


@dataclass(frozen=True)
class Effect:
    """The answer."""

    path: str
    columns: tuple[Column, ...]
    why: str
    differ: int
    clauses: int
    code: Code
    missing: tuple[Missing, ...]
    findings: tuple[Finding, ...]
    unsure: tuple[Finding, ...]

    @property
    def summary(self) -> str:
        """The range, and why; how much differs there at all; and what concerns this code."""
        files = forms.counted(self.code.files, "file", "files")
        uses = forms.counted(len(self.code.uses), "use", "uses")
        differ = f"{self.differ} of {self.clauses} clauses differ there at all"
        first, last = self.columns[0].label, self.columns[-1].label
        return f"torch {_releases(first, last)}, {self.why}; {differ}; {files}, {uses} of hooks"

    @property
    def count(self) -> str:
        """The findings in numbers."""
        found = [one.harm for one in self.findings] + ["error"] * len(self.missing)
        worst = f", worst: {min(found, key=_rank)}" if found else ""
        parts = [forms.counted(len(self.findings), "difference concerns it", "differences concern it") + worst]
        if self.missing:
            parts.append(forms.counted(len(self.missing), "API is missing", "APIs are missing"))
        return "; ".join(parts if found else ["nothing that it uses differs"])


def _rank(harm: str) -> int:
    return HARMS.index(harm)


def _releases(first: str, last: str) -> str:
    return first if first == last else f"{first} to {last}"


def spans(record: Mapping[str, Any], cells: Sequence[tuple[Column, Cell]]) -> tuple[Span, ...]:
    """Return the runs of releases on which a clause says the same; what is absent or was not run says nothing."""
    found: list[tuple[Any, Column, Column, Cell]] = []
    for column, cell in cells:
        if cell.verdict in ("absent", "unseen"):
            continue
        if found and found[-1][0] == state(cell):
            found[-1] = (found[-1][0], found[-1][1], column, cell)
        else:
            found.append((state(cell), column, column, cell))
    return tuple(Span(first.label, last.label, statement(record, cell)) for _, first, last, cell in found)


def kinds_of(use: Use) -> set[str]:
    """Return the kinds of hook that a use may be of, in the words of concerns."""
    return {KIND_OF[use.api]} if use.api in KIND_OF else set(filter(None, DICTS.get(use.api, "").split("|")))


def concerned(concern: str, use: Use) -> tuple[str, ...] | None:
    """Return the words that this use leaves open, none where all are met; None where it does not concern the use."""
    kinds, *words = concern.split()
    kind = kinds_of(use) & {*kinds.split("|")}
    if not kind:
        return None
    seen = use.hooked.words
    words = [*words, *(kind & {*DICT_KINDS})]
    if any(seen.get(word) is False for word in words):
        return None
    return tuple(word for word in words if word not in seen)


def affects(atlas: Atlas, columns: tuple[Column, ...], code: Code, table: Table, path: str, why: str) -> Effect:
    """Return what differs between some releases for the uses in some code."""
    mode = atlas.modes[0]
    on = {use: [column for column in columns if use.on(column.version, code.guards)] for use in code.uses}
    findings: list[Finding] = []
    unsure: list[Finding] = []
    differ = 0
    for clause, record in sorted(atlas.clauses.items()):
        cells = {column.key: atlas.cell(clause, column, mode) for column in columns}
        if len(spans(record, [(column, cells[column.key]) for column in columns])) < 2:
            continue
        differ += 1
        concern = record.get("concern", "")
        groups: dict[tuple[Any, ...], list[Use]] = {}
        for use in code.uses if concern not in ("", NEVER) else ():
            left = concerned(concern, use)
            mine = spans(record, [(column, cells[column.key]) for column in on[use]])
            if left is not None and len(mine) > 1 and not _accepted(code, use, clause):
                groups.setdefault((left, mine), []).append(use)
        for (left, mine), uses in groups.items():
            harm = min((span.said.harm for span in mine), key=_rank)
            one = Finding(clause, record["says"], harm, mine, tuple(uses), record.get("instead", ""), left)
            (unsure if left else findings).append(one)
    for found in (findings, unsure):
        found.sort(key=lambda one: (_rank(one.harm), one.clause, one.uses))
    missing = tuple(_missing(columns, code, table, on))
    return Effect(path, columns, why, differ, len(atlas.clauses), code, missing, tuple(findings), tuple(unsure))


def _accepted(code: Code, use: Use, name: str) -> bool:
    said = code.accepted.get(use.file, {}).get(use.line, "")
    return said in ("all", name) or name in said.replace(",", " ").split()


def _missing(columns: Sequence[Column], code: Code, table: Table, on: Mapping[Use, list[Column]]) -> Iterable[Missing]:
    """Yield what the code uses and a release does not have, once for each API; what is guarded there is not used."""
    for name, options in table.options().items():
        for option in options:
            found: dict[Use, list[Column]] = {}
            for use in code.uses:
                if table.name(use) != name or not use.has(option) or use.caught or _accepted(code, use, name):
                    continue
                lacking = [column for column in on[use] if table.has(name, option, column.version) is False]
                if option:  # told with the API
                    lacking = [column for column in lacking if table.has(name, "", column.version) is not False]
                if lacking:
                    found[use] = lacking
            if found:
                every = [column for column in columns if any(column in lacking for lacking in found.values())]
                yield Missing(name, option, every[0].label, every[-1].label, tuple(found))


def open_words(one: Finding) -> str:
    """Return what a finding hangs on, in words."""
    return ", and ".join((UNSEEN[word[1:]] if word[0] == "?" else SEEN[word]) for word in one.open)


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
    parser.add_argument("--unsure", action="store_true", help="list what hangs on data that code does not show")
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
    told = affects(atlas, columns, code, table, str(args.path), why)
    told = _worst(told, args.min_harm)
    if args.write_baseline:
        write_atomic(args.write_baseline, as_json(told))
    if args.baseline:
        told = _new(told, _known(args.baseline))
    forms.show(told, FORMS, args.format)
    if args.unsure and args.format == "text":
        print("\n".join(lines_of(told)))
    return 1 if told.findings or told.missing else 0


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


def _worst(told: Effect, least: str) -> Effect:
    def kept(found: tuple[Finding, ...]) -> tuple[Finding, ...]:
        return tuple(one for one in found if _rank(one.harm) <= _rank(least))

    missing = told.missing if _rank("error") <= _rank(least) else ()
    return replace(told, findings=kept(told.findings), unsure=kept(told.unsure), missing=missing)


def _known(path: Path) -> set[tuple[str, str, str]]:
    """Return what a baseline holds: clause or API, file and API; lines move, so they do not count."""
    found = parse(read_bytes(path), path, "")
    try:
        rows = [(one["clause"], use) for one in found["findings"] for use in one["uses"]]
        rows += [(one["name"], use) for one in found["missing"] for use in one["uses"]]
        return {(name, use["file"], use["api"]) for name, use in rows}
    except (KeyError, TypeError):
        raise BadInput(path, "", "is no answer of affects", "write one with --write-baseline") from None


def _new(told: Effect, known: set[tuple[str, str, str]]) -> Effect:
    findings = [replace(one, uses=_others(one.clause, one.uses, known)) for one in told.findings]
    missing = [replace(one, uses=_others(one.name, one.uses, known)) for one in told.missing]
    return replace(
        told,
        findings=tuple(one for one in findings if one.uses),
        missing=tuple(one for one in missing if one.uses),
    )


def _others(name: str, uses: Iterable[Use], known: set[tuple[str, str, str]]) -> tuple[Use, ...]:
    return tuple(use for use in uses if (name, use.file, use.api) not in known)
