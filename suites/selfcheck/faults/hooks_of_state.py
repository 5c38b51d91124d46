"""What faults of hooks of saving and loading are made of: a row says where something else is done than to call one."""

import contextlib
import functools
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

from torch.nn import Module

from fixtures.state.kinds import KINDS
from suites.selfcheck.faults.base import swap


@dataclass
class At:
    """One call of a hook: whose it is, where among those hooks, and what the method was called with around it."""

    owner: Any
    depth: int
    number: int
    many: int
    #: What state_dict() or load_state_dict() of the outermost module or of the optimizer was called with.
    options: dict[str, Any]
    #: Kept while that method runs.
    box: dict[Any, Any]
    public: bool = False

    @property
    def inner(self) -> bool:
        return self.depth > 0

    @property
    def later(self) -> bool:
        return self.number > 0

    @property
    def last(self) -> bool:
        return self.number == self.many - 1


#: What is called in place of a hook.
Instead = Callable[[Any, tuple[Any, ...], At], Any]
Kind = tuple[type, str, str]
SAVE_PRE: Kind = (Module, "state_dict", "_state_dict_pre_hooks")
SAVE_POST: Kind = (Module, "state_dict", "_state_dict_hooks")
LOAD_PRE: Kind = (Module, "_load_from_state_dict", "_load_state_dict_pre_hooks")
LOAD_POST: Kind = (Module, "load_state_dict", "_load_state_dict_post_hooks")
#: What there is no hook of a kind without.
NEEDS = {
    SAVE_PRE: KINDS["save_pre"].need,
    SAVE_POST: KINDS["save_post"].need,
    LOAD_PRE: KINDS["load_with"].need,
    LOAD_POST: KINDS["load_post"].need,
}


@dataclass(frozen=True)
class Wrong:
    """A fault: where `when` holds, something else is done `instead` of calling the hook."""

    kind: Kind
    when: Callable[[At], bool]
    instead: Instead
    #: The hooks of an owner in another order, or others.
    order: Callable[[Any, list[Any]], list[Any]] = field(default=lambda owner, hooks: hooks)

    def __call__(self, stack: ExitStack) -> None:
        """Have the method run with other hooks."""
        cls, method, store = self.kind
        running: list[tuple[dict[str, Any], dict[Any, Any]]] = []
        if self.kind == LOAD_PRE:
            self.follow(stack, cls, "load_state_dict", running)
        original = getattr(cls, method)

        @functools.wraps(original)
        def run(owner: Any, *given: Any, **options: Any) -> Any:
            outermost = not running
            if self.kind != LOAD_PRE:
                begun = running[0] if running else (known(given[1:], options), {})
                running.append(begun)
            depth = len(running) - 1 if self.kind != LOAD_PRE else len(given[1].split(".")) - 1
            owners = owner.modules() if self.kind == LOAD_POST else [owner]
            try:
                with ExitStack() as changed:
                    for one in owners:
                        level = depth if one is owner else 1
                        changed.enter_context(self.changed(one, store, level, running[0] if running else ({}, {})))
                    return original(owner, *given, **options)
            finally:
                if self.kind != LOAD_PRE:
                    running.pop()
                    assert not (outermost and running)

        swap(stack, cls, method, run)

    def follow(self, stack: ExitStack, cls: Any, method: str, running: list[Any]) -> None:
        """Note what the method is called with while it runs."""
        original = getattr(cls, method)

        @functools.wraps(original)
        def run(owner: Any, *given: Any, **options: Any) -> Any:
            running.insert(0, (known(given[1:], options), {}))
            try:
                return original(owner, *given, **options)
            finally:
                running.pop(0)

        swap(stack, cls, method, run)

    @contextlib.contextmanager
    def changed(self, owner: Any, store: str, depth: int, around: tuple[Any, Any]) -> Iterator[None]:
        """An owner that has other hooks for a while."""
        kept = vars(owner)[store]
        hooks = self.order(owner, list(kept.values()))
        made = []
        for number, hook in enumerate(hooks):
            at = At(owner, depth, number, len(hooks), *around, getattr(hook, "_from_public_api", False))
            made.append(self.made(hook, at))
        vars(owner)[store] = OrderedDict(enumerate(made))
        try:
            yield
        finally:
            vars(owner)[store] = kept

    def made(self, hook: Any, at: At) -> Any:
        @functools.wraps(hook)
        def call(*given: Any) -> Any:
            return self.instead(hook, given, at) if self.when(at) else hook(*given)

        return call


def known(given: tuple[Any, ...], options: dict[str, Any]) -> dict[str, Any]:
    """The options of load_state_dict(), which may be given by place."""
    return {**dict(zip(("strict", "assign"), given, strict=False)), **options}


def unheard(hook: Any, given: Any, at: At) -> None:
    """The hook is not called."""


def ignored(hook: Any, given: Any, at: At) -> None:
    """What the hook returns is ignored."""
    hook(*given)


def swallowed(hook: Any, given: Any, at: At) -> Any:
    """What the hook raises is swallowed."""
    try:
        return hook(*given)
    except KeyError:
        return None


def put(place: int, made: Callable[[Any], Any]) -> Instead:
    """The hook is given something else at one place."""
    return lambda hook, given, at: hook(*given[:place], made(given[place]), *given[place + 1 :])


def never(at: At) -> bool:
    return False
