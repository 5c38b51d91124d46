"""retain_grad() beside hooks of nodes: the note gives an order, torch has another one."""

from math import prod
from typing import Any, List, Tuple

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause import Reading, clause
from fixtures.draw import FACTORS
from fixtures.subject import Subject
from suites.tensors import item, leaf

NOTE = "note: notes/autograd.html#backward-hooks-execution"
NODES = "torch.autograd.graph.Node.register_prehook"
#: Hooks of an inner tensor and pre-hooks of its node, in order of registration, each with its factor.
HOOKS = st.lists(st.tuples(st.sampled_from(["pre", "tensor"]), FACTORS), min_size=1, max_size=4)


@clause(
    "retain.nodes.before_pre_hooks",
    says="The gradient is kept before the pre-hooks of the tensor's node run; what these return is not in it.",
    source=(NOTE, "measured"),
    needs=NODES,
    readings=(
        Reading("before", "", "Each pre-hook finds y.grad; it has the factors of the tensor hooks alone.", value=True),
        Reading("after, as the note says", "never", "They find nothing, and all factors are in y.grad.", value=False),
    ),
    witness={"hooks": [("pre", 10)], "place": 0, "passes": 1},
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
@given(hooks=HOOKS, place=st.integers(0, 4), passes=st.integers(1, 2))
def test_before_pre_hooks(subject: Subject, hooks: List[Tuple[str, int]], place: int, passes: int) -> None:
    found: List[Any] = []
    x = leaf(1)
    y = 3 * x

    def pre_hook(grads: Any, by: int) -> Any:
        found.append(item(y.grad))
        return (grads[0] * by,)

    for number, (kind, by) in enumerate([*hooks, ("none", 1)]):
        if number == min(place, len(hooks)):
            y.retain_grad()
        if kind == "pre":
            y.grad_fn.register_prehook(lambda grads, by=by: pre_hook(grads, by))
        elif kind == "tensor":
            y.register_hook(lambda grad, by=by: grad * by)
    for _ in range(passes):
        (2 * y).backward(retain_graph=True)
    own = 2 * prod(by for kind, by in hooks if kind == "tensor" or not subject.value)
    pres = sum(kind == "pre" for kind, _ in hooks)
    totals = [own * (number + 1) for number in range(passes)]
    seen = totals if subject.value else [None, *totals[:-1]]
    assert found == [total for total in seen for _ in range(pres)]
    assert (y.grad.item(), x.grad.item()) == (totals[-1], passes * 6 * prod(by for _, by in hooks))


@clause(
    "retain.nodes.after_tensor_hooks",
    says="Tensor hooks run before the pre-hooks of the node, whichever was registered first.",
    source=NOTE,
    needs=NODES,
    readings=(
        Reading(
            "before", "", "Each kind in its order; the pre-hooks are given what all tensor hooks left.", value=True
        ),
        Reading("by registration", "never", "In the order of the calls.", value=False),
    ),
    witness={"hooks": [("pre", 3), ("tensor", 10)], "passes": 1},
    covers=(
        "tensor.rg.prehook_after_tensor_hook",
        "graph.order.prehook_registered_before_tensor_hook",
    ),
)
@given(hooks=HOOKS, passes=st.integers(1, 2))
def test_after_tensor_hooks(subject: Subject, hooks: List[Tuple[str, int]], passes: int) -> None:
    seen: List[Any] = []
    x = leaf(1)
    y = 3 * x
    for number, (kind, by) in enumerate(hooks):
        if kind == "pre":
            y.grad_fn.register_prehook(
                lambda grads, number=number, by=by: seen.append((number, grads[0].item())) or (grads[0] * by,)
            )
        else:
            y.register_hook(lambda grad, number=number, by=by: seen.append((number, grad.item())) or grad * by)
    for _ in range(passes):
        (2 * y).backward(retain_graph=True)
    order = list(range(len(hooks)))
    if subject.value:
        order.sort(key=lambda number: hooks[number][0] == "pre")
    grad, expected = 2, []
    for number in order:
        expected.append((number, grad))
        grad *= hooks[number][1]
    assert (seen, x.grad.item()) == (expected * passes, 3 * grad * passes)


#: The kinds of hook of a leaf, as they run.
KINDS = ("tensor", "pre", "accumulated", "post")


@clause(
    "retain.nodes.leaf",
    says="For a leaf: tensor hooks, pre-hooks of its node, .grad, post-accumulate hooks, hooks of its node.",
    source=NOTE,
    needs=(NODES, "torch.Tensor.register_post_accumulate_grad_hook"),
    readings=(
        Reading(
            "in this order", "", "Each kind in order of registration; the last two find the new .grad.", value=True
        ),
        Reading("by registration", "never", "In the order of the calls.", value=False),
    ),
    witness={"hooks": ["post", "accumulated", "pre", "tensor"], "passes": 1},
    covers=(
        "tensor.node.prehook_leaf_order",
        "graph.order.leaf_all_kinds",
        "graph.order.leaf_grad_visible_at_each_stage",
    ),
)
@given(hooks=st.lists(st.sampled_from(KINDS), min_size=1, max_size=7), passes=st.integers(1, 3))
def test_leaf(subject: Subject, hooks: List[str], passes: int) -> None:
    seen: List[Any] = []
    x = leaf(1)
    node = x.view_as(x).grad_fn.next_functions[0][0]
    doors = (x.register_hook, node.register_prehook, x.register_post_accumulate_grad_hook, node.register_hook)
    for number, kind in enumerate(hooks):
        door = doors[KINDS.index(kind)]
        door(lambda *given, number=number: seen.append((number, item(x.grad))))
    for _ in range(passes):
        (2 * x).backward()
    order = list(range(len(hooks)))
    if subject.value:
        order.sort(key=lambda number: KINDS.index(hooks[number]))
    totals = [None, *(2 * number for number in range(1, passes + 1))]
    expected = []
    for before, after in zip(totals, totals[1:]):
        expected += [(number, after if KINDS.index(hooks[number]) > 1 else before) for number in order]
    assert seen == expected


@clause(
    "retain.nodes.before_node_hooks",
    says="What hooks of a tensor's node return is in no kept gradient of that tensor, only further upstream.",
    source="docs: torch.autograd.graph.Node.register_hook",
    readings=(
        Reading("upstream only", "", "Their factors are in x.grad, not in y.grad.", value=False),
        Reading("in both", "never", "They are in y.grad too.", value=True),
    ),
    witness={"factors": [10], "passes": 1, "retain_first": True},
    covers=("graph.order.retain_vs_nodehook_value",),
)
@given(
    factors=st.lists(FACTORS, min_size=1, max_size=3),
    passes=st.integers(1, 2),
    retain_first=st.booleans(),
)
def test_before_node_hooks(subject: Subject, factors: List[int], passes: int, retain_first: bool) -> None:
    x = leaf(1)
    y = 3 * x
    if retain_first:
        y.retain_grad()
    for by in factors:
        y.grad_fn.register_hook(lambda sent, got, by=by: tuple(None if grad is None else grad * by for grad in sent))
    if not retain_first:
        y.retain_grad()
    for _ in range(passes):
        (2 * y).backward(retain_graph=True)
    own = prod(factors) if subject.value else 1
    assert (y.grad.item(), x.grad.item()) == (2 * own * passes, 6 * prod(factors) * passes)
