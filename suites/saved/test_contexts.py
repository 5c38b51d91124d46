"""Contexts in each other, contexts that were left, what they do to the in-place check, and contexts that refuse."""

from typing import List

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import by_release, clause
from fixtures.draw.plans import FACTORS, NUMBERS
from fixtures.judge.subject import Subject
from fixtures.plan.grammar import Backward, Edit, Forward, Hook, Plan, Remove, hooks_of
from suites.saved.products import (
    BOOLEANS,
    CHECKED,
    DISABLED,
    HAS,
    HAS_CPU,
    HAS_OFF,
    INNERMOST,
    LOOKS,
    MAYBE,
    NESTING,
    NET,
    ON_CPU,
    ONE_PASS,
    PACKS,
    PASSES,
    SCALES,
    TWO,
    factors,
    pair,
    product,
    starts,
)

C0, C1 = Hook("saved", "", "c0"), Hook("saved", "", "c1")
ON_CPU_HOOK = Hook("save_on_cpu", "", "cpu")
OFF = Hook("saved_off", "", "off")


def nested(least: int, most: int) -> st.SearchStrategy:
    """So many pairs, one in the next, each of which may multiply."""
    return st.lists(st.tuples(MAYBE, MAYBE), min_size=least, max_size=most).map(
        lambda pairs: tuple(Hook("saved", "", f"c{place}", do, back=back) for place, (do, back) in enumerate(pairs))
    )


def packs_and_unpacks(plan: Plan, label: str) -> List[str]:
    """The calls of one pair of hooks: it packs both factors once, and unpacks them in each pass."""
    return [f"{label}.pack"] * 2 + [f"{label}.unpack"] * 2 * len(starts(plan))


@clause(
    "saved.nested.innermost",
    says="Of nested saved_tensors_hooks only the hooks of the innermost are called.",
    source=(INNERMOST, NESTING),
    asked="two activation hooks at once nested saved_tensors_hooks "
    "outer pack hook not called combine offload and quantize",
    needs=HAS,
    matters_if="saved ?nested_contexts",
    readings=by_release(
        "error",
        ("1.11", "innermost", {"saved_hooks_nest": True}),
        "Of nested saved_tensors_hooks only the hooks of the innermost are called.",
        ("", "refused", {"saved_hooks_nest": False}),
        "Inside saved_tensors_hooks another one raises RuntimeError.",
    ),
    witness=Plan(NET, TWO, (C0, C1, Forward())),
)
@given(plan=product(nested(2, 4)))
def test_innermost(subject: Subject, plan: Plan) -> None:
    trace, labels = subject.holds(plan), [hook.label for hook in hooks_of(plan)]
    nest = subject.reading.facts["saved_hooks_nest"]
    assert trace.calls() == packs_and_unpacks(plan, labels[-1 if nest else 0])
    assert trace.raised() == ([] if nest else [("hook", "RuntimeError")] * len(labels[1:]))


@clause(
    "saved.nested.save_on_cpu",
    says="save_on_cpu inside saved_tensors_hooks takes its place: no hook of the outer one is called.",
    source=(INNERMOST, NESTING),
    asked="my pack hook is not called inside save_on_cpu combine compression with cpu offloading",
    needs=HAS_CPU,
    matters_if="saved|save_on_cpu ?nested_contexts",
    readings=by_release(
        "error",
        ("1.11", "takes its place", {"saved_hooks_nest": True}),
        "save_on_cpu inside saved_tensors_hooks takes its place: no hook of the outer one is called.",
        ("", "refused", {"saved_hooks_nest": False}),
        "Inside saved_tensors_hooks save_on_cpu raises RuntimeError.",
    ),
    witness=Plan(NET, TWO, (C0, ON_CPU_HOOK, Forward(), Remove("cpu"), Forward())),
)
@given(
    plan=product(
        st.builds(lambda hooks: (*hooks, ON_CPU_HOOK), pair(do=MAYBE, back=MAYBE)),
        after=st.builds(lambda passes: (Remove("cpu"), Forward(), *passes), PASSES),
    )
)
def test_save_on_cpu(subject: Subject, plan: Plan) -> None:
    trace, nest, label = subject.holds(plan), subject.reading.facts["saved_hooks_nest"], hooks_of(plan)[0].label
    assert trace.calls() == [f"{label}.pack"] * (0 if nest else 2) + packs_and_unpacks(plan, label)
    assert trace.raised() == ([] if nest else [("hook", "RuntimeError")])
    assert trace[0].what == ("returns" if nest else "raises")


