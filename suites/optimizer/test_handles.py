"""Step hooks that are removed or registered, also while hooks run."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import clause
from fixtures.judge.subject import Subject
from fixtures.plan.grammar import Add, Drop, Hook, Plan, Remove, hooks_of
from suites.optimizer.plans import KINDS, PLACES, hooks, in_order, stepped, steps
from suites.optimizer.sources import ALL, OWN, PRE_HOOK


@clause(
    "optimizer.handles.removed",
    says="A step hook is called until its handle is removed; the other step hooks go on.",
    source=f'{PRE_HOOK} "a handle that can be used to remove the added hook by calling"',
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
    says="The last step hook of a sort may remove itself; one of that sort that it adds runs from the next step() on.",
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
