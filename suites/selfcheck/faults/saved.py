"""Faults of hooks for saved tensors: of the three contexts, and of those on one saved tensor."""

import contextlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import torch

from suites.selfcheck.faults.base import fault, swap

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


def patch_one(stack: ExitStack, register: Callable[[Any, Any, Any, Any], Any]) -> None:
    """Have SavedTensor.register_hooks do something else: (its own method, the saved tensor, pack, unpack)."""
    cls = torch._C._autograd.SavedTensor  # type: ignore[attr-defined]
    own = cls.register_hooks
    stack.callback(setattr, cls, "register_hooks", own)
    cls.register_hooks = lambda self, pack, unpack: register(own, self, pack, unpack)


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


def twice(pack: Any) -> Any:
    def both(tensor: Any) -> Any:
        pack(tensor)
        return pack(tensor)

    return both


# --- saved_tensors_hooks -----------------------------------------------------------------------


@fault(NEAR, needs=HAS)
def saved_unpacked_once(stack: ExitStack) -> None:
    """The unpack hook of saved_tensors_hooks is called in the first pass only."""
    patch_pairs(stack, each_once)


@fault(NEAR, needs=HAS)
def saved_packed_twice(stack: ExitStack) -> None:
    """The pack hook of saved_tensors_hooks is called twice for each tensor."""
    patch_pairs(stack, lambda pack, unpack: (twice(pack), unpack))


@fault(NEAR, needs=HAS)
def saved_unpacked_ignored(stack: ExitStack) -> None:
    """What an unpack hook returns is ignored where it is a tensor: the one that was saved is used."""

    def change(pack: Any, unpack: Any) -> tuple[Any, Any]:
        def use(both: Any) -> Any:
            found = unpack(both[0])
            return both[1] if isinstance(found, torch.Tensor) else found

        return lambda tensor: (pack(tensor), tensor.detach()), use

    patch_pairs(stack, change)


@fault(NEAR, needs=HAS)
def saved_edits_unnoticed(stack: ExitStack) -> None:
    """A pack hook may change its argument in place: it is given a copy."""
    patch_pairs(stack, lambda pack, unpack: (lambda tensor: pack(tensor.clone()), unpack))


@fault(NEAR, needs=HAS, subtle=True)
def saved_kept_by_exception(stack: ExitStack) -> None:
    """A with block of saved_tensors_hooks that an exception ends is not left."""
    leave = torch.autograd.graph.saved_tensors_hooks.__exit__

    def wrong(self: Any, kind: Any = None, *more: Any) -> None:
        if kind is None:
            leave(self, kind, *more)

    swap(stack, torch.autograd.graph.saved_tensors_hooks, "__exit__", wrong)


@fault(NEAR, needs=HAS, subtle=True)
def saved_outer_packs(stack: ExitStack) -> None:
    """In the third of three nested saved_tensors_hooks the hooks of the second are called."""
    entered: list[Any] = []
    cls = torch.autograd.graph.saved_tensors_hooks
    enter, leave = cls.__enter__, cls.__exit__

    def wrong(self: Any) -> None:
        enter(entered[-1] if len(entered) == 2 else self)
        entered.append(self)

    def out(self: Any, *raised: Any) -> None:
        leave(self, *raised)
        entered.pop()

    swap(stack, cls, "__enter__", wrong)
    swap(stack, cls, "__exit__", out)


@fault(NEAR, needs=HAS, subtle=True)
def saved_same_tensor_once(stack: ExitStack) -> None:
    """A tensor that is saved twice in one context is packed once."""

    def change(pack: Any, unpack: Any) -> tuple[Any, Any]:
        packed: dict[int, Any] = {}

        def first(tensor: Any) -> Any:
            key = id(tensor)
            if key not in packed:
                packed[key] = (tensor.detach(), pack(tensor), tensor)
            return packed[key][1]

        return first, unpack

    patch_pairs(stack, change)


