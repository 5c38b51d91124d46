"""Faults of hooks of saving and loading optimizers that need two circumstances at once, and of copies of modules."""

import functools
from contextlib import ExitStack
from functools import partial
from typing import Any

from torch.nn.modules.module import _WrappedHook
from torch.optim import Optimizer

from fixtures.state.kinds import KINDS
from suites.selfcheck.faults.base import fault, patched, rows, swap
from suites.selfcheck.faults.hooks_of_state import At, Kind, Wrong, ignored, never, put, swallowed, unheard

NEAR = "state.optimizer"
SAVE_PRE: Kind = (Optimizer, "state_dict", "_optimizer_state_dict_pre_hooks")
SAVE_POST: Kind = (Optimizer, "state_dict", "_optimizer_state_dict_post_hooks")
LOAD_PRE: Kind = (Optimizer, "load_state_dict", "_optimizer_load_state_dict_pre_hooks")
LOAD_POST: Kind = (Optimizer, "load_state_dict", "_optimizer_load_state_dict_post_hooks")
HAS = tuple(KINDS[name].need for name in ("optimizer_save_pre", "optimizer_load_pre"))
WITH_MODULE = (KINDS["load_with"].need,)


def undone(hook: Any, given: Any, at: At) -> Any:
    """What the hook changes in param_groups is put back."""
    before = [dict(group) for group in at.owner.param_groups]
    result = hook(*given)
    for group, was in zip(at.owner.param_groups, before, strict=True):
        group.update(was)
    return result


def with_inner_copies(hook: Any, given: Any, at: At) -> Any:
    """The hook is given a dict whose groups are copies."""
    optimizer, state_dict = given
    if "param_groups" in state_dict:
        state_dict["param_groups"] = [dict(group) for group in state_dict["param_groups"]]
    return hook(optimizer, state_dict)


def first_wins(hook: Any, given: Any, at: At) -> Any:
    """Once a hook has returned something, what later ones return is ignored."""
    result = hook(*given)
    if "taken" in at.box:
        return None
    if result is not None:
        at.box["taken"] = True
    return result


def returned_before(hook: Any, given: Any, at: At) -> Any:
    """If the last hook returns None, the dict from before the first of them is taken."""
    first = at.box.setdefault("first", given[1])
    result = hook(*given)
    return first if result is None and at.last else result


def last_first(owner: Any, hooks: list[Any]) -> list[Any]:
    return [hooks[-1], *hooks[:-1]] if len(hooks) > 2 else hooks


def later(at: At) -> bool:
    return at.later


rows(NEAR, needs=HAS)(
    (
        "optimizer_save_pre_undone",
        "What a later state_dict pre-hook of an optimizer changes in param_groups is put back.",
        Wrong(SAVE_PRE, later, undone),
    ),
    (
        "optimizer_save_pre_swallowed",
        "What one of several state_dict pre-hooks of an optimizer raises is swallowed.",
        Wrong(SAVE_PRE, lambda at: at.many > 1, swallowed),
    ),
    (
        "optimizer_save_post_ignored",
        "What a later state_dict post-hook of an optimizer returns is ignored.",
        Wrong(SAVE_POST, later, ignored),
    ),
    (
        "optimizer_save_post_forgotten",
        "A dict that a state_dict post-hook of an optimizer returned is lost if the last hook returns None.",
        Wrong(SAVE_POST, lambda at: at.many > 1, returned_before),
    ),
    (
        "optimizer_save_post_copies",
        "A later state_dict post-hook of an optimizer is given a copy of the dict.",
        Wrong(SAVE_POST, later, put(1, dict)),
    ),
    (
        "optimizer_save_post_last_first",
        "The last of three or more state_dict post-hooks of an optimizer runs first.",
        Wrong(SAVE_POST, never, unheard, last_first),
    ),
    (
        "optimizer_load_pre_copies",
        "A later load pre-hook of an optimizer is given copies of the groups in the dict.",
        Wrong(LOAD_PRE, later, with_inner_copies),
    ),
    (
        "optimizer_load_pre_first_wins",
        "Once a load pre-hook of an optimizer has returned a dict, what later ones return is ignored.",
        Wrong(LOAD_PRE, lambda at: True, first_wins),
    ),
    (
        "optimizer_load_pre_swallowed",
        "What a later load pre-hook of an optimizer raises is swallowed.",
        Wrong(LOAD_PRE, later, swallowed),
    ),
    (
        "optimizer_load_post_undone",
        "What a later load post-hook of an optimizer changes in param_groups is put back.",
        Wrong(LOAD_POST, later, undone),
    ),
    (
        "optimizer_load_post_last_first",
        "The last of three or more load post-hooks of an optimizer runs first.",
        Wrong(LOAD_POST, never, unheard, last_first),
    ),
)


@patched(Optimizer, "load_state_dict", NEAR, needs=HAS)
def optimizer_load_post_after_failure(right: Any, self: Any, state_dict: Any) -> None:
    """The load post-hooks of an optimizer that has load pre-hooks are called though loading failed."""
    try:
        right(self, state_dict)
    except Exception:
        if self._optimizer_load_state_dict_pre_hooks:
            for hook in self._optimizer_load_state_dict_post_hooks.values():
                hook(self)
        raise


def patch_prepend(stack: ExitStack, method: str) -> None:
    """prepend=True puts a hook behind the first, where there are two or more already."""
    original = getattr(Optimizer, method)

    @functools.wraps(original)
    def wrong(self: Any, hook: Any, prepend: bool = False) -> Any:
        handle = original(self, hook, prepend)
        hooks = handle.hooks_dict_ref()
        if prepend and len(hooks) > 2:
            hooks.move_to_end(list(hooks)[1], last=False)
        return handle

    swap(stack, Optimizer, method, wrong)


rows(NEAR, needs=HAS)(
    (
        "optimizer_save_pre_prepended",
        "A state_dict pre-hook of an optimizer with prepend=True goes behind the first of two or more.",
        partial(patch_prepend, method="register_state_dict_pre_hook"),
    ),
    (
        "optimizer_load_post_prepended",
        "A load post-hook of an optimizer with prepend=True goes behind the first of two or more.",
        partial(patch_prepend, method="register_load_state_dict_post_hook"),
    ),
)


# --- copies of modules -------------------------------------------------------------------------


@fault("state.load", needs=WITH_MODULE, subtle=True)
def copied_hook_of_the_original(stack: ExitStack) -> None:
    """In a deep copy of a module with parameters its load pre-hooks are given the original."""
    keep, make = _WrappedHook.__getstate__, _WrappedHook.__setstate__

    def state_of(self: Any) -> Any:
        state = keep(self)
        if self.with_module and list(self.module().parameters(recurse=False)):
            state["original"] = self.module
        return state

    def read(self: Any, state: Any) -> None:
        original = state.pop("original", None)
        make(self, state)
        self.module = original or self.module

    swap(stack, _WrappedHook, "__getstate__", state_of)
    swap(stack, _WrappedHook, "__setstate__", read)


@patched(_WrappedHook, "__init__", "state.registered", needs=WITH_MODULE)
def second_hook_keeps_module(right: Any, self: Any, hook: Any, module: Any = None) -> None:
    """A load pre-hook that is given its module keeps the module alive, where it is not the first."""
    right(self, hook, module)
    if module is not None and module._load_state_dict_pre_hooks:
        self.owned = module
