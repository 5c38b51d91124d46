"""Leaves that are frozen and thawed between passes, and passes after one that failed."""

from typing import Any, List, Tuple

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.about import apis
from fixtures.clause.clause import by_release, clause
from fixtures.draw.contract import by_contract
from fixtures.draw.plans import FACTORS, NUMBERS, available
from fixtures.judge.subject import Subject
from fixtures.plan.grammar import Backward, Forward, Freeze, Hook, Input, Leaf, Plan, Raise, Scale, hooks_of
from suites.gradient.plans import PLACES
from suites.names import HOOKS_IN_ORDER
from suites.shapes import product, starts


@st.composite
def switching(draw: Any) -> Plan:
    """y = 2 * x with hooks on x that multiply, and passes before, while and after x is frozen."""
    hooks = [Hook("tensor", "x0", f"h{place}", (Scale(draw(FACTORS)),)) for place in range(draw(st.integers(1, 3)))]
    steps: List[Any] = [Forward()]
    for frozen, fewest in ((None, 0), (True, 1), (False, 0)):
        steps += [] if frozen is None else [Freeze("x0", frozen)]
        steps += [Backward((draw(NUMBERS),)) for _ in range(draw(st.integers(fewest, 2)))]
    return Plan(Leaf("m0", "scale", (2,)), (Input(3),), (*hooks, *steps))


@clause(
    "gradient.switched.frozen",
    says="A leaf that is frozen between forward and backward has its tensor hooks called; its .grad stays as it was.",
    where="the pass reaches the leaf",
    source=HOOKS_IN_ORDER,
    asked="requires_grad set false after computing loss freeze late does parameter callback "
    "fire grad not updated freeze unfreeze requires_grad parameter after registering",
    note="Once it requires grad again it gets its .grad, and has all the hooks that it had.",
    matters_if="tensor ?switched_off",
    readings=by_release(
        "silent",
        ("2.0", "called", {"frozen_leaf_hooks": True}),
        "A leaf that is frozen between forward and backward has its tensor hooks called, and its .grad stays.",
        ("", "not called", {"frozen_leaf_hooks": False}),
        "A leaf that is frozen between forward and backward has no tensor hook called, and its .grad stays.",
    ),
    witness=Plan(
        Leaf("m0", "scale", (2,)), (Input(3),), (Hook("tensor", "x0", "h0"), Forward(), Freeze("x0"), Backward())
    ),
)
@given(plan=switching())
def test_frozen(subject: Subject, plan: Plan) -> None:
    trace, hooks, frozen = subject.holds(plan), hooks_of(plan), False
    calls: List[Hook] = []
    kept: List[Any] = [None]
    for step in plan.steps:
        if isinstance(step, Freeze):
            frozen = step.frozen
        if isinstance(step, Backward):
            calls += [] if frozen and not subject.reading.facts["frozen_leaf_hooks"] else hooks
            kept.append(kept[-1] if frozen else (kept[-1] or 0) + 2 * step.grads[0] * product(hooks))
    assert trace.calls() == [hook.label for hook in calls]
    assert [grads["x0"] for grads in trace.grads()] == kept[1:]


@st.composite
def failing_first(draw: Any, kinds: Tuple[str, ...]) -> Plan:
    """y = weight * x with hooks on the weight; another hook, of any kind, raises in the first of some passes."""
    hooks = [
        Hook("tensor", "m0.weight", f"h{place}", (Scale(draw(FACTORS)),)) for place in range(draw(st.integers(1, 3)))
    ]
    kind = draw(st.sampled_from(kinds))
    fails = Hook(kind, draw(st.sampled_from(PLACES[kind])), "fails", (Raise(first=1),))
    passes = [Backward((draw(NUMBERS),)) for _ in range(draw(st.integers(2, 4)))]
    return Plan(Leaf("m0", "scale", (2,)), (Input(3),), (*hooks, Forward(), fails, *passes))


@clause(
    "gradient.switched.after_failure",
    says="If a hook raised in one pass, a backward() in which none raises calls a leaf's hooks and adds to its .grad.",
    where=("it reaches the leaf", "its graph was not freed"),
    see="gradient.passes.failed_pass_frees",
    source="measured",
    asked="recover from exception try except next training iteration works normally parameter gradient accumulates",
    about=apis(PLACES),
)
@given(plan=by_contract(lambda contract: failing_first(available(contract, tuple(PLACES)))))
def test_after_failure(subject: Subject, plan: Plan) -> None:
    trace, hooks = subject.holds(plan), [hook for hook in hooks_of(plan) if hook.label != "fails"]
    assert [step for step, _ in trace.raised()] == ["backward"]
    ends = [place for place, event in enumerate(trace) if event.what == "grads"]
    kept = [grads["m0.weight"] or 0 for grads in trace.grads()]
    for number, grad in enumerate(starts(plan)[1:]):
        called = [event.what for event in trace[ends[number] : ends[number + 1]] if event.what.startswith("h")]
        assert called == [hook.label for hook in hooks]
        assert kept[number + 1] - kept[number] == 3 * grad * product(hooks)
