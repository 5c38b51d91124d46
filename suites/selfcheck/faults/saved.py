"""Faults of hooks for saved tensors: of the three contexts, and of those on one saved tensor."""

import contextlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from typing import Any

import torch

from suites.selfcheck.faults.base import fault, patched, rows, swap

NEAR = "saved."
HAS = ("torch.autograd.graph.saved_tensors_hooks",)
CPU = ("torch.autograd.graph.save_on_cpu",)
OFF = ("torch.autograd.graph.disable_saved_tensors_hooks",)
ONE = ("torch._C._autograd.SavedTensor.register_hooks",)
#: Of a pair of hooks another pair.
Change = Callable[[Any, Any], tuple[Any, Any]]


def patch_pairs(stack: ExitStack, change: Change, name: str = "saved_tensors_hooks") -> None:
    """Have one of the two contexts with a pair take another pair instead."""
    contexts = torch.autograd.graph
    cls = getattr(contexts, name)
    init = contexts.saved_tensors_hooks.__init__

    def wrong(self: Any, pack: Any, unpack: Any) -> None:
        init(self, *(change(pack, unpack) if type(self) is cls else (pack, unpack)))

    swap(stack, contexts.saved_tensors_hooks, "__init__", wrong)


def patch_one(stack: ExitStack, change: Change) -> None:
    """Have SavedTensor.register_hooks take another pair instead."""
    cls = torch._C._autograd.SavedTensor  # type: ignore[attr-defined]
    own = cls.register_hooks
    stack.callback(setattr, cls, "register_hooks", own)
    cls.register_hooks = lambda self, pack, unpack: own(self, *change(pack, unpack))


def once(unpack: Any) -> Any:
    """An unpack hook that keeps what it made the first time."""
    made: list[Any] = []

    def kept(packed: Any) -> Any:
        made.extend([] if made else [unpack(packed)])
        return made[0]

    return kept


def each_once(pack: Any, unpack: Any) -> tuple[Any, Any]:
    """The same of everything that is packed."""
    return lambda tensor: (pack(tensor), once(unpack)), lambda both: both[1](both[0])


def used(use: Callable[[Any, list[Any], Any], Any]) -> Change:
    """The unpack hook called by `use(unpack, notes, packed)`; the notes are kept for each thing that is packed."""
    return lambda pack, unpack: (lambda tensor: (pack(tensor), []), lambda both: use(unpack, both[1], both[0]))


def with_copy(pack: Any, unpack: Any) -> tuple[Any, Any]:
    return lambda tensor: pack(tensor.clone()), unpack


# --- saved_tensors_hooks -----------------------------------------------------------------------


@patched(torch.autograd.graph.saved_tensors_hooks, "__exit__", NEAR, needs=HAS)
def saved_kept_by_exception(right: Any, self: Any, kind: Any = None, *more: Any) -> None:
    """A with block of saved_tensors_hooks that an exception ends is not left."""
    if kind is None:
        right(self, kind, *more)


def raises_on(unpack: Any, errors: list[Any], packed: Any) -> Any:
    if errors:
        raise errors[0]
    try:
        return unpack(packed)
    except Exception as error:
        errors.append(error)
        raise


def doubles_later(unpack: Any, calls: list[Any], packed: Any) -> Any:
    calls.append(1)
    return unpack(packed) * (2 if len(calls) > 1 else 1)


def unpacked_ignored(pack: Any, unpack: Any) -> tuple[Any, Any]:
    def use(both: Any) -> Any:
        found = unpack(both[0])
        return both[1] if isinstance(found, torch.Tensor) else found

    return lambda tensor: (pack(tensor), tensor.detach()), use


