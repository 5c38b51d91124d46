"""One pass without and with hooks of a kind: what is counted and timed, and the check that the hooks are called."""

from functools import partial
from typing import Any, Callable, List

from suites.timing.kinds import LIB, Hook, Kind, Undo
from suites.timing.workloads import Pass


class NotCalled(Exception):
    """A hook is not called, or still called after it was removed: what it costs cannot be said."""


def bare(kind: Kind, one: Pass) -> Callable[[], Any]:
    """Return the pass without the hook."""
    return one.work(kind.work) if kind.attach else partial(kind.twin, one, kind.hook)


def hooked(kind: Kind, one: Pass, hook: Hook) -> Callable[[], Any]:
    """Return the pass that the hook is part of; a kind that is attached must be attached before it is called."""
    return one.work(kind.work) if kind.attach else partial(kind.own_pass, one, hook)


def attach(kind: Kind, one: Pass, hook: Hook, count: int = 1) -> Undo:
    """Register a hook so many times; return what removes them all. Nothing to do for a kind with a pass of its own."""
    undo = [kind.attach(one, hook) for _ in range(count)] if kind.attach else []

    def leave() -> None:
        for each in undo:
            each()
        if kind.on_leaves:
            one.renew_leaves()

    return leave


def check(kind: Kind, workload: str) -> None:
    """Raise NotCalled where one pass does not call the hook, or calls it after it was removed."""
    seen: List[int] = []

    def noting(*args: Any) -> Any:
        seen.append(1)
        return kind.hook(*args)

    one = Pass(workload)
    leave = attach(kind, one, noting)
    hooked(kind, one, noting)()
    leave()
    called = len(seen)
    bare(kind, one)()
    LIB.reset()
    if kind.calls_python != bool(called):
        raise NotCalled(f"one pass calls the hook {called} times")
    if len(seen) != called:
        raise NotCalled("it is still called after it was removed")
