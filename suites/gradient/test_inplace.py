"""A tensor changed in place has a new version: which gradient its hooks are given, and how a view loses its hooks.

Torch 2.0 gave each version hooks of its own, 2.3 did so for a base that is changed through a view.
"""

from typing import Any, List, Tuple

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause import Reading, clause
from fixtures.draw import FACTORS, NUMBERS, USUAL_OPS, nets
from fixtures.edited import edited
from fixtures.plan import Backward, Edit, Forward, Hook, InPlace, Input, Leaf, Plan, Remove
from fixtures.subject import Subject

NOTE = "note: notes/autograd.html#behavior-of-tensor-hooks-when-tensor-is-modified-in-place"
SINCE_2_0 = "https://github.com/pytorch/pytorch/pull/92734"
SINCE_2_3 = "https://github.com/pytorch/pytorch/pull/117552"


@st.composite
def edited_leaves(draw: Any) -> Plan:
    """A hooked leaf, changed in place: at first with gradients recorded, then by a pre-hook under no_grad."""
    net, by, grads = draw(nets(1, 1, 1, USUAL_OPS)), draw(FACTORS), (draw(NUMBERS),)
    attempt = (Hook("tensor", "x0", "h0"), Edit("x0", by), Forward(), Backward(grads))
    quietly = (Hook("forward_pre", net.name, "h1", (InPlace(by),)), Forward(grad=False), Remove("h1"))
    return Plan(net, (Input(draw(NUMBERS)),), (*attempt, *quietly, Forward(), Backward(grads)))


def noting(seen: List[Any], name: str) -> Any:
    """A hook that writes down its name and what it is given."""

    def hook(grad: Any) -> None:
        seen.append((name, grad.tolist()))

    return hook


@clause(
    "gradient.inplace.own_version",
    says="A hook is given the gradient of the version of the tensor that it was registered on.",
    source=(NOTE, SINCE_2_0),
    readings=(
        Reading(
            "its own version",
            ">=2.0",
            "y = 3x; a; y *= 5; b; the loss is 2y: b is given 2, a 10.",
            {"hooks_of_version": True},
        ),
        Reading(
            "the first hook's version",
            "<2.0",
            "All hooks are where the first one was put: both are given 10.",
            {"hooks_of_version": False},
        ),
    ),
    witness=Plan(
        Leaf("m0", "scale", (3,)),
        (Input(1),),
        (
            Forward(),
            Hook("tensor", "m0>0", "a"),
            Edit("m0>0", 5),
            Hook("tensor", "m0>0", "b"),
            Backward((2,)),
        ),
    ),
    covers=("tensor.ip.both", "graph.order.inplace_hook_before_and_after", "graph.order.docs_example_inplace"),
)
@given(plan=edited("hook", "edit", "hook"))
def test_own_version(subject: Subject, plan: Plan) -> None:
    subject.holds(plan)


@clause(
    "gradient.inplace.replacements",
    says="What a hook of each version returns counts where that version is: between the in-place changes.",
    source=(NOTE, SINCE_2_0),
    readings=(
        Reading("each in its place", ">=2.0", "((2 + 100) * 5 + 1) * 3 = 1533.", value=1533.0),
        Reading("both at the first", "<2.0", "(2 * 5 + 1 + 100) * 3 = 333.", value=333.0),
    ),
    covers=("tensor.ip.both_replace",),
)
def test_replacements(subject: Subject) -> None:
    import torch

    x = torch.ones((), requires_grad=True)
    y = 3 * x
    y.register_hook(lambda grad: grad + 1)
    y.mul_(5)
    y.register_hook(lambda grad: grad + 100)
    (2 * y).backward()
    assert x.grad.item() == subject.value


@clause(
    "gradient.inplace.masked",
    says="A hook on what relu_() then overwrites is given the gradient that relu_() masked.",
    source=NOTE,
    readings=(
        Reading("masked", "", "3 where the value was positive, else 0.", value=[("y", [3.0, 0.0])]),
        Reading("as it came", "never", "The gradient of what relu_() made.", value=[("y", [3.0, 3.0])]),
    ),
    covers=("tensor.ip.set_grad_fn_same",),
)
def test_masked(subject: Subject) -> None:
    import torch

    seen: List[Any] = []
    y = 1 * torch.tensor([1.0, -1.0], requires_grad=True)
    y.register_hook(noting(seen, "y"))
    torch.relu_(y)
    (3 * y).sum().backward()
    assert seen == subject.value


@clause(
    "gradient.inplace.mark_dirty",
    says="A custom Function that marks its input dirty is an in-place change like any other.",
    source=("docs: torch.autograd.function.FunctionCtx.mark_dirty", SINCE_2_0),
    readings=(
        Reading(
            "its own version",
            ">=2.0",
            "The hook of the doubled y is given 1, the one before it 2.",
            value=[("b", 1.0), ("a", 2.0)],
        ),
        Reading("the first hook's version", "<2.0", "Both are given 2.", value=[("a", 2.0), ("b", 2.0)]),
    ),
    covers=("graph.fn.mark_dirty_hooks",),
)
def test_mark_dirty(subject: Subject) -> None:
    import torch

    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.mark_dirty(x)
            return x.mul_(2)

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return grad * 2

    seen: List[Any] = []
    y = 3 * torch.ones((), requires_grad=True)
    y.register_hook(noting(seen, "a"))
    y = Double.apply(y)
    y.register_hook(noting(seen, "b"))
    y.backward()
    assert seen == subject.value


