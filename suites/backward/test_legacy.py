"""What only legacy backward hooks do: builtin layers, warnings, callables, and modules that are gone."""

import gc
import warnings
import weakref
from typing import Any, List, Tuple

from fixtures.clause import Reading, clause
from fixtures.subject import Subject

DOCS = "docs: torch.nn.Module.register_backward_hook"
FUTURE = "https://github.com/pytorch/pytorch/pull/127689"
#: Up to 1.7 the docs promised the gradients of the inputs, and warned that modules of several operations may differ.
PROMISE = "The docs no longer say what a legacy hook is given, only that it is deprecated and going to change."
#: What all versions agree on for Linear: bias and 2-D input; no bias and 2-D, 3-D input.
SAME = [([[2], [4, 3], [3, 2]], [[4, 2]]), ([[4, 3], [3, 2]], [[4, 2]]), ([[20, 2]], [[5, 4, 2]])]


def shapes(make: Any, *size: int) -> Any:
    """Shapes of (grad_input, grad_output) that the legacy hook of a layer is given."""
    import torch

    seen: List[Any] = []

    def hook(module: Any, *grads: Any) -> None:
        seen.append(tuple([None if grad is None else list(grad.shape) for grad in one] for one in grads))

    layer = make()
    layer.register_backward_hook(hook)
    out = layer(torch.ones(size, requires_grad=True) * 1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        (out[0] if isinstance(out, tuple) else out).sum().backward()
    (grads,) = seen
    return grads


@clause(
    "backward.legacy.linear",
    says="The legacy hook of a Linear has an order and shapes that depend on its bias and its input.",
    source=DOCS,
    note=PROMISE,
    readings=(
        Reading(
            "since 2.1",
            ">=2.1",
            "1-D, 3-D inputs: the product alone.",
            value=[([[1, 2]], [[2]]), *SAME[:1], ([[20, 2]], [[5, 4, 2]]), *SAME[1:]],
        ),
        Reading(
            "since 1.12",
            ">=1.12,<2.1",
            "3-D inputs: the flattened product.",
            value=[([[2], [2]], [[2]]), *SAME[:1], ([[20, 2]], [[5, 4, 2]]), *SAME[1:]],
        ),
        Reading(
            "first",
            "<1.12",
            "1-D, 3-D inputs with bias: the sum of product and bias.",
            value=[([[2], [2]], [[2]]), *SAME[:1], ([[5, 4, 2], [2]], [[5, 4, 2]]), *SAME[1:]],
        ),
    ),
    covers=(
        "module_backward.legacy.linear_bias_1d",
        "module_backward.legacy.linear_bias_2d",
        "module_backward.legacy.linear_bias_3d",
        "module_backward.legacy.linear_nobias_2d",
        "module_backward.legacy.linear_nobias_3d",
    ),
)
def test_linear(subject: Subject) -> None:
    import torch

    def with_bias() -> Any:
        return torch.nn.Linear(3, 2)

    def without() -> Any:
        return torch.nn.Linear(3, 2, bias=False)

    biased = [shapes(with_bias, *size) for size in ((3,), (4, 3), (5, 4, 3))]
    assert biased + [shapes(without, *size) for size in ((4, 3), (5, 4, 3))] == subject.value


@clause(
    "backward.legacy.convolution",
    says="The legacy hook of a Conv2d is given the gradients of input, weight and bias.",
    source=DOCS,
    note=PROMISE,
    readings=(
        Reading(
            "of the operation",
            "",
            "None in place of a bias that is not there.",
            value=[([[1, 1, 5, 5], [2, 1, 3, 3], last], [[1, 2, 3, 3]]) for last in ([2], None)],
        ),
        Reading("of the module", "never", "The input's alone.", value=[([[1, 1, 5, 5]], [[1, 2, 3, 3]])] * 2),
    ),
    covers=("module_backward.legacy.conv2d_bias", "module_backward.legacy.conv2d_nobias"),
)
def test_convolution(subject: Subject) -> None:
    import torch

    assert [shapes(lambda bias=bias: torch.nn.Conv2d(1, 2, 3, bias=bias), 1, 1, 5, 5) for bias in (True, False)] == (
        subject.value
    )


@clause(
    "backward.legacy.convolution_1d",
    says="The legacy hook of a Conv1d is given the gradients of input, weight and bias.",
    source=DOCS,
    note=PROMISE,
    readings=(
        Reading(
            "of the convolution", ">=1.11", "Input, weight, bias.", value=([[1, 1, 5], [2, 1, 3], [2]], [[1, 2, 3]])
        ),
        Reading(
            "of a reshape",
            "<1.11",
            "One four-dimensional gradient of an inner result.",
            value=([[1, 2, 1, 3]], [[1, 2, 3]]),
        ),
    ),
    covers=("module_backward.legacy.conv1d_bias",),
)
def test_convolution_1d(subject: Subject) -> None:
    import torch

    assert shapes(lambda: torch.nn.Conv1d(1, 2, 3), 1, 1, 5) == subject.value


@clause(
    "backward.legacy.norm",
    says="The legacy hook of a LayerNorm is given the gradients of input, weight and bias.",
    source="measured",
    readings=(
        Reading("one output", ">=1.10", "grad_output has one entry.", value=([[2, 3], [3], [3]], [[2, 3]])),
        Reading(
            "three outputs",
            "<1.10",
            "grad_output has two more, None, for inner results.",
            value=([[2, 3], [3], [3]], [[2, 3], None, None]),
        ),
    ),
    covers=("module_backward.legacy.layernorm",),
)
def test_norm(subject: Subject) -> None:
    import torch

    assert shapes(lambda: torch.nn.LayerNorm(3), 2, 3) == subject.value


@clause(
    "backward.legacy.loss",
    says="The legacy hook of an MSELoss is given the gradient of the input, and None for the target.",
    source="measured",
    readings=(
        Reading("with target", ">=1.7", "Two entries.", value=([[2], None], [[]])),
        Reading("without", "<1.7", "One entry.", value=([[2]], [[]])),
    ),
    covers=("module_backward.legacy.mseloss",),
)
def test_loss(subject: Subject) -> None:
    import torch

    class Loss(torch.nn.MSELoss):
        def forward(self, x: Any) -> Any:
            return super().forward(x, torch.zeros(2))

    assert shapes(Loss, 2) == subject.value


@clause(
    "backward.legacy.recurrent",
    says="The legacy hook of an LSTM is given the gradients of whichever operation torch makes of it.",
    source="measured",
    readings=(
        Reading(
            "one operation",
            ">=2.0",
            "Input, four parameters, two states.",
            value=([[4, 1, 2], [12, 2], [12, 3], [12], [12], None, None], [[4, 1, 3], None, None]),
        ),
        Reading("the last step", "<2.0", "One gradient for each step in time.", value=([[1, 3]] * 4, [[4, 1, 3]])),
    ),
    covers=("module_backward.legacy.lstm",),
)
def test_recurrent(subject: Subject) -> None:
    import torch

    assert shapes(lambda: torch.nn.LSTM(2, 3), 4, 1, 2) == subject.value


@clause(
    "backward.legacy.warnings",
    says="A call with a legacy hook warns of deprecation where the hook cannot see the module as a whole.",
    source=(DOCS, FUTURE, "release 1.8: full backward hooks"),
    note="Also for a leaf input and for a factor that is a constant: the check looks at the nodes behind the output's.",
    readings=(
        Reading("FutureWarning", ">=2.4", "Once in each forward.", value=["FutureWarning"] * 7 + [None]),
        Reading("UserWarning", ">=1.8,<2.4", "Once in each forward.", value=["UserWarning"] * 7 + [None]),
        Reading("no warning", "<1.8", "There was nothing else to use.", value=[None] * 8),
    ),
    covers=(
        "module_backward.legacy.warn_const_operand",
        "module_backward.legacy.warn_dict_out",
        "module_backward.legacy.warn_leaf_input",
        "module_backward.legacy.warn_linear",
        "module_backward.legacy.warn_multi_node",
        "module_backward.legacy.warn_nontensor_in",
        "module_backward.legacy.warn_two_nodes",
    ),
)
def test_warnings(subject: Subject) -> None:
    import torch

    class Module(torch.nn.Module):
        def __init__(self, function: Any) -> None:
            super().__init__()
            self.function = function

        def forward(self, *args: Any) -> Any:
            return self.function(*args)

    def category(module: Any, *args: Any) -> Any:
        module.register_backward_hook(lambda *arguments: None)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            module(*args)
        (name,) = {one.category.__name__ for one in caught} or {None}
        return name

    leaf = torch.ones(2, requires_grad=True)
    inner = leaf * 1
    assert [
        category(Module(lambda x: x * 2), inner),
        category(Module(lambda x: {"y": x.exp()}), inner),
        category(torch.nn.ReLU(), leaf),
        category(torch.nn.Linear(2, 2), inner),
        category(Module(lambda x: x.exp().exp()), inner),
        category(Module(lambda x, number: x.exp()), inner, 3),
        category(Module(lambda x: (x.exp(), x.sin())), inner),
        category(torch.nn.ReLU(), inner),
    ] == subject.value


@clause(
    "backward.legacy.dead_module",
    says="A legacy hook does not keep its module alive; backward() through a dead module's hook raises.",
    source="https://github.com/pytorch/pytorch/pull/80139",
    readings=(
        Reading("RuntimeError", ">=1.13", "The hook holds the module weakly.", value=(False, "RuntimeError", 0)),
        Reading("kept", "<1.13", "The output keeps the module, and the hook runs.", value=(True, "called", 1)),
    ),
    covers=("module_backward.legacy.dead_module", "module_backward.mem.legacy.module_kept_by_output"),
)
def test_dead_module(subject: Subject) -> None:
    import torch

    calls: List[Any] = []

    def call() -> Tuple[Any, Any]:
        module = torch.nn.Linear(2, 2)
        module.register_backward_hook(lambda module, grad_input, grad_output: calls.append(1))
        return module(torch.ones(1, 2)), weakref.ref(module)

    out, module = call()
    gc.collect()
    alive, seen = module() is not None, "called"
    try:
        out.sum().backward()
    except RuntimeError as error:
        seen = type(error).__name__
    assert (alive, seen, len(calls)) == subject.value


@clause(
    "backward.legacy.not_callable",
    says="A legacy hook that cannot be called is accepted at registration.",
    source="measured",
    readings=(
        Reading("until backward", ">=1.13", "The forward accepts it too.", value=["registered", "called", "TypeError"]),
        Reading("until forward", "<1.13", "The forward raises TypeError.", value=["registered", "TypeError"]),
    ),
    covers=("module_backward.err.legacy.not_callable",),
)
def test_not_callable(subject: Subject) -> None:
    import torch

    module, seen = torch.nn.Linear(2, 2), []
    try:
        module.register_backward_hook(3)
        seen.append("registered")
        out = module(torch.ones(1, 2, requires_grad=True))
        seen.append("called")
        out.sum().backward()
        seen.append("done")
    except (TypeError, RuntimeError) as error:
        seen.append(type(error).__name__)
    assert seen == subject.value
