"""Hooks in compiled autograd, which compiles a whole backward pass; forward runs in eager mode here."""

from typing import Any, Callable, List

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import by_release, clause
from fixtures.judge.subject import Subject
from suites.hooking import FEW, raised
from suites.modes.compile.networks import (
    ANYWHERE,
    INNER,
    NUMBERS,
    became,
    called,
    compiled,
    hook,
    leaf,
    network,
    two_outputs,
)
from suites.modes.forms import ANY, straight
from suites.modes.networks import BY, within
from suites.modes.sources import COMPILE
from suites.tensors import item

ABOUT = "register_hook"
#: Before 2.4, which has the option, passes in compiled autograd now and then end in a segmentation fault.
AUTOGRAD = (COMPILE, "torch._dynamo.config.compiled_autograd")
AROUND_BACKWARD = ("full_backward_pre", "full_backward", "backward")


def in_compiled_autograd(run: Callable[[], Any]) -> str:
    """Run a backward pass in compiled autograd, whose context has had two names: what it raises, or "none"."""
    import torch
    from torch._dynamo import compiled_autograd

    enable = getattr(compiled_autograd, "_enable", None) or compiled_autograd.enable
    with enable(lambda graph: torch.compile(graph, backend="eager")):
        # Caught inside: what an error leaves may stay enabled.
        return raised(run, RuntimeError, AttributeError, TypeError)


def passed(net: Any, x: Any) -> Any:
    """Call a module in eager mode, and run the backward pass in compiled autograd: what `called` gives, or an error."""
    import torch

    torch.compiler.reset()
    y = net(x)
    error = in_compiled_autograd(lambda: y.sum().backward())
    return [y.tolist(), x.grad.tolist()] if error == "none" else error


@clause(
    "modes.compile.autograd_tensor",
    says="Tensor hooks on parameters, inputs and activations run in compiled autograd, and what they return is used.",
    where="forward ran in eager mode",
    see=("modes.compile.aot_inner",),
    source="measured",
    asked="compiled autograd tensor hooks register_hook",
    needs=AUTOGRAD,
    value="runs",
    wrong={"left out": "ignored"},
    witness={"on": "parameter", "by": 5, "form": straight},
)
@given(on=st.sampled_from(["parameter", "input", "activation"]), by=BY, form=ANY)
def test_autograd_tensor(subject: Subject, on: str, by: int, form: Any) -> None:
    import torch

    def both(run: Any, hooks: bool) -> Any:
        net, x = network(form), leaf([2.0])
        kept: List[Any] = []
        net.second.register_forward_pre_hook(lambda module, args: kept.append(args[0]))
        y = net(x)
        tensor = {"parameter": net.first.weight, "input": x, "activation": kept[0]}[on]
        if hooks:
            tensor.register_hook(lambda grad: grad * by)
        run(lambda: y.sum().backward())
        return x.grad.tolist(), net.first.weight.grad.item()

    torch.compiler.reset()
    plain, eager = (both(lambda one: one(), hooks) for hooks in (False, True))
    assert became(both(in_compiled_autograd, True), eager, plain) == subject.value


@clause(
    "modes.compile.autograd_module",
    says="In compiled autograd a module's full backward (pre-)hooks run, and tensors that they return are used.",
    see="modes.compile.autograd_undefined",
    source="measured",
    asked="compiled autograd full backward hook attributeerror _compiled_autograd_key",
    needs=AUTOGRAD,
    about=tuple(f"register_{kind}_hook" for kind in AROUND_BACKWARD[:2]),
    value="runs",
    wrong={"left out": "ignored"},
    witness={"kind": "full_backward", "path": "first", "by": 5, "hooks": 2, "form": straight},
)
@given(kind=st.sampled_from(AROUND_BACKWARD[:2]), path=INNER, by=BY, hooks=FEW, form=ANY)
def test_autograd_module(subject: Subject, kind: str, path: str, by: int, hooks: int, form: Any) -> None:
    net, plain = network(form), called(network(form))
    for _ in range(hooks):
        hook(net, path, kind, by)
    eager = called(net)
    assert became(passed(net, leaf([3.0])), eager, plain) == subject.value


