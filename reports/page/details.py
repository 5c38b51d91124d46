"""What a clause opens to, as plain data: written once into the page, shown by its script as text only."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from markupsafe import Markup

from fixtures.judge.usual import NAMES
from reports.data.atlas import NOT_RUN, VERDICT_NAMES, Atlas
from reports.data.cell import Cell
from reports.data.claims import shown_by
from reports.data.clause import Reading
from reports.data.disagreements import Disagreement, when
from reports.data.history import STATUSES
from reports.data.neighbours import neighbours
from reports.data.order import rank
from reports.data.sources import link
from reports.data.statements import CHANGES, EFFECTS, KINDS, WORDS
from reports.data.traces import aligned
from reports.page.matrix import CIRCLED, FEW_COLUMNS, SIGNS, WORD_NEEDS, ranges
from reports.page.own import Own
from reports.page.programs import Lines
from reports.search.index import made

NO_EXAMPLES: Mapping[str, str] = MappingProxyType({})


def embedded(
    atlas: Atlas,
    disagreements: Sequence[Disagreement] = (),
    examples: Mapping[str, str] = NO_EXAMPLES,
    own: Own | None = None,
) -> Markup:
    """Return the data of the page as JSON that no HTML parser can mistake for markup."""
    found = document(atlas, disagreements, examples)
    found["own"] = sorted({f"{one.clause} {one.mode}" for one in own.changes}) if own else []
    text = json.dumps(found, ensure_ascii=False, separators=(",", ":"))
    for sign, escape in (("<", "\\u003c"), (">", "\\u003e"), ("&", "\\u0026"), ("\u2028", "\\u2028")):
        text = text.replace(sign, escape)
    return Markup(text)


def document(
    atlas: Atlas, disagreements: Sequence[Disagreement] = (), examples: Mapping[str, str] = NO_EXAMPLES
) -> dict[str, Any]:
    """Return the data of the page."""
    evidence, cells, shared = _Pool(), _Once(), _Once()
    sources = sorted({source for clause in atlas.clauses.values() for source in clause.source})
    about = {name: clause.asked_as for name, clause in atlas.clauses.items()}
    apis = sorted(set().union(*about.values()))
    clauses = {name: _clause(atlas, name) for name in atlas.clauses}
    lines = Lines()
    for name, found in clauses.items():
        in_modes = (_ranges(atlas, name, mode, evidence, cells) for mode in atlas.modes)
        found["cells"] = [shared.place(each) for each in in_modes]
        found["code"] = lines.packed(_test(atlas.clauses[name].code))
        shown = atlas.clauses[shown_by(name)]
        example = examples.get(shown.id, "")
        if example.startswith(f'"""{shown.id}: {shown.says}\n'):  # the clause of a run may have another sentence
            found["example"] = lines.packed(example)
        found["source"] = [sources.index(source) for source in atlas.clauses[name].source]
        found["apis"] = [apis.index(api) for api in sorted(about[name])]
    return {
        "columns": [
            {
                "key": column.key, "label": column.label, "torch": column.torch, "python": column.python,
                "platform": column.platform, "device": column.device, "run": column.this_run,
            }
            for column in atlas.columns
        ],
        "modes": atlas.modes,
        "signs": SIGNS,
        "verdicts": VERDICT_NAMES,
        "numbers": CIRCLED,
        "not_run": NOT_RUN,
        "roomy": [WORD_NEEDS, FEW_COLUMNS],
        "kinds": KINDS,
        "kind_words": WORDS,
        "effects": EFFECTS,
        "words": NAMES,
        "changes": CHANGES,
        "statuses": STATUSES,
        "apis": apis,
        "find": made(atlas.clauses),
        "sources": [[source, link(source)] for source in sources],
        "clauses": clauses,
        "lines": lines.values,
        "cells": cells.values,
        "ranges": shared.values,
        "evidence": evidence.values,
        "disagreements": {one.clause: _disagreement(atlas, one) for one in disagreements},
    }  # fmt: skip


def _test(code: str) -> str:
    """Return the test of a clause without its mark: all that the mark says is shown already."""
    mark, end, rest = code.partition("\n)\n")
    return rest if end and mark.startswith("@clause(\n") else code


