"""Faults of step hooks: one step() of an optimizer, rewritten in parts that can be wrong."""

import functools
import importlib
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from itertools import chain
from typing import Any

import torch

from suites.selfcheck.faults.base import fault, swap

Optimizer: Any = torch.optim.Optimizer
#: torch.optim takes this name away.
MODULE: Any = importlib.import_module("torch.optim.optimizer")
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


@fault(needs=NEEDS, control=True)
class step_rewritten(Step):
    """Nothing is wrong: step() is written anew."""


# --- pre-hooks ---------------------------------------------------------------------------------


@fault("optimizer", needs=NEEDS)
class step_own_first(Step):
    """The own step pre-hooks of an optimizer run before the global ones."""

    def before(self) -> Iterable[Any]:
        return chain(self.own("pre").values(), self.globals("pre").values())


@fault("optimizer", needs=NEEDS, subtle=True)
class step_pre_newest_first(Step):
    """Of three or more own step pre-hooks the newest runs first."""

    def before(self) -> Iterable[Any]:
        own = list(self.own("pre").values())
        return [*self.globals("pre").values(), *(reversed(own) if len(own) > 2 else own)]


@fault("optimizer", needs=NEEDS, subtle=True)
class step_pre_without_named_closure(Step):
    """Global step pre-hooks are not called where the closure is given by its name."""

    def before(self) -> Iterable[Any]:
        return chain(() if "closure" in self.kwargs else self.globals("pre").values(), self.own("pre").values())


@fault("optimizer", needs=NEEDS)
class step_pre_no_keywords(Step):
    """Step pre-hooks are given no keyword arguments."""

    def call(self, hook: Any) -> Any:
        return hook(self.one, self.args, {})


@fault("optimizer", needs=NEEDS, subtle=True)
class step_pre_first_pair(Step):
    """Once a step pre-hook has replaced the arguments, what later ones return is ignored."""

    def replace(self, result: Any) -> None:
        if self.args is self.first_args:
            super().replace(result)


@fault("optimizer", needs=NEEDS, subtle=True)
class step_pre_copied(Step):
    """Step pre-hooks are called from a copy of their dict, which they may change."""

    def before(self) -> Iterable[Any]:
        return list(super().before())


@fault("optimizer", needs=NEEDS)
class step_pre_wrong_ignored(Step):
    """A step pre-hook may return anything: what is no pair is ignored."""

    def replace(self, result: Any) -> None:
        if isinstance(result, tuple) and len(result) == 2:
            super().replace(result)


@fault("optimizer", needs=NEEDS, subtle=True)
class step_pre_by_class(Step):
    """Global step hooks are called for an SGD only."""

    def globals(self, when: str) -> dict[int, Any]:
        return super().globals(when) if isinstance(self.one, torch.optim.SGD) else {}


@fault("optimizer", needs=NEEDS, subtle=True)
class step_despite_pre(Step):
    """Where the second or a later step pre-hook raises the step is done all the same."""

    def run(self) -> Any:
        called = 0
        try:
            for hook in self.before():
                called += 1
                self.replace(self.call(hook))
        except Exception:
            if called > 1:
                self.function(*self.args, **self.kwargs)
            raise
        out = self.function(*self.args, **self.kwargs)
        for hook in self.after():
            self.call_post(hook)
        return out


# --- post-hooks --------------------------------------------------------------------------------


@fault("optimizer", needs=NEEDS)
class step_global_post_first(Step):
    """Global step post-hooks run before the own ones of an optimizer."""

    def after(self) -> Iterable[Any]:
        return chain(self.globals("post").values(), self.own("post").values())


@fault("optimizer", needs=NEEDS, subtle=True)
class step_post_newest_first(Step):
    """Own step post-hooks run newest first where the step had a closure."""

    def after(self) -> Iterable[Any]:
        own, closure = list(self.own("post").values()), len(self.args) > 1 or self.kwargs
        return [*(reversed(own) if closure else own), *self.globals("post").values()]


@fault("optimizer", needs=NEEDS, subtle=True)
class step_post_first_arguments(Step):
    """Step post-hooks are given the arguments that step() was called with, whatever pre-hooks made of these."""

    def call_post(self, hook: Any) -> Any:
        return hook(self.one, self.first_args, self.kwargs)


@fault("optimizer", needs=NEEDS, subtle=True)
class step_post_despite_failure(Step):
    """Step post-hooks are called even where the closure raised."""

    def run(self) -> Any:
        for hook in self.before():
            self.replace(self.call(hook))
        try:
            return self.function(*self.args, **self.kwargs)
        finally:
            for hook in self.after():
                self.call_post(hook)


@fault("optimizer", needs=NEEDS)
class step_post_return_counts(Step):
    """step() returns what a step post-hook returned."""

    def returned(self, out: Any, result: Any) -> Any:
        return out if result is None else result


@fault("optimizer", needs=NEEDS, subtle=True)
class step_post_copied(Step):
    """Step post-hooks are called from a copy of their dict, which they may change."""

    def after(self) -> Iterable[Any]:
        return list(super().after())


@fault("optimizer", needs=NEEDS, subtle=True)
class step_post_twice(Step):
    """A global step post-hook is called twice where the optimizer has a step post-hook, too."""

    def after(self) -> Iterable[Any]:
        shared = [hook for hook in self.globals("post").values() for _ in range(2 if self.own("post") else 1)]
        return chain(self.own("post").values(), shared)


# --- around them -------------------------------------------------------------------------------


@fault("optimizer", needs=NEEDS)
class step_hooks_without_grad(Step):
    """Step hooks run with grad mode off."""

    def call(self, hook: Any) -> Any:
        with torch.no_grad():
            return super().call(hook)

    def call_post(self, hook: Any) -> Any:
        with torch.no_grad():
            return super().call_post(hook)


@fault("optimizer", needs=NEEDS)
def step_hooks_copied(stack: ExitStack) -> None:
    """A copy of an optimizer has its step hooks."""
    swap(stack, Optimizer, "__getstate__", lambda self: dict(vars(self)))


@fault("optimizer", needs=NEEDS)
def step_hooks_of_zero_grad(stack: ExitStack) -> None:
    """zero_grad() calls the step pre-hooks."""

    def zero_grad(self: Any, set_to_none: bool = True) -> None:
        for hook in self._optimizer_step_pre_hooks.values():
            hook(self, (self,), {})
        original(self, set_to_none)

    original = swap(stack, Optimizer, "zero_grad", zero_grad)


@fault("optimizer", needs=NEEDS, subtle=True)
def step_handle_removes_all(stack: ExitStack) -> None:
    """The handle of a step post-hook removes all of them that came before it, too."""
    original = Optimizer.register_step_post_hook

    def register(self: Any, hook: Any) -> Any:
        handle = original(self, hook)
        remove = handle.remove

        def both() -> None:
            for key in [key for key in self._optimizer_step_post_hooks if key < handle.id]:
                del self._optimizer_step_post_hooks[key]
            remove()

        handle.remove = both
        return handle

    swap(stack, Optimizer, "register_step_post_hook", register)
