"""Hooks of a module that torch.compile compiled: registered before the first call, and removed; those of tensors."""

from typing import Any, List

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import Reading, by_release, clause
from fixtures.clause.rows import Row, each
from fixtures.judge.subject import Subject
from suites.modes.compile.networks import (
    ANY_KIND,
    ANYWHERE,
    APIS,
    INNER,
    became,
    called,
    compiled,
    hook,
    leaf,
    multiplying,
    network,
    scale,
)
from suites.modes.compile.sources import OWN, PAGE
from suites.modes.forms import ANY, IN_GRAPHS, LOOP, ONE_GRAPH, networks, straight
from suites.modes.networks import BY, within
from suites.modes.sources import COMPILE, EAGER

ABOUT = APIS
NO_SEQUENTIAL = "its first module has another forward than nn.Sequential"


def plus_one(module: Any, args: Any, output: Any) -> Any:
    """A hook that is no closure."""
    return output + 1


def input_plus_one(module: Any, args: Any) -> Any:
    """A pre-hook that is no closure."""
    return (args[0] + 1,)


@each(
    Row(
        "modes.compile.forward",
        "What a forward (pre-)hook registered before the first compiled call returns is used in each call.",
        f'{PAGE} "If you install hooks before calling"',
        asked="does register_forward_hook work with torch.compile if i add it before",
        needs=COMPILE,
        where=("it computes from its arguments alone", EAGER),
        see=("modes.compile.prepended", "modes.compile.instance", "modes.compile.sequential", "modes.compile.keeps"),
        kinds=["forward_pre", "forward"],
        about=APIS[:2],
        value="runs",
        wrong={"left out": "ignored"},
        witness={"kind": "forward", "path": "first", "by": 5, "form": straight},
    ),
    Row(
        "modes.compile.backward",
        "What a module's backward hook, registered before the first compiled call, returns is used in each pass.",
        f'{PAGE} "hooks are generally also supported, with similar caveats"',
        asked="torch compile register_full_backward_hook gradient hook added before compiling works",
        needs=COMPILE,
        where=(EAGER, "no like block comes before it"),
        see=("modes.compile.repeated", "modes.compile.instance", "modes.compile.sequential"),
        kinds=["full_backward_pre", "full_backward", "backward"],
        about=APIS[2:],
        value="runs",
        wrong={"left out": "ignored"},
        witness={"kind": "full_backward", "path": "first", "by": 5, "form": straight},
    ),
    kind=lambda row: st.sampled_from(row.kinds),
    path=lambda row: ANYWHERE,
    by=lambda row: st.just(5),
    form=lambda row: ANY,
)
def before(subject: Subject, kind: str, path: str, by: int, form: Any, *, row: Any) -> None:
    net, plain = network(form), called(network(form))
    hook(net, path, kind, by)
    eager = called(net)
    call = compiled(net)
    assert [became(called(call), eager, plain) for _ in range(2)] == [subject.value] * 2


@clause(
    "modes.compile.prepended",
    says="A forward (pre-)hook that is prepended to another one runs before it in a compiled call, too.",
    where=("registered before the first call", EAGER),
    see="modes.compile.sequential",
    source="measured",
    asked="internaltorchdynamoerror prepend=true forward hook nonetype object is not subscriptable",
    needs=COMPILE,
    about=APIS[:2],
    matters_if="forward_pre|forward own ?compiled ?prepended",
    readings=(
        Reading(
            "runs",
            "!=2.7.*,!=2.8.*,!=2.9.*,!=2.10.*,!=2.11.*",
            "A forward (pre-)hook that is prepended to another one runs before it in a compiled call, too.",
            value="runs",
        ),
        Reading(
            "fails",
            ">=2.7,<2.12",
            "A call of one graph fails where an inner module's two hooks are a function and a closure prepended to it.",
            value="fails",
            says_the_same=False,
            effect="error",
        ),
    ),
    witness={"kind": "forward", "path": "first", "first": True, "form": straight},
    note="From 2.7 to 2.11 Dynamo takes the one hook for the other, and raises InternalTorchDynamoError or "
    "AssertionError where they differ in kind (function, closure, method, object), in class, or in the types of what "
    "they close over. Nothing fails where one of them breaks the graph, or a third one is prepended that is like the "
    "first. A deep copy of the module does not fail.",
)
@given(kind=st.sampled_from(["forward_pre", "forward"]), path=INNER, first=st.booleans(), form=ONE_GRAPH)
def test_prepended(subject: Subject, kind: str, path: str, first: bool, form: Any) -> None:
    from torch._dynamo.exc import InternalTorchDynamoError

    closure, function = multiplying(kind, 5), plus_one if kind == "forward" else input_plus_one
    net, plain = network(form), called(network(form))
    register = getattr(within(net, path), f"register_{kind}_hook")
    register(closure if first else function)
    register(function if first else closure, prepend=True)
    eager = called(net)
    try:
        found = became(called(compiled(net)), eager, plain)
    except InternalTorchDynamoError:
        found = "fails"
    assert found == subject.value


