"""When global backward hooks of modules run, and when no more."""

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import clause
from fixtures.draw.plans import NUMBERS
from fixtures.judge.subject import Subject
from fixtures.plan.grammar import Backward, Forward, Hook, Input, Leaf, Plan, Remove, hooks_of
from suites.backward.plans import ANY_KIND, MAYBE_SCALE, PAIR, row
from suites.backward.sources import GLOBAL_DOCS
from suites.names import GLOBAL_FULL, GLOBAL_PRE


@clause(
    "backward.firing.global_pre",
    says="A global full backward pre-hook runs for a Sequential before it runs for modules inside.",
    where=("each returns a tensor that requires grad", "each is called once"),
    see=("backward.structures.pre_other_outputs", "backward.firing.no_output"),
    source="docs: torch.nn.modules.module.register_module_full_backward_pre_hook"
    ' "Register a backward pre-hook common to all the modules"',
    asked="register_module_full_backward_pre_hook order parent container versus children layers which is first",
    needs=GLOBAL_PRE,
)
@given(
    plan=st.builds(
        lambda values, grad, do, own: Plan(
            row(values),
            (Input(3),),
            (
                Hook("full_backward_pre", "m2", "own", own),
                Hook("full_backward_pre", "*", "all", do),
                Forward(),
                Backward((grad,)),
            ),
        ),
        PAIR,
        NUMBERS,
        MAYBE_SCALE,
        MAYBE_SCALE,
    )
)
def test_global_pre(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    assert [event.seen[0] for event in trace if event.what == "all"] == ["m0", "m2", "m1"]
    assert trace.calls() == ["all", "all", "own", "all"]


@clause(
    "backward.firing.global_removed",
    says="A global full or legacy backward hook removed before a forward does not run for that forward.",
    see="backward.membership.removed_after_forward",
    source=f'{GLOBAL_DOCS} "a handle that can be used to remove the added hook"',
    asked="unregister register_module_full_backward_hook handle does "
    "it stop firing on next training step profiler cleanup",
    needs=GLOBAL_FULL,
)
@given(
    plan=st.builds(
        lambda kind, count, gone, grad: Plan(
            Leaf("m0", "scale", (2,)),
            (Input(3),),
            (
                *(Hook(kind, "*", f"h{index}") for index in range(count)),
                Remove(f"h{gone % count}"),
                Forward(),
                Backward((grad,)),
            ),
        ),
        ANY_KIND,
        st.integers(1, 4),
        st.integers(0, 3),
        NUMBERS,
    )
)
def test_global_removed(subject: Subject, plan: Plan) -> None:
    (gone,) = [step.label for step in plan.steps if isinstance(step, Remove)]
    assert subject.holds(plan).calls() == [hook.label for hook in hooks_of(plan) if hook.label != gone]
