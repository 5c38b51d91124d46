"""What is asked and how: the model stays as it was, ways of the user's, hooks that nothing lists, a survey."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
import torch
from torch import nn

from fixtures.hooked import records
from fixtures.stages.own.case import NotAModel
from suites.selfcheck.model.networks import CHEAP, Two, asked, faults, hooked, natures, nothing

TWICE = "more often (2 for 1)"


def spent(model: Any, args: Any, kwargs: Any) -> Any:
    """A training step that leaves nothing to differentiate."""
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    loss = model(*args).sum()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    return loss


def fails(model: Any, args: Any, kwargs: Any) -> Any:
    model.a.weight = nn.Parameter(torch.zeros(4, 4))
    model.eval().extra = 1
    model(*args).sum().backward()
    raise ArithmeticError("in my way")


def contents(model: Any) -> Any:
    """All that is to stay: values, gradients, flags, hooks, attributes."""
    tables = [
        (name, key, dict(value) if isinstance(value, dict) else value)
        for name, each in model.named_modules()
        for key, value in vars(each).items()
        if key not in ("_parameters", "_buffers")
    ]
    held = [
        (name, id(each), each.grad, each.requires_grad, each.tolist(), dict(each._backward_hooks or {}))
        for name, each in model.named_parameters()
    ]
    buffers = [(name, id(each), each.tolist()) for name, each in model.named_buffers()]
    return (
        tables,
        held,
        buffers,
        torch.get_rng_state().tolist(),
        Two.forward,
        nn.Linear.forward,
        nn.Module.register_forward_hook,
        torch.Tensor.register_hook,
    )


@pytest.mark.parametrize("inside", [True, False], ids=["hooks are put by the function", "hooks were there"])
def test_a_model_that_is_given_again_stays_as_it_was(inside: bool) -> None:
    two, norm = Two(), nn.BatchNorm1d(4).eval()
    model = nn.Sequential(two, norm, nn.Dropout(0.5))
    two.a.weight.grad = torch.ones(4, 4)

    def put() -> None:
        two.b.register_forward_hook(nothing)
        two.b.weight.register_hook(nothing)

    def made() -> Any:
        if inside:
            put()
        return model, (torch.ones(4, 4),)

    if not inside:
        put()
    before = contents(model)
    asked_of = asked(made, CHEAP, fails=lambda model, args, kwargs: fails(model[0], args, kwargs), spent=spent)
    assert len(asked_of.hooks) == 2
    assert faults(asked_of, "eager") == {}
    assert contents(model) == before


def test_a_way_that_raises_cannot_be_told_and_leaves_nothing() -> None:
    made = asked(
        hooked(Two(), register_forward_hook=["b"]),
        ["eager"],
        fails=fails,
        copy_of=lambda model, args, kwargs: model(*args),
    )
    assert made.unasked == {"fails": "fails without your hooks, too: ArithmeticError: in my way"}
    assert made.answers == []


def test_a_training_step_of_the_user_is_a_way() -> None:
    made = asked(hooked(Two(), register_forward_hook=["b"], register_hook=["b.weight"]), ["eager"], spent=spent)
    assert faults(made) == {}
    assert {each.verdict for each in natures(made, "spent")} == {"given other values"}  # another loss


def test_a_way_may_call_twice_or_leave_out() -> None:
    def twice(model: Any, args: Any, kwargs: Any) -> Any:
        return model(*args), model(*args)

    made = asked(
        hooked(Two(), register_forward_hook=["b"]),
        ["eager"],
        twice=twice,
        half=lambda model, args, kwargs: model.a(*args),
    )
    assert [each.verdict for each in natures(made, "twice")] == [TWICE]
    assert faults(made, "half")["b", records.FORWARD] == ("never", "unused")  # its parent does not run, either


def test_hooks_that_nothing_lists_are_watched() -> None:
    def keep(_: Any, __: Any, output: Any) -> None:
        output.register_hook(nothing)
        output.retain_grad()

    def made() -> Any:
        model = Two()
        model.a.register_forward_hook(keep)
        torch.autograd.graph.register_multi_grad_hook([model.a.weight, model.b.weight], nothing)
        return model, (torch.ones(4, 4),)

    def saves(model: Any, args: Any, kwargs: Any) -> Any:
        with torch.autograd.graph.saved_tensors_hooks(lambda tensor: tensor, lambda tensor: tensor):
            return model(*args)

    found = asked(made, ["eager", "copy", "no_grad"], saves=saves)
    assert sorted(each.kind for each in found.hooks) == [
        "forward",
        "multi-grad",
        "retain_grad",
        "saved-tensor",
        "tensor",
    ]
    assert faults(found, "eager") == {}
    assert faults(found, "copy") == {("a.weight and 1 more", "multi-grad"): ("never", "copy")}
    assert faults(found, "no_grad")["a", "forward"][0] == "raises"
    assert [each.hook.kind for each in natures(found, "saves") if each.hook] == ["saved-tensor"]


def test_a_hook_for_all_modules_is_watched_and_gone_afterwards() -> None:
    def made() -> Any:
        torch.nn.modules.module.register_module_forward_hook(nothing)
        return Two(), (torch.ones(4, 4),)

    before = dict(torch.nn.modules.module._global_forward_hooks)
    found = asked(made, ["eager", "reentrant"])
    assert [(each.verdict, each.cause) for each in found.answers] == [("more often (6 for 3)", "times")]
    assert dict(torch.nn.modules.module._global_forward_hooks) == before


def test_hooks_that_replace_are_followed() -> None:
    """What one leaves, the next is given; nothing of that is a fault."""

    def made() -> Any:
        model = Two()
        for _ in range(2):
            model.b.register_forward_pre_hook(lambda _, args: (args[0] * 2,))
            model.b.register_forward_hook(lambda _, __, output: output.add(1))
            model.b.register_forward_hook(lambda _, __, output: output.mul_(3).clone())
            model.b.register_full_backward_pre_hook(lambda _, grads: (grads[0] * 2,))
            model.b.weight.register_hook(lambda grad: grad * 2)
        return model, (torch.ones(4, 4),)

    assert asked(made).answers == []


def test_what_gives_something_else_each_time_cannot_be_told() -> None:
    counter = itertools.count()
    model = Two(lambda layer, x: layer(x) + float(next(counter)))
    made = asked(hooked(model, register_forward_hook=["b"]), CHEAP)
    assert list(made.unasked) == ["eager"]
    assert made.answers == []


def test_without_hooks_it_is_a_survey() -> None:
    made = asked(lambda: (Two(lambda layer, x: layer.forward(x)), (torch.ones(4, 4),)))
    assert made.survey
    assert {each.kind for each in made.hooks} == {"forward", "full backward", "tensor"}
    assert faults(made) == {("b", "forward"): ("never", "direct"), ("b", "full backward"): ("never", "direct")}


@pytest.mark.parametrize("returned", [None, Two(), (Two(),), (1, 2), (Two(), (), 3), (Two(), (), {}, 4)])
def test_what_is_no_model_is_refused(returned: Any) -> None:
    with pytest.raises(NotAModel, match="must return"):
        asked(lambda: returned)
