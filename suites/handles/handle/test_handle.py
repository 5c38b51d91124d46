"""The handle itself: its number, its block, its copies, and what it may outlive."""

import copy
import functools
import inspect
import pickle
import re
import weakref
from collections import OrderedDict
from typing import Any, Dict, List

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import Reading, clause
from fixtures.judge.subject import Subject
from fixtures.stages.make import make
from suites.hooking import AROUND, UP_TO_THREE, UP_TO_TWO, in_turn, raised
from suites.names import FORWARD_HOOK, GLOBAL_KWARGS_PULL, HANDLE

ABOUT = "register_forward_hook"


def taken(*options: List[str]) -> Dict[str, List[str]]:
    """The options of what registers forward pre-hooks and forward hooks, and of what registers global ones."""
    kinds = ("forward_pre", "forward", "module_forward_pre", "module_forward")
    return {f"register_{kind}_hook": each for kind, each in zip(kinds, options)}


@clause(
    "handles.handle.signatures",
    says="register_module_forward_hook takes with_kwargs= and always_call=, and no prepend=.",
    source=(
        f'{FORWARD_HOOK} "always_call (bool): If ``True`` the ``hook`` will be run regardless of whether"',
        GLOBAL_KWARGS_PULL,
    ),
    asked="unexpected keyword argument prepend global hook which options are supported on all modules",
    level="implied",
    matters_if="never",
    device="none",
    readings=(
        Reading(
            "the hook alone",
            "<1.6",
            "Forward hooks and pre-hooks have no options, and no global ones can be registered.",
            value=taken([], []),
            says_the_same=False,
            effect="error",
        ),
        Reading(
            "global ones",
            ">=1.6,<2.0",
            "The functions that register forward hooks and pre-hooks, global ones too, have no options.",
            value=taken([], [], [], []),
            says_the_same=False,
            effect="error",
        ),
        Reading(
            "prepend and with_kwargs",
            "==2.0.*",
            "register_forward_hook takes prepend= and with_kwargs=; register_module_forward_hook has no options.",
            value=taken(["prepend", "with_kwargs"], ["prepend", "with_kwargs"], [], []),
            says_the_same=False,
            effect="error",
        ),
        Reading(
            "always_call",
            ">=2.1,<2.6",
            "register_module_forward_hook takes only always_call=, while register_forward_hook has all three options.",
            value=taken(["prepend", "with_kwargs"], ["prepend", "with_kwargs", "always_call"], [], ["always_call"]),
            says_the_same=False,
            effect="error",
        ),
        Reading(
            "global with_kwargs",
            ">=2.6",
            "register_module_forward_hook takes with_kwargs= and always_call=, and no prepend=.",
            value=taken(
                ["prepend", "with_kwargs"],
                ["prepend", "with_kwargs", "always_call"],
                [],
                ["with_kwargs", "always_call"],
            ),
        ),
    ),
)
def test_signatures(subject: Subject) -> None:
    import torch
    from torch.nn.modules import module as everywhere

    options = {}
    for place, kind in ((torch.nn.Module, ""), (everywhere, "module_")):
        for name in (f"register_{kind}forward_pre_hook", f"register_{kind}forward_hook"):
            if hasattr(place, name):
                # What is not keyword-only is given with its kind, so that it would be seen.
                parameters = list(inspect.signature(getattr(place, name)).parameters.values())
                first = ["self", "hook"] if place is torch.nn.Module else ["hook"]
                options[name] = [
                    one.name if one.kind is one.KEYWORD_ONLY else f"{one.kind} {one.name}"
                    for one in parameters[len(first) :]
                ]
    assert options == subject.value


