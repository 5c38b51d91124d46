"""Hooks of several tensors with mode="any"."""

from typing import Any, List

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import clause
from fixtures.draw.plans import NUMBERS
from fixtures.judge.subject import Subject
from fixtures.plan.grammar import Backward, Forward, Input, Leaf, Plan
from fixtures.stages.make import make
from suites.several.plans import (
    BOTH,
    FIRST,
    IN_TURN,
    LISTED,
    ROOTS,
    gradients,
    hooked,
    listed,
    on_products,
    passes,
    several,
    starts,
)
from suites.several.sources import ANY, DOCS, HAS_ANY
from suites.tensors import item

ABOUT = "register_multi_grad_hook"


@clause(
    "several.any.first",
    says='Each pass calls a multi-grad hook of mode "any" once, with the gradient of its tensors that comes first.',
    where="the pass reaches one of its tensors",
    see="several.any.undefined",
    source=ANY,
    asked="run a callback when the first gradient of a group of parameters is ready, like FSDP pre backward",
    needs=HAS_ANY,
)
@given(
    plan=on_products(
        hooked(
            "multi_any",
            st.lists(st.sampled_from(LISTED + ROOTS), min_size=1, max_size=4).map(lambda some: ("x0", *some)),
            passes(BOTH | FIRST, most=3),
        )
    )
)
def test_first(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    assert len(trace.seen_by("h")) == len(trace.grads())
    for (seen,), start in zip(trace.seen_by("h"), starts(plan)):
        grad = gradients(plan, start)
        there = [name for name in listed(plan) if grad[name] is not None]
        early = next(some for some in IN_TURN if set(some) & set(there)) if start[1] is None else there
        assert seen in [grad[name] for name in early]


@clause(
    "several.any.without_grad",
    says='With mode="any" register_multi_grad_hook passes over a tensor that requires no grad.',
    source=f'{DOCS} "this tensor will be ignored"',
    asked="list of module outputs where some do not require gradient for mode any is that an error",
    needs=HAS_ANY,
)
@given(
    plan=st.builds(
        lambda w, x, names, grad: Plan(
            Leaf("m0", "scale", (w,)),
            (Input(x, grad=False),),
            (Forward(), several("multi_any", names), Backward((grad,))),
        ),
        NUMBERS,
        NUMBERS,
        st.permutations(("x0", "m0.weight", "m0>0")),
        NUMBERS,
    )
)
def test_without_grad(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    assert not trace.raised()
    assert trace.seen_by("h") == [(plan.steps[-1].grads[0],)]


@clause(
    "several.any.undefined",
    says='A multi-grad hook of mode "any" is called with None if the gradient that comes first is undefined.',
    source=DOCS,
    asked="callback of mode any got None instead of a gradient NoneType has no attribute",
    docs="contradicts",
    needs=HAS_ANY,
    value=None,
    wrong={"waits for a gradient": 2.0},
    witness={"others": 1},
)
@given(others=st.integers(0, 3))
def test_undefined(subject: Subject, others: int) -> None:
    """An output that the loss does not use comes with the one that it uses, and before what both are made of."""
    import torch

    x = make.ones(2, dtype=torch.float64, requires_grad=True)
    unused, used = x.unbind(0)
    seen: List[Any] = []
    torch.autograd.graph.register_multi_grad_hook(
        [x] * others + [unused, used], lambda grad: seen.append(item(grad)), mode="any"
    )
    (2 * used).backward()
    assert seen == [subject.value]
