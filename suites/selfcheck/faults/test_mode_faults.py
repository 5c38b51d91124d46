"""Real torch with a fault in the machinery of a mode: one of the first plans of `together` shows it."""

from __future__ import annotations

import contextlib
import functools
import itertools
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from fixtures.clause.clause import CLAUSES
from fixtures.graph.errors import TooLarge
from fixtures.judge.corpus import corpus
from fixtures.model.contract import contract_for, installed_version
from fixtures.model.module import expect
from fixtures.plan.grammar import Plan
from fixtures.stages.modes import MODES
from suites.selfcheck.all_clauses import drawn, import_suites
from suites.selfcheck.faults.of_modes import FAULTS

import_suites()
CONTRACT = contract_for(installed_version())
CLAUSES_ASKED = sorted(name for name in CLAUSES if name.startswith("together."))
EACH, FEW = 15, 2


def asked(mode: Any, name: str) -> Iterable[Any]:
    """The plans of a clause that a mode is asked: the first, or where a play costs much a part of its corpus."""
    if not mode.costly:
        return drawn(name, EACH)
    return corpus(CLAUSES[name], mode.keeps)[1:FEW] if CLAUSES[name].plays else []


@functools.cache
def plans(mode: str) -> list[tuple[Plan, Any]]:
    """The witnesses of a mode, and plans of each whole-grammar clause that it keeps, with what its model says."""
    chosen, lib = MODES[mode](), MODES[mode]().lib(installed_version())
    found = []
    witnesses = [rule.witness for rule in chosen.rules_of(installed_version())] if chosen.costly else []
    for plan in (*witnesses, *(plan for name in CLAUSES_ASKED for plan in asked(chosen, name))):
        if isinstance(plan, Plan) and chosen.keeps(plan):
            with contextlib.suppress(TooLarge):
                found.append((plan, expect(plan, CONTRACT, lib)))
    return found


def played(mode: Any, plan: Plan) -> Any:
    """The trace of a plan in a mode, or in words what a block of the mode has left behind."""
    try:
        return mode.play(plan)
    except AssertionError as error:
        return str(error)


def differing(mode: str) -> Iterator[Plan]:
    chosen = MODES[mode]()
    return (plan for plan, expected in plans(mode) if played(chosen, plan) != expected)


@pytest.mark.parametrize("mode", sorted({mode for mode, _, _ in FAULTS.values()}))
def test_torch_itself_does_what_the_model_says(mode: str) -> None:
    assert list(differing(mode)) == []


@pytest.mark.parametrize("name", FAULTS)
def test_a_plan_rejects_it(name: str) -> None:
    """One of the first three that do: by the part that has the fault, neither without this part nor in eager."""
    mode, part, enter = FAULTS[name]
    whole = MODES[mode]()
    parts = ([wrap for wrap in whole.here if (wrap.name == part) is alone] for alone in (True, False))
    ways = [*(MODES[mode](wraps=wraps) for wraps in parts), MODES["eager"]()]
    with ExitStack() as stack:
        enter(stack)
        shown = list(itertools.islice(differing(mode), 1 if whole.costly else 3))
        assert shown, f"no plan of {len(plans(mode))} sees it in the mode {mode}"
        if whole.costly:  # each play compiles
            return
        wrong = [[played(way, plan) for way in ways] for plan in shown]
    right = [[played(way, plan) for way in ways] for plan in shown]
    same = [[one == other for one, other in zip(*both, strict=True)] for both in zip(wrong, right, strict=True)]
    assert [False, True, True] in same


def test_each_part_of_each_cheap_mode_has_a_fault() -> None:
    """So no part is played in vain. A part that no fault can be made of does not belong into a mode."""
    parts = {(name, wrap.name) for name, mode in MODES.items() if not mode.costly for wrap in mode.wraps}
    assert parts - {(mode, part) for mode, part, _ in FAULTS.values()} == set()