@clause(
    "modes.compile.autograd_compiled",
    says="Backward hooks of a compiled module run in compiled autograd, and what each returns is used.",
    where="torch._dynamo.config.compiled_autograd = True",
    see="modes.compile.repeated",
    source="measured",
    asked="compiled_autograd config backward hook on compiled model",
    needs=AUTOGRAD,
    about=tuple(f"register_{kind}_hook" for kind in AROUND_BACKWARD),
    value="runs",
    wrong={"left out": "ignored"},
    witness={"kind": "full_backward", "path": "first", "hooks": 2, "backend": "eager", "form": straight},
)
@given(
    kind=st.sampled_from(AROUND_BACKWARD),
    path=ANYWHERE,
    hooks=st.integers(1, 2),
    backend=st.sampled_from(["eager", "aot_eager"]),
    form=ANY,
)
def test_autograd_compiled(subject: Subject, kind: str, path: str, hooks: int, backend: str, form: Any) -> None:
    from torch._dynamo import config

    net, plain, x = network(form), called(network(form)), leaf([3.0])
    for _ in range(hooks):
        hook(net, path, kind, 5)
    eager = called(net)
    with config.patch(compiled_autograd=True):
        y = compiled(net, backend=backend)(x)
        error = in_compiled_autograd(lambda: y.sum().backward())
    found = [y.tolist(), x.grad.tolist()] if error == "none" else error
    assert became(found, eager, plain) == subject.value


@clause(
    "modes.compile.autograd_legacy",
    says="In compiled autograd a legacy backward hook is given lists, not tuples.",
    source="measured",
    asked="compiled autograd grad_input is list not tuple",
    needs=AUTOGRAD,
    about="register_backward_hook",
    value=["list", "list"],
    wrong={"as in eager mode": ["tuple", "tuple"]},
    witness={"path": "first", "form": straight},
)
@given(path=INNER, form=ANY)
def test_autograd_legacy(subject: Subject, path: str, form: Any) -> None:
    seen: List[str] = []
    net = network(form)
    within(net, path).register_backward_hook(
        lambda module, grad_input, grad_output: seen.extend([type(grad_input).__name__, type(grad_output).__name__])
    )
    called(net)
    calls = len(seen) // 2
    del seen[:]
    passed(net, leaf([3.0]))
    assert seen == subject.value * calls


@clause(
    "modes.compile.autograd_accumulated",
    says="A post-accumulate-grad hook runs in compiled autograd; a .grad that it changes in place stays changed.",
    source="measured",
    asked="tensor_post_acc_grad_hooks not implemented for compiled autograd",
    needs=(*AUTOGRAD, "torch.Tensor.register_post_accumulate_grad_hook"),
    matters_if="post_accumulate ?compiled",
    readings=by_release(
        "error",
        ("2.5", "runs", "runs"),
        "A post-accumulate-grad hook runs in compiled autograd; a .grad that it changes in place stays changed.",
        ("", "fails", "fails"),
        "A pass fails in compiled autograd where a parameter of 0 dimensions has a post-accumulate-grad hook.",
    ),
    witness={"by": 5, "form": straight},
)
@given(by=BY, form=ANY)
def test_autograd_accumulated(subject: Subject, by: int, form: Any) -> None:
    def change(one: Any) -> None:
        one.grad.mul_(by)

    net = network(form)
    net.first.weight.register_post_accumulate_grad_hook(change)
    fails = isinstance(passed(net, leaf([2.0])), str)
    assert ("fails" if fails else became(net.first.weight.grad.item(), 6.0 * by, 6.0)) == subject.value


