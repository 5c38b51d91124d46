"""torch.fx: which hooks symbolic_trace and make_fx trace in, keep or drop, and what copies of a GraphModule keep."""

from typing import Any, List

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import clause
from fixtures.clause.rows import Row, each
from fixtures.judge.subject import Subject
from suites.hooking import FEW
from suites.modes.forms import ANY, first_of, networks, straight
from suites.modes.networks import (
    ANYWHERE,
    APIS,
    BACKWARD_APIS,
    BACKWARDS,
    BY,
    FORWARD_APIS,
    FORWARDS,
    FULL_APIS,
    FULLS,
    INSIDE,
    KINDS,
    LAYERS,
    OWN,
    called,
    hook,
    hooked,
    kinds,
    network,
    ones,
    runs,
    taken,
)
from suites.names import FULL, ISSUE

ABOUT = APIS
TRACE = "torch.fx.symbolic_trace"
MAKE_FX = "torch.fx.experimental.proxy_tensor.make_fx"
#: Which modules stay whole.
LEAF = 'docs: torch.fx.Tracer.is_leaf_module "Modules in the PyTorch standard library namespace"'
TRACED = networks(rows_by_data="torch.ones of a traced size fails on old releases")
THROUGH = 'docs: torch.fx.Tracer.is_leaf_module "All other modules are traced through and"'


@clause(
    "modes.fx.root",
    says="What torch.fx.symbolic_trace made calls no forward or backward hook of the module that was traced itself.",
    source=ISSUE + "105445",
    asked="torch.fx symbolic_trace ignores forward hooks of model graph module output differs hooks lost",
    needs=(TRACE, FULL),
    value="dropped",
    wrong={"used": "used"},
    witness={"kind": "forward", "by": 5, "late": False, "form": straight},
)
@given(kind=kinds(*KINDS), by=BY, late=st.booleans(), form=TRACED)
def test_root(subject: Subject, kind: str, by: int, late: bool, form: Any) -> None:
    import torch.fx

    seen: List[Any] = []
    net = network(form)
    traced = torch.fx.symbolic_trace(net) if late else None
    hook(net, OWN, kind, by, seen.append)
    traced = traced or torch.fx.symbolic_trace(net)
    assert (taken(called(traced), hooked(OWN, kind, by, form=form)), seen) == (subject.value, [])


@clause(
    "modes.fx.leaf",
    says="Hooks on torch.nn layers inside the traced module run in calls of what symbolic_trace made, later ones too.",
    where="the layer is no nn.Sequential",
    source=LEAF,
    asked="are hooks on conv linear layers kept after fx symbolic_trace feature extractor",
    level="observed",
    needs=(TRACE, FULL),
    value="used",
    wrong={"dropped": "dropped"},
    witness={"path": "last", "kind": "forward", "by": 5, "late": False, "calls": 1, "form": straight},
)
@given(path=st.sampled_from(LAYERS), kind=kinds(*KINDS), by=BY, late=st.booleans(), calls=FEW, form=TRACED)
def test_leaf(subject: Subject, path: str, kind: str, by: int, late: bool, calls: int, form: Any) -> None:
    import torch.fx

    net = network(form)
    traced = torch.fx.symbolic_trace(net) if late else None
    hook(net, path, kind, by)
    traced = traced or torch.fx.symbolic_trace(net)
    eager = hooked(path, kind, by, form=form)
    assert [taken(called(traced), eager) for _ in range(calls)] == [subject.value] * calls


@clause(
    "modes.fx.traced_through",
    says="symbolic_trace calls forward hooks of your own inner modules with a Proxy; what it made calls them no more.",
    where=("positional, no constant", "in no torch.nn layer"),
    source=THROUGH,
    asked="forward hook gets Proxy object when tracing with torch.fx hook printed only once",
    level="observed",
    needs=TRACE,
    about=FORWARD_APIS,
    value=["Proxy"],
    wrong={"with tensors, in calls": ["Tensor"]},
    witness={"kind": "forward", "by": 5, "calls": 1, "form": straight},
)
@given(kind=st.sampled_from(FORWARDS), by=BY, calls=FEW, form=TRACED)
def test_traced_through(subject: Subject, kind: str, by: int, calls: int, form: Any) -> None:
    import torch.fx

    seen: List[str] = []
    net = network(form)
    hook(net, INSIDE, kind, by, lambda given: seen.append(type(first_of(given)).__name__))
    traced = torch.fx.symbolic_trace(net)
    # What it returned is in the graph: each call uses that.
    assert [taken(called(traced), hooked(INSIDE, kind, by, form=form)) for _ in range(calls)] == ["used"] * calls
    assert seen == subject.value * runs(form, INSIDE)


