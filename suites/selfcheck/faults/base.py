"""What faults are made of: the registry; a module call and full backward hooks, rewritten in parts that can be wrong.

`Call` and `Full` without a fault behave as the running torch does: that is the control, and it passes every clause.
"""

import contextlib
import functools
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from unittest import mock

import torch
from torch.nn.modules import module as torch_module
from torch.utils import hooks as torch_hooks

from fixtures.model.contract import applies, contract_for, installed_version
from fixtures.stages.stage import missing

CONTRACT = contract_for(installed_version())
#: The attributes that every module of this torch has.
KEPT = frozenset(vars(torch.nn.Module()))
#: When a full backward hook without gradients of inputs warns; "always" is for pre-hooks alone too.
WARNS = "hooks" if applies(">=2.14", installed_version()) else "always" if applies(">=2.8", installed_version()) else ""
Enter = Callable[[contextlib.ExitStack], None]
Entries = list[tuple[int, Callable[..., Any]]]


@dataclass(frozen=True)
class Fault:
    """One way in which torch is wrong. `near` are the beginnings of clause ids that are tried early."""

    name: str
    says: str
    enter: Enter
    near: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    subtle: bool = False
    control: bool = False

    @contextlib.contextmanager
    def on(self) -> Iterator[None]:
        """Have torch wrong for a while. torch is whole again afterwards, whatever happens inside."""
        with contextlib.ExitStack() as stack:
            self.enter(stack)
            yield

    @property
    def applies(self) -> bool:
        """Whether the running torch has what this fault breaks."""
        return not missing(self.needs)


FAULTS: dict[str, Fault] = {}


def fault(
    *near: str, needs: str | tuple[str, ...] = (), subtle: bool = False, control: bool = False
) -> Callable[[Any], Any]:
    """Register a fault: a function that enters its patches on a stack, or a class derived from `Call` or `Full`."""
    add = rows(*near, needs=needs, subtle=subtle, control=control)

    def register(made: Any) -> Any:
        add((made.__name__, made.__doc__, made.enter if isinstance(made, type) else made))
        return made

    return register


def instead(
    base: Any, method: str, *near: str, needs: str | tuple[str, ...] = (), subtle: bool = True
) -> Callable[[Any], Any]:
    """Register a fault: a function that is called in place of a method of `Call`, `Full` or their like, see `part`."""
    add = rows(*near, needs=needs, subtle=subtle)

    def register(wrong: Any) -> Any:
        add((wrong.__name__, wrong.__doc__, part(base, **{method: wrong})))
        return wrong

    return register


def patched(
    owner: Any, names: str | tuple[str, ...], *near: str, needs: str | tuple[str, ...] = (), subtle: bool = True
) -> Callable[[Any], Any]:
    """Register a fault: a function that is called in place of one of torch, or several, and is given that one first."""
    add = rows(*near, needs=needs, subtle=subtle)

    def register(wrong: Any) -> Any:
        def called(right: Any) -> Any:
            return functools.wraps(right)(lambda *given, **options: wrong(right, *given, **options))

        def enter(stack: contextlib.ExitStack) -> None:
            for name in (names,) if isinstance(names, str) else names:
                swap(stack, owner, name, called(getattr(owner, name)))

        add((wrong.__name__, wrong.__doc__, enter))
        return wrong

    return register


def rows(
    *near: str, needs: str | tuple[str, ...] = (), subtle: bool = True, control: bool = False
) -> Callable[..., None]:
    """Register faults that are a row each: (name, what is wrong, what enters the patches on a stack)."""

    def register(*each: tuple[str, str, Enter]) -> None:
        wanted = (needs,) if isinstance(needs, str) else needs
        for name, text, enter in each:
            says = " ".join(text.split())
            assert name not in FAULTS, f"two faults are called {name}"
            assert says.endswith("."), f"{name}: say in a sentence what is wrong"
            FAULTS[name] = Fault(name, says, enter, near, wanted, subtle and not control, control)

    return register