@clause(
    "modes.compile.autograd_retain",
    says="retain_grad() keeps the gradient of an activation in compiled autograd, as in eager mode.",
    where="forward ran in eager mode",
    see=("modes.compile.aot_retain",),
    source="measured",
    asked="retains_grad_hooks not implemented for compiled autograd",
    needs=AUTOGRAD,
    about="retain_grad",
    matters_if="retain_grad ?compiled",
    readings=by_release(
        "error",
        ("2.8", "kept", [3.0]),
        "retain_grad() keeps the gradient of an activation in compiled autograd, as in eager mode.",
        ("", "refused", "RuntimeError"),
        "A pass raises RuntimeError in compiled autograd where an activation keeps its gradient by retain_grad().",
    ),
    witness={"x": 2, "form": straight},
)
@given(x=NUMBERS, form=ANY)
def test_autograd_retain(subject: Subject, x: int, form: Any) -> None:
    import torch

    torch.compiler.reset()
    net = network(form)
    kept: List[Any] = []
    net.second.register_forward_pre_hook(lambda module, args: kept.append(args[0]))
    y = net(leaf([x]))
    kept[0].retain_grad()
    error = in_compiled_autograd(lambda: y.sum().backward())
    assert (item(kept[0].grad) if error == "none" else error) == subject.value


@clause(
    "modes.compile.autograd_none",
    says="In compiled autograd the .grad of a retain_grad() tensor stays None where a Function returns None for it.",
    where=("forward in eager mode", "a non-leaf of one use"),
    see="modes.compile.autograd_retain",
    source="measured",
    asked="segmentation fault compiled autograd retain_grad custom autograd.Function returns None for an input",
    needs=AUTOGRAD,
    about="retain_grad",
    matters_if="retain_grad ?compiled",
    readings=by_release(
        "error",
        ("2.8", "none", "None"),
        "In compiled autograd the .grad of a retain_grad() tensor stays None where a Function returns None for it.",
        ("", "refused", "RuntimeError"),
        "A pass raises RuntimeError in compiled autograd where an activation keeps its gradient by retain_grad().",
    ),
    isolated=True,
    witness={"x": 2},
)
@given(x=NUMBERS)
def test_autograd_none(subject: Subject, x: int) -> None:
    import torch

    class First(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, first: Any, second: Any) -> Any:
            return first * 2

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return grad * 2, None

    torch.compiler.reset()
    given = leaf([x])
    kept = given * 3
    kept.retain_grad()
    y = First.apply(given * 2, kept)
    error = in_compiled_autograd(lambda: y.sum().backward())
    assert (str(kept.grad) if error == "none" else error) == subject.value


@clause(
    "modes.compile.autograd_changes",
    says="A tensor hook that comes or goes between two passes in compiled autograd runs in those that it is there for.",
    source="measured",
    asked="compiled autograd hook added or removed between backward recompiled",
    needs=AUTOGRAD,
    value=[0, 1, 0],
    wrong={"the graph of the first pass is kept": [0, 0, 0]},
    witness={"by": 5, "form": straight},
)
@given(by=BY, form=ANY)
def test_autograd_changes(subject: Subject, by: int, form: Any) -> None:
    import torch

    net = network(form)
    weight = net.first.weight
    found = []
    torch.compiler.reset()
    for there in (False, True, False):
        handle = weight.register_hook(lambda grad: grad * by) if there else None
        y = net(leaf([2.0]))
        weight.grad = None
        in_compiled_autograd(y.sum().backward)
        found.append(weight.grad.item() / 6)
        if handle is not None:
            handle.remove()
    assert found == [by if one else 1 for one in subject.value]


@clause(
    "modes.compile.autograd_undefined",
    says="With a full backward hook a pass from one of its module's two outputs fails in compiled autograd.",
    where="one tensor, two differentiable operations; eager forward",
    source="measured",
    asked="compiled autograd add argument input must be tensor not nonetype two outputs",
    needs=AUTOGRAD,
    about="register_full_backward_hook",
    value="fails",
    wrong={"as in eager mode": [2.0]},
    witness={"x": 2},
    note="Which error depends on the release: of the operation that is given None in the place of a gradient.",
)
@given(x=NUMBERS)
def test_autograd_undefined(subject: Subject, x: int) -> None:
    import torch

    torch.compiler.reset()
    net, given = two_outputs(), leaf([x])
    net.register_full_backward_hook(lambda module, grad_input, grad_output: None)
    first, _ = net(given)
    error = in_compiled_autograd(lambda: first.sum().backward())
    assert (given.grad.tolist() if error == "none" else "fails") == subject.value
