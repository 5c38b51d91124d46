"""Faults of hooks of several tensors: `register_multi_grad_hook` is called as it is, with a wrong hook or handle."""

import functools
import threading
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import Any

import torch
from torch.autograd import graph

from suites.selfcheck.faults.base import fault, swap

HAS_ALL = "torch.autograd.graph.register_multi_grad_hook"
HAS_ANY = "torch.autograd.graph.register_multi_grad_hook(mode)"
NEAR = ("several", "together.several")
#: Makes what is registered: of torch's own function, the tensors, the hook and the mode.
Made = Callable[[Any, Sequence[Any], Any, str], Any]


def patch(stack: ExitStack, made: Made, only: str = "") -> None:
    """Have registrations, of one mode `only` where that is said, made otherwise."""
    original: Any = graph.register_multi_grad_hook

    def register(tensors: Any, fn: Any, *, mode: str = "all") -> Any:
        def own(tensors: Any, fn: Any) -> Any:
            return original(tensors, fn) if mode == "all" else original(tensors, fn, mode=mode)

        return made(own, tensors, fn, mode) if only in ("", mode) else own(tensors, fn)

    swap(stack, graph, "register_multi_grad_hook", register)


@fault(*NEAR, needs=HAS_ALL, control=True)
def passed_on(stack: ExitStack) -> None:
    """Nothing is wrong: hooks of several tensors are called by another function."""
    patch(stack, lambda own, tensors, fn, mode: own(tensors, lambda given: fn(given)))  # noqa: PLW0108 - not the hook itself


# --- mode="all" --------------------------------------------------------------------------------


@fault(*NEAR, needs=HAS_ALL)
def several_reversed(stack: ExitStack) -> None:
    """The gradients of several tensors are given in the reversed order."""
    patch(stack, lambda own, tensors, fn, mode: own(tensors, lambda given: fn(given[::-1])), "all")


@fault(*NEAR, needs=HAS_ALL)
def several_each(stack: ExitStack) -> None:
    """A hook of several tensors is called with each gradient as it comes."""

    def made(own: Any, tensors: Any, fn: Any, mode: str) -> Any:
        def at(place: int) -> Any:
            return lambda grad: fn([grad if number == place else None for number in range(len(tensors))]) and None

        return graph._MultiHandle(tuple(one.register_hook(at(place)) for place, one in enumerate(tensors)))

    patch(stack, made, "all")


@fault(*NEAR, needs=HAS_ALL, subtle=True)
def several_once(stack: ExitStack) -> None:
    """A hook of several tensors is called in the first pass only."""

    def made(own: Any, tensors: Any, fn: Any, mode: str) -> Any:
        calls: list[Any] = []
        return own(tensors, lambda given: calls.append(1) or (fn(given) if len(calls) == 1 else None))

    patch(stack, made)


@fault(*NEAR, needs=HAS_ALL, subtle=True)
def several_whole_only(stack: ExitStack) -> None:
    """A hook of several tensors is not called where a pass leaves out one of three or more."""
    patch(
        stack,
        lambda own, tensors, fn, mode: own(
            tensors, lambda given: None if len(given) > 2 and any(one is None for one in given) else fn(given)
        ),
        "all",
    )


@fault(*NEAR, needs=HAS_ALL, subtle=True)
def several_twice_is_one(stack: ExitStack) -> None:
    """A tensor that is given twice counts once: its second gradient is None."""

    def made(own: Any, tensors: Any, fn: Any, mode: str) -> Any:
        tensors = list(tensors)
        places = [number for number, one in enumerate(tensors) if not any(one is each for each in tensors[:number])]

        def spread(given: Any) -> None:
            fn([given[places.index(number)] if number in places else None for number in range(len(tensors))])

        return own([tensors[number] for number in places], spread)

    patch(stack, made, "all")


@fault(*NEAR, needs=HAS_ALL, subtle=True)
def several_copies(stack: ExitStack) -> None:
    """A hook of several tensors is given copies, so that an edit in place is lost."""
    patch(
        stack,
        lambda own, tensors, fn, mode: own(
            tensors, lambda given: fn([None if one is None else one.clone() for one in given])
        ),
        "all",
    )


@fault(*NEAR, needs=HAS_ALL, subtle=True)
def several_last_replaces(stack: ExitStack) -> None:
    """What a hook of two or more tensors returns replaces the gradient that came last."""

    def made(own: Any, tensors: Any, fn: Any, mode: str) -> Any:
        box: list[Any] = []
        handle = own(tensors, lambda given: box.append(fn(given)))

        def late(place: int, grad: Any) -> Any:
            result = box.pop() if box else None
            return result[place] if isinstance(result, list) and len(result) > 1 and grad is not None else None

        more = (one.register_hook(functools.partial(late, place)) for place, one in enumerate(tensors))
        handle.handles = (*handle.handles, *more)
        return handle

    patch(stack, made, "all")


