"""What is the same of hooks of several tensors in both modes: returns, exceptions, handles."""

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import clause
from fixtures.draw.contract import by_contract
from fixtures.draw.plans import FACTORS, available
from fixtures.judge.subject import Subject
from fixtures.plan.grammar import Backward, Drop, Forward, Freeze, Hook, Plan, Raise, Remove, Scale
from suites.names import IN_ORDER
from suites.several.plans import (
    BOTH,
    FIRST,
    INNER,
    LEAVES,
    SOME,
    gradients,
    hooked,
    on_products,
    passes,
    several,
    starts,
)
from suites.several.sources import ALL, DOCS, HAS_ALL

ABOUT = "register_multi_grad_hook"

#: Each mode that there is.
EITHER = by_contract(lambda contract: st.sampled_from(available(contract, ("multi_all", "multi_any"))))


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
