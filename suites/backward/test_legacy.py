"""Legacy backward hooks: what those of layers of torch are given, and what only they do."""

import gc
import warnings
import weakref
from typing import Any, List, Tuple

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import by_release, clause
from fixtures.judge.subject import Subject
from fixtures.stages.make import make
from suites.backward.sources import DEAD, LEGACY, OTHER_NODES
from suites.hooking import SOME
from suites.names import FUTURE

ABOUT = "register_backward_hook"

#: Up to 1.7 the docs promised the gradients of the inputs, and warned that modules of several operations may differ.
PROMISE = "The docs no longer say what a legacy hook is given, only that it is deprecated and going to change."


def shapes(new: Any, *size: int) -> Any:
    """Shapes of (grad_input, grad_output) that the legacy hook of a layer is given."""

    seen: List[Any] = []

    def hook(module: Any, *grads: Any) -> None:
        seen.append(tuple([None if grad is None else list(grad.shape) for grad in one] for one in grads))

    layer = new()
    layer.register_backward_hook(hook)
    out = layer(make.ones(size, requires_grad=True) * 1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        (out[0] if isinstance(out, tuple) else out).sum().backward()
    (grads,) = seen
    return grads


@clause(
    "backward.legacy.linear",
    says="For a 2-D x nn.Linear(3, 2) gives a legacy backward hook the gradients of bias, x and weight.T.",
    where=("each is used once, gets a gradient", "there is no other hook"),
    source="measured",
    asked="register_backward_hook fully connected layer grad_input order "
    "shape transposed weight addmm grad_input wrong shape order Linear",
    matters_if="backward ?linear ?not_a_matrix",
    note=PROMISE + " In all versions a matrix has bias, input, weight; others without bias the product.",
    readings=by_release(
        "silent",
        ("2.1", "product alone", ()),
        "For a contiguous input that is not 2-D nn.Linear gives a legacy backward hook one gradient.",
        ("1.12", "sum for 1-D and 4-D", (1, 4), "too"),
        "For 1-D and 4-D inputs nn.Linear with a bias gives a legacy backward hook those of product and bias.",
        ("", "sum for 1-D, 3-D and 4-D", (1, 3, 4), "too"),
        "For 1-D, 3-D and 4-D inputs nn.Linear with a bias gives a legacy backward hook those of product and bias.",
    ),
    witness={"batches": [[], [5, 4]], "features": (3, 2), "bias": True},
)
@given(
    batches=st.lists(st.lists(SOME, max_size=3), min_size=1, max_size=2),
    features=st.tuples(SOME, SOME),
    bias=st.booleans(),
)
def test_linear(subject: Subject, batches: List[List[int]], features: Tuple[int, int], bias: bool) -> None:

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
        assert shapes(lambda: make.Linear(ins, outs, bias=bias), *batch, ins) == (due, [[*batch, outs]])


@clause(
    "backward.legacy.convolution",
    says="nn.Conv2d(2, 3, 3) gives a legacy backward hook gradients of x, weight, bias.",
    where=("x is a float32 batch", "each gets a gradient, is used once, no other hook"),
    source="measured",
    asked="register_backward_hook on cnn layer three grad_input entries order image kernel bias",
    note=PROMISE,
    value=3,
    wrong={"of the module": 1},
    witness={"batch": 1, "channels": (1, 2), "size": 5, "kernel": 3, "bias": True},
)
@given(batch=SOME, channels=st.tuples(SOME, SOME), size=st.integers(3, 5), kernel=SOME, bias=st.booleans())
def test_convolution(
    subject: Subject, batch: int, channels: Tuple[int, int], size: int, kernel: int, bias: bool
) -> None:

    ins, outs = channels
    due = [[batch, ins, size, size], [outs, ins, kernel, kernel], [outs] if bias else None]
    left = size - kernel + 1
    seen = shapes(lambda: make.Conv2d(ins, outs, kernel, bias=bias), batch, ins, size, size)
    assert seen == (due[: subject.value], [[batch, outs, left, left]])


@clause(
    "backward.legacy.convolution_1d",
    says="nn.Conv1d(2, 3, 3) gives a legacy backward hook gradients of x, weight, bias.",
    where=("x is a float32 batch", "each gets a gradient, is used once, no other hook"),
    source="measured",
    asked="register_backward_hook on temporal conv audio layer grad_input order signal kernel bias",
    matters_if="backward ?convolution",
    note=PROMISE,
    readings=by_release(
        "silent",
        ("1.11", "of the convolution", True),
        "nn.Conv1d gives a legacy backward hook the gradients of the convolution.",
        ("", "of a reshape", False),
        "nn.Conv1d gives a legacy backward hook one 4-D gradient, of an inner result.",
    ),
    witness={"batch": 1, "channels": (1, 2), "size": 5, "kernel": 3, "bias": True},
)
@given(batch=SOME, channels=st.tuples(SOME, SOME), size=st.integers(3, 5), kernel=SOME, bias=st.booleans())
def test_convolution_1d(
    subject: Subject, batch: int, channels: Tuple[int, int], size: int, kernel: int, bias: bool
) -> None:

    ins, outs = channels
    left = size - kernel + 1
    due = [[batch, ins, size], [outs, ins, kernel], [outs] if bias else None]
    seen = shapes(lambda: make.Conv1d(ins, outs, kernel, bias=bias), batch, ins, size)
    assert seen == (due if subject.value else [[batch, outs, 1, left]], [[batch, outs, left]])


@clause(
    "backward.legacy.norm",
    says="nn.LayerNorm(2) gives a legacy backward hook the gradients of input, weight and bias.",
    where=("each is used once and gets a gradient", "there is no other hook"),
    source="measured",
    asked="register_backward_hook on layernorm transformer what are three grad_input entries gamma beta",
    matters_if="backward ?layer_norm",
    readings=by_release(
        "silent",
        ("1.10", "one output", []),
        "nn.LayerNorm gives a legacy backward hook a grad_output of one entry.",
        ("", "three outputs", [None, None], "too"),
        "nn.LayerNorm gives a legacy backward hook a grad_output with two more entries, None.",
    ),
    witness={"batch": [2], "size": [3], "affine": True},
)
@given(batch=st.lists(SOME, max_size=2), size=st.lists(SOME, min_size=1, max_size=2), affine=st.booleans())
def test_norm(subject: Subject, batch: List[int], size: List[int], affine: bool) -> None:

    seen = shapes(lambda: make.LayerNorm(size, elementwise_affine=affine), *batch, *size)
    assert seen == ([[*batch, *size]] + [size if affine else None] * 2, [[*batch, *size], *subject.value])


@clause(
    "backward.legacy.loss",
    says="nn.MSELoss()(x, t) gives a legacy backward hook (gradient of x, None) as grad_input.",
    where=("only x requires grad, used once, one shape", "there is no other hook"),
    source="measured",
    asked="register_backward_hook on criterion mean squared error grad_input second entry missing for target",
    matters_if="backward ?loss",
    readings=by_release(
        "silent",
        ("1.7", "with target", [None]),
        "nn.MSELoss gives a legacy backward hook an entry for the target too.",
        ("", "without target", []),
        "nn.MSELoss gives a legacy backward hook the gradient of the input alone.",
    ),
    witness={"size": [2], "reduction": "mean"},
)
@given(size=st.lists(SOME, max_size=3), reduction=st.sampled_from(["mean", "sum", "none"]))
def test_loss(subject: Subject, size: List[int], reduction: str) -> None:
    import torch

    class Loss(torch.nn.MSELoss):
        def forward(self, x: Any) -> Any:
            return super().forward(x, make.zeros(size))

    seen = shapes(lambda: Loss(reduction=reduction), *size)
    assert seen == ([size, *subject.value], [size if reduction == "none" else []])


@clause(
    "backward.legacy.recurrent",
    says="nn.LSTM gives a legacy backward hook 7 entries: those of its last layer.",
    where=("the input is a float32 batch", "only num_layers or bias is set; oneDNN is on"),
    source="measured",
    asked="register_backward_hook on rnn grad_input seven tensors what do they mean hidden cell weights",
    matters_if="backward ?lstm",
    readings=by_release(
        "silent",
        ("2.0", "the last layer", True),
        "nn.LSTM gives a legacy backward hook 7 entries: input, four parameters, two states.",
        ("", "each step", False),
        "nn.LSTM gives a legacy backward hook one gradient for each step in time.",
    ),
    witness={"steps": 4, "batch": 1, "sizes": (2, 3), "layers": 1, "bias": True},
)
@given(steps=st.integers(1, 4), batch=SOME, sizes=st.tuples(SOME, SOME), layers=st.integers(1, 2), bias=st.booleans())
def test_recurrent(subject: Subject, steps: int, batch: int, sizes: Tuple[int, int], layers: int, bias: bool) -> None:

    ins, outs = sizes
    seen = shapes(lambda: make.LSTM(ins, outs, layers, bias=bias), steps, batch, ins)
    if subject.value:
        width = ins if layers == 1 else outs
        parameters = [[4 * outs, width], [4 * outs, outs]] + [[4 * outs] if bias else None] * 2
        assert seen == ([[steps, batch, width], *parameters, None, None], [[steps, batch, outs], None, None])
    else:
        assert seen == ([[batch, outs]] * steps, [[steps, batch, outs]])


@clause(
    "backward.legacy.warnings",
    says="For y = x.exp().exp() a call with a legacy backward hook gives a warning.",
    where=("y requires grad", "no warning filter hides it, nor Python's default one"),
    source=(OTHER_NODES, LEGACY, FUTURE, "release 1.8: full backward hooks"),
    asked="using a non full backward hook when forward contains multiple autograd nodes "
    "is deprecated message deprecated non-full register_backward_hook warning",
    matters_if="backward",
    instead="register_full_backward_hook, from torch 1.8 on.",
    note="Also for a leaf input and for a factor that is a constant: the check looks at the nodes behind the output's.",
    readings=by_release(
        ("warning", "warning", "none"),
        ("2.4", "FutureWarning", ["FutureWarning"] * 7 + [None]),
        "For y = x.exp().exp() a call with a legacy backward hook gives a FutureWarning.",
        ("1.8", "UserWarning", ["UserWarning"] * 7 + [None], "too"),
        "For y = x.exp().exp() a call with a legacy backward hook gives a UserWarning.",
        ("", "no warning", [None] * 8),
        "A call with a legacy backward hook gives no warning.",
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

    leaf = make.ones(2, requires_grad=True)
    inner = leaf * 1
    assert [
        category(Module(lambda x: x * 2), inner),
        category(Module(lambda x: {"y": x.exp()}), inner),
        category(torch.nn.ReLU(), leaf),
        category(make.Linear(2, 2), inner),
        category(Module(lambda x: x.exp().exp()), inner),
        category(Module(lambda x, number: x.exp()), inner, 3),
        category(Module(lambda x: (x.exp(), x.sin())), inner),
        category(torch.nn.ReLU(), inner),
    ] == subject.value


@clause(
    "backward.legacy.dead_module",
    says="A legacy backward hook does not keep its module alive; if that is gone, backward() raises RuntimeError.",
    where="the hook does not refer to the module",
    source=(DEAD, "https://github.com/pytorch/pytorch/pull/80139"),
    asked="deleted model del layer garbage collected then backprop crashes weakref old register_backward_hook",
    matters_if="backward ?module_gone",
    readings=by_release(
        "silent",
        ("1.13", "RuntimeError", (False, "RuntimeError", 0)),
        "A legacy backward hook does not keep its module alive.",
        ("", "kept", (True, "called", 1)),
        "A module with a legacy backward hook lives as long as its output, and the hook runs.",
    ),
)
def test_dead_module(subject: Subject) -> None:

    calls: List[Any] = []

    def call() -> Tuple[Any, Any]:
        module = make.Linear(2, 2)
        module.register_backward_hook(lambda module, grad_input, grad_output: calls.append(1))
        return module(make.ones(1, 2)), weakref.ref(module)

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
    says="register_backward_hook() accepts what cannot be called, for example a number.",
    source="measured",
    asked="old register function takes wrong object silently no type check typo passing integer",
    matters_if="never",
    readings=by_release(
        ("error", "error"),
        ("1.13", "until backward", ["registered", "called", "TypeError"]),
        "backward() raises TypeError for a legacy backward hook that cannot be called.",
        ("", "until forward", ["registered", "TypeError"], "too"),
        "The call raises TypeError for a legacy backward hook that cannot be called.",
    ),
)
def test_not_callable(subject: Subject) -> None:

    module, seen = make.Linear(2, 2), []
    try:
        module.register_backward_hook(3)
        seen.append("registered")
        out = module(make.ones(1, 2, requires_grad=True))
        seen.append("called")
        out.sum().backward()
        seen.append("done")
    except (TypeError, RuntimeError) as error:
        seen.append(type(error).__name__)
    assert seen == subject.value