def part(base: Any, **wrong: Callable[..., Any]) -> Enter:
    """`Call`, `Full` or their like with other methods: each is given the object, the right method and its arguments."""

    def method(name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        right = getattr(base, name)
        return lambda self, *given: call(self, functools.partial(right, self), *given)

    return type(base.__name__, (base,), {name: method(name, one) for name, one in wrong.items()}).enter


def while_set(one: Any, name: str, value: Any, call: Callable[..., Any], *given: Any) -> Any:
    """What a call returns while an attribute of an object has another value."""
    with mock.patch.object(one, name, value):
        return call(*given)


def swap(stack: contextlib.ExitStack, owner: Any, name: str, value: Any) -> Any:
    """Replace an attribute, and return what was there."""
    before = getattr(owner, name)
    stack.enter_context(mock.patch.object(owner, name, value))
    return before


def silent(*hooks: Any) -> Any:
    """A function that calls all of these and returns None."""

    def call(*given: Any) -> None:
        for hook in hooks:
            hook(*given)

    return call


def reorder(hooks: dict[int, Any], keys: Sequence[int]) -> None:
    """Put the entries of a dict in this order; the engine reads it below what `move_to_end` changes."""
    entries = [(key, hooks[key]) for key in keys]
    hooks.clear()
    hooks.update(entries)


class Call:
    """One call of a module. `_forward_hooks` and its like name a dict of the module, `_global` + it the global one."""

    #: Every dict whose emptiness makes a call a plain forward.
    STORES = ("_backward_hooks", "_backward_pre_hooks", "_forward_hooks", "_forward_pre_hooks")

    def __init__(self, module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.module, self.args, self.kwargs = module, args, kwargs
        self.out: Any = None
        self.first_args, self.first_kwargs = args, kwargs
        self.done: set[int] = set()

    @classmethod
    def enter(cls, stack: contextlib.ExitStack) -> None:
        def call(module: Any, *args: Any, **kwargs: Any) -> Any:
            return cls(module, args, kwargs).run()

        for name in ("_call_impl", "__call__"):
            swap(stack, torch.nn.Module, name, call)

    # --- where hooks are kept ---

    def own(self, store: str) -> dict[int, Any]:
        return getattr(self.module, store) if store in KEPT else {}

    def everywhere(self, store: str) -> dict[int, Any]:
        return getattr(torch_module, "_global" + store, None) or {}

    def entries(self, store: str) -> Entries:
        return [*self.everywhere(store).items(), *self.own(store).items()]

    def flagged(self, flag: str, key: int) -> bool:
        return key in self.own(flag) or key in self.everywhere(flag)

    # --- the call ---

    def run(self) -> Any:
        if not any(self.own(store) or self.everywhere(store) for store in self.STORES):
            return self.forward()
        try:
            return self.inner()
        except Exception:
            self.rescue()
            raise

    def forward(self) -> Any:
        tracing = torch._C._get_tracing_state()
        return (self.module._slow_forward if tracing else self.module.forward)(*self.args, **self.kwargs)

    def inner(self) -> Any:
        full, legacy, pre = self.backward_hooks()
        for key, hook in self.entries("_forward_pre_hooks"):
            self.before(key, hook)
        wrapper = self.wrapper(full, pre)
        if wrapper is not None:
            self.args = wrapper.setup_input_hook(self.args)
        self.out = self.forward()
        for key, hook in self.entries("_forward_hooks"):
            self.after(key, hook)
        if wrapper is not None:
            if CONTRACT.full_backward_pre_hooks and not isinstance(self.out, (torch.Tensor, tuple)):
                warnings.warn("module output should be a Tensor or a tuple of Tensors", stacklevel=2)
            self.out = wrapper.setup_output_hook(self.out)
        self.attach(legacy)
        return self.out

    def before(self, key: int, hook: Any) -> None:
        if key in self.own("_forward_pre_hooks_with_kwargs"):
            self.replace_both(hook(self.module, self.args, self.kwargs))
        else:
            self.replace_args(hook(self.module, self.args))

    def replace_both(self, result: Any) -> None:
        if result is None:
            return
        if not isinstance(result, tuple) or len(result) != 2:
            raise RuntimeError(f"forward pre-hook must return None or a tuple of (new_args, new_kwargs): {result}")
        self.args, self.kwargs = result

    def replace_args(self, result: Any) -> None:
        if result is not None:
            self.args = result if isinstance(result, tuple) else (result,)

    def after(self, key: int, hook: Any) -> None:
        if self.flagged("_forward_hooks_always_called", key):
            self.done.add(key)
        self.replace_out(self.ask(key, hook))

    def ask(self, key: int, hook: Any) -> Any:
        if self.flagged("_forward_hooks_with_kwargs", key):
            return hook(self.module, self.args, self.kwargs, self.out)
        return hook(self.module, self.args, self.out)

    def replace_out(self, result: Any) -> None:
        if result is not None:
            self.out = result

    # --- after a failure ---

    def rescue(self) -> None:
        for where in (self.everywhere, self.own):
            for key, hook in where("_forward_hooks").items():
                if key in where("_forward_hooks_always_called") and key not in self.done:
                    try:
                        self.replace_out(self.ask_late(key, hook))
                    except Exception as error:  # noqa: BLE001 - torch turns whatever the hook raises into a warning
                        warnings.warn(f"module forward hook with ``always_call=True`` raised: {error}", stacklevel=2)

    def ask_late(self, key: int, hook: Any) -> Any:
        if key in self.own("_forward_hooks_with_kwargs"):
            return hook(self.module, self.args, self.kwargs, self.out)
        return hook(self.module, self.args, self.out)

    # --- backward hooks ---

    def backward_hooks(self) -> tuple[list[Any], list[Any], list[Any]]:
        """The full hooks, the legacy hooks and the full pre-hooks of this call."""
        full, legacy = self.module._get_backward_hooks()
        pre = self.module._get_backward_pre_hooks() if hasattr(self.module, "_get_backward_pre_hooks") else []
        return full, legacy, pre

    def wrapper(self, full: list[Any], pre: list[Any]) -> Any:
        if not (full or pre):
            return None
        made = torch_hooks.BackwardHook
        return made(self.module, full, *([pre] if CONTRACT.full_backward_pre_hooks else []))

    def attach(self, legacy: list[Any]) -> None:
        if not legacy:
            return
        first = self.out
        while not isinstance(first, torch.Tensor):
            if isinstance(first, dict):
                first = next(value for value in first.values() if isinstance(value, torch.Tensor))
            else:
                first = first[0]
        if first.grad_fn is not None:
            for hook in legacy:
                first.grad_fn.register_hook(torch_module._WrappedHook(hook, self.module))
            self.module._maybe_warn_non_full_backward_hook(self.args, self.out, first.grad_fn)


class Full(torch_hooks.BackwardHook):
    """The identity nodes around one call, which call the full backward hooks."""

    grad_outputs: Any
    user_hooks: list[Any]
    user_pre_hooks: list[Any]

    def __init__(self, module: Any, user_hooks: list[Any], user_pre_hooks: Any = None) -> None:
        super().__init__(module, user_hooks, *([user_pre_hooks] if CONTRACT.full_backward_pre_hooks else []))
        self.user_pre_hooks = user_pre_hooks or []

    @classmethod
    def enter(cls, stack: contextlib.ExitStack) -> None:
        for place in (torch_hooks, torch_module):
            if hasattr(place, "BackwardHook"):
                swap(stack, place, "BackwardHook", cls)

    def _set_user_hook(self, grad_fn: Any) -> None:
        grad_fn.register_hook(lambda grads, _: self.at_input(grads))

    def at_input(self, grads: Any) -> Any:
        if self.grad_outputs is None:
            return None
        given = self._pack_with_none(self.input_tensors_index, grads, self.n_inputs)
        given = self.call_hooks(given)
        self.grad_outputs = None
        return self._unpack_none(self.input_tensors_index, given)

    def call_hooks(self, given: Any) -> Any:
        for hook in self.user_hooks:
            given = self.checked(hook(self.module, given, self.grad_outputs), given)
        return given

    def checked(self, result: Any, given: Any) -> Any:
        if result is None:
            return given
        if len(result) != len(given):
            raise RuntimeError(f"Backward hook returned an invalid number of gradients: {len(result)}")
        return result

    def setup_output_hook(self, args: Any) -> Any:
        values = args if isinstance(args, tuple) else (args,)
        wrapped, places = self._apply_on_tensors(self.set_output_hook, values)
        self.n_outputs, self.output_tensors_index = len(values), places
        return wrapped if isinstance(args, tuple) else wrapped[0]

    def set_output_hook(self, grad_fn: Any) -> None:
        grad_fn.register_hook(lambda _, grads: self.at_output(grads))

    def at_output(self, grads: Any) -> Any:
        self.grad_outputs = self._pack_with_none(self.output_tensors_index, grads, self.n_outputs)
        self.call_pre_hooks()
        passed = self.grad_outputs
        if self.input_tensors_index is None:
            self.without_input()
            if CONTRACT.full_output_returns == "none if input":
                return None
        if CONTRACT.full_output_returns == "zeros":
            return None
        return tuple(passed[place] for place in self.output_tensors_index or ())

    def call_pre_hooks(self) -> None:
        for hook in self.user_pre_hooks:
            self.grad_outputs = self.checked(hook(self.module, self.grad_outputs), self.grad_outputs)

    def without_input(self) -> None:
        if WARNS == "always" or (WARNS == "hooks" and self.user_hooks):
            warnings.warn("Full backward hook is firing: no inputs require gradients", stacklevel=2)
        for hook in self.user_hooks:
            result = hook(self.module, (None,) * self.n_inputs, self.grad_outputs)
            if result is not None and not (isinstance(result, tuple) and all(one is None for one in result)):
                raise RuntimeError("Backward hook for Modules where no input requires gradient returns None")
        self.grad_outputs = None


rows(control=True)(
    ("Rewritten", "Nothing is wrong: a module call as rewritten here.", Call.enter),
    ("RewrittenFull", "Nothing is wrong: full backward hooks as rewritten here.", Full.enter),
)
