"""For your own tests: `from hook_conformance.model import hooks_as_in_eager`."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from .command import ROOT

#: Our modules, which are not in `sys.modules` while your own code runs: a package of yours may have their name.
OURS: dict[str, Any] = {}


@contextmanager
def _ours() -> Iterator[None]:
    theirs = _taken()
    sys.modules.update(OURS)
    sys.path.insert(0, str(ROOT))
    try:
        yield
    finally:
        sys.path.remove(str(ROOT))
        OURS.update(_taken())
        sys.modules.update(theirs)


def _taken() -> dict[str, Any]:
    return {name: sys.modules.pop(name) for name in list(sys.modules) if name.partition(".")[0] == "fixtures"}


def hooks_as_in_eager(function: Callable[[], Any], run: str = "") -> None:
    """Demand that the hooks on a model are called as it runs, and in each way of `run` as in eager.

    `function` and `run` are those of `hook-conformance model`. Raises AssertionError with its answer, also where a way
    cannot be told, and ValueError where the function returns no model or a way is unknown.
    """
    with _ours():
        from fixtures.hooked import screen
        from fixtures.run import model

        try:
            report = model.asked_of(f"{function.__module__}:{function.__qualname__}", run, function)
        except model.Bad as problem:
            raise ValueError(str(problem)) from None
        if report.status:
            raise AssertionError(screen.text(report))
