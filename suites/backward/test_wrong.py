"""What happens when a backward hook returns something else than one gradient for each place, or registers a hook."""

from typing import Any, Tuple

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import by_release, clause
from fixtures.clause.rows import Row, each
from fixtures.draw.plans import NUMBERS, plans
from fixtures.judge.subject import Subject
from fixtures.plan.grammar import Add, Backward, Forward, Hook, Input, Plan, ReturnWrong, hooks_of
from suites.backward.plans import FULL_KINDS, MAYBE_SCALE, PAIR, row
from suites.backward.sources import NUMBER, PRE_NUMBER, RULE_3, TESTS
from suites.names import FULL, UNDER_NO_GRAD
from suites.shapes import product

ABOUT = "register_backward_hook"

NO_GRADIENT = (Hook("full_backward", "m2", "h0", (ReturnWrong("nones"),)), Hook("full_backward", "m1", "h1"))


def line(values: Tuple[int, ...], hooks: Tuple[Any, ...], *steps: Any, grad: bool = True) -> Plan:
    """Two scaling modules m1 and m2, one after the other, with hooks and a forward."""
    return Plan(row(values), (Input(3, grad=grad),), (*hooks, Forward(), *steps))


@clause(
    "backward.wrong.longer",
    says="A full backward hook or pre-hook that returns a gradient too many ends backward() in RuntimeError.",
    where="a positional tensor requires grad",
    see="backward.objects.list_without_input",
    source=(NUMBER, PRE_NUMBER),
    asked="hook result one element extra invalid number of grad_input got 2 but expected 1",
    needs=FULL,
)
@given(
    plan=st.builds(
        lambda kind, values, grad, do: line(
            values,
            (Hook(kind, "m2", "h0", do), Hook(kind, "m2", "h1", (ReturnWrong("longer"),)), Hook(kind, "m2", "h2")),
            Backward((grad,)),
        ),
        FULL_KINDS,
        PAIR,
        NUMBERS,
        MAYBE_SCALE,
    )
)
def test_longer(subject: Subject, plan: Plan) -> None:
    trace, left = subject.holds(plan), [name for name in ("m2.weight",) if plan.steps[0].kind == "full_backward"]
    assert (trace.calls(), trace.raised()) == (["h0", "h1"], [("backward", "RuntimeError")])
    assert [name for name, grad in trace.grads()[0].items() if grad is not None] == left


@clause(
    "backward.wrong.nones",
    says="If a full backward hook returns (None,), that of the module before is given grad_output (None,).",
    where="weight * x modules are chained by position, one hook each",
    source="measured",
    asked="blocked gradient with none what does previous layer hook get nonetype crash norm upstream",
    matters_if="full_backward returns ?returns_none_inside",
    needs=FULL,
    readings=by_release(
        "silent",
        ("2.0", "none", {"full_output_returns": "none"}),
        "Weights of the module before one whose full backward hook returned (None,) get no gradient.",
        ("", "zeros", {"full_output_returns": "zeros"}, "too"),
        "Weights of the module before one whose full backward hook returned (None,) get zeros.",
    ),
    witness=line((1, 1), NO_GRADIENT, Backward()),
)
@given(plan=st.builds(lambda values, grad: line(values, NO_GRADIENT, Backward((grad,))), PAIR, NUMBERS))
def test_nones(subject: Subject, plan: Plan) -> None:
    trace, zeros = subject.holds(plan), subject.reading.facts["full_output_returns"] == "zeros"
    assert trace.seen_by("h1") == [("m1", (0,), (None,))]
    assert trace.grads()[0]["m1.weight"] == (0 if zeros else None)


