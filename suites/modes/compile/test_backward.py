"""Hooks where a backend of torch.compile makes the backward pass, too: "aot_eager", on which other backends build."""

from typing import Any, List

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import by_release, clause
from fixtures.judge.subject import Subject
from suites.modes.compile.networks import EVERYWHERE, NUMBERS, called, compiled, leaf, network, two_outputs
from suites.modes.compile.sources import OWN
from suites.modes.forms import ANY, ONE_GRAPH, first_of, straight
from suites.modes.networks import BY, within
from suites.modes.sources import COMPILE, EAGER
from suites.names import ISSUE
from suites.tensors import item

ABOUT = "register_hook"
AOT = "backend='aot_eager'"


def aot(net: Any) -> Any:
    """What torch.compile makes of a module with AOTAutograd and no compiler behind it."""
    return compiled(net, backend="aot_eager")


def two_ways() -> Any:
    """A module of which the input takes two ways to the output: x * weight + x."""
    import torch

    class TwoWays(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = torch.nn.Parameter(torch.tensor(3.0, dtype=torch.float64))

        def forward(self, x: Any) -> Any:
            return self.weight * x + x

    return TwoWays()


@clause(
    "modes.compile.aot_legacy",
    says="A legacy backward hook on the module is given gradients of all inputs of its graph, weights too.",
    where=(OWN, AOT),
    source="measured",
    asked="register_backward_hook compiled model wrong grad_input weights first",
    docs="contradicts",
    needs=COMPILE,
    about="register_backward_hook",
    value="of the graph",
    wrong={"as in eager mode": "of the last operation"},
    witness={"x": 5},
    note="In eager mode it is given those of the operation that made the output.",
)
@given(x=NUMBERS)
def test_aot_legacy(subject: Subject, x: int) -> None:
    seen: List[Any] = []
    net = two_ways()
    net.register_backward_hook(
        lambda module, grad_input, grad_output: seen.append([grad.sum().item() for grad in grad_input])
    )
    called(aot(net), [x])
    assert seen == [{"of the graph": [x, 4], "of the last operation": [1, 1]}[subject.value]]


@clause(
    "modes.compile.aot_global",
    says="A global forward hook runs also for a GraphModule that torch.compile makes.",
    where=("grad mode is on", AOT),
    see="modes.compile.global_returns",
    source="measured",
    asked="global forward hook called for graphmodule aot wrong output",
    docs="contradicts",
    needs=COMPILE,
    about=EVERYWHERE[1],
    matters_if="forward everywhere returns ?compiled",
    readings=by_release(
        "none",
        ("2.10", "runs for it", True),
        "A global forward hook runs also for a GraphModule that torch.compile makes.",
        ("", "does not", False),
        "A global forward hook runs for modules and the wrapper, not for a GraphModule that torch.compile makes.",
    ),
    witness={"calls": 1},
)
@given(calls=st.integers(1, 2))
def test_aot_global(subject: Subject, calls: int) -> None:
    from torch.nn.modules.module import register_module_forward_hook

    seen: List[str] = []
    call = aot(two_ways())
    with register_module_forward_hook(lambda module, args, output: seen.append(type(module).__name__)):
        for _ in range(calls):
            called(call)
    assert ("GraphModule" in seen, seen.count("TwoWays")) == (subject.value, calls)


@clause(
    "modes.compile.aot_inner",
    says="After the call a tensor hook on what a forward hook kept is given None as gradient.",
    where=("it shares no memory; one graph", AOT),
    source=ISSUE + "91468",
    asked="register_hook on intermediate activation compiled gradient is none",
    level="observed",
    docs="contradicts",
    needs=COMPILE,
    value=[None, 1],
    wrong={"as in eager mode": [[3.0], 5]},
    witness={"by": 5, "form": straight},
)
@given(by=BY, form=ONE_GRAPH)
def test_aot_inner(subject: Subject, by: int, form: Any) -> None:
    kept: List[Any] = []
    seen: List[Any] = []

    def times(grad: Any) -> Any:
        seen.append(item(grad))
        return None if grad is None else grad * by

    net = network(form)
    net.first.register_forward_hook(lambda module, args, output: kept.append(first_of(output)))
    x = leaf([2.0])
    y = aot(net)(x)
    kept[0].register_hook(times)
    y.sum().backward()
    given_to, factor = subject.value
    assert (seen, x.grad.tolist()) == ([given_to], [6.0 * (by if factor != 1 else 1)])


@clause(
    "modes.compile.aot_retain",
    says="After the call retain_grad() on what a forward hook kept leaves its .grad None.",
    where=("no input or output is it or its view; one graph", AOT),
    source=ISSUE + "91468",
    asked="retain_grad on activation torch compile grad is none",
    level="observed",
    docs="contradicts",
    needs=COMPILE,
    about="retain_grad",
    value=None,
    wrong={"as in eager mode": [3.0]},
    witness={"x": 2, "form": straight},
)
@given(x=NUMBERS, form=ONE_GRAPH)
def test_aot_retain(subject: Subject, x: int, form: Any) -> None:
    kept: List[Any] = []
    net = network(form)
    net.first.register_forward_hook(lambda module, args, output: kept.append(first_of(output)))
    y = aot(net)(leaf([x]))
    kept[0].retain_grad()
    y.sum().backward()
    assert item(kept[0].grad) == subject.value


@clause(
    "modes.compile.aot_unreached",
    says="Hooks of a parameter that only an unused output needs run, with zeros: tensor and post-accumulate-grad ones.",
    where=("in one graph", AOT),
    source=ISSUE + "131794",
    asked="unused parameter grad zero instead of none torch compile",
    level="observed",
    docs="contradicts",
    needs=(COMPILE, "torch.Tensor.register_post_accumulate_grad_hook"),
    about=("register_hook", "register_post_accumulate_grad_hook"),
    value=["hook", 0.0, "accumulated", 0.0],
    wrong={"as in eager mode": []},
    witness={"x": 2},
)
@given(x=NUMBERS)
def test_aot_unreached(subject: Subject, x: int) -> None:
    net = two_outputs()
    seen: List[Any] = []
    net.b.register_hook(lambda grad: seen.extend(["hook", grad.item()]))
    net.b.register_post_accumulate_grad_hook(lambda one: seen.extend(["accumulated", one.grad.item()]))
    first, _ = aot(net)(leaf([x]))
    first.sum().backward()
    assert (seen, net.a.grad.item()) == (subject.value, float(x))


@clause(
    "modes.compile.thawed",
    says="A parameter thawed after a compiled call gets .grad from the next forward on, and its hooks run.",
    where=("the loss depends on it", AOT),
    source=ISSUE + "139476",
    asked="unfreeze layer after torch.compile parameter grad stays none",
    needs=(COMPILE, "torch.Tensor.register_post_accumulate_grad_hook"),
    about=("register_hook", "register_post_accumulate_grad_hook"),
    matters_if="tensor|post_accumulate ?compiled ?switched_on",
    readings=by_release(
        "silent",
        ("2.12", "compiled anew", 3),
        "A parameter thawed after a compiled call gets .grad from the next forward on, and its hooks run.",
        ("", "as it was compiled", 0),
        "A parameter thawed after a compiled call gets no gradient until its graph is compiled anew.",
    ),
    witness={"path": "first", "others": True, "of_input": True, "form": straight},
    note="From 2.5 to 2.11 its hooks are called all the same, a tensor hook with None, if the graph computes other "
    "gradients. On 2.1 a graph without gradients is compiled anew once something needs one. No graph is compiled of a "
    "forward that Dynamo skips, that with an LSTM for one.",
)
@given(path=st.sampled_from(["first", "second.inner"]), others=st.booleans(), of_input=st.booleans(), form=ANY)
def test_thawed(subject: Subject, path: str, others: bool, of_input: bool, form: Any) -> None:
    import torch

    net = network(form)
    weight = within(net, path).weight
    net.requires_grad_(others)
    weight.requires_grad_(False)
    call = aot(net)
    x = torch.ones(1, dtype=torch.float64, requires_grad=of_input or not others)
    call(x).sum().backward()
    seen: List[Any] = []
    weight.requires_grad_(True)
    weight.register_hook(seen.append)
    weight.register_post_accumulate_grad_hook(lambda one: seen.append(one.grad))
    call(x).sum().backward()
    gradients = [one.item() for one in (weight.grad, *seen) if one is not None]
    assert gradients == [6 / weight.item()] * subject.value


@clause(
    "modes.compile.aot_saved",
    says="Around a compiled call saved_tensors_hooks see x * y * z packed as 3 tensors, not 4.",
    where=("real x, y, z differ, need gradients; one graph", AOT),
    source="measured",
    asked="saved_tensors_hooks with torch compile number of packed tensors",
    needs=(COMPILE, "torch.autograd.graph.saved_tensors_hooks"),
    value=3,
    wrong={"as in eager mode": 4},
    witness={"x": 2},
)
@given(x=NUMBERS)
def test_aot_saved(subject: Subject, x: int) -> None:
    import torch

    packed: List[Any] = []
    call = aot(network())
    called(call, [x])
    with torch.autograd.graph.saved_tensors_hooks(lambda tensor: packed.append(1) or tensor, lambda tensor: tensor):
        call(leaf([x]))
    assert len(packed) == subject.value


@clause(
    "modes.compile.saved_compiling",
    says="In the first compiled call saved_tensors_hooks are given the tensors of the call only, no FakeTensor.",
    where=("no shape depends on data", EAGER),
    source="measured",
    asked="saved_tensors_hooks pack hook sees faketensor while torch compile compiles",
    needs=(COMPILE, "torch.autograd.graph.saved_tensors_hooks"),
    matters_if="saved ?compiled",
    readings=by_release(
        "silent",
        ("2.5", "of the call", False),
        "In the first compiled call saved_tensors_hooks are given the tensors of the call only, no FakeTensor.",
        ("", "of compiling, too", True),
        "In the first compiled call saved_tensors_hooks are given FakeTensors, too, while torch compiles.",
    ),
    witness={"x": 2, "form": straight},
)
@given(x=NUMBERS, form=ANY)
def test_saved_compiling(subject: Subject, x: int, form: Any) -> None:
    import torch

    packed: List[str] = []
    net = network(form)
    call = compiled(net)

    def pack(tensor: Any) -> Any:
        packed.append(type(tensor).__name__)
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        net(leaf([x]))
        eager = packed[:]
        call(leaf([x]))
    assert [one for one in packed if one != "FakeTensor"] == eager * 2
    assert ("FakeTensor" in packed) == subject.value
