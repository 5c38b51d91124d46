"""Which backward hooks of a module run: registering, removing, mixing full and legacy ones, and global hooks."""

from typing import List

from hypothesis import given
from hypothesis import strategies as st

from fixtures.draw.plans import NUMBERS
from fixtures.judge.clause import Reading, by_release, clause
from fixtures.judge.subject import Subject
from fixtures.plan.grammar import Backward, Chain, Drop, Forward, Hook, Input, Leaf, Plan, Remove, hooks_of
from suites.backward.hooked import FULL_KINDS, MAYBE_SCALE, steps_on_line
from suites.backward.sources import CALLED, MIXED, PREPEND, RULE_3, TESTS
from suites.names import FULL, PRE, UNDER_NO_GRAD

ABOUT = "register_backward_hook"


@clause(
    "backward.membership.removed_after_forward",
    says="A full hook or pre-hook removed after the forward runs for that forward, and for no later one.",
    source="measured",
    needs=FULL,
)
@given(
    plan=st.builds(
        lambda kind, do: steps_on_line(
            Hook(kind, "m0", "h0", do), Forward(), Remove("h0"), Backward((1,)), Forward(), Backward((2,))
        ),
        FULL_KINDS,
        MAYBE_SCALE,
    )
)
def test_removed_after_forward(subject: Subject, plan: Plan) -> None:
    assert subject.holds(plan).calls() == ["h0"]


@clause(
    "backward.membership.legacy_removed_after_forward",
    says="A legacy hook removed after the forward still runs for that forward, and for no later one.",
    source="measured",
)
@given(
    plan=st.builds(
        lambda do, passes: steps_on_line(
            Hook("backward", "m0", "h0", do),
            Forward(),
            Remove("h0"),
            *([Backward((grad,)) for grad in passes] + [Forward(), Backward((2,))]),
        ),
        MAYBE_SCALE,
        st.lists(NUMBERS, min_size=1, max_size=2),
    )
)
def test_legacy_removed_after_forward(subject: Subject, plan: Plan) -> None:
    assert subject.holds(plan).calls() == ["h0"] * (len(plan.steps) - 5)


@clause(
    "backward.membership.registered_after_forward",
    says="A backward hook registered after the forward does not run for that forward, but for the next.",
    source="measured",
    needs=FULL,
)
@given(
    plan=st.builds(
        lambda kind, early, do: steps_on_line(
            *([Hook(kind, "m0", "h0")] * early)
            + [Forward(), Hook(kind, "m0", "h1", do), Backward((1,)), Forward(), Backward((2,))]
        ),
        st.sampled_from(["full_backward", "backward"]),
        st.booleans(),
        MAYBE_SCALE,
    )
)
def test_registered_after_forward(subject: Subject, plan: Plan) -> None:
    early = ["h0"] if "h0" in [hook.label for hook in hooks_of(plan)] else []
    assert subject.holds(plan).calls() == early + early + ["h1"]


@clause(
    "backward.membership.removed_by_another",
    says="A full hook removed by an earlier hook of the module is still called in the pass that is running.",
    source="measured",
    needs=FULL,
)
@given(
    plan=st.builds(
        lambda gone, do: steps_on_line(
            Hook("full_backward", "m0", "h0", (Drop(gone),)),
            Hook("full_backward", "m0", "h1", do),
            Hook("full_backward", "m0", "h2"),
            Forward(),
            Backward((1,)),
            Forward(),
            Backward((2,)),
        ),
        st.sampled_from(["h0", "h1", "h2"]),
        MAYBE_SCALE,
    )
)
def test_removed_by_another(subject: Subject, plan: Plan) -> None:
    every = ["h0", "h1", "h2"]
    gone = hooks_of(plan)[0].do[0].label
    assert subject.holds(plan).calls() == every + [label for label in every if label != gone]


@clause(
    "backward.membership.legacy_taken",
    says="The legacy hooks of a call are those that are registered when the call begins.",
    source="measured",
    concern="backward ?registers_inside",
    readings=by_release(
        "other",
        ("1.8", "at the start", {"legacy_taken": "start"}),
        "A legacy hook that a forward hook of the call removes still runs for that call.",
        ("", "at the end", {"legacy_taken": "end"}),
        "The legacy hooks of a call are those that are left when its forward hooks have run.",
    ),
    witness=steps_on_line(
        Hook("backward", "m0", "h0"), Hook("forward", "m0", "h1", (Drop("h0"),)), Forward(), Backward()
    ),
)
@given(
    plan=st.builds(
        lambda kind, do, more: steps_on_line(
            Hook("backward", "m0", "h0", do),
            Hook(kind, "m0", "h1", (Drop("h0"),)),
            Hook("backward", "m0", "h2", more),
            Forward(),
            Backward((1,)),
            Forward(),
            Backward((2,)),
        ),
        st.sampled_from(["forward_pre", "forward"]),
        MAYBE_SCALE,
        MAYBE_SCALE,
    )
)
def test_legacy_taken(subject: Subject, plan: Plan) -> None:
    subject.holds(plan)


