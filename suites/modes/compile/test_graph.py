"""What hooks do to the graphs that torch.compile makes of a module."""

from typing import Any, List

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import clause
from fixtures.clause.rows import Row, each
from fixtures.judge.subject import Subject
from suites.hooking import raised
from suites.modes.compile.networks import ANY_KIND, APIS, INNER, became, called, compiled, hook, multiplying, network
from suites.modes.compile.sources import OWN, PAGE
from suites.modes.forms import ANY, ONE_GRAPH, straight
from suites.modes.networks import BY, within
from suites.modes.sources import COMPILE, EAGER

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
    says="A forward (pre-)hook that scales, on an inner module, becomes part of the one graph of a compiled module.",
    where="by a number; the network is one graph without it",
    source="measured",
    asked="does forward hook cause graph break torch compile",
    needs=COMPILE,
    about=APIS[:2],
    value=[1, 0],
    wrong={"the graph is broken": [2, 1]},
    witness={"kind": "forward", "path": "first", "by": 5, "form": straight},
)
@given(kind=AROUND, path=INNER, by=BY, form=ONE_GRAPH)
def test_one_graph(subject: Subject, kind: str, path: str, by: int, form: Any) -> None:
    net = network(form)
    hook(net, path, kind, by)
    assert graphs_of(net) == subject.value
    assert called(compiled(net)) == called(net)


@clause(
    "modes.compile.own_graph",
    says="A forward (pre-)hook on the compiled module itself is compiled to a graph of its own.",
    where=(OWN, "the hook computes with tensors only"),
    source="https://github.com/pytorch/pytorch/issues/117584",
    asked="hook on top level module extra graph torch compile two graphs",
    level="observed",
    needs=COMPILE,
    about=APIS[:2],
    value=[1, 0],
    wrong={"the same graph": [0, 0]},
    witness={"kind": "forward", "by": 5, "form": straight},
)
@given(kind=AROUND, by=BY, form=ANY)
def test_own_graph(subject: Subject, kind: str, by: int, form: Any) -> None:
    net, plain = network(form), graphs_of(network(form))
    hook(net, "", kind, by)
    assert [one - other for one, other in zip(graphs_of(net), plain)] == subject.value


@clause(
    "modes.compile.breaks",
    says="A backward hook on an inner module breaks the graph of a compiled module.",
    where="forward is your own",
    source=BREAKS,
    asked="full backward hook graph break torch compile slow",
    needs=COMPILE,
    about=APIS[2:],
    value=True,
    wrong={"one graph": False},
    witness={"kind": "full_backward", "path": "first", "by": 5, "form": straight},
)
@given(kind=BACKWARD, path=INNER, by=BY, form=ONE_GRAPH)
def test_breaks(subject: Subject, kind: str, path: str, by: int, form: Any) -> None:
    net = network(form)
    hook(net, path, kind, by)
    graphs, _ = graphs_of(net)
    assert (graphs > 1) == subject.value


@clause(
    "modes.compile.fullgraph",
    says="With fullgraph=True a compiled call raises Unsupported where an inner module has a backward hook.",
    where=EAGER,
    see="modes.compile.fullgraph_outer",
    source=BREAKS,
    asked="unsupported module level backwards hooks require compiled autograd fullgraph true",
    needs=COMPILE,
    about=APIS[2:],
    value="Unsupported",
    wrong={"runs": "none"},
    witness={"kind": "full_backward", "path": "first", "by": 5, "form": straight},
)
@given(kind=BACKWARD, path=INNER, by=BY, form=ONE_GRAPH)
def test_fullgraph(subject: Subject, kind: str, path: str, by: int, form: Any) -> None:
    from torch._dynamo.exc import Unsupported

    net = network(form)
    hook(net, path, kind, by)
    call = compiled(net, fullgraph=True)
    assert raised(lambda: called(call), Unsupported) == subject.value


@clause(
    "modes.compile.fullgraph_outer",
    says="With fullgraph=True a backward hook on the compiled module itself runs as in eager mode.",
    where=(OWN, EAGER),
    see="modes.compile.fullgraph",
    source="measured",
    asked="fullgraph true with backward hook on outermost model",
    needs=COMPILE,
    about=APIS[2:],
    value="runs",
    wrong={"left out": "ignored"},
    witness={"kind": "full_backward", "by": 5, "form": straight},
)
@given(kind=BACKWARD, by=BY, form=ONE_GRAPH)
def test_fullgraph_outer(subject: Subject, kind: str, by: int, form: Any) -> None:
    net, plain = network(form), called(network(form))
    hook(net, "", kind, by)
    eager = called(net)
    assert became(called(compiled(net, fullgraph=True)), eager, plain) == subject.value


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
    asked="torch.compiler.disable on a hook function run in python",
    needs=(COMPILE, "torch.compiler.disable"),
    about=APIS[:2],
    value=[False, False],
    wrong={"in the graph": [True, True]},
    witness={"kind": "forward", "path": "first", "by": 5, "form": straight},
)
@given(kind=AROUND, path=INNER, by=BY, form=ANY)
def test_disabled(subject: Subject, kind: str, path: str, by: int, form: Any) -> None:
    import torch

    seen: List[bool] = []
    net, eager = network(form), network(form)
    hook(eager, path, kind, by)
    getattr(within(net, path), f"register_{kind}_hook")(torch.compiler.disable(compiling(seen, kind, by)))
    call = compiled(net)
    assert [called(call) for _ in range(2)] == [called(eager)] * 2
    assert seen == subject.value


