"""Two modes at once: each rule of either is needed by some of the plans that the clause of the pair draws."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from fixtures.clause.clause import CLAUSES, Clause
from fixtures.draw.contract import drawing_for
from fixtures.graph.errors import TooLarge
from fixtures.judge.corpus import drawn_of
from fixtures.model.contract import contract_for, installed_version
from fixtures.model.module import expect
from fixtures.stages.pairs import pair
from suites.modes import test_pairs

VERSION = installed_version()
PAIRS = [one for one in CLAUSES.values() if one.function.__module__ == test_pairs.__name__]
#: So many examples a recorded run draws, and so many of their plans need each rule.
DRAWN, LEAST = 48, 3
#: Rules that change nothing next to the other mode, and why.
IDLE = {
    "inference+copy: parameters": "nothing is recorded, so no hook of a parameter runs",
    "checkpoint+inference: stops": "nothing is saved, so nothing runs again",
    "reentrant+inference: edit": "its sentence is not about what is changed in place",
}


def trace(plan: Any, lib: Any) -> Any:
    try:
        return expect(plan, contract_for(VERSION), lib)
    except TooLarge:
        return None


@pytest.mark.parametrize("clause", PAIRS, ids=lambda one: one.row.outer + "+" + one.row.inner)
def test_each_rule_is_needed_by_some_plans(clause: Clause) -> None:
    mode, needed = pair(clause.row.outer, clause.row.inner)["both"], Counter[str]()
    rules = {f"{mode.name}: {rule.name}": mode.lib(VERSION, [rule]) for rule in mode.rules_of(VERSION)}
    with drawing_for(contract_for(VERSION)):
        plans = [plan for each in drawn_of(clause, DRAWN, True) for plan in each["met"]]
    for plan in plans:
        whole = trace(plan, mode.lib(VERSION)) if mode.keeps(plan) else None
        if whole is not None:
            needed.update(name for name, lib in rules.items() if needed[name] < LEAST and trace(plan, lib) != whole)
    assert {name: needed[name] for name in rules if needed[name] < LEAST} == dict.fromkeys(
        IDLE.keys() & rules.keys(), 0
    )
