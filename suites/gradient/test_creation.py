"""Node creation hooks: which new nodes of the graph they are given, when, and what they may do."""

from typing import Any, Callable, List

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import clause
from fixtures.judge.subject import Subject
from suites.hooking import UP_TO_THREE, UP_TO_TWO
from suites.names import PULL
from suites.tensors import leaf, outcome

NEEDS = "torch.autograd.graph.node_creation_hook"
DOCS = f"docs: {NEEDS}"
NESTED = f'{DOCS} "every active hook is called for each node, in registration order (outermost context-manager first)"'
LEAF, TIMES = "torch::autograd::AccumulateGrad", "MulBackward0"
#: Operations and the name of the node of each.
NODES = {"exp": "ExpBackward0", "neg": "NegBackward0", "sin": "SinBackward0", "clone": "CloneBackward0"}
#: A row of operations.
ROW = st.lists(st.sampled_from(sorted(NODES)), min_size=1, max_size=4)


def watched(hook: Callable[[Any], Any]) -> Any:
    """The context in which a creation hook is called."""
    import torch

    return torch.autograd.graph.node_creation_hook(hook)


def applied(x: Any, row: List[str]) -> Any:
    """The result of a row of operations on a tensor."""
    for name in row:
        x = getattr(x, name)()
    return x


@clause(
    "gradient.creation.each",
    says="A node creation hook is called once for each node that is made in its context, AccumulateGrad too.",
    where="the same thread makes it",
    source=f'{DOCS} "called once for every autograd graph node"',
    asked="node_creation_hook be told of every autograd node grad_fn as it is built record graph during forward",
    needs=NEEDS,
    value=True,
    wrong={"accumulation nodes are left out": False},
    witness={"row": ["exp"], "leaves": 1, "behind": []},
)
@given(row=ROW, leaves=UP_TO_TWO, behind=st.lists(st.sampled_from(sorted(NODES)), max_size=2))
def test_each(subject: Subject, row: List[str], leaves: int, behind: List[str]) -> None:
    made: List[str] = []
    with watched(lambda node: made.append(node.name())):
        y = applied(leaf(1), row)
        for _ in range(leaves):
            y = y * leaf(2)
    applied(y, behind)
    first = [LEAF] * subject.value
    assert made == [*first, *(NODES[name] for name in row), *[*first, TIMES] * leaves]


@clause(
    "gradient.creation.again",
    says="While a graph holds a leaf's AccumulateGrad node, using the leaf again calls no creation hook for it.",
    source=f'{DOCS} "fires this hook when it is created, but not when a previously created one is reused"',
    asked="node_creation_hook AccumulateGrad missing second time parameter node not reported reused",
    needs=NEEDS,
    value=True,
    wrong={"for each use": False},
    witness={"uses": ["keep", "keep"]},
)
@given(uses=st.lists(st.sampled_from(["keep", "drop", "free"]), min_size=1, max_size=6))
def test_again(subject: Subject, uses: List[str]) -> None:
    made: List[str] = []
    x, kept, expected = leaf(1), [], []
    with watched(lambda node: made.append(node.name())):
        for use in uses:
            if use == "free":
                del kept[:]
                continue
            expected += [LEAF] * (not kept or not subject.value) + [TIMES]
            y = 2 * x
            if use == "keep":
                kept.append(y)
            del y
    assert made == expected


@clause(
    "gradient.creation.nested",
    says="Of nested node creation hooks the outermost is called first for each node.",
    source=NESTED,
    asked="two node_creation_hook context managers with blocks nested which is called first",
    needs=NEEDS,
    value=1,
    wrong={"the innermost first": -1},
    witness={"row": ["exp"], "depth": 2, "fresh": True, "same": False},
)
@given(row=ROW, depth=st.integers(1, 4), fresh=st.booleans(), same=st.booleans())
def test_nested(subject: Subject, row: List[str], depth: int, fresh: bool, same: bool) -> None:
    made: List[Any] = []
    hooks = [lambda node, level=level: made.append((level, node.name())) for level in range(depth)]
    hooks = hooks[:1] * depth if same else hooks

    def inside(level: int, y: Any) -> Any:
        """Apply the row in a context, behind what is done in the contexts inside of it."""
        if level == depth:
            return y
        with watched(hooks[level]):
            return applied(inside(level + 1, y), row)

    inside(0, leaf(1) if fresh else 2 * leaf(1))
    active = [list(range(number))[:: subject.value] for number in range(depth, 0, -1)]
    rows = [[LEAF] * (fresh and number == depth) + [NODES[name] for name in row] for number in range(depth, 0, -1)]
    each = [(level, name) for levels, names in zip(active, rows) for name in names for level in levels]
    assert made == [(0 if same else level, name) for level, name in each]