@clause(
    "gradient.inplace.base_through_view",
    says="A base that is changed through a view has a new version too, with hooks of its own.",
    source=(NOTE, SINCE_2_3, "https://github.com/pytorch/pytorch/issues/117366"),
    readings=(
        Reading(
            "its own version",
            ">=2.3",
            "y[:1] *= 5 between a and b: b is given [2, 2], a [10, 2].",
            value=[("b", [2.0, 2.0]), ("a", [10.0, 2.0])],
        ),
        Reading(
            "the first hook's version",
            "<2.3",
            "Both are given [10, 2].",
            value=[("a", [10.0, 2.0]), ("b", [10.0, 2.0])],
        ),
    ),
    covers=(
        "tensor.ip.base_hooks_both",
        "graph.order.inplace_on_view_base_hook",
        "graph.order.base_tensor_hook_then_view_inplace",
    ),
)
def test_base_through_view(subject: Subject) -> None:
    import torch

    seen: List[Any] = []
    y = 3 * torch.ones(2, requires_grad=True)
    y.register_hook(noting(seen, "a"))
    y[:1].mul_(5)
    y.register_hook(noting(seen, "b"))
    (2 * y).sum().backward()
    assert seen == subject.value


@clause(
    "gradient.inplace.view_is_lost",
    says="Hooks of a view are not called after the view or its base was changed in place.",
    source=(NOTE, "measured"),
    readings=(
        Reading(
            "not called",
            "",
            "Neither after view *= 5 nor after base *= 5, though x.grad is right.",
            value=[([], [30.0, 0.0]), ([], [30.0, 0.0])],
        ),
        Reading(
            "the old version's gradient",
            "never",
            "The hook stays with the version it was put on: [10].",
            value=[([("v", [10.0])], [30.0, 0.0]), ([("v", [10.0])], [30.0, 0.0])],
        ),
    ),
    covers=("tensor.ip.view_self", "tensor.ip.view_then_base"),
    docs="contradicts",
    note="The note says that hooks registered before the change go on getting gradients of the values before it.",
)
def test_view_is_lost(subject: Subject) -> None:
    import torch

    results = []
    for change_view in (True, False):
        seen: List[Any] = []
        x = torch.ones(2, requires_grad=True)
        y = 3 * x
        view = y[:1]
        view.register_hook(noting(seen, "v"))
        (view if change_view else y).mul_(5)
        (2 * view).sum().backward()
        results.append((seen, x.grad.tolist()))
    assert results == subject.value


@clause(
    "gradient.inplace.view_hooked_again",
    says="A hook put on a hooked view after its base was changed is called, and the old one is not.",
    source=("https://github.com/pytorch/pytorch/pull/196514", "measured"),
    readings=(
        Reading(
            "called", ">=2.15", "Whether view.grad_fn was looked at in between or not.", value=[(1, ["b"]), (0, ["b"])]
        ),
        Reading(
            "when grad_fn was read",
            ">=2.0,<2.15",
            "Reading view.grad_fn makes the new node; else b is lost too.",
            value=[(1, []), (0, ["b"])],
        ),
        Reading(
            "never called",
            "<2.0",
            "All hooks are where the first one was put, which is gone.",
            value=[(1, []), (1, [])],
        ),
    ),
    covers=(
        "tensor.ip.view_stale_second",
        "tensor.ip.view_then_base_dict",
        "graph.order.inplace_view_regenerates_grad_fn",
    ),
)
def test_view_hooked_again(subject: Subject) -> None:
    import torch

    results: List[Tuple[int, List[str]]] = []
    for read in (False, True):
        seen: List[Any] = []
        y = 3 * torch.ones(2, requires_grad=True)
        view = y[:1]
        view.register_hook(noting(seen, "a"))
        y.mul_(5)
        if read:
            assert view.grad_fn is not None
        hooks = len(view._backward_hooks or {})
        view.register_hook(noting(seen, "b"))
        (2 * view).sum().backward()
        results.append((hooks, [name for name, _ in seen]))
    assert results == subject.value


@clause(
    "gradient.inplace.leaf_is_refused",
    says="A hooked leaf refuses an in-place change; one under no_grad leaves its hooks in place.",
    source="docs: torch.no_grad",
    covers=("tensor.ip.leaf_requires_grad_inplace_error", "graph.order.leaf_inplace_nograd_hook_stays"),
)
@given(plan=edited_leaves())
def test_leaf_is_refused(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    assert trace.raised() == [("edit", "RuntimeError")]
    assert len(trace.seen_by("h0")) == 2


@clause(
    "gradient.inplace.leaf_becomes_inner",
    says="The hooks of a leaf do not follow it when an in-place change makes it an inner tensor.",
    source=(NOTE, SINCE_2_0),
    readings=(
        Reading("forgotten", ">=2.0", "No call, and `_backward_hooks` is None.", value=([], None)),
        Reading("listed, not called", "<2.0", "No call, though `_backward_hooks` still lists the hook.", value=([], 1)),
    ),
    covers=("tensor.ip.off_inplace_on",),
)
def test_leaf_becomes_inner(subject: Subject) -> None:
    import torch

    seen: List[Any] = []
    y = torch.ones((), requires_grad=True)
    y.register_hook(noting(seen, "y"))
    y.requires_grad_(False)
    y.mul_(torch.tensor(3.0, requires_grad=True))
    (2 * y).backward()
    hooks = y._backward_hooks
    assert (seen, None if hooks is None else len(hooks)) == subject.value
