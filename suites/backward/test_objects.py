"""Which objects a full backward hook puts in the place of inputs and outputs, and which it takes for gradients."""

import warnings
from dataclasses import replace
from typing import Any, List

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import by_release, clause
from fixtures.clause.rows import Row, each
from fixtures.draw.plans import NUMBERS
from fixtures.judge.subject import Subject
from fixtures.plan.grammar import Forward, Freeze, Hook, Input, Leaf, Of, Plan, ReturnWrong, Scale, hooks_of
from fixtures.play.trace import Trace
from fixtures.stages.make import make
from suites.backward.modules import outcome_of
from suites.backward.plans import returning
from suites.backward.sources import DOCS, FORWARD_GLOBAL, INPUT_VIEW, ONLY_NONE, OUTPUT_VIEW, PRE_DOCS
from suites.hooking import SOME
from suites.names import FROM_OUTPUT, FULL, GLOBAL_FORWARD, PAST_THE_OUTPUT, PRE, UNDER_NO_GRAD
from suites.tensors import item

VIEWS = "The docs say that forward is given a view of each tensor passed in, and the caller one of each returned."
#: Which inputs need a gradient. The first one does in torch 1.8; backward.given.frozen_input tells of that.
NEED = st.lists(st.booleans(), max_size=3).map(lambda others: [True, *others])
ONE = Input(Of(1, (2,)))
#: The same by the words of the rows below.
GRADS = {
    "the first": NEED,
    "none": st.lists(st.just(False), min_size=1, max_size=4),
    "the first or none": st.one_of(NEED, NEED.map(lambda some: [False for _ in some])),
    "any": st.lists(st.booleans(), min_size=1, max_size=4),
}
SUM = Leaf("m0", "many", (Of(2, (2,)),), outputs=1)
SEES = Hook("forward", "m0", "sees")


