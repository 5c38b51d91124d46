"""Hooks of several tensors with mode="any", and what is the same in both modes: returns, exceptions, handles."""

from typing import Any, List

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import clause
from fixtures.draw.plans import FACTORS, NUMBERS
from fixtures.judge.subject import Subject
from fixtures.plan.grammar import Backward, Drop, Forward, Freeze, Hook, Input, Leaf, Plan, Raise, Remove, Scale
from suites.several.drawn import (
    ALL,
    ANY,
    BOTH,
    DOCS,
    EITHER,
    FIRST,
    HAS_ALL,
    HAS_ANY,
    IGNORED,
    IN_ORDER,
    IN_TURN,
    INNER,
    LEAVES,
    LISTED,
    ROOTS,
    SOME,
    gradients,
    hooked,
    listed,
    on_products,
    passes,
    several,
    starts,
)
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
    source=IGNORED,
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

    x = torch.ones(2, dtype=torch.float64, requires_grad=True)
    unused, used = x.unbind(0)
    seen: List[Any] = []
    torch.autograd.graph.register_multi_grad_hook(
        [x] * others + [unused, used], lambda grad: seen.append(item(grad)), mode="any"
    )
    (2 * used).backward()
    assert seen == [subject.value]


# --- both modes --------------------------------------------------------------------------------


@clause(
    "several.handle.none_reached",
    says="A multi-grad hook on leaves is not called in a backward() that reaches none of them.",
    source=ALL,
    asked="callback on frozen or unused parameters never runs",
    needs=HAS_ALL,
)
@given(
    plan=on_products(
        st.builds(
            lambda kind, names, grads: (
                several(kind, names),
                *(Freeze(name) for name in names if name == "m1.weight"),
                Forward(),
                Backward(grads),
            ),
            EITHER,
            st.just(("m4.weight",)) | st.just(("m4.weight", "m4.weight")) | st.permutations(("m4.weight", "m1.weight")),
            FIRST,
        )
    )
)
def test_none_reached(subject: Subject, plan: Plan) -> None:
    assert subject.holds(plan).calls() == []


@clause(
    "several.handle.returns",
    says="What a multi-grad hook returns changes no gradient.",
    source="measured",
    asked="return new gradients from register_multi_grad_hook to replace them has no effect",
    needs=HAS_ALL,
)
@given(plan=on_products(hooked(EITHER, SOME, passes(BOTH), st.builds(lambda by: (Scale(by),), FACTORS))))
def test_returns(subject: Subject, plan: Plan) -> None:
    grad = gradients(plan, starts(plan)[0])
    trace = subject.holds(plan)
    assert trace.grads() == [{name: grad[name] for name in LEAVES}]
    assert len(trace.seen_by("h")) == 1


@clause(
    "several.handle.raises",
    says="backward() raises what a multi-grad hook raises; the next pass that reaches its tensors calls it again.",
    where="no pass begins at one of its tensors",
    source="measured",
    asked="exception thrown in the callback for several gradients, does the next backward still work",
    needs=HAS_ALL,
)
@given(plan=on_products(hooked(EITHER, SOME, passes(BOTH, 2, 3), st.integers(0, 2).map(lambda times: (Raise(times),)))))
def test_raises(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    raising = next(hook.do[0].first for hook in plan.steps if isinstance(hook, Hook)) or 3
    assert len(trace.seen_by("h")) == len(starts(plan))
    assert trace.raised() == [("backward", "Boom")] * min(raising, len(starts(plan)))


@clause(
    "several.handle.removes",
    says="The handle of a multi-grad hook removes it from all of its tensors, by remove() or as a with block.",
    source=f'{DOCS} "a method ``handle.remove()`` that removes the hook"',
    asked="unregister callback of several tensors with handle remove, or use it in a with statement",
    needs=HAS_ALL,
)
@given(
    plan=on_products(
        hooked(
            EITHER,
            SOME,
            st.builds(
                lambda leave, one, two: (Backward(one), Remove("h", leave), Backward(two)), st.booleans(), BOTH, BOTH
            ),
        )
    )
)
def test_removes(subject: Subject, plan: Plan) -> None:
    assert len(subject.holds(plan).seen_by("h")) == 1


@clause(
    "several.handle.removed_inside",
    says="A multi-grad hook that removes itself while it runs is not called in later passes; other hooks are.",
    source="measured",
    asked="one shot callback that unregisters itself after all gradients arrived",
    needs=HAS_ALL,
)
@given(
    plan=on_products(
        st.builds(
            lambda kind, names, grads: (
                Forward(),
                several(kind, names, do=(Drop("h"),)),
                several(kind, names, "o"),
                *(Backward(grad) for grad in grads),
            ),
            EITHER,
            SOME,
            st.lists(BOTH, min_size=2, max_size=3),
        )
    )
)
def test_removed_inside(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    assert len(trace.seen_by("h")) == 1
    assert len(trace.seen_by("o")) == len(starts(plan))


@clause(
    "several.handle.removed_between",
    says='A multi-grad hook of mode "all" that is removed between its first gradient and the last is not called.',
    where="no hook of its last tensor removes it",
    source=IN_ORDER,
    asked="remove the handle in the middle of backward before all gradients arrived",
    level="observed",
    needs=HAS_ALL,
)
@given(
    plan=on_products(
        st.builds(
            lambda more, names, grads: (
                Forward(),
                several("multi_all", (*more, *names)),
                Hook("tensor", INNER, "removes", (Drop("h"),)),
                Backward(grads),
            ),
            st.lists(st.sampled_from(("m3.weight", "m4.weight", INNER)), min_size=1, max_size=2).map(tuple),
            st.sampled_from((("x0",), ("m1.weight",), ("m1.weight", "x0"))),
            BOTH,
        )
    )
)
def test_removed_between(subject: Subject, plan: Plan) -> None:
    assert subject.holds(plan).calls() == ["removes"]
