"""A tensor hook that raises ends the backward pass: with which exception, and what is left."""

from typing import Any, List

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import Reading, clause
from fixtures.draw.plans import FACTORS, NUMBERS
from fixtures.judge.subject import Subject
from fixtures.plan.grammar import (
    Backward,
    Forward,
    Hook,
    Input,
    Leaf,
    Plan,
    Raise,
    Remove,
    ReturnWrong,
    Scale,
    hooks_of,
)
from suites.gradient.plans import INNER, NET
from suites.names import TENSOR_DOCS, TYPE_IS_LOST
from suites.shapes import starts
from suites.tensors import leaf, outcome

ABOUT = "register_hook"

ACTIONS = st.one_of(st.just(()), st.just((Raise(),)), st.builds(lambda by: (Scale(by),), FACTORS))


@st.composite
def failing(draw: Any, on: str) -> Plan:
    """y = weight * x with hooks on one tensor of which at least one raises."""
    does = draw(st.lists(ACTIONS, min_size=0, max_size=2)) + [(Raise(),)] + draw(st.lists(ACTIONS, max_size=2))
    hooks = tuple(Hook("tensor", on, f"h{index}", do) for index, do in enumerate(does))
    return Plan(Leaf("m0", "scale", (draw(NUMBERS),)), (Input(3),), (Forward(),) + hooks + (Backward(),))


def until_raise(plan: Plan) -> Any:
    """The labels of the hooks up to the first that raises."""
    labels = []
    for step in plan.steps:
        if isinstance(step, Hook):
            labels.append(step.label)
            if step.do == (Raise(),):
                return labels
    raise AssertionError("no hook of this plan raises")


WITNESS = Plan(Leaf("m0", "scale", (2,)), (Input(3),), (Hook("tensor", "x0", "h0", (Raise(),)), Forward(), Backward()))


@clause(
    "gradient.errors.own_type",
    says="An exception raised in a tensor hook leaves backward() with its own type.",
    source=(TYPE_IS_LOST, "https://github.com/pytorch/pytorch/issues/42560"),
    asked="catch valueerror or custom exception from hook is it wrapped as runtimeerror by autograd",
    matters_if="tensor raises",
    readings=(
        Reading(
            "own type",
            "",
            "An exception raised in a tensor hook leaves backward() with its own type.",
            {"engine_keeps_error_type": True},
        ),
    ),
    witness=WITNESS,
)
@given(plan=st.sampled_from(["x0", "m0.weight", "m0>0"]).flatmap(failing))
def test_own_type(subject: Subject, plan: Plan) -> None:
    own = "Boom" if subject.reading.facts["engine_keeps_error_type"] else "RuntimeError"
    assert subject.holds(plan).raised() == [("backward", own)]


@clause(
    "gradient.errors.same_object",
    says="backward() raises the same exception object that a tensor hook raised.",
    source=TYPE_IS_LOST,
    asked="except clause identity keep attributes and traceback on custom exception thrown inside autograd engine",
    matters_if="tensor raises",
    effect="error",
    value=True,
    wrong={"another one": False},
    witness={"kind": ValueError, "inner": False, "before": 0, "after": 0},
)
@given(
    kind=st.sampled_from([ValueError, KeyError, RuntimeError, ZeroDivisionError, OSError]),
    inner=st.booleans(),
    before=st.integers(0, 2),
    after=st.integers(0, 2),
)
def test_same_object(subject: Subject, kind: Any, inner: bool, before: int, after: int) -> None:
    raised, calls = kind("a hook may raise"), []

    def fails(grad: Any) -> None:
        raise raised

    x = leaf(1)
    y = 2 * x
    for hook in [lambda grad: calls.append("before")] * before + [fails] + [lambda grad: calls.append("after")] * after:
        (y if inner else x).register_hook(hook)
    seen = "accepted"
    try:
        y.backward()
    except (kind, RuntimeError) as caught:
        seen = caught is raised
    assert (calls, seen) == (["before"] * before, subject.value)


@clause(
    "gradient.errors.ends_the_chain",
    says="After a tensor hook raised, no later hook of its tensor is called in that backward().",
    source="measured",
    asked="first callback throws exception do the other ones on same activation still fire",
)
@given(plan=st.sampled_from(["x0", "m0.weight", "m0>0"]).flatmap(failing))
def test_ends_the_chain(subject: Subject, plan: Plan) -> None:
    assert subject.holds(plan).calls() == until_raise(plan)


@clause(
    "gradient.errors.grad_untouched",
    says="A leaf keeps the .grad it had when one of its tensor hooks raises.",
    see="gradient.accumulated.raising",
    source="measured",
    asked="weight gradient unchanged after exception in its own hook is parameter grad stale or none",
)
@given(
    plan=failing("m0.weight").map(lambda plan: Plan(plan.net, plan.inputs, (Forward(), Backward((5,))) + plan.steps))
)
def test_grad_untouched(subject: Subject, plan: Plan) -> None:
    before, after = subject.holds(plan).grads()
    assert after["m0.weight"] == before["m0.weight"]


