"""autograd.grad and hooks of several tensors."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import clause
from fixtures.judge.subject import Subject
from fixtures.plan.grammar import AutogradGrad, Forward, Plan
from suites.several.plans import BOTH, INNER, LEAVES, LISTED, gradients, listed, on_products, several
from suites.several.sources import ALL, ANY, DOCS, HAS_ALL, HAS_ANY


def asking(kind: str, wanted: Any, others: Any = LISTED) -> Any:
    """Steps: a hook on the tensor that is wanted and on others, and autograd.grad."""
    return st.builds(
        lambda wanted, more, place, grads: (
            Forward(),
            several(kind, (*more[:place], wanted, *more[place:])),
            AutogradGrad((wanted,), grads),
        ),
        wanted,
        st.lists(st.sampled_from(others), max_size=3).map(tuple),
        st.integers(0, 3),
        BOTH,
    )


@clause(
    "several.asked.leaf",
    says='autograd.grad of a leaf raises RuntimeError where a multi-grad hook of mode "all" is on the leaf.',
    where="the pass reaches it; the hook is on no root",
    source=(DOCS, "https://github.com/pytorch/pytorch/issues/131753"),
    asked="A leaf node was passed to _will_engine_execute_node but "
    "we are currently running autograd.grad FlopCounterMode",
    level="observed",
    docs="contradicts",
    needs=HAS_ALL,
    effect="error",
)
@given(plan=on_products(asking("multi_all", st.sampled_from(LEAVES))))
def test_leaf(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    assert trace.raised() == [("autograd_grad", "RuntimeError")]
    assert trace.calls() == []


@clause(
    "several.asked.inner",
    says='autograd.grad of a non-leaf tensor alone calls a multi-grad hook of mode "all" on it, with None for leaves.',
    where="the pass reaches it; the hook is on no root",
    see="several.asked.leaf",
    source=ALL,
    asked="torch autograd grad of an activation with register_multi_grad_hook on it, is it called",
    needs=HAS_ALL,
)
@given(plan=on_products(asking("multi_all", st.just(INNER))))
def test_inner(subject: Subject, plan: Plan) -> None:
    grad = gradients(plan, plan.steps[-1].grads)[INNER]
    trace = subject.holds(plan)
    assert trace.seen_by("h") == [([grad if name == INNER else None for name in listed(plan)],)]
    assert not trace.raised()


@clause(
    "several.asked.any",
    says='autograd.grad of a tensor calls a multi-grad hook of mode "any" that is on it, also where it is a leaf.',
    where="the pass reaches the tensor",
    source=ANY,
    asked="any mode callback with torch autograd grad of a parameter instead of backward",
    needs=HAS_ANY,
)
@given(plan=on_products(asking("multi_any", st.sampled_from(LISTED))))
def test_any(subject: Subject, plan: Plan) -> None:
    grad = gradients(plan, plan.steps[-1].grads)
    trace = subject.holds(plan)
    assert len(trace.seen_by("h")) == 1
    assert trace.seen_by("h")[0][0] in [grad[name] for name in listed(plan)]
    assert not trace.raised()