@fault(*NEAR, needs=HAS_ALL, subtle=True)
def several_counts_root(stack: ExitStack) -> None:
    """The tensor that a pass begins at is counted, so that a hook on it alone is called."""

    def made(own: Any, tensors: Any, fn: Any, mode: str) -> Any:
        if len(tensors) != 1:
            return own(tensors, fn)
        return graph._MultiHandle((tensors[0].register_hook(lambda grad: fn([grad]) and None),))

    patch(stack, made, "all")


@fault(*NEAR, needs=HAS_ALL, subtle=True)
def several_without_grad(stack: ExitStack) -> None:
    """A tensor that requires no grad is passed over with mode="all", too."""

    def made(own: Any, tensors: Any, fn: Any, mode: str) -> Any:
        there = [number for number, one in enumerate(tensors) if one.requires_grad]

        def spread(given: Any) -> None:
            fn([given[there.index(number)] if number in there else None for number in range(len(tensors))])

        return own([tensors[number] for number in there], spread)

    patch(stack, made, "all")


@fault(*NEAR, needs=HAS_ALL, subtle=True)
def several_shares_threads(stack: ExitStack) -> None:
    """Of passes that run at once in several threads only those of one thread call a hook of several tensors."""

    def made(own: Any, tensors: Any, fn: Any, mode: str) -> Any:
        first: list[int] = []

        def call(given: Any) -> Any:
            first.append(threading.get_ident())
            return fn(given) if threading.get_ident() == first[0] else None

        return own(tensors, call)

    patch(stack, made)


# --- mode="any" --------------------------------------------------------------------------------


@fault(*NEAR, needs=HAS_ANY)
def any_each(stack: ExitStack) -> None:
    """With mode="any" the hook is called with each gradient."""
    patch(
        stack,
        lambda own, tensors, fn, mode: graph._MultiHandle(
            tuple(one.register_hook(lambda grad: fn(grad) and None) for one in tensors if one.requires_grad)
        ),
        "any",
    )


@fault(*NEAR, needs=HAS_ANY)
def any_refuses(stack: ExitStack) -> None:
    """With mode="any" a tensor that requires no grad is refused."""

    def made(own: Any, tensors: Any, fn: Any, mode: str) -> Any:
        tensors = list(tensors)
        if not all(one.requires_grad for one in tensors):
            raise AssertionError("Expected gradient function to be set")
        return own(tensors, fn)

    patch(stack, made, "any")


@fault(*NEAR, needs=HAS_ANY, subtle=True)
def any_first_listed(stack: ExitStack) -> None:
    """With mode="any" the hook is called with the gradient of the first tensor of the list, where there are three."""
    patch(
        stack,
        lambda own, tensors, fn, mode: own(tensors[:1] if len(tensors) > 2 else tensors, fn),
        "any",
    )


@fault(*NEAR, needs=HAS_ANY, subtle=True)
def any_replaces(stack: ExitStack) -> None:
    """With mode="any" what the hook returns replaces the gradient."""

    def made(own: Any, tensors: Any, fn: Any, mode: str) -> Any:
        passes: set[int] = set()

        def call(grad: Any) -> Any:
            before, now = len(passes), torch._C._current_graph_task_id()
            passes.add(now)
            return fn(grad) if len(passes) > before else None

        return graph._MultiHandle(tuple(one.register_hook(call) for one in tensors if one.requires_grad))

    patch(stack, made, "any")


# --- handles -----------------------------------------------------------------------------------


@fault(*NEAR, needs=HAS_ALL)
def several_stays(stack: ExitStack) -> None:
    """The handle removes a hook of several tensors from the first of them only."""

    def made(own: Any, tensors: Any, fn: Any, mode: str) -> Any:
        handle = own(tensors, fn)
        if len(handle.handles) > 1:
            handle.handles = handle.handles[:1]
        return handle

    patch(stack, made)


@fault(*NEAR, needs=HAS_ALL, subtle=True)
def several_left_stays(stack: ExitStack) -> None:
    """A with block on the handle of a hook of several tensors removes nothing."""

    def made(own: Any, tensors: Any, fn: Any, mode: str) -> Any:
        handle = own(tensors, fn)

        class Left(type(handle)):  # type: ignore[misc]
            def __exit__(self, *raised: Any) -> None:
                return None

        handle.__class__ = Left
        return handle

    patch(stack, made)


@fault(*NEAR, needs=HAS_ALL, subtle=True)
def several_swallowed(stack: ExitStack) -> None:
    """What a hook of several tensors raises is swallowed."""

    def made(own: Any, tensors: Any, fn: Any, mode: str) -> Any:
        def call(given: Any) -> None:
            try:
                fn(given)
            except Exception:  # noqa: BLE001 - that is the fault
                return

        return own(tensors, call)

    patch(stack, made)
