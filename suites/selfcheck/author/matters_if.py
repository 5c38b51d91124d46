"""What a clause says in matters_if= and instead=, and whether it has them where releases differ."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from fixtures.clause.about import about
from fixtures.clause.clause import Clause
from fixtures.clause.matters_if import DICTS, NEVER
from fixtures.families import KINDS
from fixtures.state.kinds import KINDS as STATE_KINDS
from reports.data.cell import Cell
from reports.data.clause import need


def differs(one: Clause, cells: Iterable[Cell]) -> bool:
    """Whether releases differ in a clause: it has several readings, or torch did different things."""
    states = {cell.state for cell in cells if cell.verdict not in ("absent", "unseen")}
    return sum(not reading.wrong for reading in one.readings) > 1 or len(states) > 1


def faults_of_matters_if(one: Clause, cells: Iterable[Cell]) -> Iterator[str]:
    """Yield what is wrong with matters_if= and instead=; `cells` are what is known of the clause in eager mode."""
    if differs(one, cells) != bool(one.matters_if):
        yield (
            "the same on every release: leave matters_if= out"
            if one.matters_if
            else "say in matters_if= what a use must be for the difference to matter: fixtures/clause/matters_if.py"
        )
    kinds = set() if one.matters_if in ("", NEVER) else set(one.matters_if.split()[0].split("|")) - set(DICTS)
    named = {need(text)[0] for text in about(one)}
    apis = {STATE_KINDS[kind].api for kind in kinds & set(STATE_KINDS)}
    apis |= {api for kind in kinds & set(KINDS) for api in (KINDS[kind].api, KINDS[kind].everywhere)}
    if kinds and not apis & named:
        yield f"matters_if= begins with the kind of hook that the clause is about: {', '.join(sorted(named))}"
    if one.instead and (one.instead[-1] != "." or not one.matters_if):
        yield "instead= is a sentence next to matters_if="
