"""Gradients as tensors around a module: what its backward hooks are given and may return, and what is checked."""

from dataclasses import replace

from hypothesis import given

from fixtures.draw.plans import plans
from fixtures.judge.clause import by_release, clause
from fixtures.judge.subject import Subject
from fixtures.plan.grammar import Backward, Forward, Hook, Input, Leaf, Like, Of, Plan, Recast
from suites.backward.sources import GRADIENTS, INPUT_VIEW, LEGACY, REPLACES
from suites.names import FULL

ONE = Input(Of(1, (2, 3)))


def hooked(*do: Recast, kind: str = "full_backward") -> Plan:
    """A module that hands its input on, with a hook for each of some forms in which it returns the gradients."""
    hooks = [Hook(kind, "m0", f"h{number}", (action,)) for number, action in enumerate(do)]
    return Plan(Leaf("m0", "scale", (Of(1, (3,)),)), (ONE,), (*hooks, Forward(), Backward((Like(1),))))


@clause(
    "backward.values.full_given",
    says="Tensors in a full backward hook's grad_input have the shape and dtype of the inputs of forward.",
    where="no other backward hook is there",
    see="backward.values.last_is_checked",
    source=GRADIENTS,
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
    says="A gradient that a full or legacy backward hook returns may have any strides.",
    see="backward.returns.full_without_input",
    source="measured",
    about=("register_backward_hook", "register_full_backward_hook"),
)
@given(plan=plans(kinds=("backward", "full_backward"), inputs=(1, 2), outputs=(1, 2), values=True, recasts=("layout",)))
def test_any_layout(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    assert not trace.calls() or "backward" not in [step for step, _ in trace.raised()]


@clause(
    "backward.values.last_is_checked",
    says="Only the last gradient that full backward hooks return must have the input's shape and dtype.",
    where="inputs are tensors by position that need gradients",
    see=("backward.wrong.longer", "backward.returns.full_without_input"),
    source=(REPLACES, "measured"),
    level="observed",
    concern="full_backward returns ?returns_wrong",
    needs=FULL,
    readings=by_release(
        "raises",
        ("1.13", "the last", {"full_checked_each": False}),
        "A full backward hook may return any shape and dtype where a later one returns fitting ones.",
        ("", "each", {"full_checked_each": True}),
        "A full backward hook returning another shape or dtype ends backward() in RuntimeError at once.",
    ),
    witness=hooked(Recast(dtype="float32"), Recast(dtype="float64")),
)
@given(plan=plans(kinds=("full_backward",), does=("scale",), inputs=(1, 2), depth=0, values=True))
def test_last_is_checked(subject: Subject, plan: Plan) -> None:
    subject.holds(plan)


@clause(
    "backward.values.frozen_input",
    says="Where an input needs a gradient, a full backward hook replaces also those that need none by new tensors.",
    where=("inputs are tensors, by position", "grad mode is on"),
    see="backward.objects.kept",
    source=(INPUT_VIEW, "measured"),
    level="observed",
    concern="full_backward ?first_needs_no_grad",
    needs=FULL,
    readings=by_release(
        "other",
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
    plan=plans(
        kinds=("full_backward", "forward"), does=(), inputs=(1, 2), outputs=(1, 2), depth=0, frozen=True, values=True
    )
)
def test_frozen_input(subject: Subject, plan: Plan) -> None:
    subject.holds(plan)


@clause(
    "backward.values.legacy_cast",
    says="The legacy backward hook of a module that only casts its input to another dtype has one grad_input entry.",
    source=(LEGACY, "measured"),
    concern="backward ?other_dtype",
    readings=by_release(
        "other",
        ("1.10", "one", {"cast_has_two_inputs": False}),
        "The legacy backward hook of a module that only changes the dtype is given one gradient, of the input.",
        ("", "two", {"cast_has_two_inputs": True}),
        "The legacy backward hook of a module that only changes the dtype is given two gradients, None first.",
    ),
    witness=Plan(Leaf("m0", "float32"), (ONE,), (Hook("backward", "m0", "h0"), Forward(), Backward((Like(1),)))),
)
@given(plan=plans(kinds=("backward",), ops=("float32",), inputs=(1, 1), depth=0, values=True, recasts=("layout",)))
def test_legacy_cast(subject: Subject, plan: Plan) -> None:
    subject.holds(plan)
