"""Faults of hooks of saving and loading modules; each needs two circumstances at once: a row says which."""

from collections import OrderedDict
from typing import Any

from torch.nn import Module
from torch.nn.modules import module as torch_module

from suites.selfcheck.faults.base import rows
from suites.selfcheck.faults.hooks_of_state import (
    LOAD_POST,
    LOAD_PRE,
    NEEDS,
    SAVE_POST,
    SAVE_PRE,
    At,
    Instead,
    Wrong,
    ignored,
    never,
    put,
    swallowed,
    unheard,
)


def refused(hook: Any, given: Any, at: At) -> None:
    """The hook may return nothing but None."""
    if hook(*given) is not None:
        raise RuntimeError("hook must return None")


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


def without_flag(metadata: Any) -> Any:
    return {key: value for key, value in metadata.items() if key != "assign_to_params_buffers"}


rows("state.", needs=NEEDS[SAVE_PRE], control=True)(
    ("state_same", "Nothing is wrong: other functions call hooks before saving.", Wrong(SAVE_PRE, never, unheard)),
)
rows("state.", needs=NEEDS[LOAD_PRE], control=True)(
    (
        "state_same_loading",
        "Nothing is wrong: other functions call hooks before loading.",
        Wrong(LOAD_PRE, never, unheard),
    ),
)
rows("state.", needs=NEEDS[SAVE_PRE])(
    (
        "save_pre_deep_prefix",
        "A state_dict pre-hook of a module two levels in is given the prefix of the module around it.",
        Wrong(SAVE_PRE, lambda at: at.depth > 1, put(1, lambda prefix: prefix[: prefix[:-1].rindex(".") + 1])),
    ),
    (
        "save_pre_inner_vars",
        "A state_dict pre-hook of an inner module is given keep_vars=False, whatever the caller said.",
        Wrong(SAVE_PRE, lambda at: at.inner, put(2, lambda keep_vars: False)),
    ),
    (
        "save_pre_later_returns",
        "A state_dict pre-hook that is not the first of its module must return None.",
        Wrong(SAVE_PRE, lambda at: at.later, refused),
    ),
    (
        "save_pre_overridden_one",
        "A module that overrides _save_to_state_dict calls only the first of its state_dict pre-hooks.",
        Wrong(SAVE_PRE, lambda at: at.later and saves_itself(at.owner), unheard),
    ),
)
rows("state.", needs=NEEDS[SAVE_POST])(
    (
        "save_post_inner_copies",
        "A later state_dict post-hook of an inner module is given a copy of the dict.",
        Wrong(SAVE_POST, lambda at: at.public and at.inner and at.later, put(1, OrderedDict)),
    ),
    (
        "save_post_no_metadata",
        "With keep_vars=True a post-hook of state_dict() is given no metadata.",
        Wrong(SAVE_POST, lambda at: at.public and at.options.get("keep_vars", False), put(3, lambda metadata: {})),
    ),
    (
        "save_post_inner_returns",
        "A public state_dict post-hook of an inner module may return anything.",
        Wrong(SAVE_POST, lambda at: at.public and at.inner, ignored),
    ),
    (
        "save_post_public_first",
        "Where a module has public and private state_dict post-hooks, the public ones run first.",
        Wrong(SAVE_POST, never, unheard, public_first),
    ),
    (
        "save_own_inner_merged",
        "The dict that a later private state-dict hook of an inner module returns is merged into that of state_dict().",
        Wrong(SAVE_POST, lambda at: not at.public and at.inner and at.later, merged(1)),
    ),
    (
        "save_own_forgotten",
        "A dict that a private state-dict hook returned is lost if the last hook of the module returns None.",
        Wrong(SAVE_POST, lambda at: not at.public and at.many > 1, forgotten),
    ),
    (
        "save_own_inner_swallowed",
        "What a later private state-dict hook of an inner module raises is swallowed.",
        Wrong(SAVE_POST, lambda at: not at.public and at.inner and at.later, swallowed),
    ),
    (
        "save_own_shared_once",
        "Of a module in two places the later private state-dict hooks are called once.",
        Wrong(SAVE_POST, lambda at: not at.public and at.later, once),
    ),
)
rows("state.", needs=NEEDS[LOAD_PRE])(
    (
        "load_pre_inner_strict",
        "A load pre-hook of an inner module is given strict=False where load_state_dict() was.",
        Wrong(LOAD_PRE, lambda at: at.inner and at.options.get("strict") is False, put(3, lambda strict: False)),
    ),
    (
        "load_pre_inner_copies",
        "A later load pre-hook of an inner module is given a copy of the dict.",
        Wrong(LOAD_PRE, lambda at: at.inner and at.later, put(0, OrderedDict)),
    ),
    (
        "load_pre_errors_lost",
        "With strict=False what a load pre-hook of an inner module adds to error_msgs is lost.",
        Wrong(LOAD_PRE, lambda at: at.inner and at.options.get("strict") is False, put(6, list)),
    ),
    (
        "load_pre_not_told",
        "With assign=True only the first load pre-hook of a module is told so.",
        Wrong(LOAD_PRE, lambda at: at.later and at.options.get("assign", False), put(2, without_flag)),
    ),
    (
        "load_pre_raises_later",
        "What one of several load pre-hooks of a module raises becomes an error message.",
        Wrong(LOAD_PRE, lambda at: at.many > 1, as_error),
    ),
    (
        "load_pre_inner_merged",
        "A dict that a load pre-hook of an inner module returns is merged into the one that is loaded.",
        Wrong(LOAD_PRE, lambda at: at.inner, merged(0)),
    ),
    (
        "load_pre_swapped",
        "Of three or more load pre-hooks of a module the last two change places.",
        Wrong(LOAD_PRE, never, unheard, last_two_swapped),
    ),
)
rows("state.", needs=NEEDS[LOAD_POST])(
    (
        "load_post_inner_copies",
        "Where keys are missing a load post-hook of an inner module is given copies of the lists.",
        Wrong(LOAD_POST, lambda at: at.inner, with_copies),
    ),
    (
        "load_post_inner_unexpected",
        "A load post-hook of an inner module is not called where a key is unexpected.",
        Wrong(
            LOAD_POST, lambda at: at.inner, lambda hook, given, at: None if given[1].unexpected_keys else hook(*given)
        ),
    ),
    (
        "load_post_later_returns",
        "A load post-hook that is not the first of its module may return anything.",
        Wrong(LOAD_POST, lambda at: at.later, ignored),
    ),
    (
        "load_post_inner_swallowed",
        "With strict=False what a load post-hook raises is swallowed.",
        Wrong(LOAD_POST, lambda at: at.options.get("strict") is False, swallowed),
    ),
)
