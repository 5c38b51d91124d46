"""What a second check by somebody else found wrong: each answer is right now, or says less."""

from __future__ import annotations

import contextlib
import copy
import functools
from typing import Any

import pytest
import torch
from torch import nn

from fixtures.hooked import records, screen
from fixtures.hooked.alike import difference
from fixtures.hooked.records import Answer, Hook
from fixtures.stages.own.values import digest
from suites.selfcheck.model.networks import Two, asked, faults, hooked, natures, nothing

FORWARD, FULL, TENSOR, MULTI = records.FORWARD, records.FULL, records.TENSOR, records.MULTI


class Within(Two):
    """Puts a hook on a module that has none yet, each time that it runs."""

    def forward(self, x: Any) -> Any:
        handles = [self.b.register_forward_hook(nothing), self.b.register_full_backward_hook(nothing)]
        found = super().forward(x)
        for each in handles:
            each.remove()
        return found


def within() -> Any:
    return Within(), (torch.ones(4, 4),)


def halved(_: Any, grads: Any, __: Any) -> Any:
    return (grads[0] * 0.5,)


def test_a_tensor_without_a_version_is_no_error_of_the_hook(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.Tensor, "is_inference", lambda _: False)  # torch 1.9 cannot be asked
    made = asked(hooked(Two(), register_forward_hook=["b"]), ["eager", "inference"])
    assert made.answers == []
    assert made.unasked == {}


def test_a_hook_that_is_put_while_the_model_runs_is_given_what_forward_returns() -> None:
    made = asked(within)
    assert list(map(str, made.hooks)) == ["b: forward", "b: full backward"]
    assert made.answers == []


@pytest.mark.parametrize("way", ["copy", "functional_call"])
def test_it_is_the_same_hook_in_a_copy(way: str) -> None:
    made = asked(within, ["eager", way])
    assert len(made.hooks) == 2
    assert made.answers == []


def test_it_is_the_same_hook_in_replicas() -> None:
    made = asked(within, ["eager", "parallel"])
    assert faults(made) == {}
    assert [each.verdict for each in natures(made, "parallel") if each.hook == Hook(FORWARD, "b")] == [
        "more often (2 for 1)"
    ]


def test_a_line_that_puts_its_hook_on_something_else() -> None:
    class Weight(Two):
        def forward(self, x: Any) -> Any:
            self.b.weight.register_hook(nothing)
            return super().forward(x)

    made = asked(lambda: (Weight(), (torch.ones(4, 4),)), ["eager", "copy"])
    assert [(str(each.hook), each.verdict, each.cause) for each in made.answers] == [
        ("b.weight: tensor", "put elsewhere", "elsewhere")
    ]


def test_a_line_that_runs_in_one_way_alone() -> None:
    def put(layer: Any, x: Any) -> Any:
        kind = "register_forward_hook" if layer.training else "register_forward_pre_hook"
        getattr(layer, kind)(nothing)
        return layer(x)

    made = asked(lambda: (Two(put), (torch.ones(4, 4),)), ["eager", "eval"])
    assert faults(made) == {("b", FORWARD): ("never", "not_registered")}
    assert [(each.verdict, each.cause) for each in natures(made, "eval")] == [("put in this way alone", "put_here")]


@pytest.mark.parametrize("inside", [True, False], ids=["while it runs", "before"])
def test_what_torch_refuses_to_register_is_no_hook(inside: bool) -> None:
    frozen = torch.ones(3)

    def put(layer: Any) -> None:
        for register in (functools.partial(layer.register_forward_hook, no_such=True), frozen.register_hook):
            with contextlib.suppress(TypeError, RuntimeError):
                register(nothing)
        layer.register_full_backward_hook(nothing)

    def made() -> Any:
        model = Two(lambda layer, x: (put(layer) if inside else None, layer(x))[1])
        if not inside:
            put(model.b)
        return model, (torch.ones(4, 4),)

    found = asked(made)
    assert list(map(str, found.hooks)) == ["b: full backward"]
    assert found.answers == []


def test_a_hook_that_is_put_after_another_raised_is_seen_without_that() -> None:
    def fails(*_: Any) -> None:
        assert not torch.is_grad_enabled()

    def made() -> Any:
        model = Within()
        model.a.register_forward_hook(fails)
        model.b.register_forward_hook(lambda *_: model.a.weight.register_hook(nothing) and None)
        return model, (torch.ones(4, 4),)

    found = asked(made, ["eager", "eval"])
    assert "a.weight: tensor" in map(str, found.hooks)
    assert faults(found) == {("a", FORWARD): ("raises", "raises")}