rows(NEAR, needs=HAS)(
    (
        "saved_unpacked_once",
        "The unpack hook of saved_tensors_hooks is called in the first pass only.",
        partial(patch_pairs, change=each_once),
    ),
    (
        "saved_unpacked_ignored",
        "What an unpack hook returns is ignored where it is a tensor: the one that was saved is used.",
        partial(patch_pairs, change=unpacked_ignored),
    ),
    (
        "saved_raising_unpack_raises_on",
        "An unpack hook that raised once is not called again: later passes raise the same error.",
        partial(patch_pairs, change=used(raises_on)),
    ),
)
rows(NEAR, needs=CPU)(
    (
        "cpu_copies",
        "save_on_cpu copies what is on the CPU already.",
        partial(patch_pairs, change=with_copy, name="save_on_cpu"),
    ),
    (
        "cpu_doubles_later",
        "save_on_cpu gives back twice the tensor in later passes than the first.",
        partial(patch_pairs, change=used(doubles_later), name="save_on_cpu"),
    ),
)
rows(NEAR, needs=ONE)(
    (
        "one_unpacked_once",
        "The unpack hook of SavedTensor.register_hooks is called in the first pass only.",
        partial(patch_one, change=each_once),
    ),
    (
        "one_edits_unnoticed",
        "The pack hook of SavedTensor.register_hooks may change its argument in place: it is given a copy.",
        partial(patch_one, change=with_copy),
    ),
)


@fault(NEAR, needs=CPU, subtle=True)
def cpu_leaves_the_outer_pair(stack: ExitStack) -> None:
    """save_on_cpu inside saved_tensors_hooks has no effect: the outer hooks are called."""
    cls = torch.autograd.graph.saved_tensors_hooks
    entered: list[Any] = []
    enter, leave = cls.__enter__, cls.__exit__

    def wrong(self: Any) -> None:
        on_cpu = isinstance(self, torch.autograd.graph.save_on_cpu)
        enter(entered[-1] if on_cpu and entered else self)
        entered.append(self)

    def out(self: Any, *raised: Any) -> None:
        leave(self, *raised)
        entered.pop()

    swap(stack, cls, "__enter__", wrong)
    swap(stack, cls, "__exit__", out)


@fault(NEAR, needs=(*CPU, *OFF), subtle=True)
def cpu_where_disabled(stack: ExitStack) -> None:
    """save_on_cpu may be entered where hooks are disabled, and does nothing there."""
    cls = torch.autograd.graph.save_on_cpu
    enter, leave = cls.__enter__, cls.__exit__
    refused: list[Any] = []

    def wrong(self: Any) -> None:
        try:
            enter(self)
        except RuntimeError:
            refused.append(self)

    def out(self: Any, *raised: Any) -> None:
        if self not in refused:
            leave(self, *raised)

    stack.enter_context(added(cls, "__enter__", wrong))
    stack.enter_context(added(cls, "__exit__", out))


@contextlib.contextmanager
def added(cls: type, name: str, value: Any) -> Iterator[None]:
    """A method that a class inherits, put into it for a while."""
    setattr(cls, name, value)
    try:
        yield
    finally:
        delattr(cls, name)


# --- disable_saved_tensors_hooks ---------------------------------------------------------------


def patch_off(stack: ExitStack, wrong: Callable[[Any, str], Any]) -> None:
    """Have disable_saved_tensors_hooks be another context: (the right one, its text) -> a generator of one step."""
    right = torch.autograd.graph.disable_saved_tensors_hooks
    swap(
        stack,
        torch.autograd.graph,
        "disable_saved_tensors_hooks",
        contextlib.contextmanager(lambda text: wrong(right, text)),
    )


def left_at_once(right: Any, text: str) -> Iterator[None]:
    with right(text):
        pass
    yield


def enabled_after(right: Any, text: str) -> Iterator[None]:
    with right(text):
        yield
    torch._C._autograd._saved_tensors_hooks_enable()  # type: ignore[attr-defined]


rows(NEAR, needs=OFF)(
    (
        "off_has_no_effect",
        "Inside disable_saved_tensors_hooks saved_tensors_hooks may be entered.",
        partial(patch_off, wrong=left_at_once),
    ),
    (
        "off_ends_with_the_inner_one",
        "Leaving an inner disable_saved_tensors_hooks enables hooks, though an outer one is still entered.",
        partial(patch_off, wrong=enabled_after),
    ),
)


def freed_accepted(stack: ExitStack) -> None:
    cls = torch._C._autograd.SavedTensor  # type: ignore[attr-defined]
    own = cls.register_hooks

    def register(self: Any, pack: Any, unpack: Any) -> None:
        try:
            own(self, pack, unpack)
        except RuntimeError as error:
            if "after it has been freed" not in str(error):
                raise

    stack.callback(setattr, cls, "register_hooks", own)
    cls.register_hooks = register


rows(NEAR, needs=ONE)(
    ("one_of_the_freed", "SavedTensor.register_hooks on a freed graph has no effect.", freed_accepted),
)
