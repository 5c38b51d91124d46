"""What a clause opens to, as plain data: written once into the page, shown by its script as text only."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from markupsafe import Markup

from fixtures.clause.usual import NAMES
from reports.data.atlas import Atlas
from reports.data.by_mode import in_modes
from reports.data.claims import shown_by
from reports.data.clause import Clause
from reports.data.disagreements import Disagreement, when
from reports.data.history import STATUSES
from reports.data.neighbours import neighbours
from reports.data.order import rank
from reports.data.sources import link
from reports.data.statements import IN_WORDS, KINDS, WORDS
from reports.page.cells import Cells
from reports.page.matrix import SIGNS
from reports.page.own import Own
from reports.page.programs import Lines
from reports.search.index import made, of_symptoms

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
    cells, lines = Cells(atlas), Lines()
    sources = sorted({source for clause in atlas.clauses.values() for source in clause.source})
    apis = sorted(set().union(*(clause.asked_as for clause in atlas.clauses.values())))
    clauses = {}
    for name, clause in atlas.clauses.items():
        found = clauses[name] = _clause(atlas, clause, cells)
        found["code"] = lines.packed(_test(clause.code))
        shown = atlas.clauses[shown_by(name)]
        example = examples.get(shown.id, "")
        if " ".join(example.split()).startswith(
            f'"""{shown.id}: {shown.says}'
        ):  # the clause of a run may have another sentence
            found["example"] = lines.packed(example)
        found["source"] = [sources.index(source) for source in clause.source]
        found["apis"] = [apis.index(api) for api in sorted(clause.asked_as)]
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
        "kinds": KINDS,
        "kind_words": WORDS,
        "effects": IN_WORDS,
        "words": NAMES,
        "statuses": STATUSES,
        "apis": apis,
        "find": made(atlas.clauses),
        "symptoms": of_symptoms(),
        "sources": [[source, link(source)] for source in sources],
        "clauses": clauses,
        "lines": lines.values,
        **cells.tables,
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


def _clause(atlas: Atlas, clause: Clause, cells: Cells) -> dict[str, Any]:
    """Return a clause without its sentence and its limits, which are in its row."""
    names = clause.reading_names
    force = [clause.in_force(column.version) for column in atlas.columns]
    found = {
        "readings": [
            [one.name, one.torch, cells.text(clause, one.says), *[1] * (not one.says_the_same)]
            for one in clause.readings
        ],
        "force": _packed([names.index(each) if each is not None else -1 for each in force]),
        "cells": [cells.ranges(clause, mode) for mode in atlas.modes],
        "place": f"{clause.file}:{clause.line}",
    }
    extras: dict[str, Any] = {"see": clause.see, "instead": clause.instead}
    if clause.beyond is not None:
        extras["beyond"] = [NAMES.index(word) for word in clause.beyond if word in NAMES]
    extras |= {"level": clause.level, "needs": clause.needs, "docs": clause.docs, "note": clause.note}
    extras["refuted"] = [one.says for one in clause.readings if one.never and one.told]
    extras["modes"] = in_modes(atlas, clause.id)
    extras |= {"rank": rank(clause), "compares": clause.checks_model, "claim": clause.is_claim}
    extras["varies"] = clause.varies and not clause.is_claim
    return {**found, **{name: value for name, value in extras.items() if value or name == "beyond"}}


def _packed(values: list[int]) -> list[list[int]]:
    """Return runs of equal values as [how many, value]."""
    return [[len(alike), value] for value, alike in neighbours(values, int)]