def test_a_model_that_needs_its_hooks() -> None:
    class Skip(Two):
        def __init__(self) -> None:
            super().__init__()
            self.kept: Any = None
            self.a.register_forward_hook(self.keep)

        def keep(self, *given: Any) -> None:
            self.kept = given[-1]

        def forward(self, x: Any) -> Any:
            return super().forward(x) + self.kept

    found = asked(lambda: (Skip(), (torch.ones(4, 4),)))
    assert list(map(str, found.hooks)) == ["a: forward"]
    assert found.unasked["eager"].startswith("needs your hooks, and fails without them: TypeError: ")


def test_what_follows_from_a_hook_that_is_not_called_is_no_nature_of_the_way() -> None:
    def made() -> Any:
        model = Two()
        model.b.register_full_backward_hook(halved)
        model.a.weight.register_hook(nothing)
        return model, (torch.ones(4, 4),)

    found = asked(made, ["eager", "vmap"])
    assert faults(found) == {("b", FULL): ("never", "batched"), ("a.weight", TENSOR): ("given other values", "dropped")}


def test_a_hook_of_one_parameter_changes_no_other() -> None:
    def made() -> Any:
        model = Two()
        model.a.weight.register_hook(lambda grad: grad * 2)
        model.b.register_full_backward_hook(nothing)
        return model, (torch.ones(4, 4),)

    def tripled(model: Any, args: Any, kwargs: Any) -> Any:
        return copy.deepcopy(model)(*args) * 3

    found = natures(asked(made, tripled=tripled), "tripled")
    assert ("given other values", "values") in [(each.verdict, each.cause) for each in found]


def test_no_backward_hook_changes_what_ran_before_it() -> None:
    def made() -> Any:
        model = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4))
        model[0].register_full_backward_hook(halved)
        model[1].register_forward_hook(nothing)
        return model, (torch.ones(4, 4).cumsum(0),)

    found = natures(asked(made, ["eager", "no_grad"]), "no_grad")
    assert [each.cause for each in found if each.hook and each.hook.kind == FORWARD] == ["values"]


def test_replicas_are_made_before_one_of_them_runs() -> None:
    torch.manual_seed(0)
    model = nn.Sequential(nn.utils.spectral_norm(nn.Linear(4, 4)), nn.Linear(4, 1))
    made = asked(hooked(model, torch.randn(4, 4), register_hook=["0.weight_orig"]), ["eager", "parallel"])
    assert made.answers == []


def test_a_parameter_of_another_dtype_has_another_node() -> None:
    def double(model: Any, args: Any, kwargs: Any) -> Any:
        return model.double()(*(each.double() for each in args))

    def made() -> Any:
        model = Two()
        model.b.weight.register_hook(nothing)
        torch.autograd.graph.register_multi_grad_hook([model.a.weight, model.b.weight], nothing)
        return model, (torch.ones(4, 4),)

    found = asked(made, double=double)
    assert faults(found) == {("a.weight and 1 more", MULTI): ("never", "renewed")}
    assert {each.verdict for each in natures(found, "double")} == {"given float64 in place of float32"}


def test_several_backward_passes_are_the_way() -> None:
    def twice(model: Any, args: Any, kwargs: Any) -> Any:
        output = model(*args)
        output.sum().backward(retain_graph=True)
        output.sum().backward()
        return output

    made = asked(hooked(Two(), register_full_backward_hook=["b"], register_hook=["b.weight"]), twice=twice)
    assert faults(made) == {}
    assert [each.verdict for each in natures(made, "twice")] == ["more often (2 for 1)"] * 2


def test_more_calls_than_gradients_are_told_in_several_backward_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    from torch.utils import hooks

    original = hooks.BackwardHook.__init__

    def doubled(self: Any, module: Any, user_hooks: Any, *more: Any) -> None:
        original(self, module, list(user_hooks) * 2, *more)

    def again(model: Any, args: Any, kwargs: Any) -> Any:
        with monkeypatch.context() as patch:
            patch.setattr(hooks.BackwardHook, "__init__", doubled)
            output = model(*args)
            output.sum().backward()
        model.a.weight.sum().backward()
        return output

    made = asked(hooked(Two(), register_full_backward_hook=["b"]), again=again)
    assert faults(made) == {("b", FULL): ("more often (2 for 1)", "")}


