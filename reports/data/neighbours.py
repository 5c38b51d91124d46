"""Neighbouring releases that have something in common, and their range in words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from typing import TypeVar

Item = TypeVar("Item")
Same = TypeVar("Same")


def neighbours(items: Iterable[Item], key: Callable[[Item], Same]) -> Iterator[tuple[Same, tuple[Item, ...]]]:
    """Yield what neighbours have in common, and these neighbours."""
    for same, group in groupby(items, key=key):
        yield same, tuple(group)


def from_to(first: str, last: str) -> str:
    """Return a range in words: "2.0", or "2.0 to 2.15"."""
    return first if first == last else f"{first} to {last}"
