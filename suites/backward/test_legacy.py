"""What only legacy backward hooks do: builtin layers, warnings, callables, and modules that are gone."""

import gc
import warnings
import weakref
from typing import Any, List, Tuple

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause import Reading, clause
from fixtures.subject import Subject

DOCS = "docs: torch.nn.Module.register_backward_hook"
FUTURE = "https://github.com/pytorch/pytorch/pull/127689"
#: Up to 1.7 the docs promised the gradients of the inputs, and warned that modules of several operations may differ.
PROMISE = "The docs no longer say what a legacy hook is given, only that it is deprecated and going to change."
FEW = st.integers(1, 3)


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
    note=PROMISE + " In all versions a matrix has bias, input, weight; others without bias the product.",
    readings=(
        Reading("since 2.1", ">=2.1", "1-D, 3-D, 4-D inputs: the product alone.", value=()),
        Reading("since 1.12", ">=1.12,<2.1", "1-D, 4-D inputs with bias: the sum of product and bias.", value=(1, 4)),
        Reading("first", "<1.12", "1-D, 3-D, 4-D inputs with bias: the sum of product and bias.", value=(1, 3, 4)),
    ),
    witness={"batches": [[], [5, 4]], "features": (3, 2), "bias": True},
    covers=(
        "module_backward.legacy.linear_bias_1d",
        "module_backward.legacy.linear_bias_2d",
        "module_backward.legacy.linear_bias_3d",
        "module_backward.legacy.linear_nobias_2d",
        "module_backward.legacy.linear_nobias_3d",
    ),
)
@given(
    batches=st.lists(st.lists(FEW, max_size=3), min_size=1, max_size=2),
    features=st.tuples(FEW, FEW),
    bias=st.booleans(),
)
def test_linear(subject: Subject, batches: List[List[int]], features: Tuple[int, int], bias: bool) -> None:
    import torch

    ins, outs = features
    for batch in batches:
        rows = 1
        for length in batch:
            rows *= length
        if len(batch) == 1:
            due = [[outs]] * bias + [[rows, ins], [ins, outs]]
        elif bias and len(batch) + 1 in subject.value:
            due = [[*batch, outs], [outs]]
        else:
            due = [[rows, outs]]
        assert shapes(lambda: torch.nn.Linear(ins, outs, bias=bias), *batch, ins) == (due, [[*batch, outs]])


@clause(
    "backward.legacy.convolution",
    says="The legacy hook of a Conv2d is given the gradients of input, weight and bias.",
    source=DOCS,
    note=PROMISE,
    readings=(
        Reading("of the operation", "", "None in place of a bias that is not there.", value=3),
        Reading("of the module", "never", "The input's alone.", value=1),
    ),
    witness={"batch": 1, "channels": (1, 2), "size": 5, "kernel": 3, "bias": True},
    covers=("module_backward.legacy.conv2d_bias", "module_backward.legacy.conv2d_nobias"),
)
@given(batch=FEW, channels=st.tuples(FEW, FEW), size=st.integers(3, 5), kernel=FEW, bias=st.booleans())
def test_convolution(
    subject: Subject, batch: int, channels: Tuple[int, int], size: int, kernel: int, bias: bool
) -> None:
    import torch

    ins, outs = channels
    due = [[batch, ins, size, size], [outs, ins, kernel, kernel], [outs] if bias else None]
    left = size - kernel + 1
    seen = shapes(lambda: torch.nn.Conv2d(ins, outs, kernel, bias=bias), batch, ins, size, size)
    assert seen == (due[: subject.value], [[batch, outs, left, left]])


