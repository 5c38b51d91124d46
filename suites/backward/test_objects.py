"""Which objects a full backward hook puts in the place of inputs and outputs, and which it takes for gradients."""

from typing import Any, List

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause import Reading, clause
from fixtures.draw import NUMBERS
from fixtures.plan import Forward, Hook, Input, Leaf, Plan
from fixtures.subject import Subject

DOCS = "docs: torch.nn.Module.register_full_backward_hook"
PRE_DOCS = "docs: torch.nn.Module.register_full_backward_pre_hook"
FULL = "torch.nn.Module.register_full_backward_hook"
PRE = "torch.nn.Module.register_full_backward_pre_hook"
GLOBAL = "torch.nn.modules.module.register_module_forward_hook"
VIEWS = "The docs say that forward is given a view of each tensor passed in, and the caller one of each returned."


FEW = st.integers(1, 3)
#: Which inputs need a gradient. The first one does in torch 1.8; backward.given.frozen_input tells of that.
SOME = st.lists(st.booleans(), max_size=3).map(lambda others: [True, *others])
SIZES = st.lists(st.integers(1, 2), max_size=2).map(tuple)
#: A size, a number of inputs, and the size of a bare tensor: rows of the size, or any other.
BARE = {
    "size": st.shared(SIZES, key="size"),
    "count": FEW,
    "returned": st.one_of(st.builds(lambda size, rows: (rows, *size), st.shared(SIZES, key="size"), FEW), SIZES),
}


def same(*grads: bool, kind: str = "full_backward", hooks: int = 1) -> Any:
    """Whether inputs with or without gradient are the caller's objects in forward, and the output forward's."""
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

    module, xs = Sum(), [torch.ones((), requires_grad=grad) for grad in grads]
    for _ in range(hooks):
        getattr(module, f"register_{kind}_hook")(lambda *arguments: None)
    out = module(*xs)
    return [one is other for one, other in zip(inside, [*xs, out])]


@clause(
    "backward.objects.replaced",
    says="Beside an input that needs a gradient the others are replaced too, and so is the output, always.",
    source=DOCS,
    needs=FULL,
    readings=(
        Reading("all", ">=1.11", "Every input, and outputs without input gradients.", value=False),
        Reading("those that need one", "<1.11", "An input without gradient stays.", value=True),
    ),
    witness={"grads": [True, False], "hooks": 1},
    covers=(
        "module_backward.ident.full.second_not_rg",
        "module_backward.ident.full.output_no_input_rg",
        "module_backward.issue.61446_input_identity",
    ),
)
@given(grads=st.one_of(SOME, SOME.map(lambda some: [False for _ in some])), hooks=FEW)
def test_replaced(subject: Subject, grads: List[bool], hooks: int) -> None:
    kept = [not grad and (subject.value or not any(grads)) for grad in grads]
    assert same(*grads, hooks=hooks) == [*kept, False]


@clause(
    "backward.objects.kept",
    says="Where no input needs a gradient forward is given the caller's own objects.",
    source=DOCS,
    docs="contradicts",
    note=VIEWS,
    needs=FULL,
    readings=(
        Reading("the same", "", "However many inputs and hooks.", value=True),
        Reading("others", "never", "A view of each.", value=False),
    ),
    witness={"count": 1, "hooks": 1},
    covers=("module_backward.ident.full.input_not_rg",),
)
@given(count=st.integers(1, 4), hooks=FEW)
def test_kept(subject: Subject, count: int, hooks: int) -> None:
    assert same(*[False] * count, hooks=hooks)[:-1] == [subject.value] * count


@clause(
    "backward.objects.kept_under_no_grad",
    says="Under no_grad a full hook replaces neither inputs nor outputs.",
    source=(DOCS, "https://github.com/pytorch/pytorch/issues/59901"),
    docs="contradicts",
    note=VIEWS,
    needs=FULL,
    readings=(
        Reading("the same", ">=1.10", "Inputs and output.", value="the same"),
        Reading("RuntimeError", ">=1.9,<1.10", "The forward fails.", value="RuntimeError"),
        Reading("AttributeError", "<1.9", "The forward fails.", value="AttributeError"),
    ),
    witness={"grads": [True], "hooks": 1},
    covers=("module_backward.ident.full.no_grad",),
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
    says="A full backward pre-hook alone replaces inputs and outputs too.",
    source=PRE_DOCS,
    needs=PRE,
    readings=(
        Reading("others", "", "As a full hook does.", value=False),
        Reading("the same", "never", "Only a full hook needs the input.", value=True),
    ),
    witness={"grads": [True], "hooks": 1},
    covers=("module_backward.ident.pre.both",),
)
@given(grads=st.lists(st.booleans(), min_size=1, max_size=4), hooks=FEW)
def test_pre(subject: Subject, grads: List[bool], hooks: int) -> None:
    kept = subject.value or not any(grads)
    assert same(*grads, kind="full_backward_pre", hooks=hooks) == [kept] * len(grads) + [subject.value]


