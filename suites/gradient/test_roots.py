"""Where a pass begins and how it is asked for: leaves as roots, roots without gradient, batches, filled-in zeros."""

from functools import partial
from math import prod
from typing import Any, List

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import by_release, clause
from fixtures.draw.plans import FACTORS, NUMBERS
from fixtures.judge.subject import Subject
from fixtures.plan.grammar import Backward, Forward, Hook, Input, Leaf, Plan, Scale
from fixtures.stages.make import make
from suites.names import GRAD_DOCS, HOOKS_IN_ORDER, POST_ACCUMULATE
from suites.tensors import item, leaf, multiplies, outcome

ABOUT = "register_hook"


@clause(
    "gradient.roots.leaf",
    says="leaf.backward(g) gives g to the tensor hook of that leaf; .grad adds up what the hook returns.",
    where=("there is no other hook or use", "g has the leaf's dtype"),
    source='docs: torch.Tensor.register_hook "v.backward(torch.tensor([1., 2., 3.]))"',
    asked="call backward directly on parameter or input no operation does its callback trigger",
)
@given(
    plan=st.builds(
        lambda by, value, grads: Plan(
            Leaf("m0", "same"),
            (Input(value),),
            (Hook("tensor", "x0", "h0", (Scale(by),)), Forward(), *(Backward((grad,)) for grad in grads)),
        ),
        FACTORS,
        NUMBERS,
        st.lists(NUMBERS, min_size=1, max_size=3),
    )
)
def test_leaf(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    starts = [step.grads for step in plan.steps if isinstance(step, Backward)]
    assert trace.seen_by("h0") == starts
    assert trace.grads()[-1]["x0"] == sum(grad for (grad,) in starts) * plan.steps[0].do[0].by


@clause(
    "gradient.roots.no_gradient",
    says="backward() without a gradient on a tensor of several elements raises RuntimeError and calls no hook.",
    source='docs: torch.Tensor.backward "the function additionally requires specifying a ``gradient``"',
    asked="grad can be implicitly created only for scalar outputs non scalar loss callback never fires",
    value=False,
    wrong={"ones": True},
    witness={"shape": [2], "factors": [1], "leaf_too": False},
)
@given(
    shape=st.lists(st.integers(1, 2), max_size=3),
    factors=st.lists(FACTORS, min_size=1, max_size=3),
    leaf_too=st.booleans(),
)
def test_no_gradient(subject: Subject, shape: List[int], factors: List[int], leaf_too: bool) -> None:
    import torch

    calls: List[Any] = []
    x = make.ones(shape, dtype=torch.float64, requires_grad=True)
    y = 2 * x
    if leaf_too:
        x.register_hook(calls.append)
    for by in factors:
        y.register_hook(multiplies(by, calls.append))
    result = outcome(y.backward)
    if prod(shape) == 1 or subject.value:
        expected: Any = ("accepted", len(factors) + leaf_too, make.full(shape, 2.0 * prod(factors)).tolist())
    else:
        expected = ("RuntimeError", 0, None)
    assert (result, len(calls), item(x.grad)) == expected


@clause(
    "gradient.roots.batch",
    says="autograd.grad(y, x, g, is_grads_batched=True) calls each tensor hook of x once, with one gradient's shape.",
    where="y is made from x",
    source=(GRAD_DOCS, HOOKS_IN_ORDER),
    asked="vectorized jacobian vmap batched vector products hook shape does callback see batch dimension",
    level="observed",
    about=("register_hook", "autograd.grad"),
    matters_if="tensor ?asked ?is_grads_batched",
    needs="torch.autograd.grad(is_grads_batched)",
    readings=by_release(
        "silent",
        ("2.0", "hooks of inputs too", True),
        "With is_grads_batched tensor hooks of inputs and of non-leaf tensors are called once, and may replace.",
        ("", "no hooks of inputs", False),
        "With is_grads_batched a tensor hook of a non-leaf tensor is called once, one of an input not at all.",
    ),
    witness={"rows": [[1, 0], [0, 1]], "inner": [10], "inputs": [3]},
)
@given(
    rows=st.lists(st.lists(NUMBERS, min_size=2, max_size=2), min_size=1, max_size=3),
    inner=st.lists(FACTORS, max_size=2),
    inputs=st.lists(FACTORS, max_size=2),
)
def test_batch(subject: Subject, rows: List[List[int]], inner: List[int], inputs: List[int]) -> None:
    import torch

    seen: List[Any] = []
    x = make.ones(2, dtype=torch.float64, requires_grad=True)
    y = 2 * x
    for name, tensor, factors in (("y", y, inner), ("x", x, inputs)):
        for by in factors:
            tensor.register_hook(multiplies(by, lambda grad, name=name: seen.append((name, tuple(grad.shape)))))
    # A tuple: torch 1.11 takes no other sequence.
    gradients = (make.tensor(rows, dtype=torch.float64),)
    (grads,) = torch.autograd.grad((1 * y,), (x,), gradients, is_grads_batched=True)
    called = [("y", by) for by in inner] + [("x", by) for by in inputs if subject.value]
    factor = 2 * prod(by for _, by in called)
    assert seen == [(name, (2,)) for name, _ in called]
    assert grads.tolist() == [[factor * value for value in row] for row in rows]


@clause(
    "gradient.roots.zeros_for_the_unused",
    says="With materialize_grads=True autograd.grad calls no tensor hook of a leaf that is not in the loss's graph.",
    see="gradient.undefined.asked",
    source=GRAD_DOCS,
    asked="allow_unused parameter not part of loss gets zero filled gradient callback never fires",
    about=("register_hook", "autograd.grad"),
    needs="torch.autograd.grad(materialize_grads)",
    value=False,
    wrong={"hooked": True},
    witness={"uses": [2, 0]},
)
@given(uses=st.lists(st.just(0) | NUMBERS, min_size=1, max_size=4).filter(any))
def test_zeros_for_the_unused(subject: Subject, uses: List[int]) -> None:
    import torch

    calls: List[int] = []
    tensors = [leaf(1) for _ in uses]

    def hook(number: int, grad: Any) -> Any:
        calls.append(number)
        return grad + 7

    for number, tensor in enumerate(tensors):
        tensor.register_hook(partial(hook, number))
    root = sum(by * tensor for by, tensor in zip(uses, tensors) if by)
    grads = torch.autograd.grad(root, tensors, materialize_grads=True)
    hooked = [number for number, by in enumerate(uses) if by or subject.value]
    assert sorted(calls) == hooked
    assert [grad.item() for grad in grads] == [by + (7 if number in hooked else 0) for number, by in enumerate(uses)]


@clause(
    "gradient.roots.inside_post_accumulate",
    says="A post-accumulate hook may run backward() over another graph, whose hooks may do the same.",
    where="that graph was made with grad mode on",
    source="measured",
    asked="register_post_accumulate_grad_hook nested backpropagation "
    "reentrant second loss from parameter callback recursion",
    needs=POST_ACCUMULATE,
    value="all",
    wrong={"no effect": "outer"},
    witness={"factors": [2, 3]},
)
@given(factors=st.lists(NUMBERS, min_size=1, max_size=4))
def test_inside_post_accumulate(subject: Subject, factors: List[int]) -> None:
    import torch

    seen: List[Any] = []
    leaves = [leaf(1) for _ in factors]

    def at(level: int) -> Any:
        def hook(x: Any) -> None:
            seen.append((level, x.grad.item()))
            if level + 1 < len(leaves):
                with torch.enable_grad():
                    (factors[level + 1] * leaves[level + 1]).backward()

        return hook

    for level, x in enumerate(leaves):
        x.register_post_accumulate_grad_hook(at(level))
        x.register_post_accumulate_grad_hook(lambda x, level=level: seen.append((level, "after")))
    (factors[0] * leaves[0]).backward()
    run = factors if subject.value == "all" else factors[:1]
    assert seen == list(enumerate(run)) + [(level, "after") for level in reversed(range(len(run)))]
    assert [x.grad.item() for x in leaves[: len(run)]] == run