@clause(
    "modes.compile.sequential",
    says="A hook on an nn.Sequential inside a compiled module, registered before the first call, runs in each call.",
    where=(OWN, EAGER),
    see=("modes.compile.instance", "modes.compile.repeated", "modes.compile.fullgraph"),
    source="measured",
    asked="hook on nn.Sequential block never runs torch.compile 2.1",
    needs=COMPILE,
    matters_if="forward_pre|forward|full_backward_pre|full_backward|backward own ?compiled ?sequential",
    readings=by_release(
        "silent",
        ("2.2", "runs", "runs"),
        "A hook on an nn.Sequential inside a compiled module, registered before the first call, runs in each call.",
        ("", "ignored", "ignored"),
        "Compiled calls ignore hooks on an nn.Sequential inside, unless a graph break splits that Sequential.",
    ),
    witness={"kind": "forward", "layers": [False], "form": straight},
)
@given(
    kind=ANY_KIND,
    layers=st.lists(st.booleans(), min_size=1, max_size=3),
    form=networks(prints_inside=NO_SEQUENTIAL, two_outputs=NO_SEQUENTIAL, prints_in_loop=LOOP),
)
def test_sequential(subject: Subject, kind: str, layers: List[bool], form: Any) -> None:
    import torch

    inner = torch.nn.Sequential(*(torch.nn.Linear(1, 1).double() if layer else scale(2) for layer in layers))
    net = network(form, inner)
    plain = called(net)
    hook(net, "first", kind, 5)
    eager = called(net)
    call = compiled(net)
    assert [became(called(call), eager, plain) for _ in range(2)] == [subject.value] * 2


@clause(
    "modes.compile.step_hooks",
    says="Step hooks of an optimizer of torch.optim run also after torch.compile was called in the process.",
    where="the optimizer's step() itself is not compiled",
    source="measured",
    asked="optimizer register_step_post_hook not called any more after torch.compile",
    needs=(COMPILE, "torch.optim.Optimizer.register_step_pre_hook"),
    about=("Optimizer.register_step_pre_hook", "Optimizer.register_step_post_hook"),
    matters_if="step_pre|step_post ?compiled",
    isolated="<2.3",  # torch does it once in a process
    readings=by_release(
        "silent",
        ("2.3", "run", ["pre", "post"]),
        "Step hooks of an optimizer of torch.optim run also after torch.compile was called in the process.",
        ("", "ignored", []),
        "Once torch.compile was called, an SGD, Adam or AdamW optimizer runs no step hook, unless it had a scheduler.",
    ),
    witness={"name": "SGD", "before": True},
    note="Until 2.2 no optimizer of torch.optim that is made after torch.compile runs step hooks, but a subclass with "
    "a step() of its own. Of those made before RAdam, LBFGS, SparseAdam, subclasses and those with a scheduler from "
    "before keep theirs. Global step hooks go with the others.",
)
@given(name=st.sampled_from(["SGD", "Adam", "AdamW"]), before=st.booleans())
def test_step_hooks(subject: Subject, name: str, before: bool) -> None:
    import torch

    def compile_something() -> None:
        called(compiled(network()))

    weight, seen = torch.nn.Parameter(torch.ones(1)), []
    if not before:
        compile_something()
    optimizer = getattr(torch.optim, name)([weight], lr=1.0)
    optimizer.register_step_pre_hook(lambda *given: seen.append("pre"))
    optimizer.register_step_post_hook(lambda *given: seen.append("post"))
    if before:
        compile_something()
    optimizer.step()
    assert seen == subject.value


@clause(
    "modes.compile.removed",
    says="A forward (pre-)hook that is removed after compiled calls does not run any more.",
    where=EAGER,
    source="measured",
    asked="handle.remove after torch compile hook still called",
    needs=COMPILE,
    matters_if="forward_pre|forward own ?compiled",
    readings=by_release(
        "silent",
        ("2.4", "gone", "ignored"),
        "A forward (pre-)hook that is removed after compiled calls does not run any more.",
        ("", "still runs", "runs"),
        "A forward (pre-)hook of an inner module of your own still runs after it is removed, or calls raise KeyError.",
    ),
    witness={"kind": "forward", "path": "first", "calls": 1, "form": straight},
)
@given(kind=st.sampled_from(["forward_pre", "forward"]), path=INNER, calls=st.integers(1, 2), form=IN_GRAPHS)
def test_removed(subject: Subject, kind: str, path: str, calls: int, form: Any) -> None:
    net, plain = network(form), called(network(form))
    handle = hook(net, path, kind, 5)
    call = compiled(net)
    eager = called(call)
    for _ in range(calls - 1):
        called(call)
    handle.remove()
    assert became(called(call), eager, plain) == subject.value


