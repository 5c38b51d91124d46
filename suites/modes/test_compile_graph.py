"""What hooks do to the graphs of torch.compile, and what a hook does besides: it keeps, prints, raises, registers."""

import io
from contextlib import redirect_stdout
from typing import Any, List

from hypothesis import given
from hypothesis import strategies as st

from fixtures.judge.clause import Reading, by_release, clause
from fixtures.judge.subject import Subject
from suites.hooking import raised
from suites.modes.compiled import (
    ANYWHERE,
    APIS,
    BY,
    COMPILE,
    EAGER,
    INNER,
    OWN,
    PAGE,
    called,
    compiled,
    hook,
    multiplying,
    network,
    told,
    within,
)

ABOUT = APIS
AROUND = st.sampled_from(["forward_pre", "forward"])
BACKWARD = st.sampled_from(["full_backward_pre", "full_backward", "backward"])
BREAKS = f'{PAGE} "currently graph-breaks in dynamo"'


def graphs_of(net: Any) -> List[int]:
    """How many graphs two calls of a compiled module make, and how often torch breaks one off."""
    from torch._dynamo.testing import CompileCounter
    from torch._dynamo.utils import counters

    counter = CompileCounter()
    call = compiled(net, backend=counter)
    counters.clear()
    for _ in range(2):
        called(call)
    return [counter.frame_count, sum(counters["graph_break"].values())]


@clause(
    "modes.compile.one_graph",
    says="A forward (pre-)hook on an inner module becomes a part of the one graph of a compiled module.",
    where="the hook computes with tensors only",
    source="measured",
    needs=COMPILE,
    about=APIS[:2],
    value=[1, 0],
    wrong={"the graph is broken": [2, 1]},
    witness={"kind": "forward", "path": "first", "by": 5},
)
@given(kind=AROUND, path=INNER, by=BY)
def test_one_graph(subject: Subject, kind: str, path: str, by: int) -> None:
    net = network()
    hook(net, path, kind, by)
    assert graphs_of(net) == subject.value


@clause(
    "modes.compile.own_graph",
    says="A forward (pre-)hook on the compiled module itself is compiled to a graph of its own.",
    where=(OWN, "the hook computes with tensors only"),
    source="https://github.com/pytorch/pytorch/issues/117584",
    level="observed",
    needs=COMPILE,
    about=APIS[:2],
    value=[2, 0],
    wrong={"the same graph": [1, 0]},
    witness={"kind": "forward", "by": 5},
)
@given(kind=AROUND, by=BY)
def test_own_graph(subject: Subject, kind: str, by: int) -> None:
    net = network()
    hook(net, "", kind, by)
    assert graphs_of(net) == subject.value


@clause(
    "modes.compile.breaks",
    says="A backward hook on an inner module breaks the graph of a compiled module.",
    source=BREAKS,
    needs=COMPILE,
    about=APIS[2:],
    value=True,
    wrong={"one graph": False},
    witness={"kind": "full_backward", "path": "first", "by": 5},
)
@given(kind=BACKWARD, path=INNER, by=BY)
def test_breaks(subject: Subject, kind: str, path: str, by: int) -> None:
    net = network()
    hook(net, path, kind, by)
    _, breaks = graphs_of(net)
    assert (breaks > 0) == subject.value


@clause(
    "modes.compile.fullgraph",
    says="With fullgraph=True a compiled call raises Unsupported where an inner module has a backward hook.",
    where=EAGER,
    see="modes.compile.fullgraph_outer",
    source=BREAKS,
    level="implied",
    needs=COMPILE,
    about=APIS[2:],
    value="Unsupported",
    wrong={"runs": "none"},
    witness={"kind": "full_backward", "path": "first", "by": 5},
)
@given(kind=BACKWARD, path=INNER, by=BY)
def test_fullgraph(subject: Subject, kind: str, path: str, by: int) -> None:
    from torch._dynamo.exc import Unsupported

    net = network()
    hook(net, path, kind, by)
    call = compiled(net, fullgraph=True)
    assert raised(lambda: called(call), Unsupported) == subject.value


@clause(
    "modes.compile.fullgraph_outer",
    says="With fullgraph=True a backward hook on the compiled module itself runs as in eager mode.",
    where=(OWN, EAGER),
    see="modes.compile.fullgraph",
    source="measured",
    needs=COMPILE,
    about=APIS[2:],
    value="runs",
    wrong={"left out": "ignored"},
    witness={"kind": "full_backward", "by": 5},
)
@given(kind=BACKWARD, by=BY)
def test_fullgraph_outer(subject: Subject, kind: str, by: int) -> None:
    net, plain = network(), called(network())
    hook(net, "", kind, by)
    eager = called(net)
    assert told(called(compiled(net, fullgraph=True)), eager, plain) == subject.value


