"""What a check by somebody else found wrong: each answer is right now."""

from __future__ import annotations

import copy
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import nn

from fixtures.hooked import alike, compare, records, screen
from fixtures.stages.own import traced
from fixtures.stages.own.values import digest
from fixtures.stages.own.watch import Watch, watched
from suites.selfcheck.model.networks import Returns, Two, asked, faults, hooked, nothing


def test_what_torch_1_8_lacks_is_not_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(torch.autograd, "graph")
    monkeypatch.delattr(torch.nn.parameter, "is_lazy")
    watch, layer = Watch(), nn.Linear(2, 2)
    with watched(watch):
        layer.register_forward_hook(nothing)
    assert [each.kind for each in watch.registrations] == ["forward"]
    assert digest(torch.ones(2))[0][:3] == ("tensor", "float32", (2,))
    lazy: Any = torch.nn.parameter.UninitializedParameter()
    assert digest(lazy)[0][0] == "uninitialized parameter"


def test_a_hook_that_the_function_removes_is_none_of_the_model() -> None:
    def made() -> Any:
        model = Two()
        gone = [model.b.register_forward_hook(nothing), model.b.weight.register_hook(nothing)]
        gone.append(torch.autograd.graph.register_multi_grad_hook([model.a.weight, model.b.weight], nothing))
        model.b.register_forward_hook(nothing)
        for each in gone:
            each.remove()
        return model, (torch.ones(4, 4),)

    found = asked(made)
    assert list(map(str, found.hooks)) == ["b: forward"]
    assert found.answers == []


def test_a_hook_that_raises_is_one_of_yours_too() -> None:
    def raises(*_: Any) -> None:
        raise ArithmeticError

    def made() -> Any:
        model = Two()
        model.a.register_forward_hook(raises)
        model.b.register_forward_hook(nothing)
        return model, (torch.ones(4, 4),)

    found = asked(made)
    assert list(map(str, found.hooks)) == ["a: forward", "b: forward"]
    assert set(found.where) == set(found.hooks)
    assert faults(found) == {("a", "forward"): ("raises", "raises")}


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
def test_a_nested_tensor_is_its_parts() -> None:
    def pack(x: Any) -> Any:
        return torch.nested.as_nested_tensor([x[0, :2], x[1, :3]])

    one, other = digest(pack(torch.ones(2, 4, 4))), digest(pack(torch.ones(2, 4, 4) * 2))
    assert [leaf[0] for leaf in one] == ["container", "tensor", "tensor"]
    assert alike.difference(one, other) == "other values"
    assert alike.difference(digest(torch.ones(1)), one) == "other structure"
    assert compare._in_order({0: one}) == one  # a gradient is one, too
    model = Returns(pack, lambda found: sum(each.sum() for each in found.unbind()))
    found = asked(hooked(model, torch.ones(2, 4, 4), register_forward_hook=["packed"]))
    assert found.answers == []
    assert found.unasked == {}


def test_what_differs_in_grad_input_alone_is_told() -> None:
    model, hooks = Two(), ("register_full_backward_hook", "register_full_backward_pre_hook")
    put = hooked(model, **{each: ["b"] for each in hooks})

    def halved(model: Any, args: Any, kwargs: Any) -> Any:
        model.b.weight.data.mul_(0.5)
        return model(*args)

    found = asked(lambda: (*put(), {}, torch.sum), ["eager"], halved=halved)
    (told,) = found.answers
    assert (str(told.hook), told.verdict, told.way) == ("b: full backward", "given other values", "halved")


def test_hooks_share_a_star_only_where_each_site_has_the_same_kinds() -> None:
    def shown(*found: tuple[str, str]) -> str:
        hooks = [records.Hook(kind, site) for site, kind in found]
        return screen.sites(hooks, hooks)

    assert shown(("m.0", "forward"), ("m.2", "forward pre")) == "m.0: forward; m.2: forward pre"
    both = [(site, kind) for site in ("m.0", "m.2") for kind in ("forward", "forward pre")]
    assert shown(*both) == "m.* (2): forward, forward pre"
    assert shown(*both[:3]) == "m.0: forward, forward pre; m.2: forward"


def test_each_hook_that_raises_has_its_own_error() -> None:
    def raises(what: str) -> Any:
        def hook(*_: Any) -> None:
            raise ArithmeticError(what)

        return hook

    def made() -> Any:
        model = Two()
        model.a.register_forward_hook(raises("one"))
        model.b.register_forward_hook(raises("other"))
        return model, (torch.ones(4, 4),)

    assert [(str(each.hook), each.names) for each in asked(made).answers] == [
        ("a: forward", ("ArithmeticError: one",)),
        ("b: forward", ("ArithmeticError: other",)),
    ]


def test_where_torch_refuses_to_compile_its_own_error_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuses(_: Any) -> None:
        raise RuntimeError("Python 3.11+ not yet supported for torch.compile")

    monkeypatch.setattr(traced, "torch", SimpleNamespace(compile=refuses))  # as torch 2.0 is, before it compiles
    with pytest.raises(RuntimeError, match="not yet supported"):
        traced.inductor(nn.Linear(2, 2), (), {})


def test_a_hook_that_saves_a_tensor_moves_where_checkpoint_stops() -> None:
    def made() -> Any:
        model = Two()
        model.b.register_forward_hook(lambda _, __, output: output.clamp(-1, 1))
        return model, (torch.ones(4, 4),)

    assert faults(asked(made, ["eager", "checkpoint"])) == {("b", "forward"): ("more often (2 for 1)", "stopped")}


def test_hooks_that_came_with_a_copy_have_the_place_of_the_first() -> None:
    def made() -> Any:
        model = Two()
        model.a.register_forward_hook(nothing)
        model.b = copy.deepcopy(model.a)
        return model, (torch.ones(4, 4),)

    where = asked(made).where
    assert len(where) == 2
    assert len(set(where.values())) == 1
    assert where.popitem()[1] == f"test_repairs.py:{made.__code__.co_firstlineno + 2}"


def test_a_hook_that_nobody_saw_put_has_no_place() -> None:
    model = Two(lambda layer, x: layer.forward(x))
    model.b.register_forward_hook(nothing)
    found = asked(lambda: (model, (torch.ones(4, 4),)))
    assert list(found.where.values()) == [""]
    assert "never: b: forward\n" in screen.text(screen.Report("theirs", *found))


@pytest.mark.parametrize(("verdict", "clauses"), [("given other values", 0), ("given a batched tensor", 1)])
def test_the_clause_of_vmap_is_named_for_what_it_says(verdict: str, clauses: int) -> None:
    answer = records.Answer("vmap", records.Hook("forward", "a"), verdict, "values", by_nature=True)
    (group,) = screen.groups([answer])
    assert len(group.clauses) == clauses


def test_every_way_is_each_that_was_asked() -> None:
    hook = records.Hook("forward", "a")

    def shown(*ways: str) -> str:
        answers = [records.Answer(way, hook, "raises", "raises", ("no",)) for way in ways]
        report = screen.Report("theirs", "2.15.0", ["trace", "fx", "export"], [hook], {}, answers, {}, {}, {})
        return screen.text(report).splitlines()[1].partition("]")[0]

    assert shown("eager", "fx", "export") == "[eager, fx, export"  # eager is run next to each, trace does not raise
    assert shown("trace", "fx", "export") == "[every way"