@fault(NEAR, needs=HAS, subtle=True)
def saved_raising_unpack_raises_on(stack: ExitStack) -> None:
    """An unpack hook that raised once is not called again: later passes raise the same error."""

    def change(pack: Any, unpack: Any) -> tuple[Any, Any]:
        def use(both: Any) -> Any:
            if both[1]:
                raise both[1][0]
            try:
                return unpack(both[0])
            except Exception as error:
                both[1].append(error)
                raise

        return lambda tensor: (pack(tensor), []), use

    patch_pairs(stack, change)


# --- save_on_cpu -------------------------------------------------------------------------------


@fault(NEAR, needs=CPU)
def cpu_copies(stack: ExitStack) -> None:
    """save_on_cpu copies what is on the CPU already."""
    patch_pairs(stack, lambda pack, unpack: (lambda tensor: pack(tensor.clone()), unpack), "save_on_cpu")


@fault(NEAR, needs=CPU)
def cpu_doubles_later(stack: ExitStack) -> None:
    """save_on_cpu gives back twice the tensor in later passes than the first."""

    def change(pack: Any, unpack: Any) -> tuple[Any, Any]:
        def use(both: Any) -> Any:
            both[1].append(1)
            return unpack(both[0]) * (2 if len(both[1]) > 1 else 1)

        return lambda tensor: (pack(tensor), []), use

    patch_pairs(stack, change, "save_on_cpu")


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


@fault(NEAR, needs=OFF)
def off_has_no_effect(stack: ExitStack) -> None:
    """Inside disable_saved_tensors_hooks saved_tensors_hooks may be entered."""

    def wrong(right: Any, text: str) -> Iterator[None]:
        with right(text):
            pass
        yield

    patch_off(stack, wrong)


@fault(NEAR, needs=OFF)
def off_where_active(stack: ExitStack) -> None:
    """disable_saved_tensors_hooks may be entered where hooks are active, and does nothing there."""

    def wrong(right: Any, text: str) -> Iterator[None]:
        try:
            context = right(text)
            context.__enter__()
        except RuntimeError:
            yield
            return
        yield
        context.__exit__(None, None, None)

    patch_off(stack, wrong)


@fault(NEAR, needs=OFF, subtle=True)
def off_ends_with_the_inner_one(stack: ExitStack) -> None:
    """Leaving an inner disable_saved_tensors_hooks enables hooks, though an outer one is still entered."""

    def wrong(right: Any, text: str) -> Iterator[None]:
        with right(text):
            yield
        torch._C._autograd._saved_tensors_hooks_enable()  # type: ignore[attr-defined]

    patch_off(stack, wrong)


# --- SavedTensor.register_hooks ----------------------------------------------------------------


@fault(NEAR, needs=ONE)
def one_unpacked_once(stack: ExitStack) -> None:
    """The unpack hook of SavedTensor.register_hooks is called in the first pass only."""
    patch_one(stack, lambda own, saved, pack, unpack: own(saved, *each_once(pack, unpack)))


@fault(NEAR, needs=ONE)
def one_packed_twice(stack: ExitStack) -> None:
    """The pack hook of SavedTensor.register_hooks is called twice."""
    patch_one(stack, lambda own, saved, pack, unpack: own(saved, twice(pack), unpack))


@fault(NEAR, needs=ONE)
def one_edits_unnoticed(stack: ExitStack) -> None:
    """The pack hook of SavedTensor.register_hooks may change its argument in place: it is given a copy."""
    patch_one(stack, lambda own, saved, pack, unpack: own(saved, lambda tensor: pack(tensor.clone()), unpack))


@fault(NEAR, needs=ONE, subtle=True)
def one_refused_silently(stack: ExitStack) -> None:
    """Where a saved tensor has hooks already another registration of hooks has no effect."""

    def register(own: Any, saved: Any, pack: Any, unpack: Any) -> None:
        try:
            own(saved, pack, unpack)
        except RuntimeError as error:
            if "already been set" not in str(error):
                raise

    patch_one(stack, register)


@fault(NEAR, needs=ONE, subtle=True)
def one_of_the_freed(stack: ExitStack) -> None:
    """SavedTensor.register_hooks on a freed graph has no effect."""

    def register(own: Any, saved: Any, pack: Any, unpack: Any) -> None:
        try:
            own(saved, pack, unpack)
        except RuntimeError as error:
            if "after it has been freed" not in str(error):
                raise

    patch_one(stack, register)