def _disagreement(atlas: Atlas, one: Disagreement) -> dict[str, Any]:
    found = {
        "says": one.sentence,
        "documented": one.documentation,
        "address": one.address,
        "torch": one.torch,
        "when": when(atlas, one),
        "code": one.code,
    }
    extras = {"see": one.see, "doubt": one.doubt}
    found.update({key: value for key, value in extras.items() if value})
    return found


class _Pool:
    """Evidence stored once, however many versions show it."""

    def __init__(self) -> None:
        self.values: list[dict[str, Any]] = []
        self._places: dict[tuple[Any, ...], int] = {}

    def place(self, clause: str, cell: Cell, evidence: Mapping[str, Any]) -> int:
        key = (clause, *cell.essence)  # the reproducer names its clause
        if key not in self._places:
            self._places[key] = len(self.values)
            self.values.append(_evidence(evidence))
        return self._places[key]


class _Once:
    """What cells hold, or the cells of a clause in a mode, each stored once: most clauses share theirs."""

    def __init__(self) -> None:
        self.values: list[list[Any]] = []
        self._places: dict[str, int] = {}

    def place(self, value: list[Any]) -> int:
        place = self._places.setdefault(repr(value), len(self.values))
        if place == len(self.values):
            self.values.append(value)
        return place


def _clause(atlas: Atlas, name: str) -> dict[str, Any]:
    clause = atlas.clauses[name]
    force = [clause.in_force(column.version) for column in atlas.columns]
    names = clause.reading_names
    found = {
        "says": clause.says,
        "readings": [_reading(reading, clause.says) for reading in clause.readings],
        "force": _packed([names.index(each) if each is not None else -1 for each in force]),
        "digest": clause.digest,
        "place": f"{clause.file}:{clause.line}",
    }
    extras: dict[str, Any] = {"limits": clause.limits, "see": clause.see, "instead": clause.instead}
    if clause.beyond is not None:
        extras["beyond"] = [NAMES.index(word) for word in clause.beyond if word in NAMES]
    extras |= {"level": clause.level, "needs": clause.needs, "docs": clause.docs, "note": clause.note}
    extras["rank"] = rank(clause)
    extras["deviations"] = [
        [one.name, one.says, one.effect, one.reason, one.ref, one.cause] for one in clause.deviations
    ]
    found.update({key: value for key, value in extras.items() if value or key == "beyond"})
    if clause.checks_model:
        found["compares"] = True
    if clause.is_claim:
        found["claim"] = True
    elif clause.varies:
        found["varies"] = True
    return found


def _reading(reading: Reading, says: str) -> list[Any]:
    """Return a reading: name, range, sentence (0: the clause's), effect, and 1 where the clause's is false under it."""
    packed = [reading.name, reading.torch, 0 if reading.says == says else reading.says]
    packed += [reading.effect, int(not reading.headline)]
    while len(packed) > 2 and packed[-1] in (0, "nothing"):
        packed.pop()
    return packed


def _packed(values: list[int]) -> list[list[int]]:
    """Return runs of equal values as [how many, value]."""
    return [[len(alike), value] for value, alike in neighbours(values, int)]


def _ranges(atlas: Atlas, name: str, mode: str, pool: _Pool, cells: _Once) -> list[list[int]]:
    """Return [columns, place of a cell] for each range; a cell is [verdict, reading or -1, more], more only if any."""
    packed, names = [], atlas.clauses[name].reading_names
    for each in ranges(atlas, name, mode, fine=True):
        cell = each.cell
        more: dict[str, Any] = {}
        if cell.declared:
            more["declared"] = 1
        if cell.deviation:
            more["deviation"] = cell.deviation
        if cell.holds:
            more["holds"] = cell.holds
        if cell.note:
            more["note"] = cell.note
        if cell.evidence is not None:
            more["evidence"] = pool.place(name, cell, cell.evidence)
        reading = names.index(cell.reading) if cell.reading in names else -1
        packed.append([len(each.columns), cells.place([cell.verdict, reading, *([more] if more else [])])])
    return packed


def _evidence(evidence: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {"lines": aligned(evidence["expected"], evidence["observed"])}
    if evidence["message"]:
        found["message"] = evidence["message"]
    for name in ("plan", "reproducer"):
        if evidence[name]:
            found[name] = evidence[name]
    return found
