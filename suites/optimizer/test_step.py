"""One step() of an optimizer with hooks: their order, what they are given and change, and what an exception does."""

from math import prod
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import clause
from fixtures.clause.rows import Row, each
from fixtures.families.optimizer_step import Optimize
from fixtures.judge.subject import Subject
from fixtures.plan.grammar import Add, Backward, Drop, Hook, Input, Leaf, Like, Of, Plan, Raise, Remove, hooks_of
from suites.optimizer.stepping import (
    AFTER,
    ALL,
    BEFORE,
    CHANGES,
    CODE,
    EVERYWHERE,
    GIVEN,
    KINDS,
    OWN,
    PLACES,
    POST,
    PRE,
    REMOVES,
    by_gradients,
    hooks,
    in_order,
    left,
    stepped,
    steps,
)

ABOUT = ALL
CHANGED = CHANGES.map(lambda one: (one,)) | st.just(())


@clause(
    "optimizer.order.around",
    says="step() calls global pre-hooks, own pre-hooks, the closure, own post-hooks, then global post-hooks.",
    source=(BEFORE, AFTER, CODE),
    asked="sequence of register_step_pre_hook register_optimizer_step_pre_hook "
    "closure and post callbacks which fires earlier global or own optimizer",
    needs=EVERYWHERE,
    about=ALL,
    see="optimizer.calls.super",
)
@given(plan=stepped(hooks(least=2), st.tuples(st.builds(Optimize, st.sampled_from(["args", "kwargs"])))))
def test_around(subject: Subject, plan: Plan) -> None:
    before, after = in_order(plan)
    found = [event.what for event in subject.holds(plan) if event.what[0] in "hc"]
    assert found == [*before, "closure", *after]


@clause(
    "optimizer.order.registered",
    says="Step pre-hooks of one optimizer are called in the order in which they were registered; so are post-hooks.",
    source=CODE,
    asked="two callbacks on one optimizer step which goes earlier register_step_post_hook order prepend",
    needs=OWN,
    about=ALL[:2],
)
@given(plan=stepped(hooks(on=("o",), least=2), steps(2)))
def test_registered(subject: Subject, plan: Plan) -> None:
    before, after = in_order(plan)
    assert subject.holds(plan).calls() == [*before, *after] * 2


@clause(
    "optimizer.given.arguments",
    says="A step hook is given the optimizer, a tuple of it and the arguments of step(), and the keyword arguments.",
    source=GIVEN,
    asked="register_step_pre_hook signature optimizer args kwargs why is "
    "args a tuple with the optimizer in it get closure in callback",
    needs=OWN,
    about=ALL,
    see="optimizer.returns.pair",
)
@given(plan=stepped(hooks()))
def test_arguments(subject: Subject, plan: Plan) -> None:
    trace, how = subject.holds(plan), plan.steps[-1].closure
    args, kwargs = ("o", "closure") if how == "args" else ("o",), {"closure": "closure"} if how == "kwargs" else {}
    assert all(trace.seen_by(hook.label) == [("o", args, kwargs)] for hook in hooks_of(plan))


@clause(
    "optimizer.gradients.before",
    says="A step uses the .grad that its step pre-hooks leave, whether they assign one or change it in place.",
    where="no closure computes it anew",
    source=BEFORE,
    asked="clip gradients in optimizer pre step callback clip_grad_norm_ "
    "noise to gradient register_step_pre_hook does update use it",
    needs=OWN,
    about=(ALL[0], ALL[2]),
)
@given(plan=stepped(hooks(kinds=(PRE,), do=CHANGED)))
def test_before(subject: Subject, plan: Plan) -> None:
    by = prod(act.by for hook in hooks_of(plan) for act in hook.do)
    assert left(subject.holds(plan)) == [by_gradients(plan, by)]


@clause(
    "optimizer.gradients.after",
    says="A step post-hook that changes .grad changes the next step, not this one.",
    where="only step hooks change .grad",
    source=AFTER,
    asked="zero_grad in optimizer post step callback clear gradients "
    "automatically set p.grad after update register_step_post_hook",
    needs=OWN,
    about=(ALL[1], ALL[3]),
)
@given(plan=stepped(hooks(kinds=(POST,), do=CHANGED), steps(2)))
def test_after(subject: Subject, plan: Plan) -> None:
    by = prod(act.by for hook in hooks_of(plan) for act in hook.do)
    assert left(subject.holds(plan)) == [by_gradients(plan, 1), by_gradients(plan, 1 + by)]


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


@clause(
    "optimizer.handles.removed",
    says="A step hook is called until its handle is removed; the other step hooks go on.",
    source=REMOVES,
    asked="remove optimizer step callback handle.remove unregister register_step_pre_hook",
    needs=OWN,
    about=ALL,
)
@given(
    plan=stepped(
        hooks(),
        st.builds(lambda one, leave, two: (one, Remove("h0", leave), two), steps(1), st.booleans(), steps(1)).map(
            lambda found: (*found[0], found[1], *found[2])
        ),
    )
)
def test_removed(subject: Subject, plan: Plan) -> None:
    before, after = in_order(plan)
    kept = [label for label in (*before, *after) if label != "h0"]
    assert subject.holds(plan).calls() == [*before, *after, *kept]


@st.composite
def changing(draw: Any, last: bool) -> Plan:
    """Hooks of one sort, one of which registers one more or removes one; hooks of other sorts; and a second step."""
    kind, on = draw(st.sampled_from(KINDS)), draw(st.sampled_from(PLACES))
    count = draw(st.integers(1 if last else 2, 4))
    changes = count - 1 if last else draw(st.integers(0, count - 2))
    removed = changes if last else draw(st.integers(0, count - 1))
    act = draw(st.sampled_from([Add(Hook(kind, on, "new")), Drop(f"h{removed}")]))
    own = [Hook(kind, on, f"h{place}", (act,) if place == changes else ()) for place in range(count)]
    others = [one for one in draw(hooks(least=0, most=2)) if (one.kind, one.on) != (kind, on)]
    made = [*(Hook(one.kind, one.on, "g" + one.label) for one in others), *own]
    # Where the last one adds it must go: before the one that it added it is not the last any more.
    stays = last and isinstance(act, Drop)
    again = [*draw(steps(1)), *([] if stays else [Remove(own[changes].label)]), *draw(steps(1))]
    return draw(stepped(st.just(made), st.just(again)))


@clause(
    "optimizer.handles.inside",
    says="step() raises RuntimeError if a step hook, not the last of its sort, adds or removes one of that sort.",
    where="the four sorts are own or global, pre or post",
    see="optimizer.handles.inside_last",
    source="measured",
    asked="RuntimeError OrderedDict mutated during iteration optimizer step one shot callback removes itself",
    needs=OWN,
    about=ALL,
)
@given(plan=changing(last=False))
def test_inside(subject: Subject, plan: Plan) -> None:
    assert subject.holds(plan).raised() == [("optimize", "RuntimeError")]


@clause(
    "optimizer.handles.inside_last",
    says="The last step hook of its sort may remove itself; one it registers is first called in the next step().",
    where="the four sorts are own or global, pre or post",
    source="measured",
    asked="optimizer callback that removes itself after first update one shot register_step_post_hook",
    needs=OWN,
    about=ALL,
)
@given(plan=changing(last=True))
def test_inside_last(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    ((last, act),) = ((hook.label, act) for hook in hooks_of(plan) for act in hook.do)
    assert trace.raised() == []
    assert (trace.calls().count(last), trace.calls().count("new")) == (1, int(isinstance(act, Add)))
