"""What study notes teach about backward hooks of modules, and where it holds.

Each clause is one sentence that learners meet. Its readings are called true and false: see which is in force.
"""

from typing import Any, List

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause import Reading, clause
from fixtures.draw import NUMBERS, plans
from fixtures.plan import OPS, Backward, Forward, Hook, Input, Leaf, Plan, Retain, Scale, hooks_of
from fixtures.subject import Subject

NOTES = "tutorials: widely read study notes, 2019-2022"
FULL = "docs: torch.nn.Module.register_full_backward_hook"
LEGACY = "docs: torch.nn.Module.register_backward_hook"
NEEDS_FULL = "torch.nn.Module.register_full_backward_hook"


@st.composite
def two_inputs(draw: Any) -> Plan:
    """One module of two inputs with a full backward hook; the gradient of its output is kept."""
    op = draw(st.sampled_from(["mul", "add", "first"]))
    net = Leaf("m0", op, tuple(draw(NUMBERS) for _ in OPS[op][2]))
    steps = (Hook("full_backward", "m0", "h0"), Forward(), Retain("m0>0"), Backward((draw(NUMBERS),)))
    return Plan(net, (Input(draw(NUMBERS)), Input(draw(NUMBERS))), steps)


def factor(hook: Hook) -> int:
    """What a hook multiplies the gradients by; 1 when it only looks."""
    return hook.do[0].by if hook.do else 1


