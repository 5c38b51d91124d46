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


def same(*grads: bool, kind: str = "full_backward") -> Any:
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
    getattr(module, f"register_{kind}_hook")(lambda *arguments: None)
    out = module(*xs)
    return [one is other for one, other in zip(inside, [*xs, out])]


@clause(
    "backward.objects.replaced",
    says="Beside an input that needs a gradient the others are replaced too, and so is the output, always.",
    source=DOCS,
    needs=FULL,
    readings=(
        Reading(
            "all",
            ">=1.11",
            "One and the other input, and outputs without input gradients.",
            value=[[False, False, False], [True, False]],
        ),
        Reading(
            "those that need one",
            "<1.11",
            "The input without gradient stays.",
            value=[[False, True, False], [True, False]],
        ),
    ),
    covers=(
        "module_backward.ident.full.second_not_rg",
        "module_backward.ident.full.output_no_input_rg",
        "module_backward.issue.61446_input_identity",
    ),
)
def test_replaced(subject: Subject) -> None:
    assert [same(True, False), same(False)] == subject.value


@clause(
    "backward.objects.kept",
    says="Where no input needs a gradient forward is given the caller's own objects.",
    source=DOCS,
    docs="contradicts",
    note=VIEWS,
    needs=FULL,
    readings=(
        Reading("the same", "", "One input, two inputs.", value=[[True], [True, True]]),
        Reading("others", "never", "A view of each.", value=[[False], [False, False]]),
    ),
    covers=("module_backward.ident.full.input_not_rg",),
)
def test_kept(subject: Subject) -> None:
    assert [same(False)[:-1], same(False, False)[:-1]] == subject.value


@clause(
    "backward.objects.kept_under_no_grad",
    says="Under no_grad a full hook replaces neither inputs nor outputs.",
    source=(DOCS, "https://github.com/pytorch/pytorch/issues/59901"),
    docs="contradicts",
    note=VIEWS,
    needs=FULL,
    readings=(
        Reading("the same", ">=1.10", "Input and output.", value=[True, True]),
        Reading("RuntimeError", ">=1.9,<1.10", "The forward fails.", value="RuntimeError"),
        Reading("AttributeError", "<1.9", "The forward fails.", value="AttributeError"),
    ),
    covers=("module_backward.ident.full.no_grad",),
)
def test_kept_under_no_grad(subject: Subject) -> None:
    import torch

    with torch.no_grad():
        try:
            seen = same(True)
        except (AttributeError, RuntimeError) as error:
            seen = type(error).__name__
    assert seen == subject.value


@clause(
    "backward.objects.pre",
    says="A full backward pre-hook alone replaces inputs and outputs too.",
    source=PRE_DOCS,
    needs=PRE,
    readings=(
        Reading("others", "", "Input and output.", value=[False, False]),
        Reading("the same", "never", "Only a full hook needs the input.", value=[True, True]),
    ),
    covers=("module_backward.ident.pre.both",),
)
def test_pre(subject: Subject) -> None:
    assert same(True, kind="full_backward_pre") == subject.value


def outcome(returned: Any, kind: str = "full_backward", size: Any = (1, 2), grad: bool = True) -> Any:
    """How backward() ends when a hook of a doubling module returns this, and x.grad afterwards."""
    import torch

    module, x = torch.nn.Linear(2, 2, bias=False), torch.ones(size, requires_grad=grad)
    getattr(module, f"register_{kind}_hook")(lambda *arguments: returned)
    try:
        module(x).backward(torch.ones(size))
    except (RuntimeError, TypeError) as error:
        return type(error).__name__, x.grad, module.weight.grad is None
    return "accepted", None if x.grad is None else x.grad.tolist(), module.weight.grad is None


@clause(
    "backward.objects.bare_tensor",
    says="A bare tensor returned by a full hook is never taken for a tuple of one: backward() raises.",
    source=DOCS,
    note="The docs say a tuple or None; only the annotated type of the hook allows a Tensor.",
    needs=FULL,
    readings=(
        Reading(
            "refused",
            "",
            "One row: RuntimeError; no dimension: TypeError.",
            value=[("RuntimeError", None, False), ("TypeError", None, False)],
        ),
        Reading("taken", "never", "As the gradient of the one input.", value=[("accepted", [[1.0, 1.0]], False)] * 2),
    ),
    covers=("module_backward.ret.full.bare_tensor_len1", "module_backward.ret.full.bare_tensor_0d"),
)
def test_bare_tensor(subject: Subject) -> None:
    import torch

    assert [outcome(torch.ones(1, 2)), outcome(torch.ones(()))] == subject.value


@clause(
    "backward.objects.pre_bare_tensor",
    says="A bare tensor of one row is refused from a pre-hook too, before any gradient is written.",
    source=PRE_DOCS,
    docs="contradicts",
    note="Since 2.10 the docs list a bare Tensor as a value to return.",
    needs=PRE,
    readings=(
        Reading("refused", "", "RuntimeError.", value=("RuntimeError", None, True)),
        Reading("taken", "never", "As the gradient of the one output.", value=("accepted", [[1.0, 1.0]], False)),
    ),
    covers=("module_backward.ret.pre.bare_tensor_len1",),
)
def test_pre_bare_tensor(subject: Subject) -> None:
    import torch

    assert outcome(torch.ones(1, 2), "full_backward_pre") == subject.value


@clause(
    "backward.objects.no_broadcast",
    says="A full hook must return the exact shape: one that would sum or spread to it is refused.",
    source="measured",
    needs=FULL,
    readings=(
        Reading("refused", "", "RuntimeError; the weight has its gradient.", value=[("RuntimeError", None, False)] * 2),
        Reading("fitted", "never", "As in autograd itself.", value=[("accepted", [[1.0, 1.0]], False)] * 2),
    ),
    covers=("module_backward.ret.full.expandable_shape",),
)
def test_no_broadcast(subject: Subject) -> None:
    import torch

    assert [outcome((torch.ones(3, 1, 2),)), outcome((torch.ones(1, 1),))] == subject.value


@clause(
    "backward.objects.list_without_input",
    says="Where no input needs a gradient a list of None is refused, while a tuple of None is taken.",
    source="https://github.com/pytorch/pytorch/pull/56693",
    needs=FULL,
    readings=(
        Reading(
            "refused",
            ">=1.9",
            "RuntimeError for the list.",
            value=[("RuntimeError", None, True), ("accepted", None, False)],
        ),
        Reading("never called", "<1.9", "The hook does not run.", value=[("accepted", None, False)] * 2),
    ),
    covers=("module_backward.ret.full.noin_none_list",),
)
def test_list_without_input(subject: Subject) -> None:
    assert [outcome([None], grad=False), outcome((None,), grad=False)] == subject.value


@clause(
    "backward.objects.list_chain",
    says="When a full hook returns a list, the next one is given that list.",
    source="measured",
    needs=FULL,
    readings=(
        Reading("list", ">=1.13", "As it was returned.", value=["tuple", "list"]),
        Reading("tuple", "<1.13", "Made into a tuple.", value=["tuple", "tuple"]),
    ),
    covers=("module_backward.ret.full.chain_list",),
)
def test_list_chain(subject: Subject) -> None:
    import torch

    module, seen = torch.nn.Tanh(), []

    def hook(module: Any, grad_input: Any, grad_output: Any) -> Any:
        seen.append(type(grad_input).__name__)
        return list(grad_input)

    module.register_full_backward_hook(hook)
    module.register_full_backward_hook(hook)
    module(torch.ones(2, requires_grad=True)).sum().backward()
    assert seen == subject.value


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