def pairs(xs: List[Any], kind: str = "full_backward", hooks: int = 1) -> List[Any]:
    """For each input the caller's object and forward's; for the output what forward returned and the caller got."""
    import torch

    inside: List[Any] = []

    class Sum(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = torch.nn.Parameter(make.ones(()))

        def forward(self, *xs: Any) -> Any:
            out = self.weight * sum(xs)
            inside.extend([*xs, out])
            return out

    module = Sum()
    for _ in range(hooks):
        getattr(module, f"register_{kind}_hook")(lambda *arguments: None)
    out = module(*xs)
    return [*zip(xs, inside), (inside[-1], out)]


@clause(
    "backward.objects.views",
    says="In grad mode, full backward hooks turn inputs of forward and outputs that need a gradient into views.",
    where="passed by position, returned alone or in a tuple",
    see=("backward.structures.unseen_inputs", "backward.given.dict_output"),
    source=(INPUT_VIEW, OUTPUT_VIEW),
    asked="is_view _base set on activations backwardhookfunction "
    "grad_fn why are my activations aliases after adding hook",
    note="They are in the same memory. Code in forward that asks for is_leaf or .grad of an input sees this.",
    needs=FULL,
    value=True,
    wrong={"copies": False},
    witness={"count": 1, "shape": (3,), "hooks": 1, "turned": False},
)
@given(count=SOME, shape=st.sampled_from([(), (1,), (3,), (2, 3)]), hooks=SOME, turned=st.booleans())
def test_views(subject: Subject, count: int, shape: Any, hooks: int, turned: bool) -> None:

    xs = [make.ones(shape) for _ in range(count)]
    xs = [(x.t().contiguous().t() if turned and len(shape) == 2 else x).requires_grad_() for x in xs]
    for x in xs:
        x.grad = make.ones(shape)
    with warnings.catch_warnings():
        # torch warns of .grad where there is none to come.
        warnings.simplefilter("ignore")
        for old, new in pairs(xs, hooks=hooks):
            assert (new.is_leaf, new.grad) == (False, None)
            assert (new._is_view(), new.data_ptr() == old.data_ptr()) == (subject.value, subject.value)


@st.composite
def called(draw: Any, grads: str, kind: str = "full_backward", recorded: bool = True, frozen: bool = False) -> Plan:
    """A call of a hooked module of some inputs, with or without gradient; a forward hook sees what forward does."""
    inputs = tuple(Input(Of(1, (2,)), grad=grad) for grad in draw(GRADS[grads]))
    hooks = [Hook(kind, "m0", f"h{place}") for place in range(draw(SOME))]
    freezing = [Freeze("m0.weight")] if frozen and draw(st.booleans()) else []
    return Plan(SUM, inputs, (*freezing, *hooks, SEES, Forward(grad=recorded)))


def same(trace: Trace) -> List[bool]:
    """Whether each input is the caller's own object in forward, and the output the one that forward made."""
    ((_, given_to, _),), (out,) = trace.seen_by("sees"), trace.returns()
    return [*(one.name[:1] == "x" for one in given_to), out.name != "m0>0"]


@each(
    Row(
        "backward.objects.replaced",
        "Where an input needs a gradient, a full backward hook replaces all inputs by new tensors.",
        (INPUT_VIEW, OUTPUT_VIEW),
        asked="why is the argument inside forward not the same object "
        "anymore after register_full_backward_hook all copied",
        about="register_full_backward_hook",
        matters_if="full_backward ?first_needs_no_grad",
        where="inputs are positional tensors",
        needs=FULL,
        readings=by_release(
            "silent",
            ("1.11", "all", {"frozen_is_wrapped": True}),
            "With a full backward hook, forward is given new tensors for all inputs if one needs a gradient.",
            ("", "those that need one", {"frozen_is_wrapped": False}),
            "With a full backward hook, an input that needs no gradient stays the caller's own object.",
        ),
        witness=Plan(SUM, (ONE, replace(ONE, grad=False)), (Hook("full_backward", "m0", "h0"), SEES, Forward())),
        drawn={"grads": "the first or none", "frozen": True},
    ),
    Row(
        "backward.objects.kept",
        "A full backward hook replaces no input where no input needs a gradient.",
        (DOCS, "measured"),
        asked="same object identity preserved for first layer raw data with hook not copied no new view",
        docs="contradicts",
        note=VIEWS,
        needs=FULL,
        drawn={"grads": "none"},
    ),
    Row(
        "backward.objects.kept_under_no_grad",
        "Under no_grad a full backward hook replaces neither inputs nor outputs.",
        (DOCS, UNDER_NO_GRAD),
        asked="evaluation mode without tracking same object passed through hook no copies identity id check",
        level="observed",
        about="register_full_backward_hook",
        matters_if="full_backward ?no_grad",
        docs="contradicts",
        note=VIEWS,
        needs=FULL,
        readings=by_release(
            "error",
            ("1.10", "the same", {"full_without_grad": "skipped"}),
            "Under no_grad a full backward hook leaves inputs and outputs the objects they were.",
            ("1.9", "RuntimeError", {"full_without_grad": "RuntimeError"}),
            "Under no_grad the forward of a module with a full backward hook raises RuntimeError.",
            ("", "AttributeError", {"full_without_grad": "AttributeError"}),
            "Under no_grad the forward of a module with a full backward hook raises AttributeError.",
        ),
        witness=Plan(SUM, (ONE,), (Hook("full_backward", "m0", "h0"), SEES, Forward(grad=False))),
        drawn={"grads": "the first", "recorded": False},
    ),
    Row(
        "backward.objects.pre",
        "Where an input needs a gradient, a full backward pre-hook alone replaces all inputs by new tensors.",
        f'{PRE_DOCS} "its forward function will receive a view of each Tensor passed to the Module"',
        asked="does register_full_backward_pre_hook copy arguments identity id differs not same object view",
        where="inputs are positional tensors",
        needs=PRE,
        drawn={"grads": "any", "kind": "full_backward_pre"},
    ),
    plan=lambda row: called(**row.drawn),
)
def objects(subject: Subject, plan: Plan, *, row: Any) -> None:
    trace, grads = subject.holds(plan), [spec.grad for spec in plan.inputs]
    wraps, facts = plan.steps[-1].grad, subject.reading.facts
    refuses = not wraps and facts.get("full_without_grad", "skipped")
    if refuses and refuses != "skipped":
        assert trace.raised() == [("forward", refuses)]
    else:
        assert trace.raised() == []
        new = [wraps and any(grads) and (grad or facts.get("frozen_is_wrapped", True)) for grad in grads]
        frozen = Freeze("m0.weight") in plan.steps
        assert same(trace) == [*(not one for one in new), not (wraps and (any(grads) or not frozen))]


@clause(
    "backward.objects.layers",
    says="A loss on the state of an LSTM alone gives gradients, but does not call its full backward hook.",
    source=(PAST_THE_OUTPUT, DOCS),
    asked="register_full_backward_hook on rnn never fires when classifier uses only h_n final hidden nested tuple",
    matters_if="full_backward ?lstm",
    docs="contradicts",
    note="The docs promise a call whenever gradients for the inputs are computed; with a loss on a state they are.",
    needs=FULL,
    readings=by_release(
        "error",
        ("1.13", "silent", [[1, 2, True], "silent", 1]),
        "A loss on the state of an LSTM alone gives gradients, but does not call its full backward hook.",
        ("1.9", "refused", [[1, 2, True], "RuntimeError", 1]),
        "A loss on the state alone of an LSTM with a full backward hook raises RuntimeError.",
        ("", "silent Embedding", [[1, 2, True], "RuntimeError", 0]),
        "An Embedding never calls its full backward hook; a loss on an LSTM's state raises RuntimeError.",
    ),
)
def test_layers(subject: Subject) -> None:

    calls: List[Any] = []

    def hook(module: Any, grad_input: Any, grad_output: Any) -> None:
        calls.append([len(grad_input), len(grad_output), grad_output[-1] is None])

    lstm, x = make.LSTM(2, 3), make.ones(4, 1, 2, requires_grad=True)
    lstm.register_full_backward_hook(hook)
    lstm(x)[0].sum().backward()
    (first,), x.grad = calls, None
    try:
        lstm(x)[1][0].sum().backward()
        state = "silent" if len(calls) == 1 and x.grad is not None else "called"
    except RuntimeError as error:
        state = type(error).__name__
    embedding, found = make.Embedding(4, 2, sparse=True), []
    embedding.register_full_backward_hook(lambda module, grad_input, grad_output: found.append(grad_input))
    embedding(make.tensor([1, 2])).sum().backward()
    assert (embedding.weight.grad.is_sparse, set(found) <= {(None,)}) == (True, True)
    assert [first, state, len(found)] == subject.value


@clause(
    "backward.objects.keywords",
    says="A forward hook, global or not, is given keyword inputs only if registered with with_kwargs=True.",
    source=(FORWARD_GLOBAL, "https://github.com/pytorch/pytorch/pull/137403"),
    asked="forward hook kwargs missing named arguments not visible args empty tuple huggingface hidden_states",
    needs=GLOBAL_FORWARD + "(with_kwargs)",
)
@given(
    plan=st.builds(
        lambda on, asks, by: Plan(
            Leaf("m0", "scale", (2,)), (Input(3),), (Hook("forward", on, "h0", with_kwargs=asks), Forward(by))
        ),
        st.sampled_from(["m0", "*"]),
        st.booleans(),
        NUMBERS,
    )
)
def test_keywords(subject: Subject, plan: Plan) -> None:
    ((_, *given_to, _),) = subject.holds(plan).seen_by("h0")
    assert given_to == ([(3,), {"by": plan.steps[-1].by}] if plan.steps[0].with_kwargs else [(3,)])


SIZES = st.lists(st.integers(1, 2), max_size=2).map(tuple)
#: The size of the inputs, by which what is returned is often drawn too.
SIZE = st.shared(SIZES, key="size")
ONE_ROW = {"size": (1, 2), "count": 1, "returned": (1, 2)}


def fill(number: float, size: Any) -> Any:
    """The nested lists of a tensor that is full of one number."""

    return make.full(size, float(number)).tolist()


@each(
    Row(
        "backward.objects.bare_tensor",
        "A bare tensor from a full backward hook is read as its rows: one for each input, or an error.",
        (DOCS, "measured"),
        asked="forgot comma returned single gradient instead of tuple batch size mismatch wrong "
        "gradient silent iteration full backward hook returns the gradient as it is",
        note="The docs say a tuple or None; only the annotated type of the hook allows a Tensor, as if it were "
        "the one.",
        where="inputs are positional tensors that require grad",
        see="backward.returns.full_without_input",
        needs=FULL,
        value="rows",
        wrong={"whole": "whole"},
        witness=ONE_ROW,
        kind="full_backward",
    ),
    Row(
        "backward.objects.pre_bare_tensor",
        "A bare tensor from a full backward pre-hook is read as its rows: one for each output, or an error.",
        (PRE_DOCS, "measured"),
        asked="register_full_backward_pre_hook forgot tuple comma "
        "returned just grad wrong size silent batch one iterated",
        docs="contradicts",
        note="Since 2.10 the docs list a bare Tensor as a value to return.",
        needs=PRE,
        value="rows",
        wrong={"whole": "whole"},
        witness=ONE_ROW,
        kind="full_backward_pre",
    ),
    size=lambda row: SIZE,
    count=lambda row: SOME,
    returned=lambda row: st.one_of(st.builds(lambda size, rows: (rows, *size), SIZE, SOME), SIZES),
)
def bare(subject: Subject, size: Any, count: int, returned: Any, *, row: Any) -> None:

    pre = row.kind == "full_backward_pre"
    wanted, by = (1, 2) if pre else (count, 1)
    due = ("TypeError" if not returned else "RuntimeError", [None] * count, pre)
    if returned == ((wanted, *size) if subject.value == "rows" else size):
        due = ("accepted", [fill(3 * by, size)] * count, False)
    seen, xs, weight = outcome_of(row.kind, make.full(returned, 3.0), size, count)
    assert (seen, [item(x.grad) for x in xs], weight.grad is None) == due


@clause(
    "backward.objects.no_broadcast",
    says="What the last full backward hook returns must have the exact shape: what could be broadcast is refused.",
    where="inputs are positional tensors that require grad",
    see="backward.values.last_is_checked",
    source="measured",
    asked="returned scalar gradient or size one dimension rejected shape mismatch must expand to match",
    needs=FULL,
    value="RuntimeError",
    wrong={"fitted": "accepted"},
    witness={"size": (1, 2), "returned": (3, 1, 2), "hooks": 1},
)
@given(size=SIZES, returned=SIZES, hooks=SOME)
def test_no_broadcast(subject: Subject, size: Any, returned: Any, hooks: int) -> None:

    seen, (x,), weight = outcome_of("full_backward", (make.full(returned, 3.0),), size, hooks=hooks)
    fits = returned == size
    assert (seen, weight.grad is None) == ("accepted" if fits else subject.value, False)
    assert item(x.grad) == (fill(3, size) if fits else None)


@clause(
    "backward.objects.list_without_input",
    says="Where no input needs a gradient, a full backward hook may return a tuple of None, but not a list.",
    source=(ONLY_NONE, FROM_OUTPUT),
    asked="return type on first layer raw data error hook expected none square brackets crash",
    matters_if="full_backward returns ?inputs_need_no_grad",
    needs=FULL,
    readings=by_release(
        ("error", "silent"),
        ("1.9", "refused", {"full_without_input": "output"}),
        "Where no input needs a gradient, a full backward hook that returns a list ends backward() in an error.",
        ("", "never called", {"full_without_input": "silent"}),
        "Where no input needs a gradient, the full backward hook does not run, so nothing is refused.",
    ),
    witness=returning(1, (), (ReturnWrong("list"),), grad=False),
)
@given(
    plan=st.builds(
        lambda count, before, what: returning(count, *[()] * before, (ReturnWrong(what),), grad=False),
        SOME,
        st.integers(0, 2),
        st.sampled_from(["list", "nones", "longer"]),
    )
)
def test_list_without_input(subject: Subject, plan: Plan) -> None:
    trace, (action,) = subject.holds(plan), hooks_of(plan)[-1].do
    refused = action.what == "list" and subject.reading.facts["full_without_input"] == "output"
    assert trace.raised() == [("backward", "RuntimeError")] * refused
    assert (trace.grads()[0]["m0.weight"] is None) == refused


@clause(
    "backward.objects.list_chain",
    says="A list that a full backward hook returns is given to the next one as a list, not as a tuple.",
    where="inputs are positional tensors that require grad",
    see="backward.objects.list_without_input",
    source="measured",
    asked="several hooks on same layer grad_input type changes between them concatenation tuple plus list typeerror",
    matters_if="full_backward returns ?hooked_again",
    needs=FULL,
    readings=by_release(
        "silent",
        ("1.13", "list", {"full_list_stays": True}),
        "A list from a full backward hook stays a list for the next one.",
        ("", "tuple", {"full_list_stays": False}),
        "When a full backward hook returns a list, the next one is given a tuple.",
    ),
    witness=returning(1, (ReturnWrong("list"),), ()),
)
@given(
    plan=st.builds(
        lambda count, does: returning(count, *does, ()),
        SOME,
        st.lists(st.sampled_from([(ReturnWrong("list"),), (Scale(3),), ()]), min_size=1, max_size=5),
    )
)
def test_list_chain(subject: Subject, plan: Plan) -> None:
    trace, due = subject.holds(plan), tuple
    for hook in hooks_of(plan):
        assert [type(grad_input) for _, grad_input, _ in trace.seen_by(hook.label)] == [due]
        if hook.do == (ReturnWrong("list"),) and subject.reading.facts["full_list_stays"]:
            due = list
