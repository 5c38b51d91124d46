"""A cause that was seen in eager, or that is usual, is named only where it was seen in that way."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from fixtures.hooked import records
from suites.selfcheck.model.networks import Two, asked, faults, hooked, natures, nothing

FORWARD, FULL = records.FORWARD, records.FULL


class Auxiliary(nn.Module):
    """Runs one of its layers in training alone, and the loss does not use it."""

    def __init__(self) -> None:
        super().__init__()
        self.a, self.aux = nn.Linear(4, 4), nn.Linear(4, 4)

    def forward(self, x: Any) -> Any:
        return self.a(x), self.aux(x) if self.training else None


def test_a_cause_of_eager_is_none_of_a_way_that_does_not_show_it() -> None:
    put = hooked(Auxiliary(), register_full_backward_hook=["aux"])
    made = asked(lambda: (*put(), {}, lambda outputs: outputs[0].sum()), ["eager", "eval", "no_grad", "autocast"])
    assert faults(made, "eager") == faults(made, "autocast") == {("aux", FULL): ("never", "no_gradient")}
    assert faults(made, "eval") == {("aux", FULL): ("never", "skipped")}
    assert [each.cause for each in natures(made, "no_grad")] == ["no_backward"]


def test_weights_that_are_used_in_training_alone() -> None:
    class Uses(Two):
        def forward(self, x: Any) -> Any:
            return nn.functional.linear(self.a(x), self.b.weight) if self.training else self.a(x)

    made = asked(hooked(Uses(), register_forward_hook=["b"]), ["eager", "eval", "copy"])
    assert faults(made, "eager") == faults(made, "copy") == {("b", FORWARD): ("never", "weights")}
    assert faults(made, "eval") == {("b", FORWARD): ("never", "unused")}


def test_a_model_that_needs_a_gradient_only_with_its_hooks_takes_no_other_path() -> None:
    def made() -> Any:
        model: Any = Two().requires_grad_(False)
        scale: Any = torch.ones(1, requires_grad=True)
        model.a.register_forward_hook(lambda _, __, output: output * scale)
        return model, (torch.ones(4, 4),)

    assert faults(asked(made, ["eager", "checkpoint"])) == {("a", FORWARD): ("more often (2 for 1)", "needed")}


class Saves(Two):
    """Keeps what autograd saves in another form, and gives back the same."""

    def forward(self, x: Any) -> Any:
        with torch.autograd.graph.saved_tensors_hooks(torch.Tensor.double, torch.Tensor.float):
            x = self.a(x)
        return self.b(x)


def test_a_hook_that_is_not_called_is_no_cause_of_what_is_so_without_it() -> None:
    made = asked(hooked(Saves(), register_full_backward_hook=["b"]), ["eager", "autocast"])
    assert [each.verdict for each in made.answers if each.hook and each.hook.kind == records.SAVED] == ["raises"]
    (answer,) = natures(made, "autocast")
    assert (answer.verdict, answer.cause) == ("given bfloat16 in place of float32", "values")


def test_of_frozen_weights_nobody_sees_whether_they_are_used() -> None:
    model = nn.MultiheadAttention(4, 2).requires_grad_(False)
    made = asked(hooked(model, *(torch.ones(3, 2, 4),) * 3, register_forward_hook=["out_proj"]))
    assert faults(made) == {("out_proj", FORWARD): ("never", "not_run")}


def test_a_hook_that_raises_without_another_one_is_not_blamed() -> None:
    class Scaled(nn.Module):
        def forward(self, x: Any, gain: float = 1.0) -> Any:
            return x * gain

    def made() -> Any:
        model = nn.Sequential(Scaled(), nn.Linear(4, 4))
        model[0].register_forward_pre_hook(lambda _, args, kwargs: (args, {"gain": 2.0}), with_kwargs=True)
        model[0].register_forward_hook(lambda *given: nothing(given[2]["gain"]), with_kwargs=True)
        model[1].register_forward_hook(lambda *given: nothing(given[-1].sum().item()))
        return model, (torch.ones(4, 4),)

    found = [each for each in asked(made, ["eager", "vmap"]).answers if each.verdict == "raises"]
    assert [str(each.hook) for each in found] == ["1: forward"]
    assert ".item()" in found[0].names[0]