@clause(
    "backward.membership.no_mixing",
    says="A module takes full hooks or legacy hooks: the sort that comes second raises RuntimeError.",
    source=MIXED,
    needs=FULL,
)
@given(
    plan=st.lists(st.sampled_from(["backward", "full_backward"]), min_size=2, max_size=4).map(
        lambda kinds: steps_on_line(
            *[Hook(kind, "m0", f"h{index}") for index, kind in enumerate(kinds)], Forward(), Backward()
        )
    )
)
def test_no_mixing(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    first, *_ = hooks = hooks_of(plan)
    assert trace.raised() == [("hook", "RuntimeError") for hook in hooks if hook.kind != first.kind]
    assert trace.calls() == [hook.label for hook in hooks if hook.kind == first.kind]


@clause(
    "backward.membership.choice_is_final",
    says="The other sort of backward hook is refused even after every hook of the first was removed.",
    source="measured",
    needs=FULL,
)
@given(
    plan=st.sampled_from([("full_backward", "backward"), ("backward", "full_backward")]).map(
        lambda kinds: steps_on_line(
            Hook(kinds[0], "m0", "h0"), Remove("h0"), Hook(kinds[1], "m0", "h1"), Forward(), Backward()
        )
    )
)
def test_choice_is_final(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    assert (trace.raised(), trace.calls()) == ([("hook", "RuntimeError")], [])


@clause(
    "backward.membership.pre_goes_with_both",
    says="Full backward pre-hooks go with full hooks and with legacy hooks on one module.",
    source="measured",
    needs=PRE,
)
@given(
    plan=st.builds(
        lambda kind, pre, do: steps_on_line(
            Hook(kind, "m0", "h0", do), Hook("full_backward_pre", "m0", "h1", pre), Forward(), Backward()
        ),
        st.sampled_from(["full_backward", "backward"]),
        MAYBE_SCALE,
        MAYBE_SCALE,
    )
)
def test_pre_goes_with_both(subject: Subject, plan: Plan) -> None:
    assert subject.holds(plan).calls() == ["h1", "h0"]


@clause(
    "backward.membership.around",
    says="Where the input needs a gradient, nested modules run pre-hooks outside in and full hooks inside out.",
    source="measured",
    needs=PRE,
)
@given(
    plan=st.builds(
        lambda values, grad, do: Plan(
            Chain("m0", (Chain("m1", (Leaf("m2", "affine", values),)),)),
            (Input(2),),
            tuple(Hook("full_backward", name, "full " + name, do) for name in ("m0", "m1", "m2"))
            + tuple(Hook("full_backward_pre", name, "pre " + name, do) for name in ("m0", "m1", "m2"))
            + (Forward(), Backward((grad,))),
        ),
        st.tuples(NUMBERS, NUMBERS),
        NUMBERS,
        MAYBE_SCALE,
    )
)
def test_around(subject: Subject, plan: Plan) -> None:
    assert subject.holds(plan).calls() == ["pre m0", "pre m1", "pre m2", "full m2", "full m1", "full m0"]


@clause(
    "backward.membership.prepend",
    says="With prepend=True a full hook or pre-hook goes before those of its kind that are there.",
    source=PREPEND,
    needs=(PRE, FULL + "(prepend)"),
)
@given(
    plan=st.builds(
        lambda kind, prepends: steps_on_line(
            *[Hook(kind, "m0", f"h{index}", prepend=first) for index, first in enumerate(prepends)],
            Forward(),
            Backward(),
        ),
        FULL_KINDS,
        st.lists(st.booleans(), min_size=2, max_size=4),
    )
)
def test_prepend(subject: Subject, plan: Plan) -> None:
    order: List[str] = []
    for hook in hooks_of(plan):
        order.insert(0 if hook.prepend else len(order), hook.label)
    assert subject.holds(plan).calls() == order


@clause(
    "backward.membership.once_per_backward",
    says="A full hook runs once in each backward over a retained graph.",
    source=(CALLED, TESTS + "test_hooks"),
    needs=FULL,
)
@given(
    plan=st.builds(
        lambda do, passes: steps_on_line(
            Hook("full_backward", "m0", "h0", do), Forward(), *[Backward((grad,)) for grad in passes]
        ),
        MAYBE_SCALE,
        st.lists(NUMBERS, min_size=1, max_size=3),
    )
)
def test_once_per_backward(subject: Subject, plan: Plan) -> None:
    seen = subject.holds(plan).seen_by("h0")
    assert [grad_output for _, _, grad_output in seen] == [step.grads for step in plan.steps[2:]]


@clause(
    "backward.membership.under_no_grad",
    says="A hooked module can be called under no_grad: the hooks do not run, and nothing is raised.",
    source=(RULE_3, UNDER_NO_GRAD),
    concern="full_backward ?no_grad",
    needs=FULL,
    readings=(
        Reading(
            "always",
            "",
            "A hooked module can be called under no_grad: the hooks do not run, and nothing is raised.",
            {"full_without_grad": "skipped"},
        ),
        Reading("an error", "never", "Torch does otherwise: an error.", {"full_without_grad": "RuntimeError"}),
    ),
    witness=steps_on_line(Hook("full_backward", "m0", "h0"), Forward(grad=False), Forward(), Backward()),
)
@given(
    plan=st.builds(
        lambda hooks, grad: steps_on_line(
            *(Hook("full_backward", "m0", f"h{place}") for place in range(hooks)),
            Forward(grad=False),
            Forward(),
            Backward((grad,)),
        ),
        st.integers(1, 3),
        NUMBERS,
    )
)
def test_under_no_grad(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    assert trace.calls() == [hook.label for hook in hooks_of(plan)]
    assert subject.reading.facts["full_without_grad"] != "skipped" or not trace.raised()
