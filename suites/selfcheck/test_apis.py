"""The hook APIs of a clause are read from its test; here what was read is held to what the test really uses."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings

from fixtures.judge.clause import CLAUSES, Clause
from fixtures.plan.grammar import Plan, Retain, hooks_of
from reports.usage.apis import GLOBAL, METHODS, known_apis, need, subject, touched
from suites.selfcheck.everything import import_suites

import_suites()
ROOT = str(Path(__file__).resolve().parents[2])
FEW = 4


def witnesses(one: Clause) -> list[Plan]:
    every = [one.witness, *(reading.witness for reading in one.readings)]
    return [plan for plan in every if isinstance(plan, Plan)]


PLAYED = [one for one in CLAUSES.values() if witnesses(one)]


@functools.cache
def record(name: str) -> dict[str, Any]:
    return CLAUSES[name].record(ROOT)


def apis_of(plan: Plan) -> set[str]:
    """The APIs that a plan calls."""
    found = {GLOBAL[METHODS[hook.kind]] if hook.on == "*" else METHODS[hook.kind] for hook in hooks_of(plan)}
    return found | {"retain_grad" for step in plan.steps if isinstance(step, Retain)}


@pytest.mark.parametrize("one", PLAYED, ids=lambda one: one.id)
def test_the_apis_of_a_witness_are_those_of_its_plan(one: Clause) -> None:
    really = set().union(*map(apis_of, witnesses(one)))
    assert touched(one.id, record(one.id)) >= really
    assert subject(one.id, record(one.id)).every == bool(really)


def test_what_clauses_draw_is_what_was_read() -> None:
    wrong = {}
    for one in CLAUSES.values():
        if not one.draws or subject(one.id, record(one.id)).every:
            continue
        drawn: list[Any] = []
        play(one, drawn)
        really = set().union(*(apis_of(plan) for plan in drawn if isinstance(plan, Plan)))
        if really - touched(one.id, record(one.id)):
            wrong[one.id] = sorted(really - touched(one.id, record(one.id)))
    assert wrong == {}


def play(one: Clause, drawn: list[Any]) -> None:
    """Draw for a clause without running its test."""
    function: Any = one.function
    inner = function.hypothesis.inner_test
    function.hypothesis.inner_test = lambda **arguments: drawn.extend(arguments.values())
    try:
        settings(
            max_examples=FEW,
            derandomize=True,
            database=None,
            deadline=None,
            phases=[Phase.generate],
            suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
        )(function)(subject=None)
    finally:
        function.hypothesis.inner_test = inner


def test_every_clause_is_about_an_api_or_named_here() -> None:
    """These speak of no hook: one of a module without, one of the handle itself."""
    without = {name for name in CLAUSES if not subject(name, record(name)).apis}
    known = {"backward.inplace.without_hook", "handles.handle.plain_dict"}
    assert without == known, "reports/usage/apis.py finds no hook API in these tests: name one in needs= or source="


def test_what_a_clause_needs_is_known() -> None:
    known = known_apis({name: record(name) for name in CLAUSES})
    assert {"register_forward_hook", "retain_grad", "register_hook", "register_prehook"} <= known
    assert "register_sideways_hook" not in known
    assert need("torch.nn.Module.register_forward_hook(with_kwargs)") == ("register_forward_hook", "with_kwargs")
    assert need("torch.autograd.graph.Node.register_hook") == ("Node.register_hook", "")
    assert need("torch.inference_mode") == ("inference_mode", "")


@pytest.mark.parametrize(
    ("clause", "apis", "every"),
    [
        ("backward.membership.legacy_taken", {"register_backward_hook", "register_forward_hook"}, True),
        ("retain.place.after_every_hook", {"register_hook", "retain_grad"}, True),
        ("backward.structures.rebuilt", {"register_full_backward_hook"}, False),
        ("output.layers.fast_path_global", {"register_module_forward_hook"}, False),
        ("retain.nodes.before_node_hooks", {"Node.register_hook"}, False),
        ("gradient.undefined.asked", {"register_hook"}, True),
    ],
)
def test_read_by_hand_and_by_program_alike(clause: str, apis: set[str], every: bool) -> None:
    about = subject(clause, record(clause))
    assert (about.apis, about.every) == (apis, every)


def test_a_clause_of_another_checkout_is_read_from_its_recorded_code() -> None:
    code = (
        '@clause("a.b.c", says="S.", source="measured", witness=Plan(NET, (), (Hook("backward", "m0", "h0"),)))\n'
        "def test_c(subject, plan):\n    pass\n"
    )
    foreign = {"code": code, "file": "suites/none/test_none.py", "needs": [], "source": ["measured"]}
    assert subject("a.b.c", foreign).apis == {"register_backward_hook"}


@pytest.mark.parametrize("code", ["<script>", "x = 1", "\0", "def f():\n    " + "-" * 9999 + "1", "(" * 9999])
def test_what_is_no_code_is_about_nothing(code: str) -> None:
    foreign = {"code": code, "file": "suites/none/test_none.py", "needs": [], "source": ["measured"]}
    assert subject("a.b.c", foreign).apis == frozenset()
