"""When a pack hook is called, and what becomes of an operation where it fails."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import by_release, clause
from fixtures.draw.plans import FACTORS, NUMBERS
from fixtures.judge.subject import Subject
from fixtures.plan.grammar import Call, Forward, Freeze, Hook, Input, Leaf, MulInPlace, Plan, Raise, Remove
from suites.saved.plans import BOOLEANS, EDITS, MAYBE, NET, ONE_PASS, PASSES, TWO, factors, ones, pair, product, starts
from suites.saved.sources import CONTEXT_NOTE, EDITED, HAS, NOTE, PACKS, TYPE_IS_KEPT
from suites.shapes import LOOKS
from suites.tensors import leaf


@clause(
    "saved.pack.each",
    says="A pack hook is called with each tensor that an operation saves, when it is saved.",
    where="no saved_tensors_hooks or save_on_cpu is inside",
    see=("saved.nested.innermost", "saved.pack.numbers", "saved.pack.function"),
    source=PACKS,
    asked="when is the pack hook called which activations log everything autograd stores measure activation memory",
    needs=HAS,
)
@given(plan=product(pair(do=MAYBE)))
def test_each(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    assert sorted(trace.seen_by("c.pack")) == ones(factors(plan))
    assert [event.what for event in trace][:3] == ["c.pack", "c.pack", "returns"]


@clause(
    "saved.pack.once",
    says="For x * y a pack hook is called once for each factor, however many backward passes follow.",
    where="both require grad",
    source=f'{NOTE} "We guarantee that ``pack_hook`` will only be called once"',
    asked="is pack hook called again on second backward retain_graph how often",
    needs=HAS,
)
@given(plan=product(pair(), after=st.builds(lambda one, more: one + more, ONE_PASS, PASSES)))
def test_once(subject: Subject, plan: Plan) -> None:
    assert sorted(subject.holds(plan).seen_by("c.pack")) == ones(factors(plan))


@clause(
    "saved.pack.order",
    says="x * y packs y first, then x.",
    where="both require grad",
    source="measured",
    asked="order of pack hook calls which factor first changed after upgrade index activations by counter",
    needs=HAS,
    matters_if="saved ?packed_in_order",
    readings=by_release(
        "silent",
        ("2.1", "y first", {"saves_second_first": True}),
        "x * y packs y first, then x.",
        ("", "x first", {"saves_second_first": False}),
        "x * y packs x first, then y.",
    ),
    witness=Plan(NET, TWO, (Hook("saved", "", "c"), Forward())),
)
@given(plan=product(pair(do=MAYBE)))
def test_order(subject: Subject, plan: Plan) -> None:
    x, y = factors(plan)
    packed = [(y,), (x,)] if subject.reading.facts["saves_second_first"] else [(x,), (y,)]
    assert subject.holds(plan).seen_by("c.pack") == packed


@clause(
    "saved.pack.numbers",
    says="A Python number that a tensor is multiplied by is not packed.",
    source="measured",
    asked="pack hook receives scalar tensor for x times 2 python number older torch",
    needs=HAS,
    matters_if="saved ?times_number",
    readings=by_release(
        "silent",
        ("2.0", "not packed", {"saves_numbers": False}),
        "A Python number that a tensor is multiplied by is not packed.",
        ("", "packed", {"saves_numbers": True}),
        "A Python number that a tensor is multiplied by is packed, as a tensor.",
    ),
    witness=Plan(NET, TWO, (Hook("saved", "", "c"), Forward(), MulInPlace("m0>0", 5))),
)
@given(
    plan=product(pair(do=MAYBE), after=st.builds(lambda by, passes: (MulInPlace("m0>0", by), *passes), FACTORS, PASSES))
)
def test_numbers(subject: Subject, plan: Plan) -> None:
    numbers = [step.by for step in plan.steps if isinstance(step, MulInPlace)] * subject.reading.facts["saves_numbers"]
    assert sorted(subject.holds(plan).seen_by("c.pack")) == ones(factors(plan) + numbers)


@clause(
    "saved.pack.twice",
    says="x * x packs x twice, and a pass unpacks both.",
    source=f'{CONTEXT_NOTE} "PyTorch will pack and unpack `x` into two new tensor objects"',
    asked="same tensor packed twice duplicate offload of one activation x * x deduplicate",
    needs=HAS,
)
@given(
    plan=st.builds(
        lambda x, leaf, hooks, passes: Plan(
            Leaf("m0", "mul", takes=Call((0, 0))), (Input(x, leaf=leaf),), (*hooks, Forward(), *passes)
        ),
        NUMBERS,
        BOOLEANS,
        pair(back=MAYBE),
        PASSES,
    )
)
def test_twice(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    assert trace.seen_by("c.pack") == [(factors(plan)[0],)] * 2
    assert len(trace.seen_by("c.unpack")) == 2 * len(starts(plan))


@clause(
    "saved.pack.needed",
    says="If only one of the tensors x and y needs a gradient, x * y packs the other one, and nothing else.",
    source="measured",
    asked="frozen weights lora which tensors are saved activation of frozen layer not packed",
    needs=HAS,
)
@given(plan=product(pair(do=MAYBE), grads=(True, False)) | product(pair(do=MAYBE), grads=(False, True)))
def test_needed(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    assert trace.seen_by("c.pack") == [(factors(plan)[plan.inputs[0].grad],)]
    assert len(trace.seen_by("c.unpack")) == len(starts(plan))


#: A forward that records nothing, for one of two reasons, between two that do.
UNRECORDED = st.sampled_from(
    [
        (Forward(grad=False),),
        (Freeze("x0"), Freeze("x1"), Forward(), Freeze("x0", False), Freeze("x1", False)),
    ]
)


@clause(
    "saved.pack.nothing",
    says="x * y packs nothing under no_grad, or where neither x nor y needs a gradient.",
    source="measured",
    asked="pack hook not called under no_grad eval inference nothing saved requires_grad False",
    needs=HAS,
)
@given(plan=product(pair(do=MAYBE), leaf=st.just(True), after=st.builds(lambda some: (*some, Forward()), UNRECORDED)))
def test_nothing(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    assert [event.what for event in trace] == [*["c.pack"] * 2, "returns", "returns", *["c.pack"] * 2, "returns"]


@clause(
    "saved.pack.edits",
    says="A pack hook that changes its argument's values by an in-place method makes the operation raise RuntimeError.",
    where="no apply_, map_, map2_, and no unsafe_ method",
    source=(f'{NOTE} "will throw an error if the input to a pack hook is modified inplace"', EDITED),
    asked="A saved tensor pack hook is modifying its input in place quantize activation inplace",
    needs=HAS,
)
@given(plan=product(pair(do=EDITS), after=LOOKS))
def test_edits(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    assert trace.raised() == [("forward", "RuntimeError")]
    assert trace.calls() == ["c.pack"]


@clause(
    "saved.pack.raises",
    says="What a pack hook raises leaves the operation with its own type.",
    see="saved.pack.type_error",
    source=TYPE_IS_KEPT,
    asked="exception in pack hook becomes RuntimeError custom error type lost",
    needs=HAS,
    matters_if="saved raises",
    readings=by_release(
        "error",
        ("2.0", "own type", {"saved_keep_error_type": True}),
        "What a pack hook raises leaves the operation with its own type.",
        ("", "RuntimeError", {"saved_keep_error_type": False}),
        "What a pack hook raises ends the operation as a RuntimeError that names it.",
    ),
    witness=Plan(NET, TWO, (Hook("saved", "", "c", (Raise(),)), Forward())),
)
@given(plan=product(pair(do=st.just((Raise(),)))))
def test_raises(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    error = "Boom" if subject.reading.facts["saved_keep_error_type"] else "RuntimeError"
    assert [event.what for event in trace][:2] == ["c.pack", "raises"]
    assert trace.raised()[0] == ("forward", error)


@clause(
    "saved.pack.after_raising",
    says="After its exception has left the with block of saved_tensors_hooks, a pack hook is not called again.",
    source="measured",
    asked="pack hook threw exception are saved tensor hooks still active afterwards cleanup",
    needs=HAS,
)
@given(
    plan=product(
        pair(do=st.builds(lambda first: (Raise(first),), st.integers(0, 2))),
        after=st.builds(
            lambda leave, passes: (Remove("c", leave, failing=leave), Forward(), *passes), BOOLEANS, PASSES
        ),
    )
)
def test_after_raising(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    assert trace.calls() == ["c.pack"]
    assert trace.raised()[0][0] == "forward"
    assert len(trace.returns()) == 1


@clause(
    "saved.pack.type_error",
    says="A TypeError that a pack hook raises in x * y is shown as 'unsupported operand', without its text.",
    source="measured",
    asked="unsupported operand type(s) for *: Tensor and Tensor raised inside saved_tensors_hooks real error hidden",
    needs=HAS,
    matters_if="saved raises ?type_error",
    readings=by_release(
        "none",
        ("2.0", "its text is lost", ["TypeError: unsupported", "TypeError: mine"]),
        "A TypeError that a pack hook raises in x * y is shown as 'unsupported operand', without its text.",
        ("", "RuntimeError", ["RuntimeError: TypeError:", "RuntimeError: TypeError:"]),
        "A TypeError that a pack hook raises is shown as RuntimeError with its text, under x * y and by x.mul(y).",
    ),
)
def test_type_error(subject: Subject) -> None:
    import torch

    def pack(tensor: Any) -> Any:
        raise TypeError("mine")

    def text(act: Any) -> str:
        with torch.autograd.graph.saved_tensors_hooks(pack, lambda packed: packed):
            try:
                act()
            except (TypeError, RuntimeError) as error:
                return " ".join(f"{type(error).__name__}: {error}".split()[:2])
        return "none"

    x, y = leaf(2), leaf(3)
    assert [text(lambda: x * y), text(lambda: x.mul(y))] == subject.value
