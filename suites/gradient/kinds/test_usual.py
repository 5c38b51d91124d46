"""What a tensor hook is called with, and the dtype and strides of a gradient; custom Functions and tensor classes."""

from math import prod
from typing import Any, List

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import by_release, clause
from fixtures.draw.contract import by_contract
from fixtures.draw.plans import FACTORS, NUMBERS
from fixtures.judge.subject import Subject
from fixtures.plan.grammar import Backward, Forward, Hook, Input, Leaf, Like, Of, Plan, Remove, Scale
from fixtures.stages.make import make
from suites.gradient.sources import LAYOUT, REPLACES, SIGNATURE
from suites.tensors import multiplies

ABOUT = "register_hook"

#: Passes that begin at three numbers.
PASSES = st.lists(st.builds(lambda first: Backward((Like(first),)), NUMBERS), max_size=3)


@clause(
    "gradient.kinds.argument",
    says="A tensor hook is called with one positional argument, the gradient, and no keyword arguments.",
    where="the gradient is not None",
    see="gradient.undefined.unused_output",
    source=SIGNATURE,
    asked="what parameters does callback receive signature grad only does it get the tensor name or module",
    value=1,
    wrong={"tensor and gradient": 2},
    witness={"on": [0], "passes": 1},
)
@given(on=st.lists(st.integers(0, 2), min_size=1, max_size=4), passes=st.integers(1, 2))
def test_argument(subject: Subject, on: List[int], passes: int) -> None:
    import torch

    seen: List[Any] = []
    x = make.ones((), dtype=torch.float64, requires_grad=True)
    y = 2 * x
    tensors = (x, y, 3 * y)

    def hook(*args: Any, **kwargs: Any) -> None:
        seen.append((len(args), kwargs, [isinstance(grad, torch.Tensor) for grad in args]))

    for place in on:
        tensors[place].register_hook(hook)
    for _ in range(passes):
        tensors[-1].backward(retain_graph=True)
    assert seen == [(subject.value, {}, [True] * subject.value)] * len(on) * passes


@clause(
    "gradient.kinds.example",
    says="As in the documentation's example, a tensor hook grad * 2 on a leaf doubles what .grad gets.",
    where=("it is the leaf's only tensor hook", "the gradient is not None"),
    see="gradient.undefined.example_fails",
    source='docs: torch.Tensor.register_hook "lambda grad: grad * 2) # double the gradient"',
    asked="simple tutorial double the gradient scale learning rate of one parameter with lambda",
)
@given(
    plan=st.builds(
        lambda doubled, plain: Plan(
            Leaf("m0", "same"),
            (Input(Of(0, (3,), "float32")),),
            (Hook("tensor", "x0", "h0", (Scale(2),)), Forward(), *doubled, Remove("h0"), *plain),
        ),
        PASSES,
        PASSES,
    ).filter(lambda plan: len(plan.steps) > 3)
)
def test_example(subject: Subject, plan: Plan) -> None:
    removed, expected = plan.steps.index(Remove("h0")), [0, 0, 0]
    for place, grads in zip([*range(2, removed), *range(removed + 1, len(plan.steps))], subject.holds(plan).grads()):
        first = plan.steps[place].grads[0].value
        expected = [old + (first + more) * (2 if place < removed else 1) for more, old in enumerate(expected)]
        assert grads["x0"].numbers == expected


DTYPES = ("float32", "float64", "float16")
#: The grad_dtype that is set on the leaf; None leaves it alone, as every torch does that has none.
OWN = by_contract(lambda contract: st.none() | st.sampled_from(DTYPES) if contract.grad_dtype else st.none())


@clause(
    "gradient.kinds.dtype",
    says="A tensor hook is given a gradient in the dtype of its tensor, or in the grad_dtype set on the leaf.",
    where=("grad_dtype is not None", "the dtype of the tensor stays"),
    source='docs: torch.Tensor.grad_dtype "the autograd engine casts incoming gradients to this dtype"',
    asked="is grad float16 or float32 inside hook amp autocast bfloat16 weight precision",
    value="tensor",
    wrong={"the loss's": "loss"},
    witness={"casts": ["float32", "float64"], "own": "float32"},
)
@given(casts=st.lists(st.sampled_from(DTYPES), min_size=1, max_size=4), own=OWN)
def test_dtype(subject: Subject, casts: List[str], own: Any) -> None:
    import torch

    seen: List[str] = []
    x = make.ones((), dtype=getattr(torch, casts[0]), requires_grad=True)
    if own is not None:
        x.grad_dtype = getattr(torch, own)
    row = [x]
    for name in casts[1:]:
        # A cast to the dtype that a tensor has gives that tensor itself, which then has two hooks.
        row.append(row[-1].to(getattr(torch, name)))
    for tensor in row:
        tensor.register_hook(lambda grad: seen.append(str(grad.dtype)))
    row[-1].backward()
    dtypes = [own if own and tensor is x else name for tensor, name in zip(row, casts)]
    expected = dtypes[::-1] if subject.value == "tensor" else casts[-1:] * len(row)
    assert seen == [f"torch.{name}" for name in expected]


