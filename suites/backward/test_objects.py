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
from fixtures.plan.grammar import Forward, Freeze, Hook, Input, Leaf, Of, Plan
from fixtures.play.trace import Trace
from suites.backward.hooked import FEW
from suites.backward.sources import DOCS, FORWARD_GLOBAL, INPUT_VIEW, OUTPUT_VIEW, PRE_VIEW
from suites.names import FULL, PAST_THE_OUTPUT, PRE, UNDER_NO_GRAD

GLOBAL = "torch.nn.modules.module.register_module_forward_hook"
VIEWS = "The docs say that forward is given a view of each tensor passed in, and the caller one of each returned."
#: Which inputs need a gradient. The first one does in torch 1.8; backward.given.frozen_input tells of that.
SOME = st.lists(st.booleans(), max_size=3).map(lambda others: [True, *others])
ONE = Input(Of(1, (2,)))
#: The same by the words of the rows below.
GRADS = {
    "the first": SOME,
    "none": st.lists(st.just(False), min_size=1, max_size=4),
    "the first or none": st.one_of(SOME, SOME.map(lambda some: [False for _ in some])),
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
            self.weight = torch.nn.Parameter(torch.ones(()))

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
@given(count=FEW, shape=st.sampled_from([(), (1,), (3,), (2, 3)]), hooks=FEW, turned=st.booleans())
def test_views(subject: Subject, count: int, shape: Any, hooks: int, turned: bool) -> None:
    import torch

    xs = [torch.ones(shape) for _ in range(count)]
    xs = [(x.t().contiguous().t() if turned and len(shape) == 2 else x).requires_grad_() for x in xs]
    for x in xs:
        x.grad = torch.ones(shape)
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
    hooks = [Hook(kind, "m0", f"h{place}") for place in range(draw(FEW))]
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
        where=("inputs are tensors, by position", "grad mode is on"),
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
        PRE_VIEW,
        asked="does register_full_backward_pre_hook copy arguments identity id differs not same object view",
        where=("inputs are tensors, by position", "grad mode is on"),
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
    import torch

    calls: List[Any] = []

    def hook(module: Any, grad_input: Any, grad_output: Any) -> None:
        calls.append([len(grad_input), len(grad_output), grad_output[-1] is None])

    lstm, x = torch.nn.LSTM(2, 3), torch.ones(4, 1, 2, requires_grad=True)
    lstm.register_full_backward_hook(hook)
    lstm(x)[0].sum().backward()
    (first,), x.grad = calls, None
    try:
        lstm(x)[1][0].sum().backward()
        state = "silent" if len(calls) == 1 and x.grad is not None else "called"
    except RuntimeError as error:
        state = type(error).__name__
    embedding, found = torch.nn.Embedding(4, 2, sparse=True), []
    embedding.register_full_backward_hook(lambda module, grad_input, grad_output: found.append(grad_input))
    embedding(torch.tensor([1, 2])).sum().backward()
    assert (embedding.weight.grad.is_sparse, set(found) <= {(None,)}) == (True, True)
    assert [first, state, len(found)] == subject.value


@clause(
    "backward.objects.keywords",
    says="A forward hook, global or not, is given keyword inputs only if registered with with_kwargs=True.",
    source=(FORWARD_GLOBAL, "https://github.com/pytorch/pytorch/pull/137403"),
    asked="forward hook kwargs missing named arguments not visible args empty tuple huggingface hidden_states",
    needs=GLOBAL + "(with_kwargs)",
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
