"""Full backward hooks under grad modes, checkpoints and forward mode; what they warn of and what they keep alive."""

import gc
import warnings
import weakref
from typing import Any, List

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause import Reading, clause
from fixtures.draw import NUMBERS
from fixtures.subject import Subject

DOCS = "docs: torch.nn.Module.register_full_backward_hook"
FULL = "torch.nn.Module.register_full_backward_hook"
PRE = "torch.nn.Module.register_full_backward_pre_hook"
UNDER_NO_GRAD = "https://github.com/pytorch/pytorch/issues/59901"
CLEARING = "https://github.com/pytorch/pytorch/pull/82788"
WARNED = "https://github.com/pytorch/pytorch/pull/155339"


def show(grads: Any) -> List[Any]:
    return [None if grad is None else grad.tolist() for grad in grads]


FEW = st.integers(1, 3)
WEIGHTS = st.lists(NUMBERS, min_size=1, max_size=3)


def line(calls: List[Any], kind: str = "full_backward", weight: int = 2, hooks: int = 1) -> Any:
    """The hooked module x -> weight * x; its hooks put what they are given into `calls`."""
    import torch

    class Line(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = torch.nn.Parameter(torch.tensor(float(weight)))

        def forward(self, x: Any) -> Any:
            return self.weight * x

    module = Line()
    for _ in range(hooks):
        getattr(module, f"register_{kind}_hook")(lambda module, *grads: calls.append([show(one) for one in grads]))
    return module


def lines(calls: List[Any], weights: List[int], hooks: int) -> Any:
    """Such modules one behind the other."""
    import torch

    return torch.nn.Sequential(*(line(calls, weight=weight, hooks=hooks) for weight in weights))


def product(weights: List[int]) -> int:
    by = 1
    for weight in weights:
        by *= weight
    return by


def due(weights: List[int], hooks: int) -> List[Any]:
    """What the full hooks of `lines` are given in a pass from the output: the last module comes first."""
    seen, grad = [], 1.0
    for weight in reversed(weights):
        seen += [[[grad * weight], [grad]]] * hooks
        grad *= weight
    return seen


@clause(
    "backward.modes.frozen_parameters",
    says="A full hook runs where the input needs a gradient, whichever parameters are frozen.",
    source=DOCS,
    needs=FULL,
    readings=(
        Reading("called", "", "With the gradients of the input and the output.", value=True),
        Reading("silent", "never", "There is nothing to learn.", value=False),
    ),
    witness={"weights": [2], "frozen": [True], "hooks": 1},
    covers=("module_backward.fire.full.frozen_params",),
)
@given(weights=WEIGHTS, frozen=st.lists(st.booleans(), min_size=3, max_size=3), hooks=FEW)
def test_frozen_parameters(subject: Subject, weights: List[int], frozen: List[bool], hooks: int) -> None:
    import torch

    calls: List[Any] = []
    net = lines(calls, weights, hooks)
    for module, one in zip(net, frozen):
        module.weight.requires_grad_(not one)
    net(torch.tensor(3.0, requires_grad=True)).backward()
    assert calls == (due(weights, hooks) if subject.value or not all(frozen[: len(weights)]) else [])
    assert [module.weight.grad is None for module in net] == frozen[: len(weights)]


@clause(
    "backward.modes.no_grad_inside",
    says="Where forward computes under no_grad the full hook does not run, and the output needs no gradient.",
    source=DOCS,
    needs=FULL,
    readings=(
        Reading("silent", "", "The rest of the network is right.", value=False),
        Reading("called", "never", "The hook has its own grad mode.", value=True),
    ),
    witness={"weights": [2], "hooks": 1},
    covers=("module_backward.fire.full.no_grad_inside_forward",),
)
@given(weights=WEIGHTS, hooks=FEW)
def test_no_grad_inside(subject: Subject, weights: List[int], hooks: int) -> None:
    import torch

    calls: List[Any] = []
    net, x = lines(calls, weights, hooks), torch.tensor(3.0, requires_grad=True)
    net[-1].forward = torch.no_grad()(net[-1].forward)
    out = net(x)
    (out + x).backward()
    assert (out.requires_grad, len(calls), x.grad.item()) == (subject.value, len(weights) * hooks * subject.value, 1)
    # The modules before it are hooked as ever.
    net[:-1](x).backward()
    assert (x.grad.item(), calls) == (1 + product(weights[:-1]), due(weights[:-1], hooks))


@clause(
    "backward.modes.inference",
    says="A module with a full hook can be called in inference mode.",
    source=UNDER_NO_GRAD,
    needs=(FULL, "torch.inference_mode"),
    readings=(
        Reading("accepted", ">=1.10", "The output is an inference tensor without gradient.", value="accepted"),
        Reading("refused", "<1.10", "The forward raises RuntimeError.", value="RuntimeError"),
    ),
    witness={"weights": [2], "number": 3, "hooks": 1},
    covers=("module_backward.fire.full.inference_mode", "graph.full.inference_mode_forward"),
)
@given(weights=WEIGHTS, number=NUMBERS, hooks=FEW)
def test_inference(subject: Subject, weights: List[int], number: int, hooks: int) -> None:
    import torch

    calls: List[Any] = []
    net, x = lines(calls, weights, hooks), torch.tensor(float(number), requires_grad=True)
    with torch.inference_mode():
        try:
            out = net(x)
            seen = "accepted"
            assert (out.item(), out.requires_grad, out.is_inference()) == (number * product(weights), False, True)
        except RuntimeError as error:
            seen = type(error).__name__
    assert (seen, calls) == (subject.value, [])
    # The hooks run in a call outside.
    net(x).backward()
    assert calls == due(weights, hooks)


@clause(
    "backward.modes.called_in_hook",
    says="A full hook may call its module: without create_graph grad mode is off there, and nothing recurs.",
    source=("measured", UNDER_NO_GRAD),
    needs=FULL,
    readings=(
        Reading("plain", ">=1.10", "The output needs no gradient.", value="plain"),
        Reading("RuntimeError", ">=1.9,<1.10", "The call in the hook fails.", value="RuntimeError"),
        Reading("AttributeError", "<1.9", "The call in the hook fails.", value="AttributeError"),
    ),
    witness={"times": [1], "create_graph": False},
    covers=("module_backward.fire.full.forward_in_hook",),
)
@given(times=st.lists(FEW, min_size=1, max_size=3), create_graph=st.booleans())
def test_called_in_hook(subject: Subject, times: List[int], create_graph: bool) -> None:
    import torch

    calls: List[Any] = []
    module, x = torch.nn.Tanh(), torch.ones((), requires_grad=True)

    def hook_of(count: int) -> Any:
        return lambda module, *grads: calls.extend(module(x).requires_grad for _ in range(count))

    for count in times:
        module.register_full_backward_hook(hook_of(count))
    seen: Any = calls
    try:
        torch.autograd.grad(module(x), x, create_graph=create_graph)
    except (AttributeError, RuntimeError) as error:
        seen = type(error).__name__
    assert seen == ([create_graph] * sum(times) if subject.value == "plain" or create_graph else subject.value)


@clause(
    "backward.modes.checkpoint",
    says="The full hooks of modules that are run by checkpoint run once in each backward.",
    source=("docs: torch.utils.checkpoint.checkpoint", UNDER_NO_GRAD),
    needs=FULL,
    readings=(
        Reading("once", ">=1.10", "As without a checkpoint.", value="once"),
        Reading("RuntimeError", ">=1.9,<1.10", "The first forward, under no_grad, fails.", value="RuntimeError"),
        Reading("AttributeError", "<1.9", "The first forward, under no_grad, fails.", value="AttributeError"),
    ),
    witness={"weights": [2], "hooks": 1, "passes": 1},
    covers=("module_backward.fire.full.checkpoint", "graph.full.checkpoint_reentrant"),
)
@given(weights=WEIGHTS, hooks=FEW, passes=st.integers(1, 2))
def test_checkpoint(subject: Subject, weights: List[int], hooks: int, passes: int) -> None:
    from torch import tensor
    from torch.utils.checkpoint import checkpoint

    calls: List[Any] = []
    net = lines(calls, weights, hooks)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for _ in range(passes):
                checkpoint(net, tensor(3.0, requires_grad=True)).backward()
        seen = "once"
        assert calls == due(weights, hooks) * passes
        assert net[0].weight.grad.item() == 3 * product(weights[1:]) * passes
    except (AttributeError, RuntimeError) as error:
        seen = type(error).__name__
    assert seen == subject.value


@clause(
    "backward.modes.checkpoint_not_reentrant",
    says="So they do with use_reentrant=False: the second forward inside backward adds no call.",
    source="docs: torch.utils.checkpoint.checkpoint",
    needs=(FULL, "torch.utils.checkpoint.checkpoint(use_reentrant)"),
    readings=(
        Reading("once", "", "As without a checkpoint.", value=1),
        Reading("twice", "never", "One call for each forward.", value=2),
    ),
    witness={"weights": [2], "hooks": 1, "passes": 1},
    covers=("module_backward.fire.full.checkpoint", "graph.full.checkpoint_nonreentrant"),
)
@given(weights=WEIGHTS, hooks=FEW, passes=st.integers(1, 2))
def test_checkpoint_not_reentrant(subject: Subject, weights: List[int], hooks: int, passes: int) -> None:
    from torch import tensor
    from torch.utils.checkpoint import checkpoint

    calls: List[Any] = []
    net = lines(calls, weights, hooks)
    for _ in range(passes):
        checkpoint(net, tensor(3.0, requires_grad=True), use_reentrant=False).backward()
    assert calls == due(weights, hooks) * passes * subject.value
    assert net[0].weight.grad.item() == 3 * product(weights[1:]) * passes


@clause(
    "backward.modes.forward_ad",
    says="Forward-mode differentiation cannot pass a module with a full hook.",
    source=("note: notes/extending.html#forward-mode-ad", "measured"),
    needs=(FULL, "torch.autograd.forward_ad.dual_level"),
    readings=(
        Reading("NotImplementedError", ">=1.10", "The hook's node has no jvp.", value="NotImplementedError"),
        Reading("RuntimeError", ">=1.9,<1.10", "The hook's node is a view without forward AD.", value="RuntimeError"),
        Reading("no tangent", "<1.9", "Nothing is raised, and the tangent is lost.", value=None),
    ),
    covers=("module_backward.tf.forward_ad",),
)
def test_forward_ad(subject: Subject) -> None:
    import torch
    from torch.autograd import forward_ad

    module, x = line([]), torch.tensor(3.0, requires_grad=True)
    with forward_ad.dual_level():
        try:
            seen: Any = forward_ad.unpack_dual(module(forward_ad.make_dual(x, torch.tensor(1.0))))[1]
        except (NotImplementedError, RuntimeError) as error:
            seen = type(error).__name__
    assert seen == subject.value


def warned(kind: str, hooks: int, passes: List[bool]) -> List[List[str]]:
    """Categories of the warnings in each backward through a hooked module, whose input needs a gradient or not."""
    import torch

    module, seen = line([], kind, hooks=hooks), []
    for needs_grad in passes:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            module(torch.tensor(3.0, requires_grad=needs_grad)).backward()
        seen.append([one.category.__name__ for one in caught])
    return seen


@clause(
    "backward.modes.warning_without_input",
    says="Full hooks that run although no input needs a gradient give one UserWarning in each backward.",
    source=(DOCS, WARNED),
    needs=FULL,
    readings=(
        Reading("warned", ">=2.8", "One for each pass, however many hooks.", value=["UserWarning"]),
        Reading("in silence", "<2.8", "No warning.", value=[]),
    ),
    witness={"hooks": 1, "passes": [False]},
    covers=("module_backward.fire.full.no_input_rg_warn",),
)
@given(hooks=FEW, passes=st.lists(st.booleans(), min_size=1, max_size=4))
def test_warning_without_input(subject: Subject, hooks: int, passes: List[bool]) -> None:
    assert warned("full_backward", hooks, passes) == [[] if needs_grad else subject.value for needs_grad in passes]


@clause(
    "backward.modes.pre_warning_without_input",
    says="Pre-hooks alone give no warning where no input needs a gradient.",
    source=("https://github.com/pytorch/pytorch/issues/189093", "https://github.com/pytorch/pytorch/pull/190685"),
    needs=PRE,
    readings=(
        Reading("the full hook's", ">=2.8,<2.14", "The warning for full hooks is given.", value=["UserWarning"]),
        Reading("no warning", "", "As they are no full hooks.", value=[]),
    ),
    witness={"hooks": 1, "passes": [False]},
    covers=("module_backward.fire.pre.no_input_rg_warn", "graph.full.prehook_only_no_input_grad_warning"),
)
@given(hooks=FEW, passes=st.lists(st.booleans(), min_size=1, max_size=4))
def test_pre_warning_without_input(subject: Subject, hooks: int, passes: List[bool]) -> None:
    assert warned("full_backward_pre", hooks, passes) == [[] if needs_grad else subject.value for needs_grad in passes]


@clause(
    "backward.modes.gradients_released",
    says="After the hooks ran, nothing keeps the gradients of the output, though the output is kept.",
    source=CLEARING,
    needs=FULL,
    readings=(
        Reading("released", ">=1.13", "The tensor that the hook saw is gone.", value=False),
        Reading("kept", "<1.13", "It lives as long as the graph.", value=True),
    ),
    covers=("module_backward.mem.full.grad_output_released",),
)
def test_gradients_released(subject: Subject) -> None:
    import torch

    module, seen = torch.nn.Linear(1, 1), []
    module.register_full_backward_hook(lambda module, inputs, outputs: seen.append(weakref.ref(outputs[0])))
    out = module(torch.ones(1, requires_grad=True))
    (out * 2).sum().backward()
    gc.collect()
    assert (seen[0]() is not None) == subject.value


@clause(
    "backward.modes.graph_released",
    says="backward(create_graph=True) through a hooked module leaves no graph behind once .grad is cleared.",
    source=("https://github.com/pytorch/pytorch/issues/82528", CLEARING),
    needs=FULL,
    readings=(
        Reading("released", ">=1.13", "Five passes leave nothing.", value=0),
        Reading("leaked", "<1.13", "Five passes leave five graphs.", value=5),
    ),
    covers=("module_backward.issue.82528_leak_create_graph",),
)
def test_graph_released(subject: Subject) -> None:
    import torch

    marks: List[Any] = []

    class Mark:
        pass

    def run() -> None:
        module, x = line([]), torch.tensor(3.0, requires_grad=True)
        y = x * 1
        mark = Mark()
        y.grad_fn.metadata["mark"] = mark
        marks.append(weakref.ref(mark))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            (module(y) ** 2).backward(create_graph=True)
        x.grad = module.weight.grad = None

    for _ in range(5):
        run()
    gc.collect()
    assert sum(mark() is not None for mark in marks) == subject.value