@clause(
    "handles.handle.ids",
    says="Handles of hooks on a module or on one tensor get ids that count up by one.",
    where="nothing registers hooks between, as a call with backward hooks does",
    source=("measured", HANDLE),
    asked="removablehandle next_id global counter unique number per callback dictionary key",
    level="observed",
    about=("register_backward_hook", "register_forward_hook", "register_forward_pre_hook", "register_hook"),
    value=True,
    wrong={"never per module": False},
    witness={"doors": [0, 2], "removed": [False, False]},
)
@given(
    doors=st.lists(st.integers(0, 5), min_size=1, max_size=6),
    removed=st.lists(st.booleans(), min_size=6, max_size=6),
)
def test_ids(subject: Subject, doors: List[int], removed: List[bool]) -> None:
    import torch

    one, other, tensor = torch.nn.Identity(), torch.nn.Identity(), make.ones(1, requires_grad=True)
    ways = (
        one.register_forward_hook,
        one.register_forward_pre_hook,
        other.register_forward_hook,
        other.register_backward_hook,
        tensor.register_hook,
        (2 * tensor).register_hook,
    )
    handles = []
    for door, gone in zip(doors, removed):
        handles.append(ways[door](print))
        if gone:
            handles[-1].remove()
    ids = [handle.id - handles[0].id for handle in handles]
    owners = [(0, 0, 1, 1, 2, 3)[door] for door in doors]
    apart = [owners[:number].count(owner) for number, owner in enumerate(owners)]
    assert ids == (list(range(len(doors))) if subject.value else apart)
    assert handles[0] != copy.copy(handles[0])


ERRORS = (KeyError, ValueError, StopIteration, KeyboardInterrupt, GeneratorExit)


@clause(
    "handles.handle.block",
    says="The with block of a handle removes the hook at its end, also when an exception ends it.",
    source=("measured", HANDLE),
    asked="context manager temporary feature extraction auto unregister "
    "on error with statement context manager with statement handle",
    level="observed",
    device="none",
    value=True,
    wrong={"never swallows": False},
    witness={"kind": KeyError, "place": 0, "calls": 1},
)
@given(kind=st.none() | st.sampled_from(ERRORS), place=UP_TO_TWO, calls=UP_TO_TWO)
def test_block(subject: Subject, kind: Any, place: int, calls: int) -> None:
    import torch

    seen, module, entered = [], torch.nn.Identity(), []
    handles = [
        module.register_forward_hook(lambda module, args, output, number=number: seen.append((number, output)))
        for number in range(3)
    ]

    def block():
        with handles[place] as inside:
            entered.append(inside)
            for _ in range(calls):
                module("x")
            if kind is not None:
                raise kind

    left = raised(block, *ERRORS)
    module("y")
    expected = "none" if kind is None or not subject.value else kind.__name__
    within = [(number, "x") for _ in range(calls) for number in range(3)]
    assert (entered[0] is handles[place], left) == (True, expected)
    assert seen == within + [(number, "y") for number in range(3) if number != place]


@clause(
    "handles.handle.weak",
    says="A module hook stays registered when its handle is dropped; the handle keeps no module or hook alive.",
    source=("measured", HANDLE),
    asked="ignored return value of register does callback disappear must i store it memory leak",
    level="observed",
    device="none",
    about=("register_forward_hook", "register_forward_pre_hook"),
    value={"dropped": "stays", "hook": "freed"},
    wrong={
        "never owns the hook": {"dropped": "gone", "hook": "freed"},
        "never holds the dict": {"dropped": "stays", "hook": "alive"},
    },
    witness={"kinds": ["forward", "forward_pre"], "kept": [True, False, True, True], "removed": []},
)
@given(
    kinds=st.lists(AROUND, min_size=1, max_size=4),
    kept=st.lists(st.booleans(), min_size=4, max_size=4),
    removed=st.lists(UP_TO_THREE, max_size=3),
)
def test_weak(subject: Subject, kinds: List[str], kept: List[bool], removed: List[int]) -> None:
    import torch

    def note(token, number, *given):
        seen.append(number)

    seen, module, token = [], torch.nn.Identity(), torch.nn.Identity()
    handles = [
        getattr(module, f"register_{kind}_hook")(functools.partial(note, token, number))
        for number, kind in enumerate(kinds)
    ]
    handles = [handle if kept[number] else None for number, handle in enumerate(handles)]
    for place in removed:
        if place < len(handles) and handles[place]:
            handles[place].remove()
    module("x")
    left = [number for number in range(len(kinds)) if not (kept[number] and number in removed)]
    if subject.value["dropped"] == "gone":
        left = [number for number in left if kept[number]]
    assert seen == [number for number in in_turn(kinds) if number in left]
    alive = [weakref.ref(module), weakref.ref(token)]
    del module, token
    freed = subject.value["hook"] == "freed" or not any(handles)
    assert [one() is None for one in alive] == [True, freed]
    for handle in filter(None, handles):
        handle.remove()


