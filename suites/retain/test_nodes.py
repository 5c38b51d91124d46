"""retain_grad() beside hooks of nodes: the note gives an order, torch has another one."""

from typing import Any, List

from fixtures.clause import Reading, clause
from fixtures.subject import Subject

NOTE = "note: notes/autograd.html#backward-hooks-execution"
NODES = "torch.autograd.graph.Node.register_prehook"


@clause(
    "retain.nodes.before_pre_hooks",
    says="The gradient is kept before the pre-hooks of the tensor's node run; what these return is not in it.",
    source=(NOTE, "measured"),
    needs=NODES,
    readings=(
        Reading(
            "before",
            "",
            "The pre-hook finds y.grad = 2 and returns 20: y.grad is 2, x.grad is 60.",
            value=(2.0, 2.0, 60.0),
        ),
        Reading(
            "after, as the note says", "never", "The pre-hook finds None, and y.grad is 20.", value=(None, 20.0, 60.0)
        ),
    ),
    covers=(
        "tensor.rg.vs_node_prehook",
        "tensor.rg.set_seen_in_prehook",
        "graph.order.retain_vs_prehook_value",
        "graph.order.retain_grad_set_when_prehook_runs",
        "graph.order.nonleaf_all_kinds",
    ),
    docs="contradicts",
    note="The note lists pre-hooks of nodes as step 2 and the update of a retained .grad as step 3.",
)
def test_before_pre_hooks(subject: Subject) -> None:
    import torch

    found: List[Any] = []
    x = torch.ones((), requires_grad=True)
    y = 3 * x
    y.retain_grad()

    def pre_hook(grads: Any) -> Any:
        found.append(None if y.grad is None else y.grad.item())
        return (grads[0] * 10,)

    y.grad_fn.register_prehook(pre_hook)
    (2 * y).backward()
    assert (found[0], y.grad.item(), x.grad.item()) == subject.value


@clause(
    "retain.nodes.after_tensor_hooks",
    says="Tensor hooks run before the pre-hooks of the node, whichever was registered first.",
    source=NOTE,
    needs=NODES,
    readings=(
        Reading(
            "before", "", "The pre-hook is given what the tensor hook left: 20.", value=[("tensor", 2.0), ("pre", 20.0)]
        ),
        Reading("by registration", "never", "The pre-hook came first.", value=[("pre", 2.0), ("tensor", 2.0)]),
    ),
    covers=(
        "tensor.rg.prehook_after_tensor_hook",
        "graph.order.prehook_registered_before_tensor_hook",
    ),
)
def test_after_tensor_hooks(subject: Subject) -> None:
    import torch

    seen: List[Any] = []
    y = 3 * torch.ones((), requires_grad=True)
    y.grad_fn.register_prehook(lambda grads: seen.append(("pre", grads[0].item())))
    y.register_hook(lambda grad: seen.append(("tensor", grad.item())) or grad * 10)
    (2 * y).backward()
    assert seen == subject.value


@clause(
    "retain.nodes.leaf",
    says="For a leaf: tensor hooks, pre-hooks of its node, .grad, post-accumulate hooks, hooks of its node.",
    source=NOTE,
    needs=(NODES, "torch.Tensor.register_post_accumulate_grad_hook"),
    readings=(
        Reading(
            "in this order",
            "",
            "Whatever the order of registration; .grad is there from the third on.",
            value=[("tensor", None), ("pre", None), ("accumulated", 2.0), ("post", 2.0)],
        ),
        Reading(
            "by registration",
            "never",
            "In the order of the four calls.",
            value=[("post", None), ("accumulated", None), ("pre", None), ("tensor", None)],
        ),
    ),
    covers=(
        "tensor.node.prehook_leaf_order",
        "graph.order.leaf_all_kinds",
        "graph.order.leaf_grad_visible_at_each_stage",
    ),
)
def test_leaf(subject: Subject) -> None:
    import torch

    seen: List[Any] = []
    x = torch.ones((), requires_grad=True)

    def noting(name: str) -> Any:
        return lambda *given: seen.append((name, None if x.grad is None else x.grad.item()))

    node = x.view_as(x).grad_fn.next_functions[0][0]
    node.register_hook(noting("post"))
    x.register_post_accumulate_grad_hook(noting("accumulated"))
    node.register_prehook(noting("pre"))
    x.register_hook(noting("tensor"))
    (2 * x).backward()
    assert seen == subject.value


@clause(
    "retain.nodes.before_node_hooks",
    says="What hooks of a tensor's node return is in no kept gradient of that tensor, only further upstream.",
    source="docs: torch.autograd.graph.Node.register_hook",
    readings=(
        Reading("upstream only", "", "The node's hook multiplies by 10: y.grad is 2, x.grad 60.", value=(2.0, 60.0)),
        Reading("in both", "never", "y.grad is 20.", value=(20.0, 60.0)),
    ),
    covers=("graph.order.retain_vs_nodehook_value",),
)
def test_before_node_hooks(subject: Subject) -> None:
    import torch

    x = torch.ones((), requires_grad=True)
    y = 3 * x
    y.retain_grad()
    y.grad_fn.register_hook(lambda sent, got: tuple(None if grad is None else grad * 10 for grad in sent))
    (2 * y).backward()
    assert (y.grad.item(), x.grad.item()) == subject.value