@clause(
    "gradient.errors.no_rollback",
    says="What backward() added to .grad of other leaves before a tensor hook raised stays there.",
    source="measured",
    asked="crash halfway leaves partial gradients on some parameters do i need zero_grad after try except",
)
@given(
    plan=st.builds(
        lambda on, before, grad: Plan(
            NET, (Input(3),), (Forward(), *before, Hook("tensor", on, "h0", (Raise(),)), Backward((grad,)))
        ),
        st.sampled_from(["x0", "m1.weight", INNER]),
        st.lists(NUMBERS.map(lambda grad: Backward((grad,))), max_size=2),
        NUMBERS,
    )
)
def test_no_rollback(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    assert [step for step, _ in trace.raised()] == ["backward"]
    # The weight of the second module is reached before any of these.
    assert trace.grads()[-1]["m2.weight"] == 6 * sum(starts(plan))


@clause(
    "gradient.errors.usable_again",
    says="After a tensor hook raised in backward(retain_graph=True), the graph can be used for another backward().",
    source="docs: torch.autograd.backward",
    asked="retry backpropagation after exception in callback can i rerun same loss keep graph",
)
@given(
    plan=st.builds(
        lambda on, grad: Plan(
            Leaf("m0", "scale", (2,)),
            (Input(3),),
            (Forward(), Hook("tensor", on, "h0", (Raise(),)), Backward(), Remove("h0"), Backward((grad,))),
        ),
        st.sampled_from(["x0", "m0>0"]),
        NUMBERS,
    )
)
def test_usable_again(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    assert trace.grads()[-1]["x0"] == 2 * plan.steps[-1].grads[0]


@clause(
    "gradient.errors.bad_value_ends_the_chain",
    says="After a tensor hook returned neither tensor nor None, no later hook of its tensor is called in that pass.",
    source=TENSOR_DOCS,
    asked="hook returned a float by mistake are remaining callbacks skipped logging stopped",
    matters_if="tensor returns ?returns_wrong",
    readings=(
        Reading(
            "TypeError",
            "",
            "A tensor hook that returns neither tensor nor None ends backward() with TypeError, right after its call.",
            {"engine_keeps_error_type": True},
        ),
    ),
    witness=Plan(
        Leaf("m0", "scale", (2,)),
        (Input(3),),
        (Hook("tensor", "x0", "h0", (ReturnWrong("number"),)), Forward(), Backward()),
    ),
)
@given(
    plan=st.builds(
        lambda on, do, grad: Plan(
            Leaf("m0", "scale", (2,)),
            (Input(3),),
            (
                Forward(),
                Hook("tensor", on, "h0", do),
                Hook("tensor", on, "h1", (ReturnWrong("number"),)),
                Hook("tensor", on, "h2"),
                Backward((grad,)),
            ),
        ),
        st.sampled_from(["x0", "m0.weight", "m0>0"]),
        ACTIONS.filter(lambda do: do != (Raise(),)),
        NUMBERS,
    )
)
def test_bad_value_ends_the_chain(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    labels = [hook.label for hook in hooks_of(plan)]
    bad = [hook.do == (ReturnWrong("number"),) for hook in hooks_of(plan)].index(True)
    assert trace.calls() == labels[: bad + 1]
    own = "TypeError" if subject.reading.facts["engine_keeps_error_type"] else "RuntimeError"
    assert trace.raised() == [("backward", own)]


@clause(
    "gradient.errors.any_exception",
    says="What a tensor hook raises, also KeyboardInterrupt, leaves backward() with its own type.",
    source=TYPE_IS_LOST,
    asked="ctrl c or custom exception inside register_hook caught by try except around loss class preserved",
    matters_if="tensor raises",
    effect="error",
    value="",
    wrong={"swallowed": "accepted"},
    witness={"kind": KeyboardInterrupt, "before": 0, "anomaly": False, "inner": False},
)
@given(
    kind=st.sampled_from([KeyboardInterrupt, SystemExit, StopIteration, GeneratorExit, MemoryError, AssertionError]),
    before=st.integers(0, 2),
    anomaly=st.booleans(),
    inner=st.booleans(),
)
def test_any_exception(subject: Subject, kind: Any, before: int, anomaly: bool, inner: bool) -> None:
    import warnings

    import torch

    calls: List[Any] = []

    def fails(grad: Any) -> None:
        raise kind("a hook may raise")

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with torch.autograd.set_detect_anomaly(anomaly):
            x = leaf(1)
            y = 2 * x
            for hook in (*[calls.append] * before, fails, calls.append):
                (y if inner else x).register_hook(hook)
            result = outcome(y.backward, (kind, RuntimeError))
    assert (result, len(calls), x.grad) == (subject.value or kind.__name__, before, None)
