"""What an unpack hook is given, and when; and what becomes of what it returns."""

from math import prod

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import by_release, clause
from fixtures.draw.plans import FACTORS, NUMBERS
from fixtures.judge.subject import Subject
from fixtures.plan.grammar import (
    AutogradGrad,
    Backward,
    ClearGrads,
    Forward,
    Hook,
    MulInPlace,
    Plan,
    Raise,
    ReturnWrong,
    Scale,
)
from suites.saved.plans import (
    BOOLEANS,
    EDITS,
    MAYBE,
    NET,
    ONE_PASS,
    OUT,
    PASSES,
    TWO,
    factors,
    ones,
    pair,
    product,
    starts,
)
from suites.saved.sources import HAS, HOOKS, NOTE, TYPE_IS_KEPT, UNPACKS
from suites.shapes import SCALES


def times(plan: Plan) -> int:
    """What both hooks of the pair multiply by, taken together."""
    hook = next(step for step in plan.steps if isinstance(step, Hook))
    return prod(act.by for act in (*hook.do, *hook.back))


@clause(
    "saved.unpack.each_pass",
    says="An unpack hook is called with what was packed, in each pass that needs it.",
    source=(f'{HOOKS} "It takes as argument the *packed* object returned by ``pack_hook``"', UNPACKS),
    asked="unpack hook called several times retain_graph delete file in unpack second backward fails",
    needs=HAS,
)
@given(plan=product(pair(do=MAYBE, back=MAYBE)))
def test_each_pass(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    by = prod(act.by for act in plan.steps[0].do)
    assert sorted(trace.seen_by("c.unpack")) == ones([one * by for one in factors(plan)] * len(starts(plan)))


@clause(
    "saved.unpack.never",
    says="Nothing is unpacked before a backward pass.",
    where="nothing reads saved tensors of a grad_fn",
    see="saved.unpack.attribute",
    source=UNPACKS,
    asked="unpack hook not called until backward forward only prefetch",
    needs=HAS,
)
@given(
    plan=product(
        pair(do=MAYBE, back=MAYBE),
        after=st.lists(
            st.sampled_from([Forward(), ClearGrads(), MulInPlace(OUT, 2), Hook("tensor", OUT, "h")]),
            min_size=1,
            max_size=3,
        ).map(lambda steps: (*dict.fromkeys(steps), Backward())),
    )
)
def test_never(subject: Subject, plan: Plan) -> None:
    calls = [event.what for event in subject.holds(plan)]
    assert set(calls[calls.index("c.unpack") :]) <= {"c.unpack", "h", "raises", "grads"}


@clause(
    "saved.unpack.used",
    says="Gradients are computed from what the unpack hook returns, right or wrong.",
    source=f'{HOOKS} "should return a tensor which has the same content as the original tensor"',
    asked="lossy compression of activations wrong value in unpack changes gradient silently quantized",
    level="observed",
    needs=HAS,
)
@given(plan=product(pair(do=MAYBE, back=MAYBE)))
def test_used(subject: Subject, plan: Plan) -> None:
    grads = subject.holds(plan).grads()[-1]
    x, y = factors(plan)
    total = sum(starts(plan)) * times(plan)
    assert list(grads.values()) == [total * y * (1 if plan.inputs[0].leaf else 2), total * x]


@clause(
    "saved.unpack.both",
    says="A pass unpacks both factors of x * y, also where autograd.grad asks for the gradient of one.",
    where="both require grad",
    source="measured",
    asked="unpack hook called for activation that gradient does not need autograd.grad of one input",
    needs=HAS,
)
@given(
    plan=product(
        pair(do=MAYBE, back=MAYBE),
        after=st.builds(lambda name, grad: (AutogradGrad((name,), (grad,)),), st.sampled_from(["x0", "x1"]), NUMBERS),
    )
)
def test_both(subject: Subject, plan: Plan) -> None:
    by = prod(act.by for act in plan.steps[0].do)
    assert sorted(subject.holds(plan).seen_by("c.unpack")) == ones([one * by for one in factors(plan)])


@clause(
    "saved.unpack.no_tensor",
    says="A pack hook may return anything; where the unpack hook then returns no tensor the pass raises TypeError.",
    source=f'{NOTE} "can return any python object"',
    asked="Output of saved tensor unpack_hook expected to be a Tensor but got result of type",
    needs=HAS,
)
@given(
    plan=product(
        pair(do=st.sampled_from([(ReturnWrong("number"),), (ReturnWrong("single"),)]))
        | pair(do=MAYBE, back=st.sampled_from([(ReturnWrong("number"),), (ReturnWrong("single"),)]))
    )
)
def test_no_tensor(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    assert trace.raised() == [("backward", "TypeError")] * len(starts(plan))
    assert set(trace.grads()[-1].values()) == {None}
    assert len(trace.returns()) == 1


@clause(
    "saved.unpack.raises",
    says="What an unpack hook raises leaves backward() with its own type.",
    source=TYPE_IS_KEPT,
    asked="exception in unpack hook backward RuntimeError instead of my error type FileNotFoundError",
    needs=HAS,
    matters_if="saved raises",
    readings=by_release(
        "error",
        ("2.0", "own type", {"saved_keep_error_type": True}),
        "What an unpack hook raises leaves backward() with its own type.",
        ("", "RuntimeError", {"saved_keep_error_type": False}),
        "What an unpack hook raises leaves backward() as a RuntimeError that names it.",
    ),
    witness=Plan(NET, TWO, (Hook("saved", "", "c", back=(Raise(),)), Forward(), Backward())),
)
@given(plan=product(pair(do=MAYBE, back=st.builds(lambda first: (Raise(first),), st.integers(0, 2)))))
def test_raises(subject: Subject, plan: Plan) -> None:
    error = "Boom" if subject.reading.facts["saved_keep_error_type"] else "RuntimeError"
    passes, (unpack,) = len(starts(plan)), plan.steps[0].back
    assert subject.holds(plan).raised() == [("backward", error)] * min(unpack.first or passes, passes)


@clause(
    "saved.unpack.place",
    says="For z = x * y: hooks of z and pre-hooks of z.grad_fn run, then unpack hooks, then hooks of z.grad_fn.",
    source="measured",
    asked="order of unpack hook versus tensor hook and grad_fn hook during backward",
    needs=(HAS, "torch._C._functions.AccumulateGrad.register_prehook"),
    about=("saved_tensors_hooks", "register_hook", "register_prehook", "Node.register_hook"),
)
@given(
    plan=product(
        pair(),
        after=st.builds(
            lambda kinds, by, passes: (
                *(Hook(kind, OUT, kind, (Scale(by),) if kind == "tensor" else ()) for kind in kinds),
                *passes,
            ),
            st.permutations(["tensor", "node_pre", "node"]),
            FACTORS,
            PASSES,
        ),
    )
)
def test_place(subject: Subject, plan: Plan) -> None:
    calls = subject.holds(plan).calls()[2:]
    for begin in range(0, len(calls), 5):
        assert sorted(calls[begin : begin + 2]) == ["node_pre", "tensor"]
        assert calls[begin + 2 : begin + 5] == ["c.unpack", "c.unpack", "node"]


@clause(
    "saved.unpack.edits",
    says="If an unpack hook changes its argument in place, its calls in later passes are given the changed tensor.",
    source=f'{NOTE} "does not catch the case where the input to an unpack hook is modified inplace"',
    asked="inplace in unpack hook corrupts second backward dequantize in place retain_graph",
    needs=HAS,
)
@given(plan=product(pair(do=SCALES, back=EDITS)))
def test_edits(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    (pack,), (unpack,) = plan.steps[0].do, plan.steps[0].back
    seen = [one * pack.by * unpack.by**time for time in range(len(starts(plan))) for one in factors(plan)]
    assert sorted(trace.seen_by("c.unpack")) == ones(seen)
    assert not trace.raised()


@clause(
    "saved.unpack.freed",
    says="After z = x * y and z.backward(), a second z.backward() raises RuntimeError and calls no unpack hook.",
    where="the first pass has retain_graph=False",
    source="measured",
    asked="backward second time with saved tensor hooks Trying to backward through the graph a second time",
    needs=HAS,
)
@given(
    plan=product(
        pair(do=MAYBE, back=MAYBE),
        after=st.builds(
            lambda one, more, keep: (*one, Backward((2,), retain_graph=False), *more),
            st.just(()) | ONE_PASS,
            PASSES,
            BOOLEANS,
        ),
    )
)
def test_freed(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    passes = [step for step in plan.steps if isinstance(step, Backward)]
    good = next(place for place, step in enumerate(passes, 1) if not step.retain_graph)
    assert trace.raised() == [("backward", "RuntimeError")] * (len(passes) - good)
    assert len(trace.seen_by("c.unpack")) == 2 * good
