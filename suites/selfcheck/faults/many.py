"""Faults that show only where there are many: hooks in one place, passes, calls, inputs, outputs, keywords, depth."""

import functools
from collections import Counter
from contextlib import ExitStack
from typing import Any, ClassVar

import torch
from torch.utils.hooks import RemovableHandle

from suites.selfcheck.faults.base import Call, Entries, Full, fault, swap
from suites.selfcheck.faults.node import patch_node
from suites.selfcheck.faults.tensor import POST, patch_handle, patch_hook

FULL = ("torch.nn.Module.register_full_backward_hook",)
PRE = ("torch.nn.Module.register_full_backward_pre_hook",)
OPTIONS = ("torch.nn.Module.register_forward_hook(prepend)",)
#: A torch that counts with three bits, or with a list of this length.
FULL_LIST = 8


@fault("ordering.many", subtle=True)
class NinthForwardHook(Call):
    """Of the forward hooks of a module, global ones included, only the first eight are called."""

    def entries(self, store: str) -> Entries:
        found = super().entries(store)
        return found[:FULL_LIST] if store == "_forward_hooks" else found


@fault("ordering.many", subtle=True)
class ManyPreHooksNewestFirst(Call):
    """Where a module has more than eight forward pre-hooks they run newest first."""

    def entries(self, store: str) -> Entries:
        found = super().entries(store)
        return found[::-1] if store == "_forward_pre_hooks" and len(found) > FULL_LIST else found


@fault("output.many", subtle=True)
class DeepCallsBare(Call):
    """A module that is called inside of eight others runs no hooks."""

    depth: ClassVar[int] = 0

    def run(self) -> Any:
        cls = type(self)
        cls.depth += 1
        try:
            return self.forward() if cls.depth > FULL_LIST else super().run()
        finally:
            cls.depth -= 1


@fault("output.many", subtle=True)
class NinthCallBare(Call):
    """From its ninth call on a module runs no hooks."""

    def run(self) -> Any:
        calls = vars(self.module).setdefault("_calls", [])
        calls.append(1)
        return self.forward() if len(calls) > FULL_LIST else super().run()


@fault("input.many", needs=OPTIONS, subtle=True)
class ThreeKeywords(Call):
    """A forward hook registered with_kwargs is given at most two keyword arguments."""

    def ask(self, key: int, hook: Any) -> Any:
        if self.flagged("_forward_hooks_with_kwargs", key):
            return hook(self.module, self.args, dict(list(self.kwargs.items())[:2]), self.out)
        return super().ask(key, hook)


@fault("output.many", subtle=True)
class TripleCut(Call):
    """Of a tuple that a forward hook returns in place of another, more than two entries are dropped."""

    def replace_out(self, result: Any) -> None:
        super().replace_out(result[:2] if type(result) is tuple else result)


@fault("input.many", subtle=True)
class ArgumentsCut(Call):
    """Of the tuple that a pre-hook returns forward is given no more than eight entries."""

    def replace_args(self, result: Any) -> None:
        super().replace_args(result[:FULL_LIST] if isinstance(result, tuple) else result)


@fault("ordering.many", needs=OPTIONS, subtle=True)
def prepended_eighth(stack: ExitStack) -> None:
    """A hook of a module with prepend=True goes before the eight latest only."""
    for name in ("forward", "forward_pre", "full_backward", "full_backward_pre"):
        original = getattr(torch.nn.Module, f"register_{name}_hook")

        @functools.wraps(original)
        def register(self: Any, hook: Any, *, prepend: bool = False, original: Any = original, **options: Any) -> Any:
            handle = original(self, hook, prepend=prepend, **options)
            hooks = handle.hooks_dict_ref()
            if prepend:
                for key in reversed(list(hooks)[1:-FULL_LIST]):
                    hooks.move_to_end(key, last=False)
            return handle

        swap(stack, torch.nn.Module, f"register_{name}_hook", register)


# --- backward ----------------------------------------------------------------------------------


@fault("backward.many", needs=FULL, subtle=True)
class EntriesLost(Full):
    """Full hooks are given None for every input from the fourth on."""

    def call_hooks(self, given: Any) -> Any:
        left = super().call_hooks((*given[:3], *(None for _ in given[3:])))
        return tuple(new if new is not None else old for new, old in zip(left, given, strict=True))


