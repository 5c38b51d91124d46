"""Where a multi-grad hook with mode="all" is on a tensor that a pass begins at: torch does not count it, if alone."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import clause
from fixtures.judge.subject import Subject
from fixtures.plan.grammar import Backward, Forward, Plan
from suites.several.plans import BOTH, FIRST, IN_TURN, LISTED, ROOTS, gradients, listed, on_products, several
from suites.several.sources import ALL, DOCS, HAS_ALL

ABOUT = "register_multi_grad_hook"

ONE = ROOTS[:1]
#: What a pass from the first root reaches.
REACHED = ("x0", "m1.weight", "m3.weight", "m1>0")


@st.composite
def with_root(draw: Any, least: int, most: int, grads: Any = FIRST, roots: Any = ONE, others: Any = REACHED) -> Any:
    """Steps: a hook on the root, or roots, and on other tensors; and one pass that begins there."""
    more = draw(st.lists(st.sampled_from(others), min_size=least, max_size=most, unique=True))
    return Forward(), several("multi_all", draw(st.permutations((*roots, *more)))), Backward(draw(grads))


@clause(
    "several.root.alone",
    says='y.backward() does not call a multi-grad hook of mode "all" that is on y alone.',
    source=DOCS,
    asked="register_multi_grad_hook on the loss or model output is never called",
    docs="contradicts",
    needs=HAS_ALL,
)
@given(
    plan=on_products(
        st.builds(
            lambda twice, grads, inputs: (
                Forward(),
                several("multi_all", ONE * (1 + twice)),
                *(Backward(grad, inputs=inputs) for grad in grads),
            ),
            st.booleans(),
            st.lists(FIRST, min_size=1, max_size=3),
            st.sampled_from(((), ("x0",), ("m3.weight",))),
        )
    )
)
def test_alone(subject: Subject, plan: Plan) -> None:
    assert subject.holds(plan).calls() == []


@clause(
    "several.root.and_another",
    says="y.backward() calls a multi-grad hook of mode \"all\" on y and x first with (y's, None), then (None, x's).",
    where=("it reaches x", "y is a single output"),
    source=DOCS,
    asked="multi grad hook on output and input fires two times with half of the gradients",
    docs="contradicts",
    needs=HAS_ALL,
)
@given(plan=on_products(with_root(1, 1)))
def test_and_another(subject: Subject, plan: Plan) -> None:
    names, grad = listed(plan), gradients(plan, plan.steps[-1].grads)
    first = [grad[name] if name in ROOTS else None for name in names]
    second = [None if name in ROOTS else grad[name] for name in names]
    assert subject.holds(plan).seen_by("h") == [(first,), (second,)]


@clause(
    "several.root.and_more",
    says='y.backward() calls a multi-grad hook of mode "all" on y and others once, with None for the last.',
    where=("it reaches two or more others", "y is a single output"),
    source=DOCS,
    asked="multi grad hook that includes the loss tensor runs too early, last gradient is missing",
    docs="contradicts",
    needs=HAS_ALL,
)
@given(plan=on_products(with_root(2, 4)))
def test_and_more(subject: Subject, plan: Plan) -> None:
    names, grad = listed(plan), gradients(plan, plan.steps[-1].grads)
    late = [some for some in IN_TURN if set(some) & set(names)][-1]
    found = [([None if name == last else grad[name] for name in names],) for last in late]
    trace = subject.holds(plan)
    assert len(trace.seen_by("h")) == 1
    assert trace.seen_by("h")[0] in found


@clause(
    "several.root.two",
    says='autograd.backward((y, z)) calls a multi-grad hook of mode "all" on y, z and more once, with all gradients.',
    where="it reaches all its tensors",
    source=ALL,
    asked="several losses one torch.autograd.backward call does the callback on all losses run once",
    needs=HAS_ALL,
)
@given(plan=on_products(with_root(0, 3, BOTH, ROOTS, LISTED)))
def test_two(subject: Subject, plan: Plan) -> None:
    grad = gradients(plan, plan.steps[-1].grads)
    assert subject.holds(plan).seen_by("h") == [([grad[name] for name in listed(plan)],)]
