"""Measuring by turns: the same work without hooks and with them, in short blocks that alternate in one process.

The difference of two blocks that were timed one after the other is free of whatever is slow on the machine: its
frequency, its other users. The median over many such pairs is free of the moments when something interrupted one of
the two. There is no torch here, and the clock is a parameter: the self-check measures with a clock of its own.
"""

import statistics
from itertools import repeat
from typing import Any, Callable, List, NamedTuple, Sequence

Clock = Callable[[], float]
#: How long a block lasts, in seconds: long beside the clock's own cost, short beside what disturbs a machine.
BLOCK = 100e-6
MOST_CALLS = 2000
FEWEST_ROUNDS = 6


def nothing() -> None:
    """Undo nothing."""


class Arm(NamedTuple):
    """One side of a comparison: what is called, and how its hooks get there; `enter` returns what takes them away."""

    work: Callable[[], Any]
    enter: Callable[[], Callable[[], Any]] = lambda: nothing


class Measured(NamedTuple):
    """Nanoseconds of one call of the first arm, and what each of the others adds to it."""

    control: float
    added: List[float]
    rounds: int
    calls: int


class Turns:
    """Rounds of blocks, one block of each arm per round; every second visit goes backwards.

    `groups` holds the same arms several times over, built from new objects: where an object lies in memory can make
    it slow, and must not decide a figure.
    """

    def __init__(self, groups: Sequence[Sequence[Arm]], clock: Clock) -> None:
        if not groups or any(len(group) < 2 or len(group) != len(groups[0]) for group in groups):
            raise ValueError("a comparison needs a control and something beside it, the same in every group")
        self.groups, self.clock = groups, clock
        self.calls = 1
        self.blocks: List[List[float]] = []

    def block(self, arm: Arm) -> float:
        """Seconds of one call in a block; the first call after a change of hooks is not timed."""
        leave = arm.enter()
        work, clock = arm.work, self.clock
        work()
        begin = clock()
        for _ in repeat(None, self.calls):
            work()
        end = clock()
        leave()
        return (end - begin) / self.calls

    def run(self, seconds: float) -> None:
        """Choose the calls of a block from the work itself; then go round until the time is over."""
        deadline = self.clock() + seconds
        first = self.groups[0]
        while self.calls < MOST_CALLS and self.undisturbed(first) * self.calls < BLOCK * len(first):
            self.calls *= 2
        while len(self.blocks) < FEWEST_ROUNDS or self.clock() < deadline:
            self.round()

    def undisturbed(self, group: Sequence[Arm]) -> float:
        """Seconds of one call of each arm; the shorter of two blocks, for an interruption must not decide."""
        return sum(min(self.block(arm), self.block(arm)) for arm in group)

    def round(self) -> None:
        """Time one block of each arm."""
        number = len(self.blocks)
        group = self.groups[number % len(self.groups)]
        order = list(range(len(group)))
        if number // len(self.groups) % 2:
            order.reverse()
        times = {index: self.block(group[index]) for index in order}
        self.blocks.append([times[index] for index in range(len(group))])

    def measured(self) -> Measured:
        """The medians over all rounds so far, in nanoseconds."""
        added = [
            statistics.median(block[index] - block[0] for block in self.blocks) * 1e9
            for index in range(1, len(self.groups[0]))
        ]
        control = statistics.median(block[0] for block in self.blocks) * 1e9
        return Measured(control, added, len(self.blocks), self.calls)