def compiling(seen: List[bool], kind: str, by: int) -> Any:
    """A hook that multiplies, and keeps whether it is in a graph."""
    times = multiplying(kind, by)

    def function(*given: Any) -> Any:
        import torch

        seen.append(torch._dynamo.is_compiling())
        return times(*given)

    return function


@clause(
    "modes.compile.disabled",
    says="A forward (pre-)hook wrapped by torch.compiler.disable is run by Python, not in the graph.",
    where=EAGER,
    source="docs: torch.compiler.disable",
    needs=(COMPILE, "torch.compiler.disable"),
    about=APIS[:2],
    value=[False, False],
    wrong={"in the graph": [True, True]},
    witness={"kind": "forward", "path": "first", "by": 5},
)
@given(kind=AROUND, path=INNER, by=BY)
def test_disabled(subject: Subject, kind: str, path: str, by: int) -> None:
    import torch

    seen: List[bool] = []
    net, eager = network(), network()
    hook(eager, path, kind, by)
    getattr(within(net, path), f"register_{kind}_hook")(torch.compiler.disable(compiling(seen, kind, by)))
    call = compiled(net)
    assert [called(call) for _ in range(2)] == [called(eager)] * 2
    assert seen == subject.value


@clause(
    "modes.compile.enabled",
    says="In a forward (pre-)hook of an inner module torch.compiler.is_compiling() is True in compiled calls.",
    where=EAGER,
    see="modes.compile.disabled",
    source="measured",
    needs=(COMPILE, "torch.compiler.is_compiling"),
    about=APIS[:2],
    value=True,
    wrong={"as in eager mode": False},
    witness={"kind": "forward", "path": "first", "by": 5},
)
@given(kind=AROUND, path=INNER, by=BY)
def test_enabled(subject: Subject, kind: str, path: str, by: int) -> None:
    import torch

    def function(*given: Any) -> Any:
        return multiplying(kind, by)(*given) if torch.compiler.is_compiling() else None

    net, eager, plain = network(), network(), called(network())
    hook(eager, path, kind, by)
    getattr(within(net, path), f"register_{kind}_hook")(function)
    assert called(net) == plain
    assert (called(compiled(net)) == called(eager)) == subject.value


@clause(
    "modes.compile.disabled_fullgraph",
    says="With fullgraph=True a call raises Unsupported where an inner forward hook is in torch.compiler.disable.",
    where=EAGER,
    source="measured",
    needs=(COMPILE, "torch.compiler.disable"),
    about=APIS[:2],
    value="Unsupported",
    wrong={"runs": "none"},
    witness={"kind": "forward", "path": "first"},
)
@given(kind=AROUND, path=INNER)
def test_disabled_fullgraph(subject: Subject, kind: str, path: str) -> None:
    import torch
    from torch._dynamo.exc import Unsupported

    net = network()
    getattr(within(net, path), f"register_{kind}_hook")(torch.compiler.disable(multiplying(kind, 5)))
    call = compiled(net, fullgraph=True)
    assert raised(lambda: called(call), Unsupported) == subject.value


@clause(
    "modes.compile.keeps",
    says="What a forward hook appends to a list in compiled calls is there after each call, with its grad_fn.",
    where=EAGER,
    source="measured",
    needs=COMPILE,
    about=APIS[1],
    concern="forward own ?compiled",
    readings=by_release(
        "other",
        ("2.2", "all", "all"),
        "What a forward hook appends to a list in compiled calls is there after each call, with its grad_fn.",
        ("", "the newest", "the newest"),
        "What a forward hook of an inner module appends to a list is lost with the next compiled call that appends.",
    ),
    witness={"path": "first", "calls": 2},
)
@given(path=INNER, calls=st.integers(2, 3))
def test_keeps(subject: Subject, path: str, calls: int) -> None:
    kept: List[Any] = []
    net = network()
    within(net, path).register_forward_hook(lambda module, args, output: kept.append(output))
    call = compiled(net)
    for number in range(1, calls + 1):
        called(call, [number])
    times = 2.0 if path == "first" else 6.0
    everything = [[times * number] for number in range(1, calls + 1)]
    expected = {"all": everything, "the newest": everything[-1:]}[subject.value]
    assert [one.tolist() for one in kept] == expected
    assert all(one.grad_fn is not None for one in kept)