@clause(
    "gradient.creation.makes",
    says="In a node creation hook an operation that makes a node raises RuntimeError; other operations may run.",
    source=f'{DOCS} "Creating a new autograd node from inside a hook raises an error"',
    asked="Creating a new autograd node from inside a node creation hook is not supported error",
    needs=NEEDS,
    value="RuntimeError",
    wrong={"allowed": "accepted"},
    witness={"ways": ["node"]},
)
@given(ways=st.lists(st.sampled_from(["node", "no_grad", "detached"]), min_size=1, max_size=3))
def test_makes(subject: Subject, ways: List[str]) -> None:
    import torch

    other, seen = leaf(3), []

    def hook(node: Any) -> None:
        for way in ways:
            with torch.set_grad_enabled(way != "no_grad"):
                (other.detach() if way == "detached" else other).exp()
            seen.append(way)

    y = 2 * leaf(1)
    with watched(hook):
        ended = outcome(y.exp)
    done = ways[: ways.index("node")] if "node" in ways and subject.value == "RuntimeError" else ways
    assert (ended, seen) == (subject.value if "node" in ways else "accepted", done)


@clause(
    "gradient.creation.hooks",
    says="A hook or pre-hook that a creation hook registers on its node is called in each pass through that node.",
    source=f'{DOCS} "or register backward hooks on it via"',
    asked="attach register_hook to every grad_fn automatically with node_creation_hook per node backward profiling",
    needs=NEEDS,
    about=("node_creation_hook", "Node.register_hook", "register_prehook"),
    value=True,
    wrong={"never": False},
    witness={"row": ["exp"], "pre": True, "passes": 1},
)
@given(row=ROW, pre=st.booleans(), passes=st.integers(1, 3))
def test_hooks(subject: Subject, row: List[str], pre: bool, passes: int) -> None:
    ran: List[str] = []

    def hook(node: Any) -> None:
        name = node.name()
        if pre:
            node.register_prehook(lambda grads: ran.append(name + " before"))
        node.register_hook(lambda sent, given: ran.append(name))

    with watched(hook):
        y = applied(leaf(1), row)
    for _ in range(passes):
        y.backward(retain_graph=True)
    names = [*(NODES[name] for name in reversed(row)), LEAF]
    each = [text for name in names for text in [name + " before"] * pre + [name]]
    assert ran == each * (passes if subject.value else 0)


@clause(
    "gradient.creation.none",
    says="y.exp() calls no node creation hook under no_grad, if y needs no gradient, or in a new Python thread.",
    source=(
        f'{DOCS} "created by operations on tensors that require grad"',
        f'{DOCS} "The registration is thread-local"',
    ),
    asked="node_creation_hook not called no_grad inference other thread dataloader worker",
    needs=NEEDS,
    value=False,
    wrong={"in other threads too": True},
    witness={"ways": ["thread", "plain"]},
)
@given(ways=st.lists(st.sampled_from(["thread", "no_grad", "detached", "plain"]), min_size=1, max_size=5))
def test_none(subject: Subject, ways: List[str]) -> None:
    import threading

    import torch

    made: List[str] = []
    y = 2 * leaf(1)
    with watched(lambda node: made.append(node.name())):
        for way in ways:
            if way == "thread":
                thread = threading.Thread(target=y.exp)
                thread.start()
                thread.join()
            else:
                with torch.set_grad_enabled(way != "no_grad"):
                    (y.detach() if way == "detached" else y).exp()
    called = [way for way in ways if way == "plain" or (way == "thread" and subject.value)]
    assert made == [NODES["exp"]] * len(called)


