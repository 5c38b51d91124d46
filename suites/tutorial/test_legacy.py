"""What study notes teach about legacy backward hooks, those of register_backward_hook(), and where it holds.

Each clause is one sentence that learners meet. Its readings are called true and false: see which is in force.
"""

from typing import Any

from hypothesis import given

from fixtures.judge.clause import Reading, clause
from fixtures.judge.subject import Subject
from fixtures.plan.draw import plans
from fixtures.plan.grammar import Backward, Forward, Hook, Input, Leaf, Plan, Scale, hooks_of

NOTES = "tutorials: widely read study notes, 2019-2022"
LEGACY = "docs: torch.nn.Module.register_backward_hook"


def factor(hook: Hook) -> int:
    """What a hook multiplies the gradients by; 1 when it only looks."""
    return hook.do[0].by if hook.do else 1


@clause(
    "tutorial.backward.t18_first_tensor",
    says="register_backward_hook() hooks the node of the first tensor that is found in the output.",
    source=(NOTES, LEGACY, "measured"),
    readings=(
        Reading(
            "true",
            "never",
            "The first tensor is found wherever it lies.",
            value={
                "tuple": ["first"],
                "list in tuple": ["first"],
                "dict": ["first"],
                "number in tuple": ["first"],
                "number in dict": ["first"],
                "tuple in dict": ["first"],
            },
        ),
        Reading(
            "false",
            "",
            "A legacy hook goes to index 0 of a tuple or list, to the first tensor of a dict; else the call raises.",
            headline=False,
            harm="error",
            value={
                "tuple": ["first"],
                "list in tuple": ["first"],
                "dict": ["first"],
                "number in tuple": ["TypeError"],
                "number in dict": ["first"],
                "tuple in dict": ["StopIteration"],
            },
        ),
    ),
    note="True for the outputs of most modules: tensors, tuples and lists that begin with one, dicts of tensors.",
)
def test_t18_first_tensor(subject: Subject) -> None:
    import torch

    shapes = {
        "tuple": lambda first, second: (first, second),
        "list in tuple": lambda first, second: ([first], second),
        "dict": lambda first, second: {"b": first, "a": second},
        "number in tuple": lambda first, second: (1, first, second),
        "number in dict": lambda first, second: {"c": 1, "b": first, "a": second},
        "tuple in dict": lambda first, second: {"b": (first, second)},
    }

    class Twins(torch.nn.Module):
        def __init__(self, shape: Any) -> None:
            super().__init__()
            self.shape = shape

        def forward(self, x: Any) -> Any:
            self.made = {"first": x * 2, "second": x * 3}
            return self.shape(**self.made)

    hooked = {}
    for name, shape in shapes.items():
        twins, nodes = Twins(shape), []

        def hook(module: Any, grad_input: Any, grad_output: Any, nodes: Any = nodes) -> None:
            nodes.append({1.0: "first", 10.0: "second"}[grad_output[0].item()])

        twins.register_backward_hook(hook)
        try:
            twins(torch.tensor(1.0, requires_grad=True))
            (twins.made["first"] + 10 * twins.made["second"]).backward()
        except (TypeError, StopIteration) as error:
            nodes.append(type(error).__name__)
        hooked[name] = nodes
    assert hooked == subject.value


@clause(
    "tutorial.backward.t19_no_node",
    says="When the first tensor of the output has no grad_fn, a legacy hook is not called and nothing raises.",
    source=(NOTES, LEGACY, "measured"),
    readings=(
        Reading(
            "true",
            "",
            "The legacy hook of a module that returns a leaf is never called, and nothing raises.",
            value=0,
        ),
        Reading("false", "never", "It is called for the leaf that the module returns.", value=1),
    ),
    witness=Plan(Leaf("m0", "same"), (Input(2),), (Hook("backward", "m0", "h0"), Forward(), Backward((1,)))),
    note="A tensor that was computed has a node: returned unchanged, it lets the hook hear its producer.",
)
@given(plan=plans(kinds=("backward",), does=(), ops=("same",), depth=0, most=1))
def test_t19_no_node(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    assert trace.raised() == []
    assert len(trace.calls()) == (subject.value if plan.inputs[0].leaf else 1)


@clause(
    "tutorial.backward.t20_last_operation",
    says="A legacy hook gets the gradients of the last operation: input (or None), weight and bias, mixed.",
    source=(NOTES, LEGACY, "measured"),
    readings=(
        Reading(
            "true",
            "",
            "For Conv2d a legacy hook gets input, weight, bias; for Linear bias, input and transposed weight.",
            value={
                "Conv2d": ["None", "weight", "bias"],
                "Linear": ["bias", "None", "weight transposed"],
                "Sequential": ["hidden"],
            },
        ),
        Reading(
            "false",
            "never",
            "Both list input, weight and bias in this order; a container does the same.",
            value={
                "Conv2d": ["None", "weight", "bias"],
                "Linear": ["None", "weight", "bias"],
                "Sequential": ["None", "weight", "bias"],
            },
        ),
    ),
    note="For a batch of vectors or images. Linear on 3-D input ends in another operation, which changed in 1.12.",
)
def test_t20_last_operation(subject: Subject) -> None:
    import torch
    from torch import nn

    linear = nn.Linear(2, 3)
    layers = {
        "Conv2d": (nn.Conv2d(1, 1, 2), torch.ones(1, 1, 3, 3)),
        "Linear": (nn.Linear(2, 3), torch.ones(4, 2)),
        "Sequential": (nn.Sequential(linear, nn.ReLU()), torch.ones(4, 2)),
    }
    listed = {}
    for name, (layer, x) in layers.items():
        seen = []
        layer.register_backward_hook(lambda module, grad_input, grad_output, seen=seen: seen.extend(grad_input))
        layer(x).sum().backward()
        inner = linear if name == "Sequential" else layer
        known = {
            tuple(inner.weight.shape): "weight",
            tuple(reversed(inner.weight.shape)): "weight transposed",
            tuple(inner.bias.shape): "bias",
        }
        listed[name] = ["None" if grad is None else known.get(tuple(grad.shape), "hidden") for grad in seen]
    assert listed == subject.value


@clause(
    "tutorial.backward.t21_returns",
    says="What a legacy hook returns replaces the gradients it was given as grad_input.",
    source=(NOTES, LEGACY, "measured"),
    readings=(
        Reading("true", "", "Gradients that a legacy hook returns go on and reach .grad.", value="replaced"),
        Reading("false", "never", "The gradients stay as they were.", value="kept"),
    ),
    witness=Plan(
        Leaf("m0", "scale", (2,)), (Input(3),), (Hook("backward", "m0", "h0", (Scale(10),)), Forward(), Backward((1,)))
    ),
)
@given(plan=plans(kinds=("backward",), does=("scale",), ops=("scale",), depth=0))
def test_t21_returns(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    (x,), (weight,), (first,) = plan.inputs, plan.net.values, plan.steps[-1].grads
    product = 1
    for hook in hooks_of(plan):
        product *= factor(hook) if subject.value == "replaced" else 1
    if x.leaf:
        expected = {"x0": weight * first * product, "m0.weight": x.value * first * product}
    else:
        expected = {"x0.base": 2 * weight * first * product, "m0.weight": 2 * x.value * first * product}
    assert trace.grads() == [expected]
