"""What becomes of the other hooks and of the step where one of them, the closure or the step raises."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import clause
from fixtures.clause.rows import Row, each
from fixtures.families.optimizer_step import Optimize
from fixtures.judge.subject import Subject
from fixtures.plan.grammar import Backward, Hook, Input, Leaf, Like, Of, Plan, Raise
from suites.optimizer.plans import PLACES, POST, PRE, by_gradients, hooks, in_order, left, stepped
from suites.optimizer.sources import ALL, OWN


def one_raises(kind: str) -> Any:
    """Hooks, one of which, of this kind, raises."""
    culprit = st.sampled_from(PLACES).map(lambda on: Hook(kind, on, "fails", (Raise(),)))
    return st.builds(
        lambda before, culprit, after: (*before, culprit, *(Hook(one.kind, one.on, "g" + one.label) for one in after)),
        hooks(least=0, most=3),
        culprit,
        hooks(least=0, most=3),
    )


@each(
    Row(
        "optimizer.raises.pre_hook",
        "An exception of a step pre-hook leaves step(): the step is not done, and no later hook is called.",
        "measured",
        asked="stop update when gradients are nan raise in optimizer "
        "pre step callback are weights unchanged skip batch",
        needs=OWN,
        about=(ALL[0], ALL[2]),
        kind=PRE,
        done=0,
    ),
    Row(
        "optimizer.raises.post_hook",
        "An exception of a step post-hook leaves step(): the step is done, and no later hook is called.",
        "measured",
        asked="exception in optimizer post step callback were weights already updated rollback",
        needs=OWN,
        about=(ALL[1], ALL[3]),
        kind=POST,
        done=1,
    ),
    plan=lambda row: stepped(one_raises(row.kind)),
)
def raises(subject: Subject, plan: Plan, *, row: Any) -> None:
    trace, (before, after) = subject.holds(plan), in_order(plan)
    order = [*before, *after]
    assert trace.raised() == [("optimize", "Boom")]
    assert trace.calls() == order[: order.index("fails") + 1]
    assert left(trace) == [by_gradients(plan, row.done)]


@clause(
    "optimizer.raises.closure",
    says="An exception of the closure leaves step(), and no step post-hook is called.",
    source="measured",
    asked="closure throws in optimizer.step is post callback still run cleanup",
    needs=OWN,
    about=ALL,
)
@given(plan=stepped(hooks(), st.tuples(st.builds(Optimize, st.sampled_from(["args", "kwargs"]), st.just(True)))))
def test_closure(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    assert trace.raised() == [("optimize", "Stopped")]
    assert trace.calls() == in_order(plan)[0]


def expanded(hooks: Any) -> Any:
    """The same on two numbers, where one of the parameters or both have these in one place of memory."""
    layouts = st.sampled_from([("plain", "expanded"), ("expanded", "plain"), ("expanded", "expanded")])
    return st.builds(
        lambda plan, layouts: Plan(
            Leaf("m0", "affine", tuple(Of(of, (2,), layout=one) for of, one in zip(plan.net.values, layouts))),
            (Input(Of(3, (2,)), grad=False),),
            tuple(Backward((Like(2),)) if isinstance(step, Backward) else step for step in plan.steps),
        ),
        stepped(hooks),
        layouts,
    )


@clause(
    "optimizer.raises.step",
    says="An exception of the step itself leaves step(), and no step post-hook is called.",
    source="measured",
    asked="optimizer.step fails unsupported operation more than one element "
    "of the written-to tensor expanded weight is post callback called",
    needs=OWN,
    about=ALL,
)
@given(plan=expanded(hooks()))
def test_step(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    assert trace.raised() == [("optimize", "RuntimeError")]
    assert trace.calls() == in_order(plan)[0]