@clause(
    "modes.compile.removed_backward",
    says="A backward hook of a module that is removed after compiled calls and their passes does not run any more.",
    where=EAGER,
    source="measured",
    asked="remove backward hook from compiled model recompiles",
    needs=COMPILE,
    about=APIS[2:],
    value="ignored",
    wrong={"still runs": "runs"},
    witness={"kind": "full_backward", "path": "first", "by": 5, "form": straight},
)
@given(kind=st.sampled_from(["full_backward_pre", "full_backward", "backward"]), path=ANYWHERE, by=st.just(5), form=ANY)
def test_removed_backward(subject: Subject, kind: str, path: str, by: int, form: Any) -> None:
    net, plain = network(form), called(network(form))
    handle = hook(net, path, kind, by)
    call = compiled(net)
    eager = called(call)
    handle.remove()
    assert became(called(call), eager, plain) == subject.value


@clause(
    "modes.compile.tensors",
    says="A tensor hook on a parameter or an input runs once in a pass through a compiled module, also one added late.",
    where=("the loss depends on it", EAGER),
    source="measured",
    asked="param.register_hook gradient clipping with torch compile",
    needs=COMPILE,
    about="register_hook",
    value=[6.0],
    wrong={"left out": []},
    witness={"of_input": False, "late": True, "by": 5, "form": straight},
)
@given(of_input=st.booleans(), late=st.booleans(), by=BY, form=ANY)
def test_tensors(subject: Subject, of_input: bool, late: bool, by: int, form: Any) -> None:
    net = network(form)
    call = compiled(net)
    if late:
        called(call)
        net.zero_grad(set_to_none=True)
    x = leaf([2.0])
    tensor = x if of_input else net.first.weight
    seen: List[float] = []

    def times(grad: Any) -> Any:
        seen.append(grad.sum().item())
        return grad * by

    tensor.register_hook(times)
    call(x).sum().backward()
    assert (seen, tensor.grad.sum().item()) == (subject.value, 6.0 * by)


@clause(
    "modes.compile.accumulated",
    says="A post-accumulate-grad hook runs once in a pass through a compiled module, also one added late.",
    where=("the loss depends on its parameter", EAGER),
    source="measured",
    asked="register_post_accumulate_grad_hook torch compile optimizer in backward",
    needs=(COMPILE, "torch.Tensor.register_post_accumulate_grad_hook"),
    value=[6.0],
    wrong={"left out": []},
    witness={"path": "first", "late": True, "form": straight},
)
@given(path=st.sampled_from(["first", "second.inner"]), late=st.booleans(), form=ANY)
def test_accumulated(subject: Subject, path: str, late: bool, form: Any) -> None:
    net = network(form)
    call = compiled(net)
    if late:
        called(call)
        net.zero_grad(set_to_none=True)
    parameter = within(net, path).weight
    seen: List[float] = []
    parameter.register_post_accumulate_grad_hook(lambda one: seen.append(one.grad.item() * one.item()))
    called(call, [1.0])
    assert (seen, parameter.grad.item() * parameter.item()) == (subject.value, 6.0)


@clause(
    "modes.compile.always_call",
    says="A forward hook with always_call=True runs when `raise` ends a compiled call, also one added late.",
    where=(OWN, EAGER),
    source="measured",
    asked="always_call hook torch compile exception in forward",
    needs=(COMPILE, "torch.nn.Module.register_forward_hook(always_call)"),
    value=([None], "ValueError"),
    wrong={"left out": ([], "ValueError")},
    witness={"inner": True, "late": True, "form": straight},
)
@given(inner=st.booleans(), late=st.booleans(), form=ANY)
def test_always_call(subject: Subject, inner: bool, late: bool, form: Any) -> None:
    import torch

    class Fails(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            raise ValueError("mine")

    net = network(form, Fails())
    call = compiled(net)
    seen: List[Any] = []
    if late:
        failed(call)
    on = net.first if inner else net
    on.register_forward_hook(lambda module, args, output: seen.append(output), always_call=True)
    assert (seen, failed(call)) == subject.value


def failed(call: Any) -> str:
    """The name of the error that a call raises; "none" if it does not."""
    try:
        called(call)
    except ValueError as error:
        return type(error).__name__
    return "none"