@clause(
    "saved.context.left",
    says="After saved_tensors_hooks is left, its unpack hook is called for what it packed; its pack hook no more.",
    source=PACKS,
    asked="must backward run inside the saved_tensors_hooks with block or can i leave it before loss.backward",
    needs=HAS,
)
@given(
    plan=product(
        pair(do=MAYBE, back=MAYBE),
        after=st.builds(
            lambda leave, failing, passes: (Remove("c", leave, failing and leave), *passes, Forward(), *passes),
            BOOLEANS,
            BOOLEANS,
            PASSES,
        ),
    )
)
def test_left(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    assert trace.calls() == ["c.pack"] * 2 + ["c.unpack"] * len(starts(plan))


@clause(
    "saved.context.order",
    says="If the outer of two nested saved_tensors_hooks is left first, the inner pair of hooks is the one removed.",
    source="measured",
    asked="exit stack leaves saved tensor contexts in wrong order wrong pack hook removed manual __exit__",
    needs=HAS,
    matters_if="saved ?nested_contexts",
    readings=by_release(
        "error",
        ("1.11", "the inner pair", {"saved_hooks_nest": True}),
        "If the outer of two nested saved_tensors_hooks is left first, the inner pair of hooks is the one removed.",
        ("", "refused", {"saved_hooks_nest": False}),
        "Inside saved_tensors_hooks another one raises RuntimeError: none can be left too early.",
    ),
    witness=Plan(NET, TWO, (C0, C1, Remove("c0"), Forward())),
)
@given(
    plan=product(
        st.builds(lambda hooks, leave: (*hooks, Remove("c0", leave)), nested(2, 3), BOOLEANS),
        after=st.builds(lambda passes: (Remove("c1"), *passes, Forward()), PASSES),
    )
)
def test_order(subject: Subject, plan: Plan) -> None:
    trace, inner = subject.holds(plan), [hook.label for hook in hooks_of(plan)][1:]
    if subject.reading.facts["saved_hooks_nest"]:
        # With three the first that is left removes the innermost, and the second the next one.
        left = ["c0.pack"] * 2 if len(inner) == 2 else []
        assert trace.calls() == packs_and_unpacks(plan, f"c{len(inner) - 1}") + left
    else:
        assert trace.raised()[: len(inner)] == [("hook", "RuntimeError")] * len(inner)


@clause(
    "saved.context.save_on_cpu",
    says="save_on_cpu changes no gradient of tensors that are on the CPU.",
    where=("no saved tensor is changed in place", "pin_memory= is left out"),
    see="saved.check.save_on_cpu",
    source=ON_CPU,
    asked="does save_on_cpu activation offloading change my gradients results same on cpu tensors",
    level="observed",
    needs=HAS_CPU,
)
@given(plan=product(st.just((ON_CPU_HOOK,))))
def test_context_save_on_cpu(subject: Subject, plan: Plan) -> None:
    grads = subject.holds(plan).grads()[-1]
    x, y = factors(plan)
    assert list(grads.values()) == [sum(starts(plan)) * y * (1 if plan.inputs[0].leaf else 2), sum(starts(plan)) * x]


def edited(hooks: st.SearchStrategy) -> st.SearchStrategy:
    """Plans in which the first factor is changed in place between the product and the pass."""
    return product(
        hooks,
        after=st.builds(lambda by, grad: (Edit("x0", by), Backward((grad,))), FACTORS, NUMBERS),
        leaf=st.just(False),
    )


@clause(
    "saved.check.off",
    says="For y = w * x in saved_tensors_hooks, changing w in place later gives x a wrong gradient, with no error.",
    where=("the hooks copy nothing", "w is no leaf"),
    see="saved.check.copies",
    source=CHECKED,
    asked="saved_tensors_hooks silently wrong gradient after inplace op no "
    "error modified by an inplace operation check missing version counter",
    level="observed",
    docs="contradicts",
    needs=HAS,
)
@given(plan=edited(pair()))
def test_off(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    assert not trace.raised()
    assert trace.grads()[-1]["x1"] == 2 * plan.inputs[0].value * plan.steps[-2].by * starts(plan)[0]


@clause(
    "saved.check.save_on_cpu",
    says="For y = w * x in save_on_cpu, changing w in place later gives x a wrong gradient, with no error.",
    where=("w is on the CPU and no leaf", "pin_memory= is left out"),
    source=CHECKED,
    asked="save_on_cpu inplace modification wrong gradient no RuntimeError activation offloading relu_ inplace",
    level="observed",
    docs="contradicts",
    needs=HAS_CPU,
)
@given(plan=edited(st.just((ON_CPU_HOOK,))))
def test_check_save_on_cpu(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    assert not trace.raised()
    assert trace.grads()[-1]["x1"] == 2 * plan.inputs[0].value * plan.steps[-2].by * starts(plan)[0]


@clause(
    "saved.check.copies",
    says="For y = w * x with a pack hook that copies, changing w in place later does not change the gradient of x.",
    where="w is no leaf",
    source="measured",
    asked="offload activations clone in pack hook safe against later inplace modification gradient still correct",
    needs=HAS,
)
@given(plan=edited(pair(do=SCALES)))
def test_copies(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    (pack,) = plan.steps[0].do
    assert trace.grads()[-1]["x1"] == 2 * plan.inputs[0].value * pack.by * starts(plan)[0]


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
def test_off_order(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    oldest_first = plan.steps[2].label == "o0"
    assert trace.raised() == [("hook", "RuntimeError")] * oldest_first
    assert trace.calls() == ["c0.pack"] * (0 if oldest_first else 2)


@clause(
    "saved.off.graph",
    says="Inside disable_saved_tensors_hooks a pass calls the unpack hooks of a graph that was made before.",
    where="there is no checkpoint",
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