@clause(
    "modes.compile.counts",
    says="A number that a forward hook counts up on its module is right after each compiled call.",
    where=EAGER,
    source="measured",
    needs=COMPILE,
    about=APIS[1],
    value=1,
    wrong={"counted once": 0},
    witness={"path": "first", "calls": 2},
)
@given(path=ANYWHERE, calls=st.integers(1, 3))
def test_counts(subject: Subject, path: str, calls: int) -> None:
    def count(module: Any, args: Any, output: Any) -> None:
        module.count += 1

    net = network()
    within(net, path).count = 0
    within(net, path).register_forward_hook(count)
    call = compiled(net)
    for _ in range(calls):
        called(call)
    assert within(net, path).count == (calls if subject.value else 1)


@clause(
    "modes.compile.prints",
    says="A forward hook that prints does so in each compiled call, in the order of the modules.",
    where=EAGER,
    source="measured",
    needs=COMPILE,
    about=APIS[1],
    value=1,
    wrong={"only while it is compiled": 0},
    witness={"calls": 2},
)
@given(calls=st.integers(1, 3))
def test_prints(subject: Subject, calls: int) -> None:
    net = network()
    for path in ("first", "second.inner", "second"):
        within(net, path).register_forward_hook(lambda module, args, output, path=path: print(path))
    call = compiled(net)
    text = io.StringIO()
    with redirect_stdout(text):
        for _ in range(calls):
            called(call)
    assert text.getvalue().split() == ["first", "second.inner", "second"] * (calls if subject.value else 1)


@clause(
    "modes.compile.output_hook",
    says="A tensor hook that a forward hook of an inner module registers on the output runs in compiled calls.",
    where=EAGER,
    source="measured",
    needs=COMPILE,
    about=(APIS[1], "register_hook"),
    value="runs",
    wrong={"left out": "ignored"},
    witness={"path": "first", "by": 5},
)
@given(path=INNER, by=BY)
def test_output_hook(subject: Subject, path: str, by: int) -> None:
    def register(module: Any, args: Any, output: Any) -> None:
        output.register_hook(lambda grad: grad * by)

    net, plain = network(), called(network())
    within(net, path).register_forward_hook(register)
    eager = called(net)
    call = compiled(net)
    assert [told(called(call), eager, plain) for _ in range(2)] == [subject.value] * 2


@clause(
    "modes.compile.raises",
    says="What a forward hook raises comes out of a compiled call with its own type; with fullgraph=True, Unsupported.",
    where=EAGER,
    source="measured",
    needs=COMPILE,
    about=APIS[1],
    value=["ValueError", "Unsupported"],
    wrong={"Unsupported always": ["Unsupported", "Unsupported"]},
    witness={"path": "first"},
)
@given(path=ANYWHERE)
def test_raises(subject: Subject, path: str) -> None:
    from torch._dynamo.exc import Unsupported

    def fail(module: Any, args: Any, output: Any) -> None:
        raise ValueError("mine")

    found = []
    for fullgraph in (False, True):
        net = network()
        within(net, path).register_forward_hook(fail)
        call = compiled(net, fullgraph=fullgraph)
        found.append(raised(lambda call=call: called(call), ValueError, Unsupported))
    assert found == subject.value


@clause(
    "modes.compile.default_argument",
    says="A hook that takes the place of one that differs only in a default argument is noticed by compiled calls.",
    where=EAGER,
    source="measured",
    needs=COMPILE,
    about=APIS[1],
    concern="forward own returns ?compiled",
    readings=(
        Reading(
            "noticed",
            ">=2.2,!=2.9.*,!=2.10.*,!=2.11.*",
            "A hook that takes the place of one that differs only in a default argument is noticed by compiled calls.",
            value="runs",
        ),
        Reading(
            "not noticed",
            ">=2.9,<2.12",
            "Compiled calls run an old hook after one took its place that differs only in a default argument.",
            value="ignored",
            headline=False,
            effect="other",
        ),
        Reading(
            "refused",
            "<2.2",
            "After an inner hook that has a default argument is removed, a compiled call raises KeyError.",
            value="KeyError",
            headline=False,
            effect="raises",
        ),
    ),
    witness={"path": "first", "by": 5},
)
@given(path=INNER, by=BY)
def test_default_argument(subject: Subject, path: str, by: int) -> None:
    def times(number: int) -> Any:
        def function(module: Any, args: Any, output: Any, number: int = number) -> Any:
            return output * number

        return function

    net = network()
    handle = within(net, path).register_forward_hook(times(7))
    call = compiled(net)
    old = called(call)
    handle.remove()
    within(net, path).register_forward_hook(times(by))
    eager = called(net)
    try:
        found = told(called(call), eager, old)
    except KeyError as error:
        found = type(error).__name__
    assert found == subject.value