@clause(
    "gradient.kinds.strides",
    says="A permuted leaf gets a .grad with the leaf's strides, whatever those of the gradient.",
    where=(".grad was None", "the leaf has no gaps, and no size is 1"),
    source=LAYOUT,
    asked="grad not contiguous transposed or channels_last parameter memory format memory layout mismatch warning",
    matters_if="tensor ?strided",
    readings=by_release(
        "silent",
        ("1.6", "the leaf's", "leaf"),
        "The .grad of a permuted leaf has the leaf's strides, the gradient in its hook may have others.",
        ("", "the gradient's", "gradient"),
        "The .grad of a permuted leaf has the strides of the gradient in its hook, not the leaf's.",
    ),
    witness={"sizes": [2, 3], "order": [1, 0]},
)
@given(sizes=st.lists(st.integers(2, 4), min_size=2, max_size=3), order=st.permutations([0, 1, 2]))
def test_strides(subject: Subject, sizes: List[int], order: List[int]) -> None:

    seen: List[Any] = []
    x = make.ones(sizes).permute([place for place in order if place < len(sizes)]).requires_grad_()
    x.register_hook(seen.append)
    factor = make.ones(x.shape)
    (factor * x * factor).sum().backward()
    kept = x if subject.value == "leaf" else factor
    assert [grad.stride() for grad in (*seen, x.grad)] == [factor.stride(), kept.stride()]


@clause(
    "gradient.kinds.custom_function",
    says="Tensor hooks on the output of a custom Function run before Function.backward, which gets what they leave.",
    where="the Function has one output",
    source=(REPLACES, "docs: torch.autograd.Function"),
    asked="autograd function apply result grad_output clipped order straight through estimator who goes first",
    value="before",
    wrong={"after": "after"},
    witness={"row": [[10]], "at_leaf": 1},
)
@given(row=st.lists(st.lists(FACTORS, max_size=2), min_size=1, max_size=3), at_leaf=FACTORS)
def test_custom_function(subject: Subject, row: List[List[int]], at_leaf: int) -> None:
    import torch

    seen: List[float] = []

    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            seen.append(grad.item())
            return grad * 2

    x = make.ones((), dtype=torch.float64, requires_grad=True)
    y = x
    for factors in row:
        y = Double.apply(y)
        for by in factors:
            y.register_hook(multiplies(by))
    x.register_hook(multiplies(at_leaf))
    y.backward()
    grad, expected = 1, []
    for factors in reversed(row):
        expected.append(grad * (prod(factors) if subject.value == "before" else 1))
        grad *= 2 * prod(factors)
    assert (seen, x.grad.item()) == (expected, grad * at_leaf)


@clause(
    "gradient.kinds.subclass",
    says="x.register_hook(h) on a tensor subclass calls its __torch_function__, which can leave h unregistered.",
    where="its __torch_function__ is a method, not disabled",
    source=(
        'code: torch/_tensor.py "handle_torch_function(Tensor.register_hook, (self,), self, hook)"',
        "docs: torch.overrides.get_overridable_functions",
    ),
    asked="custom tensor class wrapper intercepts hook silently never called dtensor override",
    needs="torch.overrides",
    value=True,
    wrong={"does not": False},
    witness={"hooks": 1, "passes_on": False},
)
@given(hooks=st.integers(1, 3), passes_on=st.booleans())
def test_subclass(subject: Subject, hooks: int, passes_on: bool) -> None:
    import torch

    names: List[str] = []
    calls: List[int] = []

    class Traced(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            name = getattr(func, "__name__", "")
            names.append(name)
            if name == "register_hook" and not passes_on:
                return None
            return super().__torch_function__(func, types, args, kwargs or {})

    x = make.ones(()).as_subclass(Traced).requires_grad_()
    for number in range(hooks):
        x.register_hook(lambda grad, number=number: calls.append(number))
    (2 * x).backward()
    registered = [*range(hooks)] if passes_on or not subject.value else []
    assert (names.count("register_hook"), calls) == (hooks if subject.value else 0, registered)
