"""Which backward hooks of a module run: registering, removing, and mixing full and legacy ones."""

from typing import Any, List, Tuple

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import Reading, by_release, clause
from fixtures.draw.plans import NUMBERS
from fixtures.judge.subject import Subject
from fixtures.plan.grammar import Backward, Chain, Drop, Forward, Hook, Input, Leaf, Plan, Remove, hooks_of
from suites.backward.plans import FULL_KINDS, MAYBE_SCALE, steps_on_line
from suites.backward.sources import DOCS, MIXED, RULE_3, TESTS
from suites.names import FULL, PRE, UNDER_NO_GRAD

ABOUT = "register_backward_hook"


@clause(
    "backward.membership.removed_after_forward",
    says="Removing a full backward hook or pre-hook after a forward stops it for later forwards, not for that one.",
    source="measured",
    asked="handle remove between loss and backward new api still fires or not already captured for graph",
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
    says="Removing a legacy backward hook after a forward stops it for later forwards, not for that one.",
    source="measured",
    asked="unregister old register_backward_hook before calling backward still fires too late handle delete",
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
    says="A full or legacy backward hook registered after a forward is not called for that forward.",
    see="backward.given.no_input",
    source="measured",
    asked="added hook between computing loss and calling backward never called too late need to rerun model",
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
    says="A full backward hook that an earlier one of its module removes is still called in that backward pass.",
    source="measured",
    asked="unregister other hook while hooks are running skipped or "
    "still triggered snapshot handle delete during iteration",
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


def dropping(kind: str, *does: Tuple[Any, ...]) -> Plan:
    """A hook around forward that removes the first of two legacy hooks, and two passes."""
    first, second = does
    return steps_on_line(
        Hook("backward", "m0", "h0", first),
        Hook(kind, "m0", "h1", (Drop("h0"),)),
        Hook("backward", "m0", "h2", second),
        *(Forward(), Backward((1,)), Forward(), Backward((2,))),
    )


@clause(
    "backward.membership.legacy_taken",
    says="A forward hook that removes a legacy backward hook of its module does not stop it for that call.",
    source="measured",
    asked="unregister register_backward_hook during the layers own call still triggers that step",
    matters_if="backward ?registers_inside",
    readings=by_release(
        "silent",
        ("1.8", "at the start", {"legacy_taken": "start"}),
        "A legacy backward hook that a forward hook of its module removes still runs for that call.",
        ("", "at the end", {"legacy_taken": "end"}),
        "The legacy backward hooks of a call are those that are left after its forward hooks.",
    ),
    witness=dropping("forward", (), ()),
)
@given(plan=st.builds(dropping, st.sampled_from(["forward_pre", "forward"]), MAYBE_SCALE, MAYBE_SCALE))
def test_legacy_taken(subject: Subject, plan: Plan) -> None:
    removed = ["h0"] if subject.reading.facts["legacy_taken"] == "start" else []
    # In the second forward it is gone.
    assert subject.holds(plan).calls() == ["h1", *removed, "h2", "h1", "h2"]


@clause(
    "backward.membership.no_mixing",
    says="A module with an own full backward hook refuses legacy ones with RuntimeError, and the other way round.",
    source=MIXED,
    asked="cannot use both regular backward hooks and full backward hooks on a single "
    "module error register_backward_hook both regular and full backward hooks",
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
    says="A module whose full backward hooks were all removed still refuses legacy ones, and the other way round.",
    source="measured",
    asked="deleted all hooks still cannot use both regular and full backward hooks on single module",
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
    says="A module may have full backward pre-hooks next to full backward hooks or next to legacy ones.",
    source="measured",
    asked="combine register_full_backward_pre_hook with register_backward_hook same layer allowed or conflict",
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
    says="Of nested modules, full backward pre-hooks run outside in and full backward hooks inside out.",
    where="inputs are positional tensors that require grad",
    see="backward.structures.unseen_inputs",
    source="measured",
    asked="order of hooks parent and child layer in hierarchy enter exit timing profiling backward per block",
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
    says="A full backward hook or pre-hook with prepend=True runs before all of its kind that its module had.",
    see=("ordering.between.global_full_backward_first", "ordering.between.global_full_backward_pre_first"),
    source=f'{DOCS} "the provided ``hook`` will be fired before all existing ``backward`` hooks"',
    asked="make my hook first in line insert at front ahead of already registered hooks priority",
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
    says="For a tensor y = m(x), m's full backward hook runs once in each backward() through y.",
    where="y is made from x, and m called once",
    see=("backward.given.each_call", "backward.asked.backward_weight"),
    source=(f'{DOCS} "called every time the gradients with respect to a module are computed"', TESTS + "test_hooks"),
    asked="how many times is register_full_backward_hook triggered per training step retain_graph called again",
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
    says="Under no_grad a module with a full backward hook can be called; its hook does not run for that call.",
    source=(RULE_3, UNDER_NO_GRAD),
    asked="evaluation validation inference with torch no_grad and registered hook crash or silent never triggered",
    matters_if="full_backward ?no_grad",
    needs=FULL,
    readings=(
        Reading(
            "always",
            "",
            "Under no_grad a module with a full backward hook can be called; its hook does not run for that call.",
            {"full_without_grad": "skipped"},
        ),
        Reading(
            "an error",
            "never",
            "Under no_grad a call of a module with a full backward hook raises an error.",
            {"full_without_grad": "RuntimeError"},
        ),
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
    trace, error = subject.holds(plan), subject.reading.facts["full_without_grad"]
    assert trace.calls() == [hook.label for hook in hooks_of(plan)]
    assert trace.raised() == ([] if error == "skipped" else [("forward", error)])