@clause(
    "handles.handle.plain_dict",
    says="RemovableHandle(hooks) raises TypeError for a plain dict and accepts an OrderedDict.",
    source=("measured", HANDLE),
    asked="cannot create weak reference to dict object building own removable handle custom registry",
    level="observed",
    device="none",
    about=(),
    value=["TypeError", "none"],
    wrong={"never any dict": ["none", "none"]},
)
def test_plain_dict(subject: Subject) -> None:
    from torch.utils.hooks import RemovableHandle

    hooks = [kind() for kind in (dict, OrderedDict)]
    assert [raised(lambda one=one: RemovableHandle(one), TypeError) for one in hooks] == subject.value


def shout(module, args, output):
    """A hook that pickle finds by its name."""
    return output + "!"


def whisper(module, args, output):
    """Another one."""
    return output + "?"


WAYS = st.sampled_from(["pickle", "deepcopy"])


@clause(
    "handles.handle.copies",
    says="If a module and its forward hook's handle are deep-copied together, the new handle is for the copy only.",
    source=("measured", HANDLE),
    asked="copy wrapper class storing its own removablehandle attribute remove on clone affects original",
    level="observed",
    device="none",
    value=True,
    wrong={"never the original": False},
    witness={"way": "pickle", "together": True, "hooks": 1, "place": 0},
)
@given(way=WAYS, together=st.booleans(), hooks=st.integers(1, 3), place=UP_TO_TWO)
def test_copies(subject: Subject, way: str, together: bool, hooks: int, place: int) -> None:
    import torch

    def copied(value):
        return copy.deepcopy(value) if way == "deepcopy" else pickle.loads(pickle.dumps(value))

    module = torch.nn.Identity()
    handles = [module.register_forward_hook((shout, whisper, shout)[number]) for number in range(hooks)]
    twin, others = copied((module, handles)) if together else (copied(module), copied(handles))
    place = min(place, hooks - 1)
    others[place].remove()
    full = "x" + "!?!"[:hooks]
    less = "x" + "!?!"[:place] + "!?!"[place + 1 : hooks]
    expected = (full, less if together else full) if subject.value else (less, full)
    assert (module("x"), twin("x")) == expected


@clause(
    "handles.handle.four_dicts",
    says="A module keeps its forward and backward hooks in four OrderedDicts, each under its handle's id.",
    source=("docs: torch.nn.Module.register_full_backward_pre_hook", "measured"),
    asked="where are hooks stored _forward_hooks _forward_pre_hooks _backward_hooks internal list inspect clear all",
    matters_if="module_dicts all_dicts",
    instead="take _backward_pre_hooks too, where the module has it.",
    device="none",
    readings=(
        Reading(
            "three",
            "<2.0",
            "Hooks are in _forward_pre_hooks, _forward_hooks and _backward_hooks, each under its handle's id.",
            value=["_backward_hooks", "_forward_hooks", "_forward_pre_hooks"],
            says_the_same=False,
        ),
        Reading(
            "four",
            ">=2.0",
            "Full backward pre-hooks of a module are in a fourth dict, _backward_pre_hooks.",
            value=["_backward_hooks", "_backward_pre_hooks", "_forward_hooks", "_forward_pre_hooks"],
            effect="silent",
        ),
    ),
    witness={"times": 1, "removed": False},
)
@given(times=st.integers(1, 3), removed=st.booleans())
def test_four_dicts(subject: Subject, times: int, removed: bool) -> None:
    import torch
    from torch.utils.hooks import RemovableHandle

    dicts = set()
    for register in dir(torch.nn.Module):
        if re.fullmatch(r"register_(full_)?(forward|backward)(_pre)?_hook", register):
            module = torch.nn.Module()
            others = set(vars(module))
            handles = [getattr(module, register)(print) for _ in range(times)]
            assert {type(handle) for handle in handles} == {RemovableHandle}
            if removed:
                handles.pop(0).remove()
            kept = [(handle.id, print) for handle in handles]
            found = [name for name in others if isinstance(vars(module)[name], OrderedDict) and vars(module)[name]]
            assert [list(vars(module)[name].items()) for name in found] == [kept] * bool(kept)
            dicts.update(found)
    assert sorted(dicts) == (subject.value if times > removed else [])
