"""Known silences of torch are found, with their cause; and what a first prototype said wrongly is not said."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn

from fixtures.hooked import alike, records
from suites.selfcheck.model.networks import CHEAP, ModelOutput, Returns, Two, asked, faults, hooked, natures, nothing

FORWARD, FULL, TENSOR = records.FORWARD, records.FULL, records.TENSOR


def encoder(train: bool) -> nn.Module:
    layer = nn.TransformerEncoderLayer(8, 2, 8, batch_first=True)
    return nn.TransformerEncoder(layer, 1, enable_nested_tensor=False).train(train)


def recurrent() -> nn.Module:
    class Recurrent(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.lstm, self.head = nn.LSTM(4, 4, batch_first=True), nn.Linear(4, 2)

        def forward(self, x: Any) -> Any:
            _, (hidden, _) = self.lstm(x)
            return self.head(hidden[-1])

    return Recurrent()


# silences


def test_the_output_projection_of_attention_is_never_called() -> None:
    site = "layers.0.self_attn.out_proj"
    made = asked(hooked(encoder(True), torch.ones(2, 3, 8), register_forward_hook=[site]), CHEAP)
    assert faults(made) == {(site, FORWARD): ("never", "weights")}
    (answer,) = [each for each in made.answers if each.way == "eager"]
    assert answer.names == ("layers.0.self_attn", "MultiheadAttention")


@pytest.mark.parametrize("way", ["no_grad", "inference"])
def test_a_fast_path_is_left_because_of_a_hook(way: str) -> None:
    made = asked(
        hooked(encoder(False), torch.ones(2, 3, 8), register_forward_hook=["layers.0.linear1"]), ["eager", way]
    )
    assert faults(made) == {("layers.0.linear1", FORWARD): ("only because a hook is there", "path")}


def test_a_model_that_uses_the_weights_of_its_layer() -> None:
    model = Two(lambda layer, x: nn.functional.linear(x, layer.weight, layer.bias))
    made = asked(hooked(model, register_forward_hook=["b"]))
    assert [(each.cause, each.names) for each in made.answers] == [("weights", ("the model itself", "Two"))]


def test_a_path_that_a_hook_does_not_change() -> None:
    model = Two(lambda layer, x: layer(x) if layer.training else x)
    made = asked(hooked(model, register_forward_hook=["b"]), ["eager", "eval"])
    assert faults(made) == {("b", FORWARD): ("never", "skipped")}


def test_hooks_that_return_nothing_and_change_the_outputs_are_told() -> None:
    model = Two(lambda layer, x: layer(x) if layer._forward_hooks else layer(x) + 1)
    assert faults(asked(hooked(model, register_forward_hook=["b"])))["", ""][1] == "outputs"


PACKED: dict[str, tuple[Any, Any, str]] = {
    "dict": (lambda y: {"y": y}, lambda out: out["y"], "type"),
    "ModelOutput": (lambda y: ModelOutput(y=y), lambda out: out["y"], "type"),
    "list": (lambda y: [y], lambda out: out[0], "type"),
    "tuple": (lambda y: (1, (y, y)), lambda out: out[1][0], "nested"),
}


@pytest.mark.parametrize("container", PACKED)
def test_full_backward_hooks_do_not_look_into(container: str) -> None:
    pack, unpack, cause = PACKED[container]
    made = asked(hooked(Returns(pack, unpack), register_full_backward_hook=["packed", "packed.inner"]))
    assert faults(made) == {("packed", FULL): ("never", cause)}
    if cause == "type":
        assert made.answers[0].names == (container,)


def test_keyword_inputs_are_missing_from_grad_input() -> None:
    model = Two(lambda layer, x: layer(input=x))
    assert faults(asked(hooked(model, register_full_backward_hook=["b"]))) == {
        ("b", FULL): ("without grad_input", "keywords")
    }


def test_a_copy_has_no_hooks_of_parameters() -> None:
    made = asked(hooked(Two(), register_hook=["b.weight"]), ["eager", "copy"])
    assert faults(made) == {("b.weight", TENSOR): ("never", "copy")}


def test_functional_call_has_other_parameters() -> None:
    made = asked(hooked(Two(), register_hook=["b.weight"]), ["eager", "functional_call"])
    assert faults(made) == {("b.weight", TENSOR): ("never", "replaced")}


def test_vmap_calls_no_backward_hook_inside() -> None:
    made = asked(hooked(Two(), register_full_backward_hook=["b"]), ["eager", "vmap"])
    assert faults(made) == {("b", FULL): ("never", "batched")}


def test_parameters_that_a_way_replaces_are_told() -> None:
    def offloaded(model: Any, args: Any, kwargs: Any) -> Any:
        for layer in model.children():
            layer.weight = nn.Parameter(layer.weight.detach().clone())
        return model(*args)

    made = asked(hooked(Two(), register_hook=["b.weight"]), ["eager"], offloaded=offloaded)
    assert faults(made)["b.weight", TENSOR] == ("never", "replaced")
    assert {site for site, kind in faults(made) if kind == "parameter"} == {"a.weight", "b.weight"}


def test_a_copy_of_a_bound_method_is_called() -> None:
    class Store:
        def put(self, *_: Any) -> None:
            pass

    def made() -> Any:
        model = Two()
        model.b.register_forward_hook(Store().put)
        return model, (torch.ones(4, 4),)

    assert faults(asked(made, ["eager", "copy"]))["b", FORWARD] == ("a copy of your hook is called", "copied_hook")


def test_a_hook_on_a_module_that_is_not_in_the_model() -> None:
    def made() -> Any:
        nn.Linear(4, 4).register_forward_hook(nothing)
        return Two(), (torch.ones(4, 4),)

    assert [each[1] for each in faults(asked(made)).values()] == ["outside"]


# what a prototype said wrongly, a to n


def test_a_checkpoint_that_stops_early_is_no_path_of_hooks() -> None:
    made = asked(
        hooked(Two(), register_forward_pre_hook=["a", "b"], register_forward_hook=["a", "b"]), ["eager", "checkpoint"]
    )
    assert faults(made) == {}
    often = {(each.hook.site, each.hook.kind): each.verdict for each in natures(made, "checkpoint") if each.hook}
    twice = "more often (2 for 1)"
    assert often == {("a", records.FORWARD_PRE): twice, ("a", FORWARD): twice, ("b", records.FORWARD_PRE): twice}


def test_b_gradients_behind_a_layer_norm_are_no_noise() -> None:
    model = nn.Sequential(nn.Linear(4, 4), nn.LayerNorm(4))
    made = asked(
        hooked(model, torch.randn(4, 4), register_hook=["0.weight"]), ["eager", "reentrant", "checkpoint", "copy"]
    )
    assert {each.verdict for each in made.answers if each.way != "copy"} == set()


def test_c_other_random_numbers_are_told_from_other_values() -> None:
    model = nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.5), nn.Linear(4, 4))
    made = asked(hooked(model, torch.randn(6, 4), register_hook=["0.weight"]), ["eager", "vmap"])
    assert [(each.verdict, each.cause) for each in made.answers] == [("given other values", "random")]


@pytest.mark.parametrize("way", ["functional_call", "parallel", "vmap"])
def test_d_and_m_a_frozen_parameter_stays_frozen(way: str) -> None:
    model = Two()
    model.a.requires_grad_(False)
    made = asked(hooked(model, register_full_backward_hook=["a"]), ["eager", way])
    assert {each.verdict for each in made.answers} == {"never"}


def test_e_what_a_model_does_in_eager_too_is_no_way_of_its_own() -> None:
    class Replaces(Two):
        def forward(self, x: Any) -> Any:
            self.a.weight = nn.Parameter(self.a.weight.detach().clone())
            return super().forward(x)

    made = asked(hooked(Replaces(), register_forward_hook=["b"]), ["eager", "eval", "autocast"])
    assert faults(made) == {}


def test_f_a_tied_module_is_not_used_by_its_parent() -> None:
    class Tied(Two):
        def __init__(self) -> None:
            super().__init__()
            self.c = nn.Linear(4, 4)
            self.c.weight = self.b.weight

    made = asked(hooked(Tied(), register_forward_hook=["c"]))
    assert faults(made) == {("c", FORWARD): ("never", "tied")}
    assert made.answers[0].names == ("b",)


def test_g_an_output_that_nothing_uses_is_no_missing_call() -> None:
    model = Returns(lambda y: (y, y * 2), lambda out: out[0])
    hooks = {"register_full_backward_hook": ["packed"], "register_full_backward_pre_hook": ["packed"]}
    assert asked(hooked(model, **hooks), ["eager", "checkpoint", "reentrant"]).answers == []


def test_h_a_recurrent_layer_of_which_the_state_is_used() -> None:
    made = asked(hooked(recurrent(), torch.ones(2, 3, 4), register_full_backward_hook=["lstm", "head"]))
    assert faults(made) == {("lstm", FULL): ("never", "nested")}


def test_i_the_order_of_gradients_is_free() -> None:
    one, two = ((("tensor", "float32", (1,), value, value),) for value in (1.0, 2.0))
    assert alike.match([one, two], [two, one], 0.0) == ""
    assert alike.match([one, two], [two, two], 0.0) == "other values"


def test_j_nothing_but_the_hooks_of_the_user_is_on_the_model() -> None:
    seen: list[int] = []

    class Looks(Two):
        def forward(self, x: Any) -> Any:
            tables = [vars(each)[name] for each in self.modules() for name in vars(each) if name.endswith("_hooks")]
            seen.append(sum(map(len, tables)))
            return super().forward(x)

    asked(hooked(Looks(), register_forward_hook=["b"]), CHEAP)
    assert set(seen) == {0, 1}


def test_k_what_raises_is_found_by_module() -> None:
    model = nn.Sequential(nn.Linear(4, 4), nn.ReLU(inplace=True), nn.Linear(4, 4))
    hooks = {"register_full_backward_hook": ["", "0", "1", "2"], "register_forward_hook": ["", "0", "1", "2"]}
    made = asked(hooked(model, **hooks), ["eager", "no_grad"])
    assert faults(made, "eager") == {("0", FULL): ("raises", "in_place_after"), ("1", FULL): ("raises", "in_place")}
    assert faults(made, "no_grad") == {
        ("0", FULL): ("never", "no_backward"),
        ("1", FULL): ("never", "no_backward"),
    } or not faults(made, "no_grad")


def test_n_a_parametrized_layer_has_hooks_as_any_other() -> None:
    model = nn.Sequential(nn.utils.parametrizations.weight_norm(nn.Linear(4, 4)), nn.Linear(4, 4))
    hooks = {"register_forward_hook": ["0", "0.parametrizations.weight"], "register_full_backward_hook": ["0"]}
    assert asked(hooked(model, **hooks)).answers == []
