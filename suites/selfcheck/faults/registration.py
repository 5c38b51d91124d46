"""Faults of hooks of registering parameters, buffers and modules that need two circumstances at once."""

import functools
from collections import OrderedDict
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import torch
from torch.nn import Module
from torch.nn.modules import module as torch_module

from suites.selfcheck.faults.base import patched, rows, swap

NEAR = "registration."
HAS = ("torch.nn.modules.module.register_module_parameter_registration_hook",)
SORTS = ("parameter", "buffer", "module")
#: Of the sort, the hook, its number and that of all, whether the value is set as an attribute, and what it is given.
Instead = Callable[..., Any]


def patch(stack: ExitStack, instead: Instead, sorts: tuple[str, ...] = SORTS, order: Any = None) -> None:
    """Have something else done in place of registration hooks of some sorts: (hook, number, many, way, given)."""
    setting: list[Any] = []

    def around(name: str, only: tuple[str, ...]) -> None:
        original = getattr(Module, name)

        @functools.wraps(original)
        def run(self: Any, *given: Any, **options: Any) -> Any:
            way = "attribute" if name == "__setattr__" or setting else "method"
            if way == "method" or name == "__setattr__":
                with ExitStack() as changed:
                    for sort in only:
                        hooks(changed, sort, way)
                    if name == "__setattr__":
                        setting.append(1)
                        changed.callback(setting.pop)
                    return original(self, *given, **options)
            return original(self, *given, **options)

        swap(stack, Module, name, run)

    def hooks(changed: ExitStack, sort: str, way: str) -> None:
        store = f"_global_{sort}_registration_hooks"
        kept = getattr(torch_module, store)
        if sort not in sorts or not kept:
            return
        found = list(kept.values())
        found = order(found, way) if order else found
        made = [
            lambda *given, hook=hook, number=number: instead(hook, number, len(found), way, given)
            for number, hook in enumerate(found)
        ]
        swap(changed, torch_module, store, OrderedDict(enumerate(made)))

    around("__setattr__", SORTS)
    around("register_parameter", ("parameter",))
    around("register_buffer", ("buffer",))
    around("add_module", ("module",))


def wrong(instead: Instead, sorts: tuple[str, ...] = SORTS, order: Any = None) -> Callable[[ExitStack], None]:
    return lambda stack: patch(stack, instead, sorts, order)


def called(hook: Any, number: int, many: int, way: str, given: Any) -> Any:
    return hook(*given)


def later_ignored(hook: Any, number: int, many: int, way: str, given: Any) -> Any:
    result = hook(*given)
    return None if number and way == "attribute" else result


def swallowed(hook: Any, number: int, many: int, way: str, given: Any) -> Any:
    try:
        return hook(*given)
    except KeyError:
        if not number:
            raise
    return None


def unheard_again(hook: Any, number: int, many: int, way: str, given: Any) -> Any:
    owner, name, _ = given
    there = name in owner._parameters or name in owner._modules or name in owner._buffers
    return None if there and number else hook(*given)


def unheard_of_none(hook: Any, number: int, many: int, way: str, given: Any) -> Any:
    return None if given[2] is None and way == "attribute" else hook(*given)


def unchained(stack: ExitStack) -> None:
    first: list[Any] = []

    def instead(hook: Any, number: int, many: int, way: str, given: Any) -> Any:
        if not number:
            first[:] = [given[2]]
        return hook(*given[:2], first[0] if number > 1 else given[2])

    patch(stack, instead)


def registered_early(hook: Any, number: int, many: int, way: str, given: Any) -> Any:
    """The value is there already when the second hook is called."""
    owner, name, value = given
    if number and isinstance(value, Module) and name not in owner._modules:
        owner._modules[name] = value
    return hook(*given)


def stays_registered(hook: Any, number: int, many: int, way: str, given: Any) -> Any:
    try:
        return hook(*given)
    except KeyError:
        owner, name, value = given
        if many > 1 and isinstance(value, torch.nn.Parameter):
            owner._parameters[name] = value
        raise


def checked(hook: Any, number: int, many: int, way: str, given: Any) -> Any:
    result = hook(*given)
    if way == "attribute" and result is not None and not isinstance(result, (Module, torch.Tensor)):
        raise TypeError("not a Module")
    return result


def last_first(found: list[Any], way: str) -> list[Any]:
    return [found[-1], *found[:-1]] if way == "method" and len(found) > 1 else found


def one_only(found: list[Any], way: str) -> list[Any]:
    return found[:2] if way == "attribute" else found


@patched(Module, "__setstate__", NEAR, needs=HAS)
def registered_by_copies(right: Any, self: Any, state: Any) -> None:
    """A deep copy of a module that has modules in it calls parameter registration hooks."""
    right(self, state)
    for name, value in list(self._parameters.items()) if self._modules else ():
        for hook in list(torch_module._global_parameter_registration_hooks.values()):
            hook(self, name, value)


@patched(Module, "_load_from_state_dict", NEAR, needs=HAS)
def registered_assigned_inner(right: Any, self: Any, state_dict: Any, prefix: str, metadata: Any, *given: Any) -> None:
    """load_state_dict(assign=True) calls no registration hook for inner modules."""
    with ExitStack() as changed:
        for sort in SORTS if metadata.get("assign_to_params_buffers") and prefix else ():
            swap(changed, torch_module, f"_global_{sort}_registration_hooks", OrderedDict())
        right(self, state_dict, prefix, metadata, *given)


@patched(torch.nn.ModuleDict, "update", NEAR, needs=HAS)
def registered_one_of_dict(right: Any, self: Any, modules: Any) -> None:
    """Building a ModuleDict calls module registration hooks for its first entry only."""
    entries = list(modules.items()) if isinstance(modules, dict) else list(modules)
    right(self, entries[:1])
    self._modules.update(entries[1:])


@patched(torch.nn.ModuleList, "insert", NEAR, needs=HAS)
def registered_inserted(right: Any, self: Any, index: int, module: Any) -> None:
    """insert() of a ModuleList that had two modules calls module registration hooks."""
    right(self, index, module)
    if len(self) > 2:
        self.add_module(str(index), module)


rows(NEAR, needs=HAS, control=True)(
    ("registered_same", "Nothing is wrong: other functions call registration hooks.", wrong(called)),
)
rows(NEAR, needs=HAS)(
    (
        "registered_later_ignored",
        "What a later hook returns for a value set as an attribute is ignored.",
        wrong(later_ignored),
    ),
    ("registered_swallowed", "What a registration hook raises that is not the first is swallowed.", wrong(swallowed)),
    (
        "registered_again_once",
        "A name that is taken already calls the first registration hook only.",
        wrong(unheard_again),
    ),
    (
        "registered_none_unheard",
        "None set as an attribute in place of a buffer or module calls no hook.",
        wrong(unheard_of_none, SORTS[1:]),
    ),
    ("registered_unchained", "The third registration hook is given the value that the first was given.", unchained),
    ("registered_early", "A later module registration hook finds the module in its place.", wrong(registered_early)),
    ("registered_stays", "A parameter is registered though one of several hooks raises.", wrong(stays_registered)),
    (
        "registered_checked",
        "What a hook returns for a module set as an attribute must be a module.",
        wrong(checked, ("module",)),
    ),
    (
        "registered_last_first",
        "Registered by a method, a value is given to the last hook first.",
        wrong(called, order=last_first),
    ),
    (
        "registered_two_only",
        "Set as an attribute, a value is given to two hooks at most.",
        wrong(called, order=one_only),
    ),
)
