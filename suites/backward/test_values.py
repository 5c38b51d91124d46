"""Gradients as tensors around a module: what its backward hooks are given and may return, and what is checked."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import by_release, clause
from fixtures.draw.contract import by_contract
from fixtures.draw.plans import plans
from fixtures.draw.shapes import LAYOUTS, SHAPES
from fixtures.judge.subject import Subject
from fixtures.plan.grammar import Backward, Forward, Hook, Input, Leaf, Like, Of, Plan, Recast, hooks_of
from suites.backward.sources import GRADIENTS, INPUT_VIEW, LEGACY, REPLACES
from suites.hooking import SOME
from suites.names import FULL

ONE = Input(Of(1, (2, 3)))
#: The real dtypes that a torch computes with, but for float32.
OTHER_DTYPES = by_contract(
    lambda contract: st.sampled_from([one for one in contract.dtypes if one != "float32" and one[0] != "c"])
)


def hooked(*do: Recast, kind: str = "full_backward") -> Plan:
    """A module that hands its input on, with a hook for each of some forms in which it returns the gradients."""
    hooks = [Hook(kind, "m0", f"h{number}", (action,)) for number, action in enumerate(do)]
    return Plan(Leaf("m0", "scale", (Of(1, (3,)),)), (ONE,), (*hooks, Forward(), Backward((Like(1),))))


@clause(
    "backward.values.full_given",
    says="Tensors in a full backward hook's grad_input have the shape and dtype of the inputs of forward.",
    where="there is no other backward hook",
    see="backward.values.last_is_checked",
    source=GRADIENTS,
    asked="is grad_input size and float16 type same as activation amp autocast mixed precision half",
    level="observed",
    needs=FULL,
)
@given(plan=plans(kinds=("full_backward",), does=(), inputs=(1, 2), outputs=(1, 2), depth=0, values=True))
def test_full_given(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    for event in trace:
        if event.what in trace.calls():
            for spec, grad in zip(plan.inputs, event.seen[1]):
                assert grad is None or (grad.shape, grad.dtype) == (spec.value.shape, spec.value.dtype)


@clause(
    "backward.values.any_layout",
    says="A gradient that a full or legacy backward hook returns may be transposed, expanded or sliced.",
    where="operations of torch, not an autograd.Function, are given it",
    see="backward.returns.full_without_input",
    source="measured",
    asked="can i return non contiguous transposed expanded gradient memory format channels_last from hook",
    about=("register_backward_hook", "register_full_backward_hook"),
)
@given(plan=plans(kinds=("backward", "full_backward"), inputs=(1, 2), outputs=(1, 2), values=True, recasts=("layout",)))
def test_any_layout(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    assert not trace.calls() or "backward" not in [step for step, _ in trace.raised()]


@clause(
    "backward.values.last_is_checked",
    says="Only the last gradient that full backward hooks return must have the input's shape and dtype.",
    where="inputs are positional tensors that require grad",
    see=("backward.wrong.longer", "backward.returns.full_without_input"),
    source=(REPLACES, "measured"),
    asked="several hooks intermediate one gives wrong size no error validation happens only at end of chain",
    level="observed",
    matters_if="full_backward returns ?returns_wrong",
    needs=FULL,
    readings=by_release(
        "error",
        ("1.13", "the last", {"full_checked_each": False}),
        "A full backward hook may return any shape and dtype where a later one returns fitting ones.",
        ("", "each", {"full_checked_each": True}),
        "A full backward hook returning another shape or dtype ends backward() in RuntimeError at once.",
    ),
    witness=hooked(Recast(dtype="float32"), Recast(dtype="float64")),
)
@given(
    plan=st.lists(
        st.builds(Recast, shape=st.sampled_from(["", "", "longer"]), dtype=st.sampled_from(["float32", "float64"])),
        min_size=1,
        max_size=4,
    ).map(lambda do: hooked(*do))
)
def test_last_is_checked(subject: Subject, plan: Plan) -> None:
    trace, returned = subject.holds(plan), [hook.do[0] for hook in hooks_of(plan)]
    # What one hook made longer stays so.
    shaped = [not any(one.shape for one in returned[: place + 1]) for place in range(len(returned))]
    fits = [fine and one.dtype == "float64" for fine, one in zip(shaped, returned)]
    checked = fits if subject.reading.facts["full_checked_each"] else fits[-1:]
    assert trace.raised() == ([] if all(checked) else [("backward", "RuntimeError")])
    called = fits.index(False) + 1 if len(checked) > 1 and not all(fits) else len(fits)
    assert trace.calls() == [hook.label for hook in hooks_of(plan)][:called]


@clause(
    "backward.values.frozen_input",
    says="Where an input needs a gradient, a full backward hook replaces also those that need none by new tensors.",
    where="inputs are positional tensors",
    see="backward.objects.kept",
    source=(INPUT_VIEW, "measured"),
    asked="argument with requires_grad false also copied identity differs when hook set mask not same object",
    level="observed",
    matters_if="full_backward ?first_needs_no_grad",
    needs=FULL,
    readings=by_release(
        "silent",
        ("1.11", "new", {"frozen_is_wrapped": True}),
        "Where one input needs a gradient, a full backward hook replaces all inputs by new tensors.",
        ("", "the same", {"frozen_is_wrapped": False}),
        "A full backward hook leaves an input that needs no gradient the caller's own object.",
    ),
    witness=Plan(
        Leaf("m0", "both"),
        (ONE, replace(ONE, grad=False)),
        (Hook("full_backward", "m0", "h0"), Hook("forward", "m0", "h1"), Forward(), Backward((Like(1), None))),
    ),
)
@given(
    plan=st.builds(
        lambda form, others, hooks: Plan(
            Leaf("m0", "many", (Of(2),), outputs=1),
            (Input(form), *(Input(form, grad=grad) for grad in others), Input(form, grad=False)),
            (
                *(Hook("full_backward", "m0", f"f{place}") for place in range(hooks)),
                Hook("forward", "m0", "h1"),
                Forward(),
            ),
        ),
        st.builds(Of, st.just(1), st.sampled_from(SHAPES), st.just("float64"), st.sampled_from(LAYOUTS)),
        st.lists(st.booleans(), max_size=2),
        SOME,
    )
)
def test_frozen_input(subject: Subject, plan: Plan) -> None:
    new = [spec.grad or subject.reading.facts["frozen_is_wrapped"] for spec in plan.inputs]
    seen = subject.holds(plan).seen_by("h1")
    assert [[one.name[:1] != "x" for one in given_to] for _, given_to, _ in seen] == [new]


@clause(
    "backward.values.legacy_cast",
    says="The legacy backward hook of a module that only casts its input to another dtype has one grad_input entry.",
    source=(LEGACY, "measured"),
    asked="register_backward_hook on half to float conversion layer mixed precision grad_input single element",
    matters_if="backward ?other_dtype",
    readings=by_release(
        "silent",
        ("1.10", "one", {"cast_has_two_inputs": False}),
        "The legacy backward hook of a module that only changes the dtype is given one gradient, of the input.",
        ("", "two", {"cast_has_two_inputs": True}),
        "The legacy backward hook of a module that only changes the dtype is given two gradients, None first.",
    ),
    witness=Plan(Leaf("m0", "float32"), (ONE,), (Hook("backward", "m0", "h0"), Forward(), Backward((Like(1),)))),
)
@given(
    plan=st.builds(
        lambda shape, dtype, leaf, hooks: Plan(
            Leaf("m0", "float32"),
            (Input(Of(1, shape, dtype), leaf=leaf),),
            (*(Hook("backward", "m0", f"h{place}") for place in range(hooks)), Forward(), Backward((Like(1),))),
        ),
        st.sampled_from(SHAPES),
        OTHER_DTYPES,
        st.booleans(),
        SOME,
    )
)
def test_legacy_cast(subject: Subject, plan: Plan) -> None:
    trace, due = subject.holds(plan), [True, False] if subject.reading.facts["cast_has_two_inputs"] else [False]
    for hook in hooks_of(plan):
        undefined = [[grad is None for grad in grad_input] for _, grad_input, _ in trace.seen_by(hook.label)]
        assert undefined == [due]
