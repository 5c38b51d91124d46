"""Faults of step hooks: one step() of an optimizer, rewritten in parts that can be wrong."""

import functools
import importlib
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from itertools import chain
from typing import Any

import torch

from suites.selfcheck.faults.base import instead, part, patched, rows, swap

Optimizer: Any = torch.optim.Optimizer
#: torch.optim takes this name away.
MODULE: Any = importlib.import_module("torch.optim.optimizer")
NEAR = "optimizer"
NEEDS = "torch.optim.Optimizer.register_step_pre_hook"
#: The classes of torch whose steps tests take.
CLASSES = ("SGD", "Adam", "RMSprop", "Adagrad", "LBFGS")


class Step:
    """One step of one optimizer; without a fault it does what the running torch does."""

    def __init__(self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.function, self.args, self.kwargs = function, args, kwargs
        self.first_args, self.one = args, args[0]

    @classmethod
    def enter(cls, stack: ExitStack) -> None:
        def wrapped(function: Any) -> Any:
            @functools.wraps(function)
            def step(*args: Any, **kwargs: Any) -> Any:
                return cls(function, args, kwargs).run()

            step.hooked = True  # type: ignore[attr-defined]
            return step

        for name in CLASSES:
            made: Any = getattr(torch.optim, name)
            made([torch.nn.Parameter(torch.ones(()))], lr=1.0)  # the first object of a class has its step wrapped
            swap(stack, made, "step", wrapped(made.step.__wrapped__))
        swap(stack, Optimizer, "profile_hook_step", staticmethod(wrapped))

    def globals(self, when: str) -> dict[int, Any]:
        return getattr(MODULE, f"_global_optimizer_{when}_hooks")

    def own(self, when: str) -> dict[int, Any]:
        return getattr(self.one, f"_optimizer_step_{when}_hooks")

    def before(self) -> Iterable[Any]:
        return chain(self.globals("pre").values(), self.own("pre").values())

    def after(self) -> Iterable[Any]:
        return chain(self.own("post").values(), self.globals("post").values())

    def run(self) -> Any:
        for hook in self.before():
            self.replace(self.call(hook))
        out = self.function(*self.args, **self.kwargs)
        for hook in self.after():
            out = self.returned(out, self.call_post(hook))
        return out

    def call(self, hook: Any) -> Any:
        return hook(self.one, self.args, self.kwargs)

    def call_post(self, hook: Any) -> Any:
        return hook(self.one, self.args, self.kwargs)

    def returned(self, out: Any, result: Any) -> Any:
        return out

    def replace(self, result: Any) -> None:
        if result is None:
            return
        if not isinstance(result, tuple) or len(result) != 2:
            raise RuntimeError(f"step must return None or a tuple of (new_args, new_kwargs), but got {result}.")
        self.args, self.kwargs = result


rows(needs=NEEDS, control=True)(("step_rewritten", "Nothing is wrong: step() is written anew.", Step.enter))


# --- order and returns -------------------------------------------------------------------------


def pair_or_nothing(step: Step, right: Any, result: Any) -> None:
    if isinstance(result, tuple) and len(result) == 2:
        right(result)


def without_grad(step: Step, right: Any, hook: Any) -> Any:
    with torch.no_grad():
        return right(hook)


rows(NEAR, needs=NEEDS)(
    (
        "step_own_first",
        "The own step pre-hooks of an optimizer run before the global ones.",
        part(Step, before=lambda step, right: chain(step.own("pre").values(), step.globals("pre").values())),
    ),
    (
        "step_global_post_first",
        "Global step post-hooks run before the own ones of an optimizer.",
        part(Step, after=lambda step, right: chain(step.globals("post").values(), step.own("post").values())),
    ),
    (
        "step_pre_first_pair",
        "Once a step pre-hook has replaced the arguments, what later ones return is ignored.",
        part(Step, replace=lambda step, right, result: right(result) if step.args is step.first_args else None),
    ),
    (
        "step_pre_wrong_ignored",
        "A step pre-hook may return anything: what is no pair is ignored.",
        part(Step, replace=pair_or_nothing),
    ),
    (
        "step_pre_by_class",
        "Global step hooks are called for an SGD only.",
        part(Step, globals=lambda step, right, when: right(when) if isinstance(step.one, torch.optim.SGD) else {}),
    ),
    (
        "step_post_first_arguments",
        "Step post-hooks are given the arguments that step() was called with, whatever pre-hooks made of these.",
        part(Step, call_post=lambda step, right, hook: hook(step.one, step.first_args, step.kwargs)),
    ),
    (
        "step_post_return_counts",
        "step() returns what a step post-hook returned.",
        part(Step, returned=lambda step, right, out, result: out if result is None else result),
    ),
    (
        "step_hooks_without_grad",
        "Step hooks run with grad mode off.",
        part(Step, call=without_grad, call_post=without_grad),
    ),
    (
        "step_hooks_copied",
        "A copy of an optimizer has its step hooks.",
        lambda stack: swap(stack, Optimizer, "__getstate__", lambda self: dict(vars(self))),
    ),
)


@instead(Step, "run", NEAR, needs=NEEDS)
def step_despite_pre(step: Step, right: Any) -> Any:
    """Where the second or a later step pre-hook raises the step is done all the same."""
    called = 0
    try:
        for hook in step.before():
            called += 1
            step.replace(step.call(hook))
    except Exception:
        if called > 1:
            step.function(*step.args, **step.kwargs)
        raise
    out = step.function(*step.args, **step.kwargs)
    for hook in step.after():
        step.call_post(hook)
    return out


# --- around them -------------------------------------------------------------------------------


@patched(Optimizer, "zero_grad", NEAR, needs=NEEDS)
def step_hooks_of_zero_grad(right: Any, self: Any, set_to_none: bool = True) -> None:
    """zero_grad() calls the step pre-hooks."""
    for hook in self._optimizer_step_pre_hooks.values():
        hook(self, (self,), {})
    right(self, set_to_none)


@patched(Optimizer, "register_step_post_hook", NEAR, needs=NEEDS)
def step_handle_removes_all(right: Any, self: Any, hook: Any) -> Any:
    """The handle of a step post-hook removes all of them that came before it, too."""
    handle = right(self, hook)
    remove = handle.remove

    def both() -> None:
        for key in [key for key in self._optimizer_step_post_hooks if key < handle.id]:
            del self._optimizer_step_post_hooks[key]
        remove()

    handle.remove = both
    return handle
