"""Breaks that are planted are named, at the right hook: of each kind in eager, and one in each way."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn

from fixtures.hooked import records
from fixtures.stages.own import ways
from suites.selfcheck.model.networks import CHEAP, Two, asked, faults, hooked, nothing

#: How hooks of each kind are registered: where, and by which function.
KINDS = {
    records.FORWARD_PRE: (nn.Module, "register_forward_pre_hook"),
    records.FORWARD: (nn.Module, "register_forward_hook"),
    records.FULL_PRE: (nn.Module, "register_full_backward_pre_hook"),
    records.FULL: (nn.Module, "register_full_backward_hook"),
    records.LEGACY: (nn.Module, "register_backward_hook"),
    records.TENSOR: (torch.Tensor, "register_hook"),
    records.POST: (torch.Tensor, "register_post_accumulate_grad_hook"),
}
OF_PARAMETERS = (records.TENSOR, records.POST)


def doubled(given: Any) -> Any:
    if isinstance(given, nn.Parameter):
        assert given.grad is not None
        given.grad.mul_(2)
        return given
    if isinstance(given, torch.Tensor):
        return given * 2
    return tuple(map(doubled, given)) if isinstance(given, tuple) else given


#: How a faulty torch calls a hook, and what there is to say of it.
FAULTS: dict[str, tuple[Any, str]] = {
    "not called": (lambda hook: nothing, "never"),
    "called twice": (lambda hook: lambda *given: (hook(*given), hook(*given))[1], "more often (2 for 1)"),
    "other values": (lambda hook: lambda *given: hook(*map(doubled, given)), "given other values"),
}


def plant(monkeypatch: pytest.MonkeyPatch, kind: str, fault: Any) -> None:
    """Make torch call hooks of a kind wrongly where `planted` is set on what they are registered on."""
    place, name = KINDS[kind]
    original = getattr(place, name)

    def register(owner: Any, hook: Any, *args: Any, **options: Any) -> Any:
        wrong = hasattr(owner, "planted") and not type(hook).__module__.startswith("torch")
        return original(owner, fault(hook) if wrong else hook, *args, **options)

    monkeypatch.setattr(place, name, register)


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("kind", KINDS)
def test_a_planted_break_in_eager_is_named(monkeypatch: pytest.MonkeyPatch, kind: str, fault: str) -> None:
    break_it, says = FAULTS[fault]
    suffix = ".weight" if kind in OF_PARAMETERS else ""
    plant(monkeypatch, kind, break_it)

    def made() -> Any:
        model = Two()
        for layer in (model.a, model.b):
            place: Any = layer.weight if suffix else layer
            if layer is model.b:
                place.planted = True
            getattr(place, KINDS[kind][1])(nothing)
        return model, (torch.ones(4, 4, requires_grad=True),)

    found = faults(asked(made))
    assert list(found) == [(f"b{suffix}", kind)]
    verdict, cause = found[f"b{suffix}", kind]
    assert verdict.startswith(says)
    assert cause == ""


@pytest.mark.parametrize("way", CHEAP)
def test_a_break_planted_in_one_way_is_named_there(monkeypatch: pytest.MonkeyPatch, way: str) -> None:
    inside: list[str] = []

    def around(name: str, original: Any) -> Any:
        def run(*given: Any) -> Any:
            inside.append(name)
            return original(*given)

        return run

    for name, original in ways.WAYS.items():
        monkeypatch.setitem(ways.WAYS, name, around(name, original))
    model = Two(lambda layer, x: layer.forward(x) if inside[-1] == way else layer(x))
    made = asked(hooked(model, register_forward_hook=("a", "b")), {"eager", way, "eval"})
    named = {each.way for each in made.answers if not each.by_nature}
    assert named == {way}
    assert faults(made, way) == {("b", records.FORWARD): ("never", "direct")}
