"""disable_saved_tensors_hooks: what is refused in it, and what is not."""

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import clause
from fixtures.draw.plans import NUMBERS
from fixtures.judge.subject import Subject
from fixtures.plan.grammar import Forward, Hook, Plan, Remove
from suites.hooking import result
from suites.saved.plans import BOOLEANS, C0, C1, MAYBE, ON_CPU_HOOK, ONE_PASS, PASSES, on_one, pair, product, starts
from suites.saved.sources import DISABLED, HAS_OFF, HAS_ONE
from suites.shapes import LOOKS
from suites.tensors import leaf

OFF = Hook("saved_off", "", "off")


@clause(
    "saved.off.refuses",
    says="Inside disable_saved_tensors_hooks entering saved_tensors_hooks or save_on_cpu raises RuntimeError.",
    source=DISABLED,
    asked="forbid saved_tensors_hooks in my function error message feature does not support saved tensor hooks",
    needs=HAS_OFF,
    about=("disable_saved_tensors_hooks", "saved_tensors_hooks", "save_on_cpu"),
)
@given(
    plan=product(
        st.builds(
            lambda number, kind, leave: (
                *(Hook("saved_off", "", f"off{place}") for place in range(number)),
                Hook(kind, "", "c0"),
                *(Remove(f"off{place}", leave) for place in reversed(range(number))),
                C1,
            ),
            st.integers(1, 2),
            st.sampled_from(["saved", "save_on_cpu"]),
            BOOLEANS,
        )
    )
)
def test_refuses(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    assert trace.raised() == [("hook", "RuntimeError")]
    assert trace.calls() == ["c1.pack"] * 2 + ["c1.unpack"] * 2 * len(starts(plan))


@clause(
    "saved.off.active",
    says="Entering disable_saved_tensors_hooks inside saved_tensors_hooks or save_on_cpu raises RuntimeError.",
    source="measured",
    asked="disable_saved_tensors_hooks raises when entered inside saved_tensors_hooks already active",
    needs=HAS_OFF,
    about=("disable_saved_tensors_hooks", "saved_tensors_hooks", "save_on_cpu"),
)
@given(
    plan=product(
        pair(do=MAYBE, back=MAYBE).map(lambda hooks: (*hooks, OFF)) | st.just((ON_CPU_HOOK, OFF)),
        after=st.builds(lambda passes: (C1, Forward(), *passes), PASSES),
    )
)
def test_active(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    assert trace.raised() == [("hook", "RuntimeError")]
    assert len(trace.seen_by("c1.pack")) == 2


@clause(
    "saved.off.order",
    says="Two nested disable_saved_tensors_hooks that are left outer first leave saved_tensors_hooks disabled.",
    source="measured",
    asked="saved tensor hooks stay disabled for whole process after leaving contexts RuntimeError from then on",
    needs=HAS_OFF,
)
@given(
    plan=product(
        st.builds(
            lambda labels, leave: (
                *(Hook("saved_off", "", label) for label in ("o0", "o1")),
                *(Remove(label, leave) for label in labels),
                C0,
            ),
            st.permutations(["o0", "o1"]),
            BOOLEANS,
        ),
        after=LOOKS,
    )
)
def test_order(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    oldest_first = plan.steps[2].label == "o0"
    assert trace.raised() == [("hook", "RuntimeError")] * oldest_first
    assert trace.calls() == ["c0.pack"] * (0 if oldest_first else 2)


@clause(
    "saved.off.graph",
    says="Inside disable_saved_tensors_hooks a pass calls the unpack hooks of a graph that was made before.",
    source="measured",
    asked="backward inside disable_saved_tensors_hooks graph packed earlier does unpack still work",
    needs=HAS_OFF,
    about=("disable_saved_tensors_hooks", "saved_tensors_hooks"),
)
@given(
    plan=product(
        pair(do=MAYBE, back=MAYBE),
        after=st.builds(lambda one, more: (Remove("c"), OFF, *one, Forward(), *more), ONE_PASS, PASSES),
    )
)
def test_graph(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    assert trace.calls() == ["c.pack"] * 2 + ["c.unpack"] * 2


@clause(
    "saved.off.one",
    says="SavedTensor.register_hooks works inside disable_saved_tensors_hooks, too.",
    source="measured",
    asked="register_hooks on raw saved tensor still works when saved tensor hooks are disabled",
    needs=(HAS_OFF, HAS_ONE),
)
@given(
    plan=product(
        after=st.builds(
            lambda off, hooks, passes: (off, *hooks, *passes),
            st.just(Hook("saved_off", "", "off")),
            on_one(do=MAYBE, back=MAYBE),
            PASSES,
        ),
    )
)
def test_one(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    assert not trace.raised()
    assert trace.calls() == ["c.pack"] + ["c.unpack"] * len(starts(plan))


@clause(
    "saved.off.checkpoint",
    says="Inside disable_saved_tensors_hooks checkpoint(use_reentrant=False) raises RuntimeError.",
    source=DISABLED,
    asked="activation checkpointing use_reentrant False fails saved tensors hooks are disabled error",
    needs=HAS_OFF,
    value="RuntimeError",
    wrong={"works": "works"},
    witness={"x": 2},
    note="It is made of such hooks; the reentrant one is not.",
)
@given(x=NUMBERS)
def test_checkpoint(subject: Subject, x: int) -> None:
    import torch
    from torch.utils.checkpoint import checkpoint

    start = leaf(x)

    def run() -> str:
        with torch.autograd.graph.disable_saved_tensors_hooks("off"):
            checkpoint(lambda one: one * one, start, use_reentrant=False)
        return "works"

    assert result(run, RuntimeError) == subject.value
