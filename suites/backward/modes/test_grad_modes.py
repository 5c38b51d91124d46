"""Full backward hooks under grad modes, checkpoints and forward mode."""

import warnings
from typing import Any, List

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import Reading, by_release, clause
from fixtures.draw.plans import NUMBERS
from fixtures.judge.subject import Subject
from fixtures.stages.make import make
from suites.backward.modules import line
from suites.backward.sources import RULE_1, RULE_3
from suites.hooking import SOME
from suites.names import FULL, UNDER_NO_GRAD

WEIGHTS = st.lists(NUMBERS, min_size=1, max_size=3)


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
    says="Freezing parameters of a module does not stop its full backward hooks.",
    where="its output is made from an input that requires grad",
    source=RULE_1,
    asked="requires_grad false on weights grad cam fine tune backbone hook still triggers "
    "gradients pass through backward hook uncalled frozen freeze parameters",
    needs=FULL,
    value=True,
    wrong={"silent": False},
    witness={"weights": [2], "frozen": [True], "hooks": 1},
)
@given(weights=WEIGHTS, frozen=st.lists(st.booleans(), min_size=3, max_size=3), hooks=SOME)
def test_frozen_parameters(subject: Subject, weights: List[int], frozen: List[bool], hooks: int) -> None:

    calls: List[Any] = []
    net = lines(calls, weights, hooks)
    for module, one in zip(net, frozen):
        module.weight.requires_grad_(not one)
    net(make.tensor(3.0, requires_grad=True)).backward()
    assert calls == (due(weights, hooks) if subject.value or not all(frozen[: len(weights)]) else [])
    assert [module.weight.grad is None for module in net] == frozen[: len(weights)]


@clause(
    "backward.modes.no_grad_inside",
    says="A full backward hook does not run if forward is all under no_grad: outputs need no gradient.",
    where="requires_grad_() is not called",
    source=RULE_3,
    asked="layer disables tracking internally with decorator frozen backbone hook never called silent",
    needs=FULL,
    value=False,
    wrong={"called": True},
    witness={"weights": [2], "hooks": 1},
)
@given(weights=WEIGHTS, hooks=SOME)
def test_no_grad_inside(subject: Subject, weights: List[int], hooks: int) -> None:
    import torch

    calls: List[Any] = []
    net, x = lines(calls, weights, hooks), make.tensor(3.0, requires_grad=True)
    net[-1].forward = torch.no_grad()(net[-1].forward)
    out = net(x)
    (out + x).backward()
    assert (out.requires_grad, len(calls), x.grad.item()) == (subject.value, len(weights) * hooks * subject.value, 1)
    # The modules before it are hooked as ever.
    net[:-1](x).backward()
    assert (x.grad.item(), calls) == (1 + product(weights[:-1]), due(weights[:-1], hooks))


