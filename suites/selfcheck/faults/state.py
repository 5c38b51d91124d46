"""Faults of hooks of saving and loading modules; each needs two circumstances at once: a row says which."""

import contextlib
import functools
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

from torch.nn import Module
from torch.nn.modules import module as torch_module

from fixtures.state.kinds import KINDS
from suites.selfcheck.faults.base import fault, swap

NEAR = "state."


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
NEEDS = {SAVE_PRE: "save_pre", SAVE_POST: "save_post", LOAD_PRE: "load_with", LOAD_POST: "load_post"}


@dataclass(frozen=True)
class Wrong:
    """A fault: where `when` holds, something else is done `instead` of calling the hook."""

    name: str
    says: str
    kind: Kind
    when: Callable[[At], bool]
    instead: Instead
    #: The hooks of an owner in another order, or others.
    order: Callable[[Any, list[Any]], list[Any]] = field(default=lambda owner, hooks: hooks)
    control: bool = False

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


def register(rows: tuple[Wrong, ...], module: str, needs: tuple[str, ...] = ()) -> None:
    """Make a fault of each row."""
    for row in rows:

        def enter(stack: ExitStack, row: Wrong = row) -> None:
            row(stack)

        enter.__name__, enter.__doc__, enter.__module__ = row.name, row.says, module
        wanted = needs or (KINDS[NEEDS[row.kind]].need,)
        fault(NEAR, needs=wanted, subtle=not row.control, control=row.control)(enter)


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


def refused(hook: Any, given: Any, at: At) -> None:
    """The hook may return nothing but None."""
    if hook(*given) is not None:
        raise RuntimeError("hook must return None")


def put(place: int, made: Callable[[Any], Any]) -> Instead:
    """The hook is given something else at one place."""
    return lambda hook, given, at: hook(*given[:place], made(given[place]), *given[place + 1 :])


def merged(place: int) -> Instead:
    """What the hook returns is put into the dict that it is given at that place, behind the prefix that follows."""

    def instead(hook: Any, given: Any, at: At) -> None:
        result = hook(*given)
        if isinstance(result, dict):
            given[place].update({given[place + 1] + key: value for key, value in dict(result).items()})

    return instead


def forgotten(hook: Any, given: Any, at: At) -> Any:
    """If the last hook returns None, what came before the first of them is taken."""
    first = at.box.setdefault(id(at.owner), given[1])
    result = hook(*given)
    return first if result is None and at.last else result


def once(hook: Any, given: Any, at: At) -> Any:
    """The hook is called once in a state_dict(), in whatever places its module is."""
    key = (id(at.owner), at.number)
    if key in at.box:
        return None
    at.box[key] = True
    return hook(*given)


def as_error(hook: Any, given: Any, at: At) -> Any:
    """What the hook raises becomes an error message."""
    try:
        return hook(*given)
    except KeyError as error:
        given[-1].append(str(error))


def with_copies(hook: Any, given: Any, at: At) -> Any:
    """Where a key is missing, the hook is given copies of both lists."""
    module, keys = given
    if not keys.missing_keys:
        return hook(*given)
    return hook(module, torch_module._IncompatibleKeys(list(keys.missing_keys), list(keys.unexpected_keys)))


def public_first(owner: Any, hooks: list[Any]) -> list[Any]:
    return sorted(hooks, key=lambda hook: not getattr(hook, "_from_public_api", False))


def last_two_swapped(owner: Any, hooks: list[Any]) -> list[Any]:
    return [*hooks[:-2], *hooks[:-3:-1]] if len(hooks) > 2 else hooks


def saves_itself(owner: Any) -> bool:
    return type(owner)._save_to_state_dict is not Module._save_to_state_dict


def never(at: At) -> bool:
    return False


def without_flag(metadata: Any) -> Any:
    return {key: value for key, value in metadata.items() if key != "assign_to_params_buffers"}


