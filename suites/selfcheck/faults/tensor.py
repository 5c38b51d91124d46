"""Faults of the hooks of tensors: order, returns, grad mode, threads, sparse gradients, after accumulation."""

import functools
import threading
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from typing import Any

import torch

from suites.selfcheck.faults.base import fault, patched, reorder, rows, silent, swap

Tensor = torch.Tensor
ACCUMULATED = "register_post_accumulate_grad_hook"
POST = f"torch.Tensor.{ACCUMULATED}"


def patch_hook(stack: ExitStack, change: Callable[[Any, Any], Any], name: str = "register_hook") -> None:
    """Let `change(tensor, hook)` be what is registered."""
    original = getattr(Tensor, name)

    def register(self: Any, hook: Any) -> Any:
        changed = change(self, hook)
        # The marks on the user's function stay visible: nothing but the call is wrong.
        return original(self, changed if changed is hook else functools.update_wrapper(changed, hook))

    swap(stack, Tensor, name, register)


def patch_call(stack: ExitStack, call: Callable[[Any, Any], Any], name: str = "register_hook") -> None:
    """Let `call(hook, given)` be what is called in place of a hook."""
    patch_hook(stack, lambda self, hook: partial(call, hook), name)


def patch_result(stack: ExitStack, taken: Callable[[Any, Any], Any]) -> None:
    """Let `taken(result, grad)` be what a tensor hook returns."""
    patch_call(stack, lambda hook, grad: taken(hook(grad), grad))


def patch_handle(stack: ExitStack, change: Callable[[Any, Any], Any]) -> None:
    """Let `change(tensor, handle)` have the last word on a registration."""
    original = Tensor.register_hook

    def register(self: Any, hook: Any) -> Any:
        handle = original(self, hook)
        change(self, handle)
        return handle

    swap(stack, Tensor, "register_hook", register)


def newest_first(hooks: Any) -> None:
    reorder(hooks, sorted(hooks, reverse=True))


def full_precision(tensor: Any) -> bool:
    return tensor.dtype in (torch.float64, torch.float32, torch.complex128)


def first_calls(most: int, hook: Any) -> Any:
    """The hook, but only in its first calls."""
    calls: list[int] = []

    def call(*given: Any) -> Any:
        calls.append(1)
        return hook(*given) if len(calls) <= most else None

    return call


def until_it_raises(hook: Any) -> Any:
    """The hook, but not again once it has raised."""
    failed: list[int] = []

    def call(*given: Any) -> Any:
        if failed:
            return None
        try:
            return hook(*given)
        except Exception:
            failed.append(1)
            raise

    return call


def called(*near: str) -> Callable[[Any], Any]:
    """Register a fault: a function that is called in place of a hook of a tensor, with the hook and the gradient."""

    def register(wrong: Any) -> Any:
        rows(*near)((wrong.__name__, wrong.__doc__, partial(patch_call, call=wrong)))
        return wrong

    return register


@fault(control=True)
def wrapped_hooks(stack: ExitStack) -> None:
    """Nothing is wrong: what is registered on tensors is called by another function."""
    for name in ("register_hook", ACCUMULATED):
        if hasattr(Tensor, name):
            patch_call(stack, lambda hook, given: hook(given), name)


# --- what is called in place of a hook ---------------------------------------------------------


@called("gradient.passes.grad_mode_of_the_hook")
def mode_undone(hook: Any, grad: Any) -> Any:
    """The grad mode that a tensor hook sets is undone before the next hook of the tensor."""
    with torch.set_grad_enabled(torch.is_grad_enabled()):
        return hook(grad)


@called("gradient.undefined.example_fails")
def none_is_a_runtime_error(hook: Any, grad: Any) -> Any:
    """The TypeError of a tensor hook that was given None leaves backward() as RuntimeError."""
    try:
        return hook(grad)
    except TypeError as error:
        if grad is None:
            raise RuntimeError(str(error)) from error
        raise


@called("together.values")
def edit_of_columns_lost(hook: Any, grad: Any) -> Any:
    """What a tensor hook changes in place in a gradient that is not contiguous is put back."""
    if grad is None or grad.is_sparse or grad.is_contiguous():
        return hook(grad)
    before = grad.clone()
    result = hook(grad)
    if not torch.equal(grad, before):  # one number for all places takes no copy
        grad.copy_(before)
    return result


@called("gradient.kinds.sparse")
def rows_counted_once(hook: Any, grad: Any) -> Any:
    """A row that is looked up several times is in the sparse gradient of a hook only once."""
    if grad is None or not grad.is_sparse:
        return hook(grad)
    numbers = grad._indices()[0].tolist()
    first = [numbers.index(row) for row in sorted(set(numbers))]
    return hook(torch.sparse_coo_tensor(grad._indices()[:, first], grad._values()[first], grad.shape))