@clause(
    "backward.modes.inference",
    says="In inference mode a module with a full backward hook can be called.",
    source=UNDER_NO_GRAD,
    asked="torch inference_mode with hooked model crash or works fine deployment prediction",
    matters_if="full_backward ?no_grad",
    needs=(FULL, "torch.inference_mode"),
    readings=by_release(
        "error",
        ("1.10", "accepted", "accepted"),
        "In inference mode a call of a module with a full backward hook is accepted.",
        ("", "refused", "RuntimeError"),
        "In inference mode the forward of a module with a full backward hook raises RuntimeError.",
    ),
    witness={"weights": [2], "number": 3, "hooks": 1},
)
@given(weights=WEIGHTS, number=NUMBERS, hooks=SOME)
def test_inference(subject: Subject, weights: List[int], number: int, hooks: int) -> None:
    import torch

    calls: List[Any] = []
    net, x = lines(calls, weights, hooks), make.tensor(float(number), requires_grad=True)
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
    says="A full backward hook may call its module; without create_graph no graph is made for that call.",
    where="the hook leaves the grad mode as it is",
    source="measured",
    asked="rerun layer from inside its own hook recursion recompute activations requires_grad false result memory",
    matters_if="full_backward ?calls_module",
    needs=FULL,
    readings=by_release(
        "error",
        ("1.10", "plain", "plain"),
        "In a full backward hook, without create_graph, no graph is made for a call of its module.",
        ("1.9", "RuntimeError", "RuntimeError"),
        "A full backward hook that calls its module without create_graph gets RuntimeError.",
        ("", "AttributeError", "AttributeError"),
        "A full backward hook that calls its module without create_graph gets AttributeError.",
    ),
    witness={"times": [1], "create_graph": False},
)
@given(times=st.lists(SOME, min_size=1, max_size=3), create_graph=st.booleans())
def test_called_in_hook(subject: Subject, times: List[int], create_graph: bool) -> None:
    import torch

    calls: List[Any] = []
    module, x = torch.nn.Tanh(), make.ones((), requires_grad=True)

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
    says="In checkpoint() full backward hooks run as often as without it.",
    where=("positional inputs and outputs require grad", "each loss uses all outputs"),
    source=UNDER_NO_GRAD,
    asked="activation checkpointing gradient checkpointing does recompute "
    "trigger hooks twice or count them double checkpoint recompute",
    matters_if="full_backward ?checkpoint",
    needs=FULL,
    readings=by_release(
        "error",
        ("1.10", "once", "once"),
        "Full backward hooks under checkpoint run as often as without it.",
        ("1.9", "RuntimeError", "RuntimeError"),
        "checkpoint() with full backward hooks raises RuntimeError.",
        ("", "AttributeError", "AttributeError"),
        "checkpoint() with full backward hooks raises AttributeError.",
    ),
    witness={"weights": [2], "hooks": 1, "passes": 1},
)
@given(weights=WEIGHTS, hooks=SOME, passes=st.integers(1, 2))
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
    says="checkpoint(use_reentrant=False) does not change how often the full backward hooks of its modules run.",
    source="measured",
    asked="non reentrant activation checkpointing hook count same "
    "duplicate calls after recomputation checkpoint recompute",
    needs=(FULL, "torch.utils.checkpoint.checkpoint(use_reentrant)"),
    value=1,
    wrong={"twice": 2},
    witness={"weights": [2], "hooks": 1, "passes": 1},
)
@given(weights=WEIGHTS, hooks=SOME, passes=st.integers(1, 2))
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
    says="A dual tensor of forward_ad raises NotImplementedError in a module with a full backward hook.",
    where="the tensor requires grad",
    source=("note: extending.html#forward-mode-ad", "measured"),
    asked="forward mode jvp make_dual crash with hook trying to use forward ad with backwardhookfunction",
    matters_if="full_backward ?forward_mode",
    needs=(FULL, "torch.autograd.forward_ad.dual_level"),
    readings=(
        Reading(
            "NotImplementedError",
            ">=1.10",
            "A dual tensor that meets a full backward hook raises NotImplementedError.",
            value="NotImplementedError",
            effect="error",
        ),
        Reading(
            "RuntimeError",
            ">=1.9,<1.10",
            "A dual tensor that meets a full backward hook raises RuntimeError.",
            value="RuntimeError",
            says_the_same=False,
            effect="error",
        ),
        Reading(
            "no tangent",
            "<1.9",
            "A dual tensor loses its tangent at every operation, with or without hooks.",
            value=None,
            says_the_same=False,
            effect="silent",
        ),
    ),
    witness={"weight": 2, "hooks": 1},
)
@given(weight=NUMBERS, hooks=st.integers(0, 3))
def test_forward_ad(subject: Subject, weight: int, hooks: int) -> None:
    from torch.autograd import forward_ad

    module, x = line([], weight=weight, hooks=hooks), make.tensor(3.0, requires_grad=True)
    with forward_ad.dual_level():
        try:
            seen: Any = forward_ad.unpack_dual(module(forward_ad.make_dual(x, make.tensor(1.0))))[1]
            seen = seen if seen is None else seen.item()
        except (NotImplementedError, RuntimeError) as error:
            seen = type(error).__name__
    # Without a hook the tangent passes, on a torch whose operations pass any.
    assert seen == (subject.value if hooks or subject.value is None else weight)