@fault("backward.many", needs=PRE, subtle=True)
class OutputsLost(Full):
    """What a full backward pre-hook returns for outputs from the third on is dropped."""

    def call_pre_hooks(self) -> None:
        given = self.grad_outputs
        super().call_pre_hooks()
        self.grad_outputs = (*self.grad_outputs[:2], *given[2:])


@fault("ordering.many", "backward.many", needs=FULL, subtle=True)
class NinthFullHook(Full):
    """Of the full backward hooks of a call the ninth and later are called before the others."""

    def __init__(self, module: Any, user_hooks: list[Any], *given: Any) -> None:
        super().__init__(module, [*user_hooks[FULL_LIST:], *user_hooks[:FULL_LIST]], *given)


@fault("ordering.many", subtle=True)
class LegacyCut(Call):
    """At most eight legacy backward hooks are attached to the output of a call."""

    def attach(self, legacy: list[Any]) -> None:
        super().attach(legacy[:FULL_LIST])


# --- tensors and passes ------------------------------------------------------------------------


@fault("ordering.many", subtle=True)
def ninth_tensor_hook(stack: ExitStack) -> None:
    """The ninth hook of a tensor takes the place of the first."""

    def change(self: Any, handle: Any) -> None:
        if len(self._backward_hooks) > FULL_LIST:
            del self._backward_hooks[next(iter(self._backward_hooks))]

    patch_handle(stack, change)


def after_calls(most: int, hook: Any) -> Any:
    """The hook, but only in its first calls."""
    calls: list[int] = []

    @functools.wraps(hook)
    def call(*given: Any) -> Any:
        calls.append(1)
        return hook(*given) if len(calls) <= most else None

    return call


@fault("gradient.many", subtle=True)
def tensor_eight_times(stack: ExitStack) -> None:
    """A tensor hook is called eight times and no more."""
    patch_hook(stack, lambda self, hook: after_calls(FULL_LIST, hook))


@fault("gradient.many", needs=POST, subtle=True)
def post_three_times(stack: ExitStack) -> None:
    """A post-accumulate hook is called three times and no more."""
    patch_hook(stack, lambda self, hook: after_calls(3, hook), POST[0].split(".")[-1])


@fault("ordering.many", subtle=True)
def ninth_node_hook(stack: ExitStack) -> None:
    """Of the hooks of one node only eight are called in a pass, the rest in none."""
    registered: Counter[int] = Counter()
    stack.callback(registered.clear)
    kept: list[Any] = []
    stack.callback(kept.clear)

    def register(own: Any, hook: Any) -> Any:
        kept.append(own.__self__)
        registered[id(own.__self__)] += 1
        return own((lambda *given: None) if registered[id(own.__self__)] > FULL_LIST else hook)

    patch_node(stack, register)


@fault("gradient.many", subtle=True)
def retain_four_times(stack: ExitStack) -> None:
    """A tensor that keeps its gradient adds the first two to it, and then no more."""
    original = torch.Tensor.retain_grad

    def retain(self: Any) -> None:
        fresh = self.requires_grad and not self.is_leaf and not self.retains_grad
        original(self)
        if fresh:
            kept: list[Any] = []

            def look(grad: Any) -> None:
                kept.append(None if self.grad is None else self.grad.clone())

            self.register_hook(look)
            held[id(self)] = (self, kept)

    held: dict[int, Any] = {}
    stack.callback(held.clear)
    backward = torch.autograd.backward

    def run(*given: Any, **options: Any) -> Any:
        try:
            return backward(*given, **options)
        finally:
            for tensor, kept in held.values():
                if len(kept) > 2:
                    tensor.grad = kept[2]

    swap(stack, torch.Tensor, "retain_grad", retain)
    swap(stack, torch.autograd, "backward", run)


@fault("handles", "ordering.many", subtle=True)
def removal_of_many(stack: ExitStack) -> None:
    """Removing a handle of a dict with more than eight hooks removes the first of them."""
    original = RemovableHandle.remove

    @functools.wraps(original)
    def remove(self: Any) -> None:
        hooks = self.hooks_dict_ref()
        if hooks is not None and self.id in hooks and len(hooks) > FULL_LIST:
            del hooks[next(iter(hooks))]
        else:
            original(self)

    swap(stack, RemovableHandle, "remove", remove)
