"""When the backward hooks of a module run: whose gradients must be computed for it, and how often that happens."""

from typing import Tuple

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import by_release, clause
from fixtures.draw.plans import FACTORS, NUMBERS, plans
from fixtures.judge.subject import Subject
from fixtures.plan.grammar import Backward, Chain, Forward, Hook, Input, Leaf, Parallel, Plan, Remove, Scale
from suites.backward.plans import ANY_KIND, FULL_KINDS, MAYBE_SCALE, PAIR, row
from suites.backward.sources import EXECUTED, PRE_CALLED, RULE_1, RULE_3
from suites.names import FULL, PRE

SOME_GRADS = st.sampled_from([(1, None), (None, 2), (3, 2)])
NO_INPUT = (Input(3, grad=False),)


def two(values: Tuple[int, ...]) -> Parallel:
    """Two scaling modules m1 and m2 side by side, fed with the same input."""
    return Parallel("m0", (Leaf("m1", "scale", values[:1]), Leaf("m2", "scale", values[1:])))


@clause(
    "backward.firing.only_what_is_used",
    says="If the loss uses no output of a module, its full backward hook does not run.",
    where="one backward()",
    see=("backward.twice.stale", "backward.errors.stale_pre"),
    source=EXECUTED,
    asked="unused branch auxiliary head not in objective hook never called dead layer no gradient",
    needs=FULL,
)
@given(
    plan=st.builds(
        lambda kind, do, values, grads: Plan(
            two(values),
            (Input(3),),
            (Hook(kind, "m1", "m1", do), Hook(kind, "m2", "m2", do), Forward(), Backward(grads)),
        ),
        ANY_KIND,
        MAYBE_SCALE,
        PAIR,
        SOME_GRADS,
    )
)
def test_only_what_is_used(subject: Subject, plan: Plan) -> None:
    used = [name for name, grad in zip(("m1", "m2"), plan.steps[-1].grads) if grad is not None]
    assert sorted(subject.holds(plan).calls()) == used


@clause(
    "backward.firing.summed",
    says="If y = weight * x is used twice, a full backward hook or pre-hook is given the sum of y's gradients, once.",
    where=("one backward()", "there is no other hook"),
    see="backward.membership.once_per_backward",
    source="measured",
    asked="activation reused by two branches residual does module hook fire twice or "
    "see accumulated grad_output backward hook called once or twice shared module",
    needs=FULL,
)
@given(
    plan=st.builds(
        lambda kind, value, values, grads: Plan(
            Chain("m3", (Leaf("m4", "scale", (value,)), two(values))),
            (Input(3),),
            (Hook(kind, "m4", "h0"), Forward(), Backward(grads)),
        ),
        FULL_KINDS,
        NUMBERS,
        PAIR,
        PAIR,
    )
)
def test_summed(subject: Subject, plan: Plan) -> None:
    users, grads = plan.net.children[1].children, plan.steps[-1].grads
    due = (sum(user.values[0] * grad for user, grad in zip(users, grads)),)
    assert [grad_output for *_, grad_output in subject.holds(plan).seen_by("h0")] == [due]