def outcome(
    returned: Any, kind: str = "full_backward", size: Any = (1, 2), count: int = 1, grad: bool = True, hooks: int = 1
) -> Any:
    """How backward() ends when the last hook of a doubling module of some inputs returns this, and their .grad."""
    import torch

    class Double(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = torch.nn.Parameter(torch.tensor(2.0))

        def forward(self, *xs: Any) -> Any:
            return self.weight * sum(xs)

    module, xs = Double(), [torch.ones(size, requires_grad=grad) for _ in range(count)]
    for number in range(hooks):
        value = returned if number == hooks - 1 else None
        getattr(module, f"register_{kind}_hook")(lambda *given, value=value: value)
    try:
        module(*xs).backward(torch.ones(size))
        seen = "accepted"
    except (RuntimeError, TypeError) as error:
        seen = type(error).__name__
    return seen, [None if x.grad is None else x.grad.tolist() for x in xs], module.weight.grad is None


def fill(number: float, size: Any) -> Any:
    """The nested lists of a tensor that is full of one number."""
    import torch

    return torch.full(size, float(number)).tolist()


def bare(subject: Subject, size: Any, count: int, returned: Any, kind: str) -> None:
    """Demand that a bare tensor of threes counts as the reading has it: as its "rows", or the "whole" as one."""
    import torch

    wanted = 1 if kind == "full_backward_pre" else count
    by = 2 if kind == "full_backward_pre" else 1
    due = ("TypeError" if not returned else "RuntimeError", [None] * count, kind == "full_backward_pre")
    if returned == ((wanted, *size) if subject.value == "rows" else size):
        due = ("accepted", [fill(3 * by, size)] * count, False)
    assert outcome(torch.full(returned, 3.0), kind, size, count) == due


@clause(
    "backward.objects.bare_tensor",
    says="A bare tensor from a full hook counts as the tuple of its rows: one for each input, or it raises.",
    source=DOCS,
    note="The docs say a tuple or None; only the annotated type of the hook allows a Tensor, as if it were the one.",
    needs=FULL,
    readings=(
        Reading("rows", "", "Wrong rows: RuntimeError; no dimension: TypeError.", value="rows"),
        Reading("whole", "never", "As the gradient of the one input.", value="whole"),
    ),
    witness={"size": (1, 2), "count": 1, "returned": (1, 2)},
    covers=(
        "module_backward.ret.full.bare_tensor_len1",
        "module_backward.ret.full.bare_tensor_0d",
        "graph.full.return_bare_tensor_batch_of_one",
    ),
)
@given(**BARE)
def test_bare_tensor(subject: Subject, size: Any, count: int, returned: Any) -> None:
    bare(subject, size, count, returned, "full_backward")


@clause(
    "backward.objects.pre_bare_tensor",
    says="A bare tensor from a pre-hook counts as its rows too, and is refused before a gradient is written.",
    source=PRE_DOCS,
    docs="contradicts",
    note="Since 2.10 the docs list a bare Tensor as a value to return.",
    needs=PRE,
    readings=(
        Reading("rows", "", "One row of the output's shape will do.", value="rows"),
        Reading("whole", "never", "As the gradient of the one output.", value="whole"),
    ),
    witness={"size": (1, 2), "count": 1, "returned": (1, 2)},
    covers=("module_backward.ret.pre.bare_tensor_len1",),
)
@given(**BARE)
def test_pre_bare_tensor(subject: Subject, size: Any, count: int, returned: Any) -> None:
    bare(subject, size, count, returned, "full_backward_pre")


@clause(
    "backward.objects.no_broadcast",
    says="A full hook must return the exact shape: one that would sum or spread to it is refused.",
    source="measured",
    needs=FULL,
    readings=(
        Reading("refused", "", "RuntimeError; the weight has its gradient.", value="RuntimeError"),
        Reading("fitted", "never", "As in autograd itself.", value="accepted"),
    ),
    witness={"size": (1, 2), "returned": (3, 1, 2), "hooks": 1},
    covers=("module_backward.ret.full.expandable_shape",),
)
@given(size=SIZES, returned=SIZES, hooks=FEW)
def test_no_broadcast(subject: Subject, size: Any, returned: Any, hooks: int) -> None:
    import torch

    (seen, grads, unwritten) = outcome((torch.full(returned, 3.0),), size=size, hooks=hooks)
    fits = returned == size
    assert (seen, unwritten) == ("accepted" if fits else subject.value, False)
    assert grads == [fill(3, size) if fits else None]


@clause(
    "backward.objects.list_without_input",
    says="Where no input needs a gradient a list of None is refused, while a tuple of None is taken.",
    source="https://github.com/pytorch/pytorch/pull/56693",
    needs=FULL,
    readings=(
        Reading("refused", ">=1.9", "RuntimeError for the list, of any length.", value="RuntimeError"),
        Reading("never called", "<1.9", "The hook does not run.", value="accepted"),
    ),
    witness={"as_list": True, "length": 1, "count": 1, "hooks": 1},
    covers=("module_backward.ret.full.noin_none_list",),
)
@given(as_list=st.booleans(), length=st.integers(0, 3), count=FEW, hooks=FEW)
def test_list_without_input(subject: Subject, as_list: bool, length: int, count: int, hooks: int) -> None:
    returned = [None] * length if as_list else (None,) * length
    result = subject.value if as_list else "accepted"
    seen = outcome(returned, count=count, grad=False, hooks=hooks)
    assert seen == (result, [None] * count, result != "accepted")


@clause(
    "backward.objects.list_chain",
    says="When a full hook returns a list, the next one is given that list.",
    source="measured",
    needs=FULL,
    readings=(
        Reading("list", ">=1.13", "As it was returned.", value="list"),
        Reading("tuple", "<1.13", "Made into a tuple.", value="tuple"),
    ),
    witness={"returned": ["list", None], "count": 1},
    covers=("module_backward.ret.full.chain_list",),
)
@given(returned=st.lists(st.sampled_from(["list", "tuple", None]), min_size=1, max_size=5), count=FEW)
def test_list_chain(subject: Subject, returned: List[Any], count: int) -> None:
    import torch

    class Sum(torch.nn.Module):
        def forward(self, *xs: Any) -> Any:
            return sum(xs) * 2

    module, seen, due = Sum(), [], ["tuple"]
    for name in returned:

        def hook(module: Any, grad_input: Any, grad_output: Any, name: Any = name) -> Any:
            seen.append((type(grad_input).__name__, [grad.item() for grad in grad_input]))
            tripled = [grad * 3 for grad in grad_input]
            return {"list": tripled, "tuple": tuple(tripled), None: None}[name]

        module.register_full_backward_hook(hook)
        due.append({"list": subject.value, "tuple": "tuple", None: due[-1]}[name])
    xs = [torch.ones((), requires_grad=True) for _ in range(count)]
    module(*xs).backward()
    times = [3 ** sum(name is not None for name in returned[:number]) for number in range(len(returned) + 1)]
    assert seen == [(kind, [2.0 * by] * count) for kind, by in zip(due, times[:-1])]
    assert [x.grad.item() for x in xs] == [2 * times[-1]] * count


@clause(
    "backward.objects.layers",
    says="LSTM states and embedding indices have None; a loss on a state alone does not call the full hook.",
    source=(DOCS, "https://github.com/pytorch/pytorch/pull/88357"),
    docs="contradicts",
    note="The docs promise a call whenever gradients for the inputs are computed; with a loss on a state they are.",
    needs=FULL,
    readings=(
        Reading("silent", ">=1.13", "A loss on the state gives x its gradient.", value=[[1, 2, True], "silent", 1]),
        Reading(
            "refused",
            ">=1.9,<1.13",
            "A loss on the state raises RuntimeError.",
            value=[[1, 2, True], "RuntimeError", 1],
        ),
        Reading("no integers", "<1.9", "And an Embedding never calls it.", value=[[1, 2, True], "RuntimeError", 0]),
    ),
    covers=("module_backward.arg.full.lstm", "module_backward.arg.full.embedding_sparse"),
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
    source=(
        "docs: torch.nn.modules.module.register_module_forward_hook",
        "https://github.com/pytorch/pytorch/pull/137403",
    ),
    needs=GLOBAL + "(with_kwargs)",
    covers=("module_backward.issue.137403_global_forward_kwargs", "module_backward.issue.35643_forward_hook_kwargs"),
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
