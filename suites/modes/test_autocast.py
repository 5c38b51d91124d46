"""Autocast on the CPU: the dtypes that hooks of a layer that it casts are given, and those that they may return."""

from typing import Any, List

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import clause
from fixtures.clause.rows import Row, each
from fixtures.judge.subject import Subject
from suites.hooking import FEW, result
from suites.names import FULL, PRE
from suites.tensors import outcome

ABOUT = ("register_forward_hook", "register_forward_pre_hook")
#: torch.autocast is there since 1.10, for the CPU, too.
NEEDS = "torch.autocast"
CASTS = 'docs: torch.autocast "ops run in an op-specific dtype chosen by autocast"'

#: How the module multiplies: both are operations that autocast runs in bfloat16.
WAY = st.sampled_from(["linear", "matmul"])
#: Whether backward() is called inside of autocast.
INSIDE = st.booleans()
WIDE = st.sampled_from(["float32", "float64"])


def layer(way: str) -> Any:
    """A module that multiplies its input by a weight of float32 ones, 3 to 3."""
    import torch

    class Matmul(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = torch.nn.Parameter(torch.ones(3, 3))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.matmul(x, self.weight)

    return torch.nn.Linear(3, 3) if way == "linear" else Matmul()


def single(rows: int = 2) -> Any:
    """The input: float32 ones that require a gradient."""
    import torch

    return torch.ones(rows, 3, requires_grad=True)


def called(module: Any, x: Any, inside: bool = False, before: Any = lambda output: None) -> Any:
    """One call in autocast, then backward() inside of it or behind it; `before` is given the output in between."""
    import torch

    with torch.autocast("cpu", dtype=torch.bfloat16):
        output = module(x)
        before(output)
        if inside:
            output.sum().backward()
    if not inside:
        output.sum().backward()
    return output


def name(given: Any) -> str:
    """The dtype of a tensor, or of the first tensor of a tuple."""
    return str((given[0] if isinstance(given, tuple) else given).dtype).rpartition(".")[2]


def cast(tensor: Any, to: str) -> Any:
    """The tensor in another dtype."""
    import torch

    return tensor.to(getattr(torch, to))


@clause(
    "modes.autocast.forward",
    says="In autocast to bfloat16 a forward hook on nn.Linear gets float32 input in float32, output in bfloat16.",
    where=("the input is positional", "there is no other hook"),
    source=CASTS,
    asked="amp autocast forward hook activation dtype bfloat16 inputs "
    "float32 mixed precision half output in register_forward_hook",
    needs=NEEDS,
    value="bfloat16",
    wrong={"a float32 output": "float32"},
    witness={"way": "linear", "hooks": 1, "rows": 2},
)
@given(way=WAY, hooks=FEW, rows=FEW)
def test_forward(subject: Subject, way: str, hooks: int, rows: int) -> None:
    seen: List[Any] = []
    module = layer(way)
    for _ in range(hooks):
        module.register_forward_pre_hook(lambda module, args: seen.append(name(args)))
        module.register_forward_hook(lambda module, args, output: seen.append((name(args), name(output))))
    called(module, single(rows))
    assert seen == ["float32"] * hooks + [("float32", subject.value)] * hooks


@clause(
    "modes.autocast.forward_returns",
    says="In autocast a call returns float32 or float64 where the module's forward hook does: it is not cast back.",
    where="it is the module's only hook",
    source="measured",
    asked="cast activation back to float32 in forward hook under autocast amp does next layer get it",
    needs=NEEDS,
    about="register_forward_hook",
    value="its own",
    wrong={"cast back": "bfloat16"},
    witness={"way": "linear", "to": "float32", "inside": False},
)
@given(way=WAY, to=WIDE, inside=INSIDE)
def test_forward_returns(subject: Subject, way: str, to: str, inside: bool) -> None:
    module, x = layer(way), single()
    module.register_forward_hook(lambda module, args, output: cast(output, to))
    output = called(module, x, inside)
    assert name(output) == (to if subject.value == "its own" else subject.value)
    assert (name(x.grad), name(module.weight.grad)) == ("float32", "float32")


@each(
    Row(
        "modes.autocast.pre_returns",
        "In autocast to bfloat16 a pre-hook on nn.Linear may return bfloat16 or float16: bfloat16 comes out.",
        CASTS,
        asked="forward pre hook returns half or bfloat16 input in amp mixed precision works",
        where=("weights are float32", "there is no other hook"),
        needs=NEEDS,
        about="register_forward_pre_hook",
        to=["bfloat16", "float16"],
        value="bfloat16",
        wrong={"refused": "RuntimeError"},
        witness={"way": "linear", "to": "float16"},
    ),
    Row(
        "modes.autocast.pre_double",
        "In autocast on the CPU a pre-hook on nn.Linear that returns float64 makes the call raise.",
        "measured",
        asked="mat1 and mat2 must have the same dtype float64 double input autocast pre hook",
        where=("weights are float32", "there is no other hook"),
        needs=NEEDS,
        about="register_forward_pre_hook",
        to=["float64"],
        value="RuntimeError",
        wrong={"cast, too": "bfloat16"},
        witness={"way": "linear", "to": "float64"},
    ),
    way=lambda row: WAY,
    to=lambda row: st.sampled_from(row.to),
)
def pre(subject: Subject, way: str, to: str, *, row: Any) -> None:
    module, x = layer(way), single()
    module.register_forward_pre_hook(lambda module, args: (cast(args[0], to),))
    assert result(lambda: name(called(module, x)), RuntimeError) == subject.value
    assert x.grad is None or name(x.grad) == "float32"


@clause(
    "modes.autocast.full",
    says="In autocast to bfloat16 full backward hooks on nn.Linear get bfloat16 grad_output, float32 grad_input.",
    where=("float32 positional x requires grad", "no other hook"),
    see="backward.values.full_given",
    source=CASTS,
    asked="amp autocast register_full_backward_hook grad_output bfloat16 grad_input float32 dtype mixed precision",
    needs=(NEEDS, FULL),
    value=("float32", "bfloat16"),
    wrong={"both bfloat16": ("bfloat16", "bfloat16"), "both float32": ("float32", "float32")},
    witness={"way": "linear", "hooks": 1, "inside": False},
)
@given(way=WAY, hooks=FEW, inside=INSIDE)
def test_full(subject: Subject, way: str, hooks: int, inside: bool) -> None:
    seen: List[Any] = []
    module = layer(way)
    for _ in range(hooks):
        module.register_full_backward_hook(lambda module, inner, outer: seen.append((name(inner), name(outer))))
    called(module, single(), inside)
    assert seen == [subject.value] * hooks


@each(
    Row(
        "modes.autocast.full_returns",
        "In autocast full backward hooks on nn.Linear returning gradients not in float32 make backward() raise.",
        "measured",
        asked="hook has changed the type of value was torch.FloatTensor "
        "got BFloat16 backward hook amp autocast grad_input",
        where=("float32 positional x requires grad", "no other hook"),
        see="modes.autocast.full",
        needs=(NEEDS, FULL),
        kind="full_backward",
        is_given="float32",
        to=["bfloat16", "float16", "float64"],
        value="RuntimeError",
        wrong={"accepted": "accepted"},
        witness={"way": "linear", "to": "bfloat16", "inside": False},
    ),
    Row(
        "modes.autocast.full_pre_returns",
        "In autocast to bfloat16 full backward pre-hooks on nn.Linear that return float32 make backward() raise.",
        "measured",
        asked="hook has changed the type of value was CPUBFloat16Type "
        "got torch.FloatTensor backward pre hook amp grad_output",
        where=("float32 positional x requires grad", "no other hook"),
        needs=(NEEDS, PRE),
        kind="full_backward_pre",
        is_given="bfloat16",
        to=["float32"],
        value="RuntimeError",
        wrong={"accepted": "accepted"},
        witness={"way": "linear", "to": "float32", "inside": False},
    ),
    way=lambda row: WAY,
    to=lambda row: st.sampled_from(row.to),
    inside=lambda row: INSIDE,
)
def returned(subject: Subject, way: str, to: str, inside: bool, *, row: Any) -> None:
    """The hook changes the dtype; one that returns what it was given, in its dtype, is accepted."""

    def backward(to: str) -> str:
        module = layer(way)
        getattr(module, f"register_{row.kind}_hook")(lambda module, *given: (cast(given[0][0], to),))
        return outcome(lambda: called(module, single(), inside))

    assert (backward(row.is_given), backward(to)) == ("accepted", subject.value)


@clause(
    "modes.autocast.tensor",
    says="In autocast to bfloat16 tensor hooks on weight and input of nn.Linear get float32, on its output bfloat16.",
    where="weight and input are float32, no other hook",
    see="gradient.kinds.dtype",
    source=CASTS,
    asked="register_hook on weight under autocast gradient dtype float32 or bfloat16 activation gradient amp",
    needs=NEEDS,
    about="register_hook",
    value={"weight": "float32", "x": "float32", "output": "bfloat16"},
    wrong={"bfloat16 everywhere": {"weight": "bfloat16", "x": "bfloat16", "output": "bfloat16"}},
    witness={"calls": 1, "inside": False},
)
@given(calls=FEW, inside=INSIDE)
def test_tensor(subject: Subject, calls: int, inside: bool) -> None:
    seen: List[Any] = []
    module, x = layer("linear"), single()
    module.weight.register_hook(lambda grad: seen.append(("weight", name(grad))))
    x.register_hook(lambda grad: seen.append(("x", name(grad))))
    note = lambda output: output.register_hook(lambda grad: seen.append(("output", name(grad))))  # noqa: E731
    for _ in range(calls):
        called(module, x, inside, note)
    assert sorted(seen) == sorted(list(subject.value.items()) * calls)


@clause(
    "modes.autocast.inside_hook",
    says="Matmul in a backward hook or tensor hook is cast where backward() is called in autocast, else it is not.",
    source="measured",
    asked="is autocast active inside backward hook amp backward under autocast not recommended matmul dtype in hook",
    where=("the hook enters no autocast", "tensors are float32"),
    needs=(NEEDS, FULL),
    about=("register_full_backward_hook", "register_hook"),
    value={True: "bfloat16", False: "float32"},
    wrong={"as in forward": {True: "bfloat16", False: "bfloat16"}, "never": {True: "float32", False: "float32"}},
    witness={"way": "linear", "inside": [False, True]},
)
@given(way=WAY, inside=st.lists(INSIDE, min_size=2, max_size=4).map(lambda more: [*more, not more[0]]))
def test_inside_hook(subject: Subject, way: str, inside: List[bool]) -> None:
    seen: List[Any] = []
    module, x = layer(way), single()
    note = lambda *given: seen.append(name(single() @ module.weight))  # noqa: E731
    module.register_full_backward_hook(lambda module, inner, outer: note())
    module.weight.register_hook(lambda grad: note())
    x.register_hook(lambda grad: note())
    for one in inside:
        called(module, x, one)
    assert seen == [subject.value[one] for one in inside for _ in range(3)]


@clause(
    "modes.autocast.nested",
    says="After an autocast region inside a forward hook the dtype of the region around is in force again.",
    where=("on the CPU, ended by the hook", "no leaf is used in both"),
    source="measured",
    asked="autocast block inside a hook changes dtype of following layers",
    needs=(NEEDS, "torch.get_autocast_dtype"),
    about="register_forward_hook",
    value="bfloat16",
    wrong={"that of the inner one": "inner"},
    witness={"way": "linear", "to": "float16", "enabled": True},
)
@given(way=WAY, to=st.sampled_from(["bfloat16", "float16"]), enabled=st.booleans())
def test_nested(subject: Subject, way: str, to: str, enabled: bool) -> None:
    import torch

    seen: List[str] = []

    def inner(module: Any, args: Any, output: Any) -> None:
        with torch.autocast("cpu", dtype=getattr(torch, to), enabled=enabled):
            pass

    first, second = layer(way), layer(way)
    first.register_forward_hook(inner)
    second.register_forward_hook(lambda module, args, output: seen.append(name(output)))
    called(torch.nn.Sequential(first, second), single())
    assert seen == [to if subject.value == "inner" else subject.value]