@clause(
    "backward.legacy.convolution_1d",
    says="The legacy hook of a Conv1d is given the gradients of input, weight and bias.",
    source=DOCS,
    note=PROMISE,
    readings=(
        Reading("of the convolution", ">=1.11", "Input, weight, bias.", value=True),
        Reading("of a reshape", "<1.11", "One four-dimensional gradient of an inner result.", value=False),
    ),
    witness={"batch": 1, "channels": (1, 2), "size": 5, "kernel": 3, "bias": True},
    covers=("module_backward.legacy.conv1d_bias",),
)
@given(batch=FEW, channels=st.tuples(FEW, FEW), size=st.integers(3, 5), kernel=FEW, bias=st.booleans())
def test_convolution_1d(
    subject: Subject, batch: int, channels: Tuple[int, int], size: int, kernel: int, bias: bool
) -> None:
    import torch

    ins, outs = channels
    left = size - kernel + 1
    due = [[batch, ins, size], [outs, ins, kernel], [outs] if bias else None]
    seen = shapes(lambda: torch.nn.Conv1d(ins, outs, kernel, bias=bias), batch, ins, size)
    assert seen == (due if subject.value else [[batch, outs, 1, left]], [[batch, outs, left]])


@clause(
    "backward.legacy.norm",
    says="The legacy hook of a LayerNorm is given the gradients of input, weight and bias.",
    source="measured",
    readings=(
        Reading("one output", ">=1.10", "grad_output has one entry.", value=[]),
        Reading("three outputs", "<1.10", "grad_output has two more, None, for inner results.", value=[None, None]),
    ),
    witness={"batch": [2], "size": [3], "affine": True},
    covers=("module_backward.legacy.layernorm",),
)
@given(batch=st.lists(FEW, max_size=2), size=st.lists(FEW, min_size=1, max_size=2), affine=st.booleans())
def test_norm(subject: Subject, batch: List[int], size: List[int], affine: bool) -> None:
    import torch

    seen = shapes(lambda: torch.nn.LayerNorm(size, elementwise_affine=affine), *batch, *size)
    assert seen == ([[*batch, *size]] + [size if affine else None] * 2, [[*batch, *size], *subject.value])


@clause(
    "backward.legacy.loss",
    says="The legacy hook of an MSELoss is given the gradient of the input, and None for the target.",
    source="measured",
    readings=(
        Reading("with target", ">=1.7", "Two entries.", value=[None]),
        Reading("without", "<1.7", "One entry.", value=[]),
    ),
    witness={"size": [2], "reduction": "mean"},
    covers=("module_backward.legacy.mseloss",),
)
@given(size=st.lists(FEW, max_size=3), reduction=st.sampled_from(["mean", "sum", "none"]))
def test_loss(subject: Subject, size: List[int], reduction: str) -> None:
    import torch

    class Loss(torch.nn.MSELoss):
        def forward(self, x: Any) -> Any:
            return super().forward(x, torch.zeros(size))

    seen = shapes(lambda: Loss(reduction=reduction), *size)
    assert seen == ([size, *subject.value], [size if reduction == "none" else []])


@clause(
    "backward.legacy.recurrent",
    says="The legacy hook of an LSTM is given the gradients of whichever operation torch makes of it.",
    source="measured",
    readings=(
        Reading("one operation", ">=2.0", "Of the last layer: input, four parameters, two states.", value=True),
        Reading("the last step", "<2.0", "One gradient for each step in time.", value=False),
    ),
    witness={"steps": 4, "batch": 1, "sizes": (2, 3), "layers": 1, "bias": True},
    covers=("module_backward.legacy.lstm",),
)
@given(steps=st.integers(1, 4), batch=FEW, sizes=st.tuples(FEW, FEW), layers=st.integers(1, 2), bias=st.booleans())
def test_recurrent(subject: Subject, steps: int, batch: int, sizes: Tuple[int, int], layers: int, bias: bool) -> None:
    import torch

    ins, outs = sizes
    seen = shapes(lambda: torch.nn.LSTM(ins, outs, layers, bias=bias), steps, batch, ins)
    if subject.value:
        width = ins if layers == 1 else outs
        parameters = [[4 * outs, width], [4 * outs, outs]] + [[4 * outs] if bias else None] * 2
        assert seen == ([[steps, batch, width], *parameters, None, None], [[steps, batch, outs], None, None])
    else:
        assert seen == ([[batch, outs]] * steps, [[steps, batch, outs]])


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
