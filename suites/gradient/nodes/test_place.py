"""Where a hook of an autograd node is: on the node, not on the tensor; and on the node that fills a leaf."""

from math import prod
from typing import Any, List

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import clause
from fixtures.draw.plans import FACTORS, NUMBERS
from fixtures.judge.subject import Subject
from fixtures.plan.grammar import MulInPlace, Plan
from suites.gradient.nodes.sources import HAS_PRE, HOOK, PRE_REPLACES
from suites.gradient.plans import between_edits
from suites.tensors import item, leaf

ABOUT = "Node.register_hook"


@clause(
    "gradient.nodes.stays",
    says="When a tensor is changed in place, a hook of its node stays on the old node; the new node has none.",
    source="docs: torch.autograd.graph.Node.register_hook",
    asked="inplace op after grad_fn register_hook new grad_fn does callback move relu_ add_",
)
@given(plan=between_edits("node", st.just(())))
def test_stays(subject: Subject, plan: Plan) -> None:
    trace, (left,) = subject.holds(plan), plan.steps[-1].grads
    for step in reversed(plan.steps[1:-1]):
        if isinstance(step, MulInPlace):
            left *= step.by
        else:
            assert [given_to for _, given_to in trace.seen_by(step.label)] == [(left,)]


def accumulates(x: Any) -> Any:
    """The node that accumulates into a leaf; it lives as long as something holds it."""
    return x.view_as(x).grad_fn.next_functions[0][0]


@clause(
    "gradient.nodes.of_leaf",
    says="A hook of the node that accumulates into a leaf is given () and (gradient,) after .grad is set.",
    where=("there is no post-accumulate hook", "the gradient is not None"),
    source='note: autograd.html#backward-hooks-execution "are run as gradients are being computed"',
    asked="accumulategrad register_hook empty grad_inputs callback when weight gradient is ready overlap allreduce",
    level="observed",
    value=True,
    wrong={"before": False},
    witness={"value": 1, "passes": 2, "hooks": 1},
)
@given(value=NUMBERS, passes=st.integers(1, 3), hooks=st.integers(1, 3))
def test_of_leaf(subject: Subject, value: int, passes: int, hooks: int) -> None:
    seen: List[Any] = []
    x = leaf(1)
    node = accumulates(x)
    for _ in range(hooks):
        node.register_hook(lambda sent, given: seen.append((sent, item(given[0]), item(x.grad))))
    y = value * x
    for _ in range(passes):
        y.backward(retain_graph=True)
    now = [value * (number + 1 if subject.value else number) or None for number in range(passes)]
    assert seen == [((), value, total) for total in now for _ in range(hooks)]


@clause(
    "gradient.nodes.of_leaf_replaces",
    says="A pre-hook of the node that accumulates into a leaf can replace the gradient that is added to .grad.",
    source=PRE_REPLACES,
    asked="accumulategrad register_prehook modify parameter gradient before accumulation scale clip",
    needs=HAS_PRE,
    value=True,
    wrong={"ignored": False},
    witness={"value": 1, "factors": [3], "had": None},
)
@given(value=NUMBERS, factors=st.lists(FACTORS, min_size=1, max_size=3), had=st.none() | NUMBERS)
def test_of_leaf_replaces(subject: Subject, value: int, factors: List[int], had: Any) -> None:
    x = leaf(1)
    x.grad = None if had is None else leaf(had).detach()
    node = accumulates(x)
    for by in factors:
        node.register_prehook(lambda given, by=by: (given[0] * by,))
    (value * x).backward()
    assert x.grad.item() == value * (prod(factors) if subject.value else 1) + (had or 0)


@clause(
    "gradient.nodes.goes_with_its_node",
    says="A hook of the node that accumulates into a leaf is gone when nothing holds that node any more.",
    source="measured",
    asked="accumulategrad hook silently disappears ddp expand_as trick keep grad_acc reference alive",
    value=False,
    wrong={"kept": True},
    witness={"held": False, "graph": False, "value": 1},
)
@given(held=st.booleans(), graph=st.booleans(), value=NUMBERS)
def test_goes_with_its_node(subject: Subject, held: bool, graph: bool, value: int) -> None:
    calls: List[int] = []
    x = leaf(1)
    node: Any = accumulates(x)
    y = value * x if graph else None
    node.register_hook(lambda *given: calls.append(1))
    if not held:
        node = None
    (value * x if y is None else y).backward()
    assert (len(calls), node is None) == (1 if held or graph or subject.value else 0, not held)


@clause(
    "gradient.nodes.none_to_hook",
    says="grad_fn is None for a leaf, and for a tensor that no recorded operation made.",
    see="gradient.nodes.of_leaf",
    source=HOOK,
    asked="nonetype object has no attribute register_hook parameter grad_fn missing input detached",
    value=True,
    wrong={"a node": False},
    witness={"way": "no_grad"},
)
@given(way=st.sampled_from(["leaf", "no_grad", "detached", "constant", "recorded"]))
def test_none_to_hook(subject: Subject, way: str) -> None:
    import torch

    x = leaf(2)
    with torch.no_grad():
        quiet = x * 2
    made = {"leaf": x, "no_grad": quiet, "detached": (x * 2).detach(), "constant": x.detach() * 2, "recorded": x * 2}
    has = way == "recorded" or (not subject.value and way != "leaf")
    assert (made[way].grad_fn is not None) == has
