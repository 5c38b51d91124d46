"""Modules and hooks for tests that play no plan, and what becomes of a call."""

from typing import Any, Callable, List, Sequence, Tuple, Type

from hypothesis import strategies as st

from fixtures.stages.make import make

#: How many of a thing.
FEW, UP_TO_TWO, UP_TO_THREE = st.integers(1, 4), st.integers(0, 2), st.integers(0, 3)
#: The same, not so many: for what takes longer.
SOME = st.integers(1, 3)
#: One to four hooks, each a forward pre-hook (True) or a forward hook.
PRE_OR_NOT = st.lists(st.booleans(), min_size=1, max_size=4)
#: A kind of hook around forward.
AROUND = st.sampled_from(["forward", "forward_pre"])


def echo() -> Any:
    """A module that returns its arguments, as (args, kwargs)."""
    import torch

    class Echo(torch.nn.Module):
        def forward(self, *args: Any, **kwargs: Any) -> Any:
            return args, kwargs

    return Echo()


def kinds_of(pres: Sequence[bool]) -> List[str]:
    """The kinds of hooks around forward, by whether each is a pre-hook."""
    return ["forward_pre" if pre else "forward" for pre in pres]


def numbered(module: Any, kinds: Sequence[str], ran: List[Any], first: int = 0) -> List[Any]:
    """Hooks of these kinds on a module, each of which puts its number into `ran`; return their handles."""
    return [
        getattr(module, f"register_{kind}_hook")(lambda *given, number=number: ran.append(number))
        for number, kind in enumerate(kinds, first)
    ]


def in_turn(kinds: Sequence[str]) -> List[int]:
    """The numbers of hooks around forward in the order in which one call of their module runs them."""
    return sorted(range(len(kinds)), key=lambda number: kinds[number] == "forward")


def result(action: Callable[[], Any], *errors: Type[BaseException]) -> Any:
    """What `action` returns, or the name of the error that it raises, of those that may be."""
    try:
        return action()
    except errors as error:
        return type(error).__name__


def raised(action: Callable[[], Any], *errors: Type[BaseException]) -> str:
    """The name of the error that `action` raises, of those that may be, or "none"."""
    try:
        action()
    except errors as error:
        return type(error).__name__
    return "none"


def at_once(work: Callable[..., Any], arguments: Sequence[Tuple[Any, ...]]) -> None:
    """Call `work` with each of these arguments, in threads of their own that all begin at once."""
    import threading

    start = threading.Barrier(len(arguments))

    def begin(*given: Any) -> None:
        start.wait()
        work(*given)

    threads = [threading.Thread(target=begin, args=given) for given in arguments]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


class Holds:
    """A hook that does nothing, and refers to some objects."""

    def __init__(self, *held: Any) -> None:
        self.held = held

    def __call__(self, *given: Any) -> None:
        return None


def fates(made: Callable[[], Sequence[Any]]) -> List[str]:
    """When the objects that `made` returns are gone, held by nobody here: "at once", "by the collector" or "never"."""
    import gc
    import weakref

    collects = gc.isenabled()
    gc.disable()
    try:
        watched = [weakref.ref(one) for one in made()]
        # The engine may keep the last node of a pass until it has other work, as it does in torch 1.4 and 1.5.
        make.ones((), requires_grad=True).backward()
        at_once = [seen() is None for seen in watched]
        gc.collect()
        late = ["never" if seen() is not None else "by the collector" for seen in watched]
        return ["at once" if gone else other for gone, other in zip(at_once, late)]
    finally:
        if collects:
            gc.enable()
