"""A hook must not change the gradient it is given: torch neither forbids it nor says who else holds that gradient."""

from typing import Any, List

from fixtures.clause import Reading, clause
from fixtures.subject import Subject

DOCS = "docs: torch.Tensor.register_hook"
SINCE_2_0 = "https://github.com/pytorch/pytorch/pull/85849"


def times_five(grad: Any) -> None:
    """The hook of all clauses here: it changes its argument, and returns None."""
    grad.mul_(5)


@clause(
    "gradient.edits.own_gradient",
    says="An in-place change in a hook that returns None changes the gradient like a replacement.",
    source=DOCS,
    readings=(
        Reading("changed", "", "2 becomes 10, at a leaf, at an inner tensor, and with create_graph.", value=[10.0] * 3),
        Reading("unchanged", "never", "Hooks are given copies.", value=[2.0] * 3),
    ),
    covers=("tensor.mut.leaf", "tensor.mut.nonleaf", "tensor.mut.create_graph"),
)
def test_own_gradient(subject: Subject) -> None:
    import torch

    results = []
    for leaf, create_graph in ((True, False), (False, False), (True, True)):
        x = torch.ones((), requires_grad=True)
        y = 1 * x
        (x if leaf else y).register_hook(times_five)
        torch.autograd.backward([2 * y], create_graph=create_graph)
        results.append(x.grad.item())
        x.grad = None
    assert results == subject.value


@clause(
    "gradient.edits.siblings",
    says="Where one gradient goes to two tensors, a change in the hook of one may change the other's.",
    source=DOCS,
    readings=(
        Reading(
            "if not yet accumulated",
            "",
            "s = a + b: from the hook of a both change; from b's only b, a is done.",
            value=[[10.0, 10.0], [2.0, 10.0]],
        ),
        Reading("each its own", "never", "Each tensor has a gradient of its own.", value=[[10.0, 2.0], [2.0, 10.0]]),
    ),
    covers=("tensor.mut.shared_sibling", "tensor.mut.shared_sibling_rev"),
    note="No error and no warning: a wrong gradient of a tensor without hooks is the only sign.",
)
def test_siblings(subject: Subject) -> None:
    import torch

    results = []
    for hooked in (0, 1):
        pair = [torch.ones((), requires_grad=True) for _ in range(2)]
        pair[hooked].register_hook(times_five)
        (2 * (pair[0] + pair[1])).backward()
        results.append([tensor.grad.item() for tensor in pair])
    assert results == subject.value


@clause(
    "gradient.edits.other_hooks",
    says="Later hooks see the change, and so does whoever kept the gradient in an earlier hook.",
    source=DOCS,
    readings=(
        Reading("both", "", "The earlier hook's keepsake and the later hook's argument are 10.", value=[10.0, 10.0]),
        Reading("later only", "never", "The keepsake stays 2.", value=[2.0, 10.0]),
    ),
    covers=("tensor.mut.later_hook_sees", "tensor.mut.kept_by_earlier"),
)
def test_other_hooks(subject: Subject) -> None:
    import torch

    kept: List[Any] = []
    x = torch.ones((), requires_grad=True)
    x.register_hook(kept.append)
    x.register_hook(times_five)
    x.register_hook(lambda grad: kept.append(grad.clone()))
    (2 * x).backward()
    assert [grad.item() for grad in kept] == subject.value


@clause(
    "gradient.edits.callers_gradient",
    says="A change in the hook of the root changes the tensor that the caller passed to backward().",
    source=DOCS,
    readings=(
        Reading(
            "changed",
            "",
            "The caller's 1 is 5 afterwards, for an inner root and for a leaf.",
            value=[(5.0, 10.0), (5.0, 5.0)],
        ),
        Reading("unchanged", "never", "backward() copies what it is given.", value=[(1.0, 10.0), (1.0, 5.0)]),
    ),
    covers=("tensor.mut.user_gradient", "tensor.mut.leaf_user_gradient"),
)
def test_callers_gradient(subject: Subject) -> None:
    import torch

    results = []
    for leaf in (False, True):
        x = torch.ones((), requires_grad=True)
        root = x if leaf else 2 * x
        root.register_hook(times_five)
        given_gradient = torch.ones(())
        root.backward(given_gradient)
        results.append((given_gradient.item(), x.grad.item()))
    assert results == subject.value


@clause(
    "gradient.edits.expanded",
    says="Changing an expanded gradient, as sum() sends it, raises RuntimeError out of backward().",
    source="measured",
    readings=(
        Reading(
            "raises", "", "Its elements share one place in memory; x.grad stays None.", value=("RuntimeError", None)
        ),
        Reading("changes", "never", "The gradient becomes [5, 5].", value=("changed", [5.0, 5.0])),
    ),
    covers=("tensor.mut.expanded",),
)
def test_expanded(subject: Subject) -> None:
    import torch

    x = torch.ones(2, requires_grad=True)
    x.register_hook(times_five)
    try:
        x.sum().backward()
        result = "changed"
    except RuntimeError as error:
        result = type(error).__name__
    assert (result, None if x.grad is None else x.grad.tolist()) == subject.value


@clause(
    "gradient.edits.result_of_grad",
    says="A change in the hook of an input of autograd.grad is in the result.",
    source=SINCE_2_0,
    readings=(
        Reading("in the result", ">=2.0", "10, for a leaf and for an inner tensor.", value=[10.0, 10.0]),
        Reading("the hook is not called", "<2.0", "2 in both cases.", value=[2.0, 2.0]),
    ),
    covers=("tensor.mut.grad_result", "graph.order.capture_then_inplace_in_hook"),
)
def test_result_of_grad(subject: Subject) -> None:
    import torch

    results = []
    for leaf in (True, False):
        x = torch.ones((), requires_grad=True)
        wanted = x if leaf else 3 * x
        wanted.register_hook(times_five)
        results.append(torch.autograd.grad(2 * wanted, [wanted])[0].item())
    assert results == subject.value


@clause(
    "gradient.edits.kept_gradient",
    says="retain_grad() keeps the changed gradient, whichever came first, and shares no memory with it.",
    source=(SINCE_2_0, "note: notes/autograd.html#backward-hooks-execution"),
    readings=(
        Reading(
            "changed",
            ">=2.0",
            "y.grad is 10 both times; x's own change afterwards does not reach it.",
            value=[(10.0, 50.0), (10.0, 50.0)],
        ),
        Reading("by registration", "<2.0", "2 when retain_grad() came first.", value=[(2.0, 50.0), (10.0, 50.0)]),
    ),
    covers=("tensor.mut.retain_own", "tensor.mut.retain_own_first", "tensor.mut.retained_grad_mutated_upstream"),
)
def test_kept_gradient(subject: Subject) -> None:
    import torch

    results = []
    for retain_first in (True, False):
        x = torch.ones(1, requires_grad=True)
        y = x.view(1)
        if retain_first:
            y.retain_grad()
        y.register_hook(times_five)
        if not retain_first:
            y.retain_grad()
        x.register_hook(times_five)
        (2 * y).sum().mul(1).backward()
        results.append((y.grad.item(), x.grad.item()))
    assert results == subject.value