@clause(
    "backward.wrong.legacy_anything",
    says="A legacy backward hook that returns a list, or a tuple that is too long, ends backward() in an error.",
    source=TESTS + "test_hook_invalid_outputs",
    asked="register_backward_hook wrong return type or extra value crash expected tuple size changed",
)
@given(
    plan=st.builds(
        lambda values, grad, what: line(
            values, (Hook("backward", "m2", "h0", (ReturnWrong(what),)),), Backward((grad,))
        ),
        PAIR,
        NUMBERS,
        st.sampled_from(["longer", "list"]),
    )
)
def test_legacy_anything(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    assert (len(trace.raised()), set(trace.grads()[0].values())) == (1, {None})


@clause(
    "backward.wrong.legacy_nones",
    says="If a legacy backward hook returns Nones, gradients of modules before it are None or zero.",
    where=("each gives one tensor to the next", "the loss uses only the last"),
    source="measured",
    asked="register_backward_hook returned tuple of none earlier layers get no gradient vanishing zero stop flow",
)
@given(
    plan=st.builds(
        lambda values, grad: line(values, (Hook("backward", "m2", "h0", (ReturnWrong("nones"),)),), Backward((grad,))),
        PAIR,
        NUMBERS,
    )
)
def test_legacy_nones(subject: Subject, plan: Plan) -> None:
    assert set(subject.holds(plan).grads()[0].values()) <= {None, 0}


@clause(
    "backward.wrong.list",
    says="A full backward hook or pre-hook may return the gradients that it is given in a list, not in a tuple.",
    where="inputs are positional tensors that require grad",
    see="backward.objects.list_without_input",
    source="measured",
    asked="square brackets instead of parentheses for hook result accepted or error module gradient modification",
    needs=FULL,
)
@given(
    plan=st.builds(
        lambda kind, values, grad, do: line(
            values, (Hook(kind, "m2", "h0", (*do, ReturnWrong("list"))), Hook(kind, "m1", "h1", do)), Backward((grad,))
        ),
        FULL_KINDS,
        PAIR,
        NUMBERS,
        MAYBE_SCALE,
    )
)
def test_list(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    (plain,) = subject.play(plan.without(Hook)).grads()
    assert (trace.calls(), trace.raised()) == (["h0", "h1"], [])
    assert trace.grads()[0]["x0"] == plain["x0"] * product(hooks_of(plan)[1:])


@clause(
    "backward.wrong.registered_in_hook",
    says="A full or legacy backward hook that another of its kind registers is not called before the next forward.",
    source="measured",
    asked="add new hook dynamically while backprop is running does it fire this step or next iteration",
    needs=FULL,
)
@given(
    plan=st.builds(
        lambda kind, do, grad: line(
            (2, 3),
            (Hook(kind, "m2", "h0", (Add(Hook(kind, "m2", "new", do)),)),),
            Backward((grad,)),
            Forward(),
            Backward((grad,)),
        ),
        st.sampled_from(["full_backward", "backward"]),
        MAYBE_SCALE,
        NUMBERS,
    )
)
def test_registered_in_hook(subject: Subject, plan: Plan) -> None:
    assert subject.holds(plan).calls() == ["h0", "h0", "new"]


@clause(
    "backward.wrong.registered_in_pre_hook",
    says="A full backward hook that a forward pre-hook adds to its own module is not called for that call.",
    source="measured",
    asked="lazily attach module hook just before layer executes missed first batch works from second step",
    needs=FULL,
)
@given(
    plan=st.builds(
        lambda kind, do, grad: line(
            (2, 3),
            (Hook("forward_pre", "m2", "h0", (Add(Hook("full_backward", "m2", "new", do)),)), Hook(kind, "m1", "h1")),
            Backward((grad,)),
            Forward(),
            Backward((grad,)),
        ),
        st.sampled_from(["full_backward", "backward"]),
        MAYBE_SCALE,
        NUMBERS,
    )
)
def test_registered_in_pre_hook(subject: Subject, plan: Plan) -> None:
    assert subject.holds(plan).calls() == ["h0", "h1", "h0", "new", "h1"]


@clause(
    "backward.wrong.under_no_grad",
    says="A call under no_grad runs no full backward hook or pre-hook of its module, and is no error.",
    source=(RULE_3, UNDER_NO_GRAD),
    asked="validation loop hooks never triggered when grad disabled silent no exception",
    matters_if="full_backward ?no_grad",
    needs=FULL,
    readings=by_release(
        "error",
        ("1.10", "accepted", {"full_without_grad": "skipped"}),
        "A call under no_grad sets up no full backward hook or pre-hook.",
        ("1.9", "RuntimeError", {"full_without_grad": "RuntimeError"}),
        "Under no_grad a call of a module with a full backward hook raises RuntimeError.",
        ("", "AttributeError", {"full_without_grad": "AttributeError"}),
        "Under no_grad a call of a module with a full backward hook raises AttributeError.",
    ),
    witness=line((1, 1), (Hook("full_backward", "m1", "h0"),), Forward(grad=False), Forward(), Backward()),
)
@given(
    plan=st.builds(
        lambda kind, do, grads: line(
            (2, 3), (Hook(kind, "m1", "h0", do),), *(Forward(grad=grad) for grad in grads), Forward(), Backward()
        ),
        FULL_KINDS,
        MAYBE_SCALE,
        st.lists(st.booleans(), min_size=1, max_size=3),
    )
)
def test_under_no_grad(subject: Subject, plan: Plan) -> None:
    trace, error = subject.holds(plan), subject.reading.facts["full_without_grad"]
    bare = [step for step in plan.steps if isinstance(step, Forward) and not step.grad]
    assert trace.raised() == ([] if error == "skipped" else [("forward", error)] * len(bare))
    assert trace.calls() == ["h0"]


@each(
    Row(
        "backward.wrong.anywhere",
        "Every plan of the grammar in which a full hook returns a wrong value leaves the trace of the model.",
        "measured",
        checks_model=True,
        needs=FULL,
        kinds=("full_backward", "full_backward_pre"),
    ),
    Row(
        "backward.wrong.legacy_anywhere",
        "Every plan of the grammar in which a legacy hook returns a wrong value leaves the trace of the model.",
        "measured",
        checks_model=True,
        kinds=("backward",),
    ),
    plan=lambda row: plans(
        kinds=row.kinds,
        does=("give", "scale", "add", "drop"),
        inputs=(1, 2),
        outputs=(1, 2),
        depth=2,
        runs=2,
        no_grad=True,
    ),
)
def in_any_network(subject: Subject, plan: Plan, *, row: Any) -> None:
    subject.holds(plan)