@clause(
    "tutorial.backward.t08_arguments",
    says="For y = x1*x2*W a full backward hook gets (x1.grad, x2.grad) and (y.grad,), and nothing about W.",
    source=(NOTES, FULL),
    readings=(
        Reading("true", "", "Inputs on one side, the output on the other.", value=False),
        Reading("false", "never", "The gradient of W is among those of the inputs.", value=True),
    ),
    witness={"xs": [2, 3], "weight": 5, "grad": 1, "hooks": 1},
    needs=NEEDS_FULL,
    covers=("module_backward.arg.full.types", "graph.full.linear_args"),
)
@given(xs=st.lists(NUMBERS, min_size=1, max_size=3), weight=NUMBERS, grad=NUMBERS, hooks=st.integers(1, 3))
def test_t08_arguments(subject: Subject, xs: List[int], weight: int, grad: int, hooks: int) -> None:
    import torch

    def scalar(value: int) -> Any:
        return torch.tensor(float(value), requires_grad=True)

    class Product(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.W = torch.nn.Parameter(scalar(weight))

        def forward(self, *given: Any) -> Any:
            y = self.W
            for x in given:
                y = y * x
            return y

    product, seen, inputs = Product(), [], [scalar(x) for x in xs]
    for _ in range(hooks):
        product.register_full_backward_hook(
            lambda module, *grads: seen.append([[one.item() for one in side] for side in grads])
        )
    y = product(*inputs)
    y.retain_grad()
    y.backward(torch.tensor(float(grad)))
    assert y.grad.item() == grad
    of_weight = [product.W.grad.item()] if subject.value else []
    assert seen == [[[x.grad.item() for x in inputs] + of_weight, [grad]]] * hooks
    # Each gradient is the product of all the others: times its own factor they are all alike.
    assert {x.grad.item() * value for x, value in zip(inputs, xs)} == {y.item() * grad}


@clause(
    "tutorial.backward.t10_collected",
    says="Collecting grad_input, then grad_output, in one list gives [x1.grad, x2.grad, output.grad].",
    source=(NOTES, FULL),
    readings=(
        Reading(
            "true", "", "The gradients of the inputs in order, then that of the output.", value=("x0", "x1", "m0>0")
        ),
        Reading("false", "never", "The gradient of the output comes first.", value=("m0>0", "x0", "x1")),
    ),
    witness=Plan(
        Leaf("m0", "mul"),
        (Input(2), Input(3)),
        (Hook("full_backward", "m0", "h0"), Forward(), Retain("m0>0"), Backward((1,))),
    ),
    needs=NEEDS_FULL,
    covers=("module_backward.arg.full.types",),
)
@given(plan=two_inputs())
def test_t10_collected(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    _, grad_input, grad_output = trace.seen_by("h0")[0]
    grads = trace.grads()[0]
    assert list(grad_input + grad_output) == [grads[name] for name in subject.value]


@clause(
    "tutorial.backward.t09_retained_output",
    says="After output.retain_grad(), whatever hooks the output has, output.grad is the hook's grad_output[0].",
    source=(NOTES, FULL, "release 2.0: retain_grad keeps the gradient that every hook of the tensor has left"),
    readings=(
        Reading("true", ">=2.0", "Both are the gradient that the hooks of the output left.", value=True),
        Reading("false", "<2.0", "A tensor hook put on the output after retain_grad() makes them differ.", value=False),
    ),
    witness={"hooks": [10], "retained_first": True, "grad": 3},
    needs=NEEDS_FULL,
    covers=("tensor.rg.order_retain_then_hook",),
    note="Hooks of the output tensor are meant; what a full backward pre-hook returns is never in output.grad.",
)
@given(
    hooks=st.lists(st.sampled_from([2, 3, 10]), max_size=3),
    retained_first=st.booleans(),
    grad=NUMBERS,
)
def test_t09_retained_output(subject: Subject, hooks: List[int], retained_first: bool, grad: int) -> None:
    import torch

    class Double(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            return x * 2

    double, seen = Double(), []
    double.register_full_backward_hook(lambda module, grad_input, grad_output: seen.append(grad_output[0].item()))
    output = double(torch.tensor(2.0, requires_grad=True))
    if retained_first:
        output.retain_grad()
    left = grad
    for by in hooks:
        output.register_hook(lambda grad, by=by: grad * by)
        left *= by
    if not retained_first:
        output.retain_grad()
    output.backward(torch.tensor(float(grad)))
    assert (output.grad.item(), seen) == (left if subject.value or not retained_first else grad, [left])


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
            "In a sequence only index 0 is followed, in a dict only tensors; else the call raises.",
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
    covers=(
        "module_backward.legacy.out_dict",
        "module_backward.legacy.out_nested",
        "module_backward.legacy.out_nontensor_first",
        "graph.legacy.tuple_output_only_first",
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
        Reading("true", "", "The hook of a module that returns a leaf is silent.", value=0),
        Reading("false", "never", "It is called for the leaf that the module returns.", value=1),
    ),
    witness=Plan(Leaf("m0", "same"), (Input(2),), (Hook("backward", "m0", "h0"), Forward(), Backward((1,)))),
    covers=("module_backward.legacy.out_leaf", "module_backward.legacy.out_passthrough"),
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
            "Conv2d lists input, weight, bias; Linear lists bias, input, weight, the last transposed.",
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
    covers=(
        "module_backward.legacy.linear_bias_norg",
        "graph.legacy.conv2d_input_no_grad",
        "module_backward.legacy.sequential",
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
    source=(NOTES, LEGACY),
    readings=(
        Reading("true", "", "The replacement reaches .grad.", value="replaced"),
        Reading("false", "never", "The gradients stay as they were.", value="kept"),
    ),
    witness=Plan(
        Leaf("m0", "scale", (2,)), (Input(3),), (Hook("backward", "m0", "h0", (Scale(10),)), Forward(), Backward((1,)))
    ),
    covers=("graph.legacy.return_replaces",),
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


@clause(
    "tutorial.backward.t26_use_tensor_hooks",
    says="No hook on a module can be trusted with the gradient of its input: only tensor hooks can.",
    source=(NOTES, LEGACY, FULL, "release 1.8: full backward hooks of modules"),
    readings=(
        Reading("true", "<1.8", "The one backward hook there is tells of the last operation only.", value=[]),
        Reading(
            "false",
            ">=1.8",
            "A full backward hook tells the gradient of the input.",
            value=["register_full_backward_hook"],
        ),
    ),
    witness={"factors": [3], "x": 2, "grad": 1},
    covers=("module_backward.legacy.multi_op", "graph.full.basic_args"),
)
@given(factors=st.lists(st.sampled_from([2, 3, -2]), min_size=1, max_size=3), x=NUMBERS, grad=NUMBERS)
def test_t26_use_tensor_hooks(subject: Subject, factors: List[int], x: int, grad: int) -> None:
    import torch

    class Steps(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            for factor in factors:
                x = x * factor + 1
            return x

    trusted = []
    for name in dir(Steps):
        if name.startswith("register_") and name.endswith("backward_hook"):
            steps, by_module, by_tensor = Steps(), [], []
            tensor = torch.tensor(float(x), requires_grad=True)
            tensor.register_hook(lambda grad, seen=by_tensor: seen.append(grad.item()))
            getattr(steps, name)(
                lambda module, grad_input, grad_output, seen=by_module: seen.append(grad_input[0].item())
            )
            steps(tensor).backward(torch.tensor(float(grad)))
            assert by_tensor == [tensor.grad.item()]
            if by_module == by_tensor:
                trusted.append(name)
    assert trusted == subject.value
