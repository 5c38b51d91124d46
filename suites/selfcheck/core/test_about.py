"""What a clause is about is what its plans register; every clause is about something, or is named here."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings

from fixtures.clause.about import GRAD, about, api, apis, used
from fixtures.clause.clause import CLAUSES, Clause
from fixtures.families import KINDS
from fixtures.plan.grammar import Add, Forward, Hook, Leaf, Plan, Retain
from fixtures.plan.program import Program
from fixtures.state.kinds import KINDS as STATE_KINDS
from reports.data.clause import need
from suites.selfcheck.all_clauses import import_suites

import_suites()
MANY = 2000
#: Clauses that speak of no hook API, and of what instead.
WITHOUT = {
    "backward.inplace.without_hook": "a module that has no hook",
    "handles.handle.plain_dict": "the class of the handle itself",
    "modes.checkpoint.unfrozen": "a gradient that is silently wrong without any hook",
    "modes.checkpoint.unfrozen_no_stop": "the same where it raises",
    "modes.checkpoint.reentrant_detaches": "what becomes of a parameter without any hook",
    "modes.checkpoint.reentrant_no_leaf": "the same where an input needs a gradient",
}
#: What else is written behind about=: asking for gradients, the dicts that a module keeps hooks in, contexts, DDP.
FURTHER = {GRAD, "_forward_hooks", "_forward_pre_hooks", "queue_callback", "node_creation_hook"}
FURTHER |= {"allow_mutation_on_saved_tensors", "register_comm_hook"}
REGISTERED = frozenset(apis(KINDS, everywhere=True)) | {kind.api for kind in STATE_KINDS.values()} | {GRAD}


def names(one: Clause) -> frozenset[str]:
    return frozenset(need(each)[0] for each in about(one))


def test_every_clause_is_about_an_api_or_named_here() -> None:
    without = {name for name, one in CLAUSES.items() if not about(one)}
    assert without == set(WITHOUT), "name a hook API in about=, needs= or source=, or say in WITHOUT why there is none"


def test_it_is_said_in_known_names_and_no_longer_than_needed() -> None:
    unknown = {each for one in CLAUSES.values() for each in names(one)} - REGISTERED - FURTHER
    assert unknown == set()
    for one in CLAUSES.values():
        before, default = one.about, one.test().__globals__.get("ABOUT", ())
        object.__setattr__(one, "about", None)
        try:
            same = before is not None and about(one) == sorted(before)
        finally:
            object.__setattr__(one, "about", before)
        assert not same, f"{one.id}: about= says what witness=, needs=, source= or ABOUT = {default!r} say already"


PLAYED = [one for one in CLAUSES.values() if one.draws and one.arguments & {"plan", "program"}]


@pytest.mark.parametrize("one", PLAYED, ids=lambda one: one.id)
def test_the_plans_of_a_clause_register_what_it_is_about(one: Clause) -> None:
    """What torch of this environment has; one clause of a legacy hook asks for its lack."""
    wanted = names(one) & REGISTERED - {GRAD}
    assert wanted - drawn(one, wanted) == set()


class Enough(Exception):
    """All that was wanted has been drawn."""


def drawn(one: Clause, wanted: frozenset[str]) -> set[str]:
    """The APIs that the plans of a clause use, until all that are wanted were seen; its test is not run."""
    function: Any = one.function
    inner = function.hypothesis.inner_test
    found: set[str] = set()

    def note(**arguments: Any) -> None:
        found.update(*(used(each) for each in arguments.values() if isinstance(each, (Plan, Program))))
        if wanted <= found:
            raise Enough

    function.hypothesis.inner_test = note
    try:
        settings(
            max_examples=MANY,
            derandomize=True,
            database=None,
            deadline=None,
            phases=[Phase.generate],
            report_multiple_bugs=False,
            suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
        )(function)(subject=None)
    except Enough:
        pass
    finally:
        function.hypothesis.inner_test = inner
    return found


def test_the_names_are_those_of_answers() -> None:
    assert api("torch.nn.Module.register_forward_hook(with_kwargs)") == "register_forward_hook(with_kwargs)"
    assert api("torch.autograd.graph.Node.register_hook") == "Node.register_hook"
    assert api("torch.autograd.grad") == GRAD
    assert [api(name) for name in ("torch.inference_mode", "torch.autograd.Function", "torch.Tensor.grad")] == [""] * 3
    for text in ("torch.autograd.graph.Node.register_hook", "torch.autograd.grad", "torch.Tensor.register_hook"):
        assert need(api(text)) == need(text) == (api(text), "")
    shared = "register_state_dict_pre_hook"  # of modules and of optimizers
    assert api(f"torch.nn.Module.{shared}") == shared
    assert api(f"torch.optim.Optimizer.{shared}(prepend)") == f"Optimizer.{shared}(prepend)"
    assert need(f"torch.optim.Optimizer.{shared}") == need(f"Optimizer.{shared}") == (f"Optimizer.{shared}", "")
    assert api("torch.optim.Optimizer.register_step_pre_hook") == "register_step_pre_hook"
    assert need("register_forward_hook(prepend)") == ("register_forward_hook", "prepend")


def test_hooks_that_hooks_register_count() -> None:
    inner = Hook("forward_pre", "*", "h2")
    steps = (Hook("forward", "m0", "h0", (Add(inner),)), Forward(), Retain("m0>0"))
    expected = {"register_forward_hook", "register_module_forward_pre_hook", "retain_grad"}
    assert used(Plan(Leaf("m0", "same"), (), steps)) == expected
