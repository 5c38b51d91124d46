"""The faults in the machinery of modes: each belongs to one part of a mode."""

from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

from fixtures.stages.modes import MODES

#: By name: the mode, the part of it that shows the fault, and what enters the patches.
FAULTS: dict[str, tuple[str, str, Callable[[ExitStack], None]]] = {}


def fault(mode: str, part: str = "") -> Callable[[Any], Any]:
    """Register a fault of a mode: what enters its patches. Where the mode has several parts, one is named."""
    parts = [wrap.name for wrap in MODES[mode].wraps]
    assert part in parts if part else len(parts) == 1 or MODES[mode].costly, (mode, part)

    def register(enter: Any) -> Any:
        FAULTS[enter.__name__] = mode, part or parts[0], enter
        return enter

    return register
