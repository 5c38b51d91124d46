"""Small tensors, and what became of an action; and whether a hook's action was taken over in a trace."""

from dataclasses import replace
from typing import Any, Callable, Tuple, Type

from hypothesis import strategies as st

from fixtures.plan.grammar import Recast, Train
from fixtures.play.objects import Seen
from fixtures.stages.make import make

#: Mostly eval, because other plans are mostly in train mode.
TRAIN_OR_EVAL = st.sampled_from((Train("m0"), Train("m0", False), Train("m0", False)))


def in_some_mode(plans: Any) -> Any:
    """A strategy: these plans, with train() or eval() of the module first."""
    return st.builds(lambda plan, mode: replace(plan, steps=(mode, *plan.steps)), plans, TRAIN_OR_EVAL)


def leaf(value: float) -> Any:
    """A float64 scalar that requires grad."""
    import torch

    return make.tensor(float(value), dtype=torch.float64, requires_grad=True)


def item(tensor: Any) -> Any:
    """The value of a tensor as plain data; None stays None."""
    return None if tensor is None else tensor.tolist()


def outcome(action: Callable[[], Any], errors: Tuple[Type[BaseException], ...] = (RuntimeError, TypeError)) -> str:
    """The name of the error that `action` raises, of those that may be, or "accepted"."""
    try:
        action()
    except errors as error:
        return type(error).__name__
    return "accepted"


def multiplies(by: int, note: Callable[[Any], Any] = lambda grad: None) -> Callable[[Any], Any]:
    """A hook that returns the gradient times `by`; `note` is called with the gradient before."""

    def hook(grad: Any) -> Any:
        note(grad)
        return grad * by

    return hook


def through_silent_function(x: Any) -> Any:
    """x * 1, by a custom Function whose backward returns None."""
    import torch

    class Silent(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x.clone()

        @staticmethod
        def backward(ctx: Any, grad: Any) -> None:
            return None

    return Silent.apply(x)


def is_recast(action: Any, before: Seen, after: Seen) -> bool:
    """Whether a tensor has the shape, dtype and layout that an action gave it; True where it gave none."""
    if not isinstance(action, Recast):
        return True
    shape = {"": before.shape, "scalar": (), "longer": (1, *before.shape)}[action.shape]
    rows_alike = action.layout != "expanded" or not any(after.strides)
    return (after.shape, after.dtype) == (shape, action.dtype or before.dtype) and rows_alike
