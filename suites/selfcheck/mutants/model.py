"""Mutants of the model: each must leave another trace of some plan than the model does."""

import contextlib
import functools
import re
import sys
import types
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from fixtures.clause.clause import CLAUSES
from fixtures.families import FAMILIES, Kind
from fixtures.families.place import Place
from fixtures.graph import engine, graph
from fixtures.graph.errors import TooLarge
from fixtures.judge.subject import Playable
from fixtures.model import module
from fixtures.model.contract import FACTS, OLDEST, Contract, contract_for, installed_version
from fixtures.model.module import expect
from fixtures.plan.grammar import Plan
from fixtures.plan.program import programs_in
from fixtures.play.trace import Trace
from fixtures.state import model as state
from suites.selfcheck.all_clauses import drawn
from suites.selfcheck.mutants import corners
from suites.selfcheck.mutants.clauses import DRAWING, PATIENCE
from suites.selfcheck.mutants.mutate import Hung, Mutant, at_most, functions, mutants

ROOT = Path(__file__).resolve().parents[3]
#: Where the model has what it knows of hooks. `array.py` is about numbers.
MODULES = (module, engine, graph, *(sys.modules[family.model.__module__] for family in FAMILIES), state)
#: The models of small grammars: their own programs show what is changed there, and nothing else does.
SMALL = (state,)
#: What is no part of the model in them: it makes kinds, or belongs to the player, to scripts or to torch.
APART = {"kind", "Entered", "Kept", "play", "write", "draw", "forget", "left", "expect"}
WHOLE = sorted(name for name, one in CLAUSES.items() if name.startswith("together.") and one.plays)
#: Plans of each clause of the whole grammar, how many contracts play them besides the newest, and plans of all others.
PLANS, OLDER, FEW = 100, 2, 15
#: Programs of each clause that draws the whole of a small grammar.
MANY = 500

Case = tuple[Playable, Contract, Trace]


def about_hooks() -> Iterator[types.FunctionType]:
    """The functions of the model. What a `Kind` or a `Place` does, the player does on torch and on the model alike."""
    for each in MODULES:
        both = {one.__name__ for one in vars(each).values() if isinstance(one, type) and issubclass(one, (Kind, Place))}
        yield from (one for one in functions(each) if one.__qualname__.partition(".")[0] not in both | APART)


@functools.cache
def all_mutants() -> dict[str, Mutant]:
    return {one.name: one for one in mutants(about_hooks())}


def every_answer() -> list[Contract]:
    """A few contracts, the installed one first, in which each fact has each answer that it has in any release."""
    bounds = {bound for ranges in FACTS.values() for text, _ in ranges for bound in re.findall(r">=([\d.]+)", text)}
    left = [contract_for(version) for version in sorted({str(OLDEST), *bounds})]
    chosen = [contract_for(installed_version())]
    while True:
        seen = {answer for one in chosen for answer in vars(one).items()}
        best = max(left, key=lambda one: len(vars(one).items() - seen))
        if not vars(best).items() - seen:
            return chosen
        chosen.append(best)


def programs() -> Iterator[tuple[Playable, Sequence[Contract]]]:
    """The programs of small grammars, in corners, in witnesses and drawn, under every contract."""
    every = every_answer()
    yield from ((each, every) for each in corners.CORNERS.values())
    for one in CLAUSES.values():
        yield from ((each, every) for reading in one.readings for each in programs_in(one.witness_for(reading)))
    for name in DRAWING:
        most = MANY if name.startswith("together.") else FEW
        if CLAUSES[name].played == "program":
            yield from ((plan, every) for plan in drawn(name, most))


def plans() -> Iterator[tuple[Playable, Sequence[Contract]]]:
    """Corners and witnesses under every contract, many plans of the whole grammar, and a few of each clause."""
    newest, *others = every_answer()
    for plan in (*corners.PLANS.values(), *witnesses()):
        yield plan, (newest, *others)
    for place in range(PLANS):
        older = [others[(place * OLDER + each) % len(others)] for each in range(OLDER)]
        for name in WHOLE:
            yield from ((plan, (newest, *older)) for plan in drawn_once(name)[place : place + 1])
    for name in DRAWING:
        yield from ((plan, (newest,)) for plan in drawn(name, FEW) if CLAUSES[name].plays)


def witnesses() -> list[Plan]:
    """The plans that tell readings apart: most facts that have changed since the oldest torch are in one."""
    pairs = [(one, reading) for one in CLAUSES.values() if one.plays for reading in one.readings]
    return list(dict.fromkeys(plan for one, reading in pairs if (plan := one.witness_for(reading))))


@functools.cache
def drawn_once(name: str) -> Sequence[Playable]:
    return drawn(name, PLANS)


@functools.cache
def known(small: bool) -> tuple[list[Case], Iterator[Case]]:
    """The cases that were made already, and those to come: of plans, or of the programs of small grammars."""
    return [], made(programs() if small else plans())


def made(those: Iterator[tuple[Playable, Sequence[Contract]]]) -> Iterator[Case]:
    for plan, contracts in those:
        for contract in contracts:
            with contextlib.suppress(TooLarge):
                yield plan, contract, expect(plan, contract)


def cases(small: bool = False) -> Iterator[Case]:
    """Plans with the trace that the model leaves under each of their contracts. Each is made once."""
    before, rest = known(small)
    yield from before
    for case in rest:
        before.append(case)
        yield case


def attempt(plan: Playable, contract: Contract) -> Any:
    """The trace that the model leaves as it is now; where it leaves none, what it raised."""
    try:
        with at_most(PATIENCE):
            return expect(plan, contract)
    except (Exception, Hung) as error:  # noqa: BLE001 - whatever a change makes the model raise
        return error


def play(mutant: Mutant, plan: Playable, contract: Contract) -> Any:
    """The same, of a mutant."""
    with mutant.on():
        return attempt(plan, contract)


def killed(mutant: Mutant) -> bool:
    """Whether a plan shows the change."""
    small = mutant.file in {one.__file__ for one in SMALL}
    return any(play(mutant, plan, contract) != trace for plan, contract, trace in cases(small))