ROWS = (
    Wrong(
        "state_same",
        "Nothing is wrong: other functions call hooks before saving.",
        SAVE_PRE,
        never,
        unheard,
        control=True,
    ),
    Wrong(
        "state_same_loading",
        "Nothing is wrong: other functions call hooks before loading.",
        LOAD_PRE,
        never,
        unheard,
        control=True,
    ),
    # --- state_dict_pre_hooks ---
    Wrong(
        "save_pre_deep_prefix",
        "A state_dict pre-hook of a module two levels in is given the prefix of the module around it.",
        SAVE_PRE,
        lambda at: at.depth > 1,
        put(1, lambda prefix: prefix[: prefix[:-1].rindex(".") + 1]),
    ),
    Wrong(
        "save_pre_inner_vars",
        "A state_dict pre-hook of an inner module is given keep_vars=False, whatever the caller said.",
        SAVE_PRE,
        lambda at: at.inner,
        put(2, lambda keep_vars: False),
    ),
    Wrong(
        "save_pre_later_returns",
        "A state_dict pre-hook that is not the first of its module must return None.",
        SAVE_PRE,
        lambda at: at.later,
        refused,
    ),
    Wrong(
        "save_pre_overridden_one",
        "A module that overrides _save_to_state_dict calls only the first of its state_dict pre-hooks.",
        SAVE_PRE,
        lambda at: at.later and saves_itself(at.owner),
        unheard,
    ),
    # --- public post-hooks of state_dict ---
    Wrong(
        "save_post_inner_copies",
        "A later state_dict post-hook of an inner module is given a copy of the dict.",
        SAVE_POST,
        lambda at: at.public and at.inner and at.later,
        put(1, OrderedDict),
    ),
    Wrong(
        "save_post_no_metadata",
        "With keep_vars=True a post-hook of state_dict() is given no metadata.",
        SAVE_POST,
        lambda at: at.public and at.options.get("keep_vars", False),
        put(3, lambda metadata: {}),
    ),
    Wrong(
        "save_post_inner_returns",
        "A public state_dict post-hook of an inner module may return anything.",
        SAVE_POST,
        lambda at: at.public and at.inner,
        ignored,
    ),
    Wrong(
        "save_post_public_first",
        "Where a module has public and private state_dict post-hooks, the public ones run first.",
        SAVE_POST,
        never,
        unheard,
        public_first,
    ),
    # --- private ones ---
    Wrong(
        "save_own_inner_merged",
        "The dict that a later private state-dict hook of an inner module returns is merged into that of state_dict().",
        SAVE_POST,
        lambda at: not at.public and at.inner and at.later,
        merged(1),
    ),
    Wrong(
        "save_own_forgotten",
        "A dict that a private state-dict hook returned is lost if the last hook of the module returns None.",
        SAVE_POST,
        lambda at: not at.public and at.many > 1,
        forgotten,
    ),
    Wrong(
        "save_own_inner_swallowed",
        "What a later private state-dict hook of an inner module raises is swallowed.",
        SAVE_POST,
        lambda at: not at.public and at.inner and at.later,
        swallowed,
    ),
    Wrong(
        "save_own_shared_once",
        "Of a module in two places the later private state-dict hooks are called once.",
        SAVE_POST,
        lambda at: not at.public and at.later,
        once,
    ),
    # --- load pre-hooks ---
    Wrong(
        "load_pre_inner_strict",
        "A load pre-hook of an inner module is given strict=False where load_state_dict() was.",
        LOAD_PRE,
        lambda at: at.inner and at.options.get("strict") is False,
        put(3, lambda strict: False),
    ),
    Wrong(
        "load_pre_inner_copies",
        "A later load pre-hook of an inner module is given a copy of the dict.",
        LOAD_PRE,
        lambda at: at.inner and at.later,
        put(0, OrderedDict),
    ),
    Wrong(
        "load_pre_errors_lost",
        "With strict=False what a load pre-hook of an inner module adds to error_msgs is lost.",
        LOAD_PRE,
        lambda at: at.inner and at.options.get("strict") is False,
        put(6, list),
    ),
    Wrong(
        "load_pre_not_told",
        "With assign=True only the first load pre-hook of a module is told so.",
        LOAD_PRE,
        lambda at: at.later and at.options.get("assign", False),
        put(2, without_flag),
    ),
    Wrong(
        "load_pre_raises_later",
        "What one of several load pre-hooks of a module raises becomes an error message.",
        LOAD_PRE,
        lambda at: at.many > 1,
        as_error,
    ),
    Wrong(
        "load_pre_inner_merged",
        "A dict that a load pre-hook of an inner module returns is merged into the one that is loaded.",
        LOAD_PRE,
        lambda at: at.inner,
        merged(0),
    ),
    Wrong(
        "load_pre_swapped",
        "Of three or more load pre-hooks of a module the last two change places.",
        LOAD_PRE,
        never,
        unheard,
        last_two_swapped,
    ),
    # --- load post-hooks ---
    Wrong(
        "load_post_inner_copies",
        "Where keys are missing a load post-hook of an inner module is given copies of the lists.",
        LOAD_POST,
        lambda at: at.inner,
        with_copies,
    ),
    Wrong(
        "load_post_inner_unexpected",
        "A load post-hook of an inner module is not called where a key is unexpected.",
        LOAD_POST,
        lambda at: at.inner,
        lambda hook, given, at: None if given[1].unexpected_keys else hook(*given),
    ),
    Wrong(
        "load_post_later_returns",
        "A load post-hook that is not the first of its module may return anything.",
        LOAD_POST,
        lambda at: at.later,
        ignored,
    ),
    Wrong(
        "load_post_inner_swallowed",
        "With strict=False what a load post-hook raises is swallowed.",
        LOAD_POST,
        lambda at: at.options.get("strict") is False,
        swallowed,
    ),
)

register(ROWS, __name__)
