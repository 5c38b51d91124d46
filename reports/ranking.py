"""Which of two changes a reader is shown first: the one about a hook that more programs use."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def rank(clause: str, record: Mapping[str, Any]) -> int:
    """Return the place of a clause among others of the same harm, smaller ones first."""
    return 0