@clause(
    "modes.fx.inner_full",
    says="symbolic_trace drops the full backward hooks and pre-hooks of your own inner modules, with no error.",
    where="it is no layer of torch.nn, and in none",
    source=THROUGH,
    asked="fx traced model loses register_full_backward_hook of submodule gradient hook not called",
    level="observed",
    needs=(TRACE, FULL),
    about=FULL_APIS,
    value="dropped",
    wrong={"used": "used"},
    witness={"kind": "full_backward", "by": 5, "form": straight},
)
@given(kind=kinds(*FULLS), by=BY, form=TRACED)
def test_inner_full(subject: Subject, kind: str, by: int, form: Any) -> None:
    import torch.fx

    seen: List[Any] = []
    net = network(form)
    hook(net, INSIDE, kind, by, seen.append)
    assert (taken(called(torch.fx.symbolic_trace(net)), hooked(INSIDE, kind, by, form=form)), seen) == (
        subject.value,
        [],
    )


@clause(
    "modes.fx.inner_legacy",
    says="symbolic_trace never ends where your own inner module has a hook of register_backward_hook.",
    where=("in no layer of torch.nn", "returns a tensor made of the input"),
    source='code: torch/nn/modules/module.py "var = var[0]"',
    asked="torch.fx symbolic_trace hangs forever memory grows register_backward_hook infinite loop",
    level="observed",
    needs=("torch.fx.Tracer", FULL),
    about="register_backward_hook",
    value="never",
    wrong={"ends": "ends"},
    witness={"hooks": 1, "form": straight},
    note="torch looks for the first tensor of the output, and a Proxy has a first item always. Stopped after 1000.",
)
@given(hooks=FEW, form=TRACED)
def test_inner_legacy(subject: Subject, hooks: int, form: Any) -> None:
    import torch.fx

    class Endless(Exception):
        """The graph has grown by 1000 nodes."""

    class Stopped(torch.fx.Tracer):
        def create_proxy(self, *given: Any, **more: Any) -> Any:
            if len(self.graph.nodes) > 1000:
                raise Endless
            return super().create_proxy(*given, **more)

    net = network(form)
    for _ in range(hooks):
        hook(net, INSIDE, "backward")
    try:
        Stopped().trace(net)
        found = "ends"
    except Endless:
        found = "never"
    assert found == subject.value


@each(
    Row(
        "modes.fx.copy",
        "copy.deepcopy of a GraphModule drops the forward and backward hooks that were registered on it.",
        'code: torch/fx/graph_module.py "in the future as well if needed"',
        asked="deepcopy GraphModule loses forward hooks quantization prepare_fx convert_fx hook gone",
        level="observed",
        needs=(TRACE, FULL),
        paths=[OWN],
        value="dropped",
        wrong={"copied": "used"},
        witness={"path": "", "kind": "forward", "by": 5, "form": straight},
    ),
    Row(
        "modes.fx.copy_layers",
        "copy.deepcopy of a GraphModule copies the forward and backward hooks of its layers.",
        "measured",
        asked="copy of fx GraphModule keeps hooks on its layers",
        where="they are layers of torch.nn",
        needs=(TRACE, FULL),
        paths=LAYERS,
        value="used",
        wrong={"dropped": "dropped"},
        witness={"path": "last", "kind": "forward", "by": 5, "form": straight},
    ),
    path=lambda row: st.sampled_from(row.paths),
    kind=lambda row: kinds(*KINDS),
    by=lambda row: BY,
    form=lambda row: TRACED,
)
def copied(subject: Subject, path: str, kind: str, by: int, form: Any, *, row: Any) -> None:
    import copy

    import torch.fx

    traced = torch.fx.symbolic_trace(network(form))
    hook(traced, path, kind, by)
    eager = hooked(path, kind, by, form=form)
    assert [taken(called(one), eager) for one in (traced, copy.deepcopy(traced))] == ["used", subject.value]


@each(
    Row(
        "modes.fx.make_fx",
        "What make_fx made of a function uses what forward hooks returned then; its calls run none of them.",
        "measured",
        asked="make_fx aot graph includes forward hook operations traced once",
        needs=MAKE_FX,
        about=FORWARD_APIS,
        kinds=FORWARDS,
        traced=1,
        value="used",
        wrong={"dropped": "dropped"},
        witness={"path": "block", "kind": "forward", "by": 5, "form": straight},
    ),
    Row(
        "modes.fx.make_fx_backward",
        "make_fx drops the backward hooks of the modules that a function calls, with no error.",
        "measured",
        asked="make_fx drops register_full_backward_hook backward hook missing from aten graph",
        where="the function that is traced runs no backward pass",
        needs=MAKE_FX,
        about=BACKWARD_APIS,
        kinds=BACKWARDS,
        traced=0,
        value="dropped",
        wrong={"used": "used"},
        witness={"path": "block", "kind": "full_backward", "by": 5, "form": straight},
    ),
    path=lambda row: st.sampled_from(ANYWHERE),
    kind=lambda row: kinds(*row.kinds),
    by=lambda row: BY,
    form=lambda row: ANY,
)
def made(subject: Subject, path: str, kind: str, by: int, form: Any, *, row: Any) -> None:
    from torch.fx.experimental.proxy_tensor import make_fx

    seen: List[Any] = []
    net = network(form)
    hook(net, path, kind, by, seen.append)

    def function(x: Any) -> Any:
        return net(x)

    graph = make_fx(function)(ones())
    assert (taken(called(graph), hooked(path, kind, by, form=form)), len(seen)) == (
        subject.value,
        row.traced * runs(form, path),
    )
