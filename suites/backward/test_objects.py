"""Which objects a full backward hook puts in the place of inputs and outputs, and which it takes for gradients."""

import warnings
from typing import Any, List

from hypothesis import given
from hypothesis import strategies as st

from fixtures.judge.clause import by_release, clause
from fixtures.judge.subject import Subject
from fixtures.plan.draw import NUMBERS
from fixtures.plan.grammar import Forward, Hook, Input, Leaf, Plan
from suites.backward.hooked import FEW
from suites.backward.sources import DOCS, FORWARD_GLOBAL, INPUT_VIEW, OUTPUT_VIEW, PRE_VIEW
from suites.names import FULL, PAST_THE_OUTPUT, PRE, UNDER_NO_GRAD

GLOBAL = "torch.nn.modules.module.register_module_forward_hook"
VIEWS = "The docs say that forward is given a view of each tensor passed in, and the caller one of each returned."


#: Which inputs need a gradient. The first one does in torch 1.8; backward.given.frozen_input tells of that.
SOME = st.lists(st.booleans(), max_size=3).map(lambda others: [True, *others])


def pairs(xs: List[Any], kind: str = "full_backward", hooks: int = 1, frozen: bool = False) -> List[Any]:
    """For each input the caller's object and forward's; for the output what forward returned and the caller got."""
    import torch

    inside: List[Any] = []

    class Sum(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = torch.nn.Parameter(torch.ones(()), requires_grad=not frozen)

        def forward(self, *xs: Any) -> Any:
            out = self.weight * sum(xs)
            inside.extend([*xs, out])
            return out

    module = Sum()
    for _ in range(hooks):
        getattr(module, f"register_{kind}_hook")(lambda *arguments: None)
    out = module(*xs)
    return [*zip(xs, inside), (inside[-1], out)]


def same(*grads: bool, kind: str = "full_backward", hooks: int = 1, frozen: bool = False) -> Any:
    """Whether inputs with or without gradient are the caller's objects in forward, and the output forward's."""
    import torch

    xs = [torch.ones((), requires_grad=grad) for grad in grads]
    return [old is new for old, new in pairs(xs, kind, hooks, frozen)]


@clause(
    "backward.objects.replaced",
    says="With an input that needs a gradient all are replaced; so is an output that needs one, in any case.",
    source=(INPUT_VIEW, OUTPUT_VIEW),
    concern="full_backward ?first_needs_no_grad",
    needs=FULL,
    readings=by_release(
        "silent",
        ("1.11", "all", False),
        "With a full hook forward is given new tensors for all inputs if one needs a gradient.",
        ("", "those that need one", True),
        "With a full hook an input that needs no gradient stays the caller's own object.",
    ),
    witness={"grads": [True, False], "hooks": 1, "frozen": False},
)
@given(grads=st.one_of(SOME, SOME.map(lambda some: [False for _ in some])), hooks=FEW, frozen=st.booleans())
def test_replaced(subject: Subject, grads: List[bool], hooks: int, frozen: bool) -> None:
    kept = [not grad and (subject.value or not any(grads)) for grad in grads]
    assert same(*grads, hooks=hooks, frozen=frozen) == [*kept, frozen and not any(grads)]


@clause(
    "backward.objects.views",
    says="In grad mode a full hook makes views of inputs and outputs that need a gradient: no leaf, no .grad.",
    source=(INPUT_VIEW, OUTPUT_VIEW),
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


@clause(
    "backward.objects.kept",
    says="Where no input needs a gradient forward is given the caller's own objects.",
    source=(DOCS, "measured"),
    docs="contradicts",
    note=VIEWS,
    needs=FULL,
    value=True,
    wrong={"others": False},
    witness={"count": 1, "hooks": 1},
)
@given(count=st.integers(1, 4), hooks=FEW)
def test_kept(subject: Subject, count: int, hooks: int) -> None:
    assert same(*[False] * count, hooks=hooks)[:-1] == [subject.value] * count


@clause(
    "backward.objects.kept_under_no_grad",
    says="Under no_grad a full hook replaces neither inputs nor outputs.",
    source=(DOCS, UNDER_NO_GRAD),
    level="observed",
    concern="full_backward ?no_grad",
    docs="contradicts",
    note=VIEWS,
    needs=FULL,
    readings=by_release(
        "error",
        ("1.10", "the same", "the same"),
        "Under no_grad inputs and outputs of a hooked module are the objects they were.",
        ("1.9", "RuntimeError", "RuntimeError"),
        "Under no_grad the forward of a module with a full hook raises RuntimeError.",
        ("", "AttributeError", "AttributeError"),
        "Under no_grad the forward of a module with a full hook raises AttributeError.",
    ),
    witness={"grads": [True], "hooks": 1},
)
@given(grads=SOME, hooks=FEW)
def test_kept_under_no_grad(subject: Subject, grads: List[bool], hooks: int) -> None:
    import torch

    with torch.no_grad():
        try:
            seen = same(*grads, hooks=hooks)
        except (AttributeError, RuntimeError) as error:
            seen = type(error).__name__
    assert seen == ([True] * (len(grads) + 1) if subject.value == "the same" else subject.value)


@clause(
    "backward.objects.pre",
    says="Where an input needs a gradient, a full backward pre-hook alone replaces inputs and outputs too.",
    source=PRE_VIEW,
    needs=PRE,
    value=False,
    wrong={"the same": True},
    witness={"grads": [True], "hooks": 1},
)
@given(grads=st.lists(st.booleans(), min_size=1, max_size=4), hooks=FEW)
def test_pre(subject: Subject, grads: List[bool], hooks: int) -> None:
    kept = subject.value or not any(grads)
    assert same(*grads, kind="full_backward_pre", hooks=hooks) == [kept] * len(grads) + [subject.value]


@clause(
    "backward.objects.layers",
    says="LSTM states and Embedding indices have None; a loss on an LSTM state alone leaves the hook silent.",
    source=(PAST_THE_OUTPUT, DOCS),
    concern="full_backward ?lstm",
    docs="contradicts",
    note="The docs promise a call whenever gradients for the inputs are computed; with a loss on a state they are.",
    needs=FULL,
    readings=by_release(
        "error",
        ("1.13", "silent", [[1, 2, True], "silent", 1]),
        "A loss on the state of an LSTM with a full hook gives the input its gradient.",
        ("1.9", "refused", [[1, 2, True], "RuntimeError", 1]),
        "A loss on the state alone of an LSTM with a full hook raises RuntimeError.",
        ("", "silent Embedding", [[1, 2, True], "RuntimeError", 0]),
        "An Embedding never calls its full hook; a loss on an LSTM state raises RuntimeError.",
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
    says="A forward hook, global or not, is given keyword inputs only when it asked for them.",
    source=(FORWARD_GLOBAL, "https://github.com/pytorch/pytorch/pull/137403"),
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