@clause(
    "modes.compile.enabled",
    says="In a forward (pre-)hook of an inner module torch.compiler.is_compiling() is True in compiled calls.",
    where=("one graph; compiled at most 8 times", EAGER),
    see="modes.compile.disabled",
    source="measured",
    asked="is_compiling inside a hook true skip logging while compiled",
    needs=(COMPILE, "torch.compiler.is_compiling"),
    about=APIS[:2],
    value=True,
    wrong={"as in eager mode": False},
    witness={"kind": "forward", "path": "first", "by": 5, "form": straight},
)
@given(kind=AROUND, path=INNER, by=BY, form=ANY)
def test_enabled(subject: Subject, kind: str, path: str, by: int, form: Any) -> None:
    import torch

    def function(*given: Any) -> Any:
        return multiplying(kind, by)(*given) if torch.compiler.is_compiling() else None

    net, eager, plain = network(form), network(form), called(network(form))
    hook(eager, path, kind, by)
    getattr(within(net, path), f"register_{kind}_hook")(function)
    assert called(net) == plain
    assert (called(compiled(net)) == called(eager)) == subject.value


@each(
    Row(
        "modes.compile.disabled_module",
        "Hooks on a module that torch.compiler.disable is given run, and what they return is used.",
        "docs: torch.compiler.disable",
        asked="torch.compiler.disable on a model are its hooks still called",
        where="what it returns is called in eager mode or by a compiled module",
        see=("modes.compile.disabled", "modes.compile.disabled_compiled"),
        needs=(COMPILE, "torch.compiler.disable"),
        paths=["", "first", "second", "second.inner"],
        ways=["called", "within"],
        value="runs",
        wrong={"left out": "ignored"},
        witness={"kind": "forward", "path": "", "way": "called", "form": straight},
    ),
    Row(
        "modes.compile.disabled_compiled",
        "torch.compile of what torch.compiler.disable made of a module ignores the hooks on that module.",
        "measured",
        asked="compile a disabled module hooks silently missing",
        where=(EAGER, "recursive is True"),
        see="modes.compile.disabled_module",
        needs=(COMPILE, "torch.compiler.disable"),
        paths=[""],
        ways=["compiled"],
        value="ignored",
        wrong={"as without torch.compile": "runs"},
        witness={"kind": "forward", "path": "", "way": "compiled", "form": straight},
    ),
    kind=lambda row: ANY_KIND,
    path=lambda row: st.sampled_from(row.paths),
    way=lambda row: st.sampled_from(row.ways),
    form=lambda row: ANY,
)
def disabled_module(subject: Subject, kind: str, path: str, way: str, form: Any, *, row: Any) -> None:
    import torch

    net, plain = network(form), called(network(form))
    hook(net, path, kind, 5)
    eager = called(net)
    call = torch.compiler.disable(net)
    if way == "within":
        call = compiled(torch.nn.Sequential(call))
    elif way == "compiled":
        call = compiled(call)
    assert became(called(call), eager, plain) == subject.value


@clause(
    "modes.compile.disabled_fullgraph",
    says="With fullgraph=True a call raises Unsupported where an inner forward hook is in torch.compiler.disable.",
    where=EAGER,
    source="measured",
    asked="torch.compiler.disable hook with fullgraph true unsupported skip calling",
    needs=(COMPILE, "torch.compiler.disable"),
    about=APIS[:2],
    value="Unsupported",
    wrong={"runs": "none"},
    witness={"kind": "forward", "path": "first", "form": straight},
)
@given(kind=AROUND, path=INNER, form=ONE_GRAPH)
def test_disabled_fullgraph(subject: Subject, kind: str, path: str, form: Any) -> None:
    import torch
    from torch._dynamo.exc import Unsupported

    net = network(form)
    getattr(within(net, path), f"register_{kind}_hook")(torch.compiler.disable(multiplying(kind, 5)))
    call = compiled(net, fullgraph=True)
    assert raised(lambda: called(call), Unsupported) == subject.value
