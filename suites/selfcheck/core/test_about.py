"""What a clause is about is what its plans register; every clause is about something, or is named here."""

from __future__ import annotations

import pytest

from fixtures.clause.about import GRAD, about, api, used
from fixtures.clause.clause import CLAUSES, Clause
from fixtures.plan.grammar import Add, Forward, Hook, Leaf, Plan, Retain
from reports.data.clause import need
from suites.selfcheck.all_clauses import import_suites
from suites.selfcheck.author.about import WITHOUT, faults_of_about, not_drawn

import_suites()


def test_every_clause_is_about_a_known_api_or_excused() -> None:
    faults = {name: found for name, one in CLAUSES.items() if (found := faults_of_about(one))}
    assert faults == {}
    assert set(WITHOUT) == {name for name, one in CLAUSES.items() if not about(one)}, "an excuse is not needed"


PLAYED = [one for one in CLAUSES.values() if one.draws and one.arguments & {"plan", "program"}]


@pytest.mark.parametrize("one", PLAYED, ids=lambda one: one.id)
def test_the_plans_of_a_clause_register_what_it_is_about(one: Clause) -> None:
    """What torch of this environment has; one clause of a legacy hook asks for its lack."""
    assert not_drawn(one) == set()


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
