"""What study notes teach about backward hooks of modules, and where it holds.

Each clause is one sentence that learners meet. Its readings are called true and false: see which is in force.
"""

from typing import Any, List

from hypothesis import given
from hypothesis import strategies as st

from fixtures.judge.clause import Reading, clause
from fixtures.judge.subject import Subject
from fixtures.plan.draw import NUMBERS
from fixtures.plan.grammar import OPS, Backward, Forward, Hook, Input, Leaf, Plan, Retain

NOTES = "tutorials: widely read study notes, 2019-2022"
FULL = "docs: torch.nn.Module.register_full_backward_hook"
RESPECTIVELY = FULL + ' "with respect to the inputs and outputs respectively"'
LEGACY = "docs: torch.nn.Module.register_backward_hook"
NEEDS_FULL = "torch.nn.Module.register_full_backward_hook"


@st.composite
def two_inputs(draw: Any) -> Plan:
    """One module of two inputs with a full backward hook; the gradient of its output is kept."""
    op = draw(st.sampled_from(["mul", "add", "first"]))
    net = Leaf("m0", op, tuple(draw(NUMBERS) for _ in OPS[op][2]))
    steps = (Hook("full_backward", "m0", "h0"), Forward(), Retain("m0>0"), Backward((draw(NUMBERS),)))
    return Plan(net, (Input(draw(NUMBERS)), Input(draw(NUMBERS))), steps)


@clause(
    "tutorial.backward.t08_arguments",
    says="For y = x1*x2*W a full backward hook gets (x1.grad, x2.grad) and (y.grad,), and nothing about W.",
    source=(NOTES, RESPECTIVELY),
    readings=(
        Reading(
            "true",
            "",
            "A full backward hook gets the gradients of inputs and outputs, none of parameters.",
            value=False,
        ),
        Reading("false", "never", "The gradient of W is among those of the inputs.", value=True),
    ),
    witness={"xs": [2, 3], "weight": 5, "grad": 1, "hooks": 1},
    needs=NEEDS_FULL,
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
    source=(NOTES, RESPECTIVELY),
    readings=(
        Reading(
            "true",
            "",
            "grad_input has the gradients of the inputs in their order, grad_output that of the output.",
            value=("x0", "x1", "m0>0"),
        ),
        Reading("false", "never", "The gradient of the output comes first.", value=("m0>0", "x0", "x1")),
    ),
    witness=Plan(
        Leaf("m0", "mul"),
        (Input(2), Input(3)),
        (Hook("full_backward", "m0", "h0"), Forward(), Retain("m0>0"), Backward((1,))),
    ),
    needs=NEEDS_FULL,
)
@given(plan=two_inputs())
def test_t10_collected(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    _, grad_input, grad_output = trace.seen_by("h0")[0]
    grads = trace.grads()[0]
    assert list(grad_input + grad_output) == [grads[name] for name in subject.value]


@clause(
    "tutorial.backward.t09_retained_output",
    says="After output.retain_grad() output.grad is grad_output[0] of a full hook, if there is no pre-hook.",
    source=(
        NOTES,
        FULL,
        "test: test/test_autograd.py TestAutograd.test_retains_grad_can_always_observe_tensor_prehook",
        "release 2.0: retain_grad keeps the gradient that every hook of the tensor has left",
    ),
    concern="never",
    readings=(
        Reading(
            "true",
            ">=2.0",
            "output.grad and grad_output[0] are both what the tensor hooks of the output left.",
            value=True,
        ),
        Reading(
            "false",
            "<2.0",
            "A tensor hook put on the output after retain_grad() makes output.grad differ from grad_output[0].",
            value=False,
            headline=False,
            harm="silent",
        ),
    ),
    witness={"hooks": [10], "retained_first": True, "grad": 3},
    needs=NEEDS_FULL,
    note="The output may have tensor hooks. What a full backward pre-hook returns is never in output.grad.",
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
    "tutorial.backward.t26_use_tensor_hooks",
    says="No hook on a module can be trusted with the gradient of its input: only tensor hooks can.",
    source=(NOTES, LEGACY, RESPECTIVELY, "release 1.8: full backward hooks of modules"),
    about=("register_backward_hook", "register_full_backward_hook", "register_hook"),
    concern="never",
    readings=(
        Reading(
            "true",
            "<1.8",
            "The only backward hook of a module gets the gradients of its last operation.",
            value=[],
        ),
        Reading(
            "false",
            ">=1.8",
            "A full backward hook of a module gets the same gradient of the input as a hook on the input.",
            value=["register_full_backward_hook"],
            headline=False,
        ),
    ),
    witness={"factors": [3], "x": 2, "grad": 1},
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