@clause(
    "backward.firing.no_output",
    says="A full or legacy backward hook does not run for a module whose outputs need no gradient.",
    source=RULE_3,
    asked="frozen layer whole network requires_grad false hook never triggered feature extractor "
    "with old or new api backward hook uncalled frozen first layers input needs no gradient",
    needs=FULL,
)
@given(
    plan=st.builds(
        lambda kind, op, value, grad, by: Plan(
            Parallel("m0", (Leaf("m1", op), Leaf("m2", "first", (value,)))),
            NO_INPUT * 2,
            (
                Hook(kind, "m1", "h0"),
                Hook("tensor", "m2.weight", "h1", (Scale(by),)),
                Forward(),
                Backward((None, grad)),
            ),
        ),
        ANY_KIND,
        st.sampled_from(["add", "mul"]),
        NUMBERS,
        NUMBERS,
        FACTORS,
    )
)
def test_no_output(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    assert trace.calls() == ["h1"]
    assert trace.grads()[0]["m2.weight"] == 3 * plan.steps[-1].grads[1] * plan.steps[1].do[0].by


@clause(
    "backward.firing.independent_output",
    says="If forward ignores the one input that needs a gradient, the full backward hook does not run.",
    where="inputs are positional tensors",
    see="backward.structures.unseen_inputs",
    source=RULE_1,
    asked="layer result not connected to its differentiable argument module hook never called silent",
    matters_if="full_backward ?first_needs_no_grad",
    note="Rule 1 of the docs since 2.8; those of 1.13 to 2.7 promised a call whenever outputs get gradients.",
    needs=FULL,
    readings=by_release(
        "error",
        ("1.9", "silent", {"full_first_must_need_grad": False}),
        "A full backward hook does not run if the one input that needs a gradient gets none.",
        ("", "refused", {"full_first_must_need_grad": True}),
        "With a full backward hook forward raises AttributeError if only a later input needs a gradient.",
    ),
    witness=Plan(
        Leaf("m0", "first", (2,)),
        (Input(1, grad=False), Input(2)),
        (Hook("full_backward", "m0", "h0"), Forward(), Backward()),
    ),
)
@given(
    plan=st.builds(
        lambda value, passes: Plan(
            Leaf("m0", "first", (value,)),
            (Input(3, grad=False), Input(4)),
            (Hook("full_backward", "m0", "h0"), Forward(), *(Backward((grad,)) for grad in passes)),
        ),
        NUMBERS,
        st.lists(NUMBERS, min_size=1, max_size=2),
    )
)
def test_independent_output(subject: Subject, plan: Plan) -> None:
    trace, refused = subject.holds(plan), subject.reading.facts["full_first_must_need_grad"]
    assert (trace.calls(), trace.raised()) == ([], [("forward", "AttributeError")] * refused)
    assert all(grads["x1"] is None for grads in trace.grads())


@clause(
    "backward.firing.pre_independent_output",
    says="A full backward pre-hook runs also if the output does not depend on the input that needs a gradient.",
    where="the output is a tensor that requires grad",
    source=PRE_CALLED,
    asked="register_full_backward_pre_hook still triggers though result disconnected from data only depends on weights",
    needs=PRE,
)
@given(
    plan=st.builds(
        lambda value, grad, do: Plan(
            Leaf("m0", "first", (value,)),
            (Input(3, grad=False), Input(4)),
            (
                Hook("full_backward", "m0", "h0"),
                Hook("full_backward_pre", "m0", "h1", do),
                Forward(),
                Backward((grad,)),
            ),
        ),
        NUMBERS,
        NUMBERS,
        MAYBE_SCALE,
    )
)
def test_pre_independent_output(subject: Subject, plan: Plan) -> None:
    assert subject.holds(plan).calls() == ["h1"]


@clause(
    "backward.firing.pre_without_input",
    says="A full backward pre-hook runs also if no input of its module needs a gradient.",
    where="the output is a tensor that requires grad",
    see="backward.firing.no_output",
    source=PRE_CALLED,
    asked="does register_full_backward_pre_hook fire on first layer where data has requires_grad false",
    needs=PRE,
)
@given(
    plan=st.builds(
        lambda op, values, passes: Plan(
            Leaf("m0", op, values[: 1 if op == "scale" else 2]),
            NO_INPUT,
            (Hook("full_backward_pre", "m0", "h0"), Forward(), *(Backward((grad,)) for grad in passes)),
        ),
        st.sampled_from(["scale", "affine"]),
        PAIR,
        st.lists(NUMBERS, min_size=1, max_size=3),
    )
)
def test_pre_without_input(subject: Subject, plan: Plan) -> None:
    assert subject.holds(plan).seen_by("h0") == [("m0", step.grads) for step in plan.steps[2:]]


@clause(
    "backward.firing.one_forward_of_two",
    says="backward() from the last of several forwards runs full backward hooks for that one only.",
    where="no forward uses results of another",
    source=EXECUTED,
    asked="ran model many times then loss on latest only how many hook calls earlier batches ignored",
    needs=FULL,
)
@given(
    plan=st.builds(
        lambda kind, do, values, forwards, grad: Plan(
            row(values),
            (Input(3),),
            (Hook(kind, "m1", "h0", do), Hook(kind, "m2", "h1", do)) + (Forward(),) * forwards + (Backward((grad,)),),
        ),
        ANY_KIND,
        MAYBE_SCALE,
        PAIR,
        st.integers(1, 3),
        NUMBERS,
    )
)
def test_one_forward_of_two(subject: Subject, plan: Plan) -> None:
    assert subject.holds(plan).calls() == ["h1", "h0"]


@clause(
    "backward.firing.in_turn",
    says="In each backward() a full backward hook has None for an output that this pass leaves out.",
    where=("the module returns a tuple of tensors", "there is no other hook"),
    see="backward.structures.other_outputs",
    source="measured",
    asked="multi head module separate losses one after another hook called twice with missing grad_output",
    needs=FULL,
)
@given(
    plan=st.builds(
        lambda values, passes: Plan(
            Leaf("m0", "split", values),
            (Input(3),),
            (Hook("full_backward", "m0", "h0"), Forward(), *(Backward(grads) for grads in passes)),
        ),
        PAIR,
        st.lists(SOME_GRADS, min_size=1, max_size=3),
    )
)
def test_in_turn(subject: Subject, plan: Plan) -> None:
    seen = subject.holds(plan).seen_by("h0")
    assert [grad_output for _, _, grad_output in seen] == [step.grads for step in plan.steps[2:]]


@clause(
    "backward.firing.freed_graph",
    says="For y = weight * x a second y.sum().backward() raises RuntimeError and skips the full backward hook.",
    where=("x is positional and requires grad", "no retain_graph="),
    source="measured",
    asked="trying to backward through the graph a second time without retain_graph is hook called again",
    needs=FULL,
)
@given(
    plan=st.builds(
        lambda values, do, passes: Plan(
            row(values),
            (Input(3),),
            (
                Hook("full_backward", "m1", "h0", do),
                Hook("full_backward", "m2", "h1"),
                Forward(),
                Backward((1,), retain_graph=False),
                *(Backward((grad,)) for grad in passes),
            ),
        ),
        PAIR,
        MAYBE_SCALE,
        st.lists(NUMBERS, min_size=1, max_size=2),
    )
)
def test_freed_graph(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    assert trace.calls() == ["h1", "h0"]
    assert trace.raised() == [("backward", "RuntimeError")] * (len(plan.steps) - 4)


@clause(
    "backward.firing.any_network",
    says="Every plan of the grammar with full backward hooks leaves the trace of the model.",
    source="measured",
    checks_model=True,
    needs=FULL,
)
@given(
    plan=plans(
        kinds=("full_backward", "full_backward_pre"),
        inputs=(1, 2),
        outputs=(1, 2),
        depth=2,
        everywhere=True,
        frozen=True,
        remove=True,
        runs=3,
    )
)
def test_any_network(subject: Subject, plan: Plan) -> None:
    subject.holds(plan)


@clause(
    "backward.firing.removed_twice",
    says="A second remove() of one full or legacy backward hook does nothing, also if another was added.",
    source="measured",
    asked="calling handle remove again safe or error could it delete someone elses hook double unregister",
    needs=FULL,
)
@given(
    plan=st.builds(
        lambda kind, early, do, grad: Plan(
            Leaf("m0", "scale", (2,)),
            (Input(3),),
            (
                Hook(kind, "m0", "h0"),
                *((Remove("h0"),) * early),
                Hook(kind, "m0", "h1", do),
                *((Remove("h0"),) * (3 - early)),
                Forward(),
                Backward((grad,)),
            ),
        ),
        ANY_KIND,
        st.integers(0, 2),
        MAYBE_SCALE,
        NUMBERS,
    )
)
def test_removed_twice(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    assert (trace.calls(), trace.raised()) == (["h1"], [])