@called("gradient.passes")
def main_thread_only(hook: Any, grad: Any) -> Any:
    """Tensor hooks are called in the main thread only."""
    return hook(grad) if threading.current_thread() is threading.main_thread() else None


# --- rows --------------------------------------------------------------------------------------


def spread(result: Any, grad: Any) -> Any:
    return result.expand_as(grad) if isinstance(result, Tensor) and not result.dim() else result


def post_before(stack: ExitStack) -> None:
    swap(stack, Tensor, ACCUMULATED, lambda self, hook: self.register_hook(silent(lambda grad: hook(self))))


rows("gradient", "ordering", subtle=False)(
    (
        "tensor_newest_first",
        "Tensor hooks run newest first.",
        partial(patch_handle, change=lambda self, handle: newest_first(self._backward_hooks)),
    ),
)
rows("gradient", "together.values")(
    (
        "tensor_none_skipped",
        "The hook of a leaf is not called when its gradient is undefined.",
        partial(patch_call, call=lambda hook, grad: None if grad is None else hook(grad)),
    ),
    (
        "tensor_eight_times",
        "A tensor hook is called eight times and no more.",
        partial(patch_hook, change=lambda self, hook: first_calls(8, hook)),
    ),
    (
        "half_result_dropped",
        "What a tensor hook returns in half precision is dropped.",
        partial(
            patch_result,
            taken=lambda result, grad: None if isinstance(result, Tensor) and not full_precision(result) else result,
        ),
    ),
    (
        "scalar_result_spread",
        "A tensor hook may return a gradient of another shape, which is broadcast.",
        partial(patch_result, taken=spread),
    ),
    (
        "edit_of_half_lost",
        "A tensor hook is given a copy of a gradient in half precision.",
        partial(
            patch_call,
            call=lambda hook, grad: hook(grad if grad is None or full_precision(grad) else grad.clone()),
        ),
    ),
)
rows("gradient.accumulated", "gradient.switched", needs=POST)(
    (
        "post_before",
        "Post-accumulate hooks run before the gradient is accumulated.",
        post_before,
    ),
    (
        "post_three_times",
        "A post-accumulate hook is called three times and no more.",
        partial(patch_hook, change=lambda self, hook: first_calls(3, hook), name=ACCUMULATED),
    ),
    (
        "post_raised_is_out",
        "A post-accumulate hook that raised once is not called again.",
        partial(patch_hook, change=lambda self, hook: until_it_raises(hook), name=ACCUMULATED),
    ),
    (
        "post_of_rows_only",
        "A post-accumulate hook is not called where .grad is not contiguous.",
        partial(
            patch_call,
            call=lambda hook, leaf: hook(leaf) if leaf.grad is None or leaf.grad.is_contiguous() else None,
            name=ACCUMULATED,
        ),
    ),
)


# --- functions ---------------------------------------------------------------------------------


@patched(Tensor, "register_hook", "gradient")
def tensor_removed_at_once(right: Any, self: Any, hook: Any) -> Any:
    """A tensor hook that another one removes in the middle of a backward is left out of it."""
    box: list[Any] = []

    @functools.wraps(hook)
    def call(grad: Any) -> Any:
        return hook(grad) if box[0].id in (box[0].hooks_dict_ref() or ()) else None

    box.append(right(self, call))
    return box[0]


@patched(torch.nn.functional, "embedding", "gradient.kinds.sparse")
def single_row_lost(right: Any, places: Any, weight: Any, *given: Any, **options: Any) -> Any:
    """The gradient of one row that is looked up in a sparse embedding of two columns is lost."""
    found = right(places, weight, *given, **options)
    if places.numel() == 1 and weight.shape[1] == 2:
        found.register_hook(lambda grad: grad * 0)
    return found


@fault("gradient.accumulated.frees_grad", needs=POST, subtle=True)
def kept_until_the_end(stack: ExitStack) -> None:
    """The gradient that a post-accumulate hook found in .grad is not freed before the next pass."""
    held: dict[int, Any] = {}

    def call(hook: Any, leaf: Any) -> Any:
        held[id(leaf)] = leaf.grad
        return hook(leaf)

    patch_call(stack, call, ACCUMULATED)
    stack.callback(held.clear)


@patched(torch.autograd, "backward", "gradient.asked.backward_inputs", needs="torch.Tensor.backward(inputs)")
def unreached_input_called(right: Any, *given: Any, **options: Any) -> Any:
    """A tensor that backward(inputs=) asks for and does not reach has its hooks called with zero."""
    result = right(*given, **options)
    inputs = options.get("inputs") or ()
    for one in inputs if isinstance(inputs, (tuple, list)) else (inputs,):
        for hook in list((one._backward_hooks or {}).values()) if one.is_leaf and one.grad is None else []:
            hook(torch.zeros_like(one))
    return result