def test_who_changes_what_in_place() -> None:
    model = nn.Sequential(nn.Linear(4, 4), nn.ReLU(inplace=True), nn.Linear(4, 4))
    made = asked(hooked(model, register_full_backward_hook=["0", "1", "2"]))
    assert faults(made) == {("0", FULL): ("raises", "in_place_after"), ("1", FULL): ("raises", "in_place")}
    shown = [each.clauses for each in screen.groups(made.answers)]
    assert shown == [("backward.inplace.output",), ("backward.inplace.input",)]


@pytest.mark.parametrize(("way", "cause"), [("copy", "copy"), ("functional_call", "replaced")])
def test_a_hook_of_several_parameters_has_the_cause_of_one(way: str, cause: str) -> None:
    def made() -> Any:
        model = Two()
        torch.autograd.graph.register_multi_grad_hook(tuple(model.parameters()), nothing)
        return model, (torch.ones(4, 4),)

    assert faults(asked(made, ["eager", way])) == {("a.weight and 3 more", MULTI): ("never", cause)}


def test_a_hook_that_removes_itself_is_called_while_tracing() -> None:
    def made() -> Any:
        model = Two()
        handle = model.b.register_forward_hook(lambda *_: handle.remove())
        return model, (torch.ones(4, 4),)

    assert faults(asked(made, ["trace"])) == {("b", FORWARD): ("only while tracing", "recorded")}


def test_two_roundings_of_sixteen_bits_are_no_other_values() -> None:
    one, other, far = (torch.full((8,), each) for each in (1.0, 1.005, 1.02))
    for dtype in (torch.bfloat16, torch.float16):
        assert difference(digest(one.to(dtype)), digest(other.to(dtype))) == ""
        assert difference(digest(one.to(dtype)), digest(far.to(dtype))) == "other values"
    assert difference(digest(one), digest(other)) == "other values"


def test_each_hook_of_a_module_has_its_own_error() -> None:
    def raises(what: str) -> Any:
        def hook(*_: Any) -> None:
            raise ArithmeticError(what)

        return hook

    def made() -> Any:
        model = Two()
        model.b.register_forward_hook(raises("one"))
        model.b.register_forward_pre_hook(raises("other"))
        model.b.register_forward_hook(nothing)
        return model, (torch.ones(4, 4),)

    assert {(str(each.hook), each.names) for each in asked(made).answers} == {
        ("b: forward", ("ArithmeticError: one",)),
        ("b: forward pre", ("ArithmeticError: other",)),
    }


def test_a_loss_of_several_values_is_named() -> None:
    put = hooked(Two(lambda layer, x: layer(x).mean()), register_forward_hook=["b"])
    made = asked(lambda: (*put(), {}, lambda output: output), ["eager", "vmap"])
    says = "fails without your hooks, too: ValueError: your loss has 4 values here, and must have one"
    assert made.unasked == {"vmap": says}


def test_which_of_many_hooks_are_meant_and_which_not() -> None:
    every = [Hook(kind, f"m{number}") for kind in (FORWARD, TENSOR) for number in range(9)] + [Hook(FULL, "m0")]
    found = [each for each in every if each.kind != FORWARD or each.site == "m3"]
    shown = screen.sites([each for each in found if each != Hook(TENSOR, "m5")], every)
    assert shown == "1 of 9 forward (m3), 8 of 9 tensor (not m5), all 1 full backward (m0)"
    many = [each for each in every if "m1" <= each.site <= "m5"]
    assert screen.sites(many, every) == "5 of 9 forward, 5 of 9 tensor, as m1 and m2"


@pytest.mark.parametrize(("kind", "clauses"), [(TENSOR, 0), (FULL, 1)])
def test_a_clause_of_backward_hooks_is_named_for_them(kind: str, clauses: int) -> None:
    (group,) = screen.groups([Answer("no_grad", Hook(kind, "a"), "never", "no_backward", by_nature=True)])
    assert len(group.clauses) == clauses


def test_a_copy_of_the_model_has_no_name_of_ours_afterwards() -> None:
    model = copy.deepcopy(Two())
    asked(lambda: (model, (torch.ones(4, 4),)), ["eager", "copy"])
    assert [name for each in model.modules() for name in vars(each) if "conformance" in name] == []