@clause(
    "gradient.creation.in_backward",
    says="A backward pass calls a node creation hook only with create_graph=True, for nodes of the new graph.",
    where="nothing in the pass switches grad mode on",
    source=f'{DOCS} "nodes created during backward (e.g. with ``create_graph=True``"',
    asked="node_creation_hook during double backward create_graph nodes made in the backward pass",
    needs=NEEDS,
    value=True,
    wrong={"never": False},
    witness={"row": ["exp"], "create_graph": True, "depth": 1},
)
@given(row=ROW, create_graph=st.booleans(), depth=st.integers(1, 3))
def test_in_backward(subject: Subject, row: List[str], create_graph: bool, depth: int) -> None:
    import contextlib

    import torch

    found: List[List[Any]] = [[] for _ in range(depth)]
    x = leaf(1)
    y = applied(x, row).exp()
    with contextlib.ExitStack() as contexts:
        for made in found:
            contexts.enter_context(watched(made.append))
        (grad,) = torch.autograd.grad(y, x, create_graph=create_graph)
    for made in found:
        assert (grad.grad_fn in made) == (create_graph and subject.value)
        assert bool(made) == (create_graph and subject.value)


@clause(
    "gradient.creation.complete",
    says="A node creation hook is given a node that has its next_functions and its saved tensors already.",
    source=f'{DOCS} "a hook that inspects the node sees its complete state"',
    asked="inspect next_functions and _saved tensors inside node_creation_hook is node complete",
    needs=NEEDS,
    value=True,
    wrong={"still empty": False},
    witness={"numbers": [1]},
)
@given(numbers=st.lists(UP_TO_THREE, min_size=1, max_size=4))
def test_complete(subject: Subject, numbers: List[int]) -> None:
    seen: List[Any] = []
    results = []
    for number in numbers:
        y = 1 * leaf(number)
        with watched(lambda node: seen.append((node._saved_result.item(), node.next_functions))):
            results.append((y.exp().item(), ((y.grad_fn, 0),)))
    assert (seen == results) == subject.value


class Stopped(Exception):
    """What a creation hook of these tests raises."""


@clause(
    "gradient.creation.raises",
    says="What a node creation hook raises leaves the operation; the creation hooks nested inside are not called.",
    where="it is no TypeError in an operator such as x * y",
    source=("measured", PULL + "189284"),
    asked="raise exception in node_creation_hook what happens to the operation",
    needs=NEEDS,
    value="Stopped",
    wrong={"kept back": "accepted"},
    witness={"before": 1, "behind": 1},
)
@given(before=UP_TO_TWO, behind=UP_TO_TWO)
def test_raises(subject: Subject, before: int, behind: int) -> None:
    import contextlib

    def fail(node: Any) -> None:
        raise Stopped

    ran: List[str] = []
    y = 2 * leaf(1)
    with contextlib.ExitStack() as contexts:
        for text in ["before"] * before + ["fails"] + ["behind"] * behind:
            contexts.enter_context(watched(fail if text == "fails" else lambda node, text=text: ran.append(text)))
        ended = outcome(y.exp, (Stopped, RuntimeError))
    y.exp().backward()
    assert (ended, ran) == (subject.value, ["before"] * before)


@clause(
    "gradient.creation.returns",
    says="A node creation hook that returns anything but None makes the operation raise RuntimeError.",
    source=f'{DOCS} "hook(node: torch.autograd.graph.Node) -> None"',
    asked="node creation hook must return None got error return value",
    needs=NEEDS,
    value="RuntimeError",
    wrong={"ignored": "accepted"},
    witness={"given": "node", "before": 0},
)
@given(given=st.sampled_from(["node", "number", "false", "none"]), before=UP_TO_TWO)
def test_returns(subject: Subject, given: str, before: int) -> None:
    import contextlib

    y = 2 * leaf(1)
    with contextlib.ExitStack() as contexts:
        for _ in range(before):
            contexts.enter_context(watched(lambda node: None))
        contexts.enter_context(watched(lambda node: {"node": node, "number": 1, "false": False, "none": None}[given]))
        ended = outcome(y.exp)
    assert ended == ("accepted" if given == "none" else subject.value)
