"""Full backward hooks under grad modes, checkpoints and forward mode; what they warn of and what they keep alive."""

import gc
import warnings
import weakref
from typing import Any, List

from fixtures.clause import Reading, clause
from fixtures.subject import Subject

DOCS = "docs: torch.nn.Module.register_full_backward_hook"
FULL = "torch.nn.Module.register_full_backward_hook"
PRE = "torch.nn.Module.register_full_backward_pre_hook"
UNDER_NO_GRAD = "https://github.com/pytorch/pytorch/issues/59901"
CLEARING = "https://github.com/pytorch/pytorch/pull/82788"
WARNED = "https://github.com/pytorch/pytorch/pull/155339"


def show(grads: Any) -> List[Any]:
    return [None if grad is None else grad.tolist() for grad in grads]


def line(calls: List[Any], kind: str = "full_backward") -> Any:
    """The hooked module x -> 2 * x; its hook puts what it is given into `calls`."""
    import torch

    class Line(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = torch.nn.Parameter(torch.tensor(2.0))

        def forward(self, x: Any) -> Any:
            return self.weight * x

    module = Line()
    getattr(module, f"register_{kind}_hook")(lambda module, *grads: calls.append([show(one) for one in grads]))
    return module


@clause(
    "backward.modes.frozen_parameters",
    says="A full hook runs where the input needs a gradient, also when every parameter is frozen.",
    source=DOCS,
    needs=FULL,
    readings=(
        Reading("called", "", "With the gradients of the input and the output.", value=[[[2.0], [1.0]]]),
        Reading("silent", "never", "There is nothing to learn.", value=[]),
    ),
    covers=("module_backward.fire.full.frozen_params",),
)
def test_frozen_parameters(subject: Subject) -> None:
    import torch

    calls: List[Any] = []
    module = line(calls)
    module.weight.requires_grad_(False)
    module(torch.tensor(3.0, requires_grad=True)).backward()
    assert calls == subject.value


@clause(
    "backward.modes.no_grad_inside",
    says="Where forward computes under no_grad the full hook does not run, and the output needs no gradient.",
    source=DOCS,
    needs=FULL,
    readings=(
        Reading("silent", "", "The rest of the network is right.", value=(False, [], 1.0)),
        Reading("called", "never", "The hook has its own grad mode.", value=(True, [[[2.0], [1.0]]], 3.0)),
    ),
    covers=("module_backward.fire.full.no_grad_inside_forward",),
)
def test_no_grad_inside(subject: Subject) -> None:
    import torch

    calls: List[Any] = []
    module, x = line(calls), torch.tensor(3.0, requires_grad=True)
    module.forward = torch.no_grad()(module.forward)
    out = module(x)
    (out + x).backward()
    assert (out.requires_grad, calls, x.grad.item()) == subject.value


@clause(
    "backward.modes.inference",
    says="A module with a full hook can be called in inference mode.",
    source=UNDER_NO_GRAD,
    needs=(FULL, "torch.inference_mode"),
    readings=(
        Reading("accepted", ">=1.10", "The output is an inference tensor without gradient.", value=(False, True)),
        Reading("refused", "<1.10", "The forward raises RuntimeError.", value="RuntimeError"),
    ),
    covers=("module_backward.fire.full.inference_mode", "graph.full.inference_mode_forward"),
)
def test_inference(subject: Subject) -> None:
    import torch

    module, x = line([]), torch.tensor(3.0, requires_grad=True)
    with torch.inference_mode():
        try:
            out = module(x)
            seen: Any = (out.requires_grad, out.is_inference())
        except RuntimeError as error:
            seen = type(error).__name__
    assert seen == subject.value


@clause(
    "backward.modes.called_in_hook",
    says="A full hook may call its module: without create_graph grad mode is off there, and nothing recurs.",
    source=("measured", UNDER_NO_GRAD),
    needs=FULL,
    readings=(
        Reading("plain", ">=1.10", "The output needs no gradient.", value=[False]),
        Reading("RuntimeError", ">=1.9,<1.10", "The call in the hook fails.", value="RuntimeError"),
        Reading("AttributeError", "<1.9", "The call in the hook fails.", value="AttributeError"),
    ),
    covers=("module_backward.fire.full.forward_in_hook",),
)
def test_called_in_hook(subject: Subject) -> None:
    import torch

    calls: List[Any] = []
    module, x = torch.nn.Tanh(), torch.ones((), requires_grad=True)
    module.register_full_backward_hook(lambda module, *grads: calls.append(module(x).requires_grad))
    seen: Any = calls
    try:
        module(x).backward()
    except (AttributeError, RuntimeError) as error:
        seen = type(error).__name__
    assert seen == subject.value


@clause(
    "backward.modes.checkpoint",
    says="The full hook of a module that is run by checkpoint runs once in each backward.",
    source=("docs: torch.utils.checkpoint.checkpoint", UNDER_NO_GRAD),
    needs=FULL,
    readings=(
        Reading("once", ">=1.10", "As without a checkpoint.", value=[[[[2.0], [1.0]]], 3.0]),
        Reading("RuntimeError", ">=1.9,<1.10", "The first forward, under no_grad, fails.", value="RuntimeError"),
        Reading("AttributeError", "<1.9", "The first forward, under no_grad, fails.", value="AttributeError"),
    ),
    covers=("module_backward.fire.full.checkpoint", "graph.full.checkpoint_reentrant"),
)
def test_checkpoint(subject: Subject) -> None:
    from torch import tensor
    from torch.utils.checkpoint import checkpoint

    calls: List[Any] = []
    module = line(calls)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            checkpoint(module, tensor(3.0, requires_grad=True)).backward()
        seen: Any = [calls, module.weight.grad.item()]
    except (AttributeError, RuntimeError) as error:
        seen = type(error).__name__
    assert seen == subject.value


@clause(
    "backward.modes.checkpoint_not_reentrant",
    says="So it does with use_reentrant=False: the second forward inside backward adds no call.",
    source="docs: torch.utils.checkpoint.checkpoint",
    needs=(FULL, "torch.utils.checkpoint.checkpoint(use_reentrant)"),
    readings=(
        Reading("once", "", "As without a checkpoint.", value=[[[[2.0], [1.0]]], 3.0]),
        Reading("twice", "never", "One call for each forward.", value=[[[[2.0], [1.0]]] * 2, 3.0]),
    ),
    covers=("module_backward.fire.full.checkpoint", "graph.full.checkpoint_nonreentrant"),
)
def test_checkpoint_not_reentrant(subject: Subject) -> None:
    from torch import tensor
    from torch.utils.checkpoint import checkpoint

    calls: List[Any] = []
    module = line(calls)
    checkpoint(module, tensor(3.0, requires_grad=True), use_reentrant=False).backward()
    assert [calls, module.weight.grad.item()] == subject.value


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


def warned(kind: str, calls: int = 2) -> List[str]:
    """Categories of the warnings in backward passes through a hooked module whose input needs no gradient."""
    import torch

    module = line([], kind)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(calls):
            module(torch.tensor(3.0)).backward()
    return [one.category.__name__ for one in caught]


@clause(
    "backward.modes.warning_without_input",
    says="A full hook that runs although no input needs a gradient gives a UserWarning in each backward.",
    source=(DOCS, WARNED),
    needs=FULL,
    readings=(
        Reading("warned", ">=2.8", "One for each pass.", value=["UserWarning"] * 2),
        Reading("in silence", "<2.8", "No warning.", value=[]),
    ),
    covers=("module_backward.fire.full.no_input_rg_warn",),
)
def test_warning_without_input(subject: Subject) -> None:
    assert warned("full_backward") == subject.value


@clause(
    "backward.modes.pre_warning_without_input",
    says="A pre-hook alone gives no warning where no input needs a gradient.",
    source=("https://github.com/pytorch/pytorch/issues/189093", "https://github.com/pytorch/pytorch/pull/190685"),
    needs=PRE,
    readings=(
        Reading("the full hook's", ">=2.8,<2.14", "The warning for full hooks is given.", value=["UserWarning"] * 2),
        Reading("no warning", "", "As it is no full hook.", value=[]),
    ),
    covers=("module_backward.fire.pre.no_input_rg_warn", "graph.full.prehook_only_no_input_grad_warning"),
)
def test_pre_warning_without_input(subject: Subject) -> None:
    assert warned("full_backward_pre") == subject.value


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
