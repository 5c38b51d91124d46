"""What a clause opens to, as plain data: written once into the page, shown by its script as text only."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from markupsafe import Markup

from fixtures.clause.usual import NAMES
from reports.cards.card import PARTS, call, other, parts_of, shown, since
from reports.data.atlas import Atlas
from reports.data.by_mode import in_modes
from reports.data.claims import shown_by
from reports.data.clause import Clause
from reports.data.disagreements import Disagreement, when
from reports.data.forms import begun
from reports.data.history import STATUSES
from reports.data.neighbours import neighbours
from reports.data.order import rank
from reports.data.runfile import minor
from reports.data.sources import link
from reports.data.statements import IN_WORDS, KINDS, WORDS
from reports.page.cells import Cells, Once
from reports.page.matrix import SIGNS
from reports.page.own import Own
from reports.page.programs import Lines
from reports.search.index import made, of_symptoms

#: In a row of a test: its id and its sentence, and the words that people ask with.
SAID = re.compile(r'(?m)(?<=^    Row\(\n)(?: {8}".*",\n){2}|^ {8}asked=(?:".*"|\((?:\n {12}".*")+\n {8}\)),\n')
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
    lines, names = Lines(), Once()
    cells = Cells(atlas, lines)
    sources = sorted({source for clause in atlas.clauses.values() for source in clause.source})
    apis = sorted(set().union(*(clause.asked_as for clause in atlas.clauses.values())))
    clauses = {}
    for name, clause in atlas.clauses.items():
        found = clauses[name] = _clause(atlas, clause, cells, names)
        found["code"] = lines.packed(_test(clause.code))
        shown = atlas.clauses[shown_by(name)]
        example = _headless(examples.get(shown.id, ""), shown.stated)
        if example:  # the clause of a run may have another sentence
            found["example"] = lines.packed(example)
            if shown is not clause:
                found["shown"] = shown.id
        found["source"] = [sources.index(source) for source in clause.source]
        found["apis"] = [apis.index(api) for api in sorted(clause.asked_as)]
    return {
        "columns": [
            {
                "key": column.key, "label": column.label, "torch": column.measured, "python": column.python,
                "platform": column.platform, "device": column.device, "run": column.this_run,
                **({"release": minor(column.version)} if column.target else {}),
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
        "names": names.values,
        **cells.tables,
        "cards": cards(atlas),
        "disagreements": {one.clause: _disagreement(atlas, one, lines) for one in disagreements},
        "lines": lines.values,
    }  # fmt: skip


def cards(atlas: Atlas) -> dict[str, Any]:
    """Return the cards that the page has, each with its calls as [how many columns, call] and its clauses as places."""
    places, found = {name: at for at, name in enumerate(atlas.clauses)}, {}
    for api in (api for apis in shown(atlas).values() for api in apis):
        parts = [(begun(title), parts_of(api)[part]) for part, title in PARTS.items() if part in parts_of(api)]
        calls = neighbours(atlas.columns, functools.partial(call, atlas, api))
        found[api] = {
            "calls": [[len(columns), words] for words, columns in calls],
            "came": atlas.came.get((api, ""), 0),
            "since": since(atlas, api),
            "other": other(api),
            "parts": [
                [title, one if isinstance(one, str) else [places[n] for n in one if n in places]]
                for title, one in parts
            ],
        }
    return found


def _test(code: str) -> str:
    """Return the test of a clause without its mark, and a row without its sentence: what these say is shown already."""
    mark, end, rest = code.partition("\n)\n")
    return rest if end and mark.startswith("@clause(\n") else SAID.sub("", code)


def _headless(example: str, stated: str) -> str:
    """Return what follows in a program behind the words that its docstring has of the clause; "" for other words."""
    head = f'"""{stated}'  # as long as there, where some spaces are ends of lines
    return example[len(head) :] if example[: len(head)].split() == head.split() else ""


def _disagreement(atlas: Atlas, one: Disagreement, lines: Lines) -> dict[str, Any]:
    found = {
        "says": one.sentence,
        "documented": one.documentation,
        "address": one.address,
        "torch": one.torch,
        "when": when(atlas, one),
        "code": lines.packed(one.code),
    }
    extras = {"see": one.see, "doubt": one.doubt}
    found.update({key: value for key, value in extras.items() if value})
    return found


def _clause(atlas: Atlas, clause: Clause, cells: Cells, shared: Once) -> dict[str, Any]:
    """Return a clause without its sentence and its limits, which are in its row."""
    names = clause.reading_names
    force = [clause.in_force(column.version) for column in atlas.columns]
    readings = [
        [one.name, one.torch, cells.text(clause, one.says), *[1] * (not one.says_the_same)] for one in clause.readings
    ]
    found = {
        "readings": shared.place(readings),
        "force": shared.place(_packed([names.index(each) if each is not None else -1 for each in force])),
        "cells": [cells.ranges(clause, mode) for mode in atlas.modes],
        "place": [shared.place(clause.file), clause.line],
        "level": shared.place(clause.level),
        "needs": shared.place(clause.needs),
        "modes": shared.place(in_modes(atlas, clause.id)),
    }
    extras: dict[str, Any] = {"see": clause.see, "instead": clause.instead}
    if clause.beyond is not None:
        extras["beyond"] = [NAMES.index(word) for word in clause.beyond if word in NAMES]
    extras |= {"docs": clause.docs, "note": clause.note}
    extras["refuted"] = [one.says for one in clause.readings if one.never and one.told]
    extras |= {"rank": rank(clause), "compares": clause.checks_model, "claim": clause.is_claim}
    extras["varies"] = clause.varies and not clause.is_claim
    return {**found, **{name: value for name, value in extras.items() if value or name == "beyond"}}


def _packed(values: list[int]) -> list[list[int]]:
    """Return runs of equal values as [how many, value]."""
    return [[len(alike), value] for value, alike in neighbours(values, int)]
