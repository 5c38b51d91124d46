"""Measuring by turns: the same work without hooks and with them, in short blocks that alternate in one process.

The difference of two blocks that were timed one after the other is free of whatever is slow on the machine: its
frequency, its other users. The median over many such pairs is free of the moments when something interrupted one of
the two. There is no torch here, and the clock is a parameter: the self-check measures with a clock of its own.

A processor that somebody else uses too runs at half its speed for a while, and what a hook adds does not grow as the
work does then. So a gauge, a spin of fixed work, stands before, between and after the blocks of a round, and a round in
which one was slow does not count.
"""

import statistics
from itertools import repeat
from typing import Any, Callable, List, NamedTuple, Optional, Sequence

Clock = Callable[[], float]
#: How long a block lasts, in seconds: long beside the clock's own cost, short beside what disturbs a machine.
BLOCK = 100e-6
MOST_CALLS = 2000
FEWEST_ROUNDS = 6
PATIENCE = 4  # how many times as many rounds as are needed may be tried where the processor is slow
SPIN = 200  # turns of the gauge: some 5 microseconds
SLOW = 1.35  # times the fastest spin: another speed of the processor, and no jitter
#: A source that takes the compiler of Python through much of its code.
SOURCE = """
class Kept(dict):
    limit: int = 3

    def take(self, *names, default=None, **more):
        try:
            found = [self[name] for name in names if name in self and not name.startswith("_")]
        except (KeyError, TypeError) as error:
            raise ValueError(f"{names!r}: {error}") from None
        else:
            return {**more, "found": found[:self.limit] or default, "left": lambda key: len(self) - key % 2 == 1}
"""


def spin() -> None:
    """Do a fixed piece of work."""
    total = 0
    for turn in range(SPIN):
        total += turn * turn


def wide() -> None:
    """Do a fixed piece of work that goes through much code: slow where somebody else uses the caches too."""
    compile(SOURCE, "wide", "exec")


def nothing() -> None:
    """Undo nothing."""


class Arm(NamedTuple):
    """One side of a comparison: what is called, and how its hooks get there; `enter` returns what takes them away."""

    work: Callable[[], Any]
    enter: Callable[[], Callable[[], Any]] = lambda: nothing


class Gauge:
    """Tells how fast the processor is at the moment, beside the fastest that it ever was in this process."""

    def __init__(self, clock: Clock, work: Callable[[], Any] = spin) -> None:
        self.clock, self.work = clock, work
        self.best = float("inf")

    def __call__(self) -> float:
        """Seconds of one spin; the one before it is not timed, for what ran last may have emptied the caches."""
        self.work()
        begin = self.clock()
        self.work()
        seconds = self.clock() - begin
        self.best = min(self.best, seconds)
        return seconds


class Measured(NamedTuple):
    """Nanoseconds of one call of the first arm, and what each of the others adds to it; how many rounds tell it.

    There are no such rounds where the processor was slow in all of them.
    """

    control: float
    added: List[float]
    rounds: int
    calls: int


class Turns:
    """Rounds of blocks, one block of each arm per round; every second one goes backwards.

    So does each group every second time, for the first block of a round finds what another group left in the caches.
    `groups` holds the same arms several times over, built from new objects: where an object lies in memory can make
    it slow, and must not decide a figure.
    """

    def __init__(
        self, groups: Sequence[Sequence[Arm]], clock: Clock, gauge: Optional[Gauge] = None, slow: float = SLOW
    ) -> None:
        self.renew(groups)
        self.clock, self.gauge, self.slow = clock, gauge or Gauge(clock), slow
        self.calls = 1
        self.slowest: List[float] = []  # the slowest spin of each round
        self.blocks: List[List[float]] = []

    def renew(self, groups: Sequence[Sequence[Arm]]) -> None:
        """Go on with the same arms, built from other objects."""
        if not groups or any(len(group) < 2 or len(group) != len(groups[0]) for group in groups):
            raise ValueError("a comparison needs a control and something beside it, the same in every group")
        self.groups = groups

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
        """Go round until the time is over; the first time, choose the calls of a block from the work itself."""
        deadline = self.clock() + seconds
        first = self.groups[0]
        while not self.blocks and self.calls < MOST_CALLS and self.undisturbed(first) * self.calls < BLOCK * len(first):
            self.calls *= 2
        while self.clock() < deadline or len(self.blocks) < FEWEST_ROUNDS * PATIENCE:
            if self.clock() >= deadline and len(self.fast()) >= FEWEST_ROUNDS:
                break
            self.round()

    def undisturbed(self, group: Sequence[Arm]) -> float:
        """Seconds of one call of each arm; the shorter of two blocks, for an interruption must not decide."""
        return sum(min(self.block(arm), self.block(arm)) for arm in group)

    def round(self) -> None:
        """Time one block of each arm."""
        number = len(self.blocks)
        group = self.groups[number % len(self.groups)]
        order = list(range(len(group)))
        if sum(divmod(number, len(self.groups))) % 2:
            order.reverse()
        times, slowest = {}, self.gauge()
        for index in order:
            times[index] = self.block(group[index])
            slowest = max(slowest, self.gauge())
        self.blocks.append([times[index] for index in range(len(group))])
        self.slowest.append(slowest)

    def fast(self) -> List[List[float]]:
        """The rounds in which the processor was at full speed."""
        return [block for block, spin in zip(self.blocks, self.slowest) if spin <= self.slow * self.gauge.best]

    def fastest(self) -> List[List[float]]:
        """The fastest rounds: all that there is where the processor was slow in each."""
        order = sorted(range(len(self.blocks)), key=self.slowest.__getitem__)
        return [self.blocks[index] for index in order[:FEWEST_ROUNDS]]

    def measured(self) -> Measured:
        """The medians over the rounds that count, in nanoseconds."""
        fast = self.fast()
        good = fast or self.fastest()
        added = [
            statistics.median(block[index] - block[0] for block in good) * 1e9
            for index in range(1, len(self.groups[0]))
        ]
        control = statistics.median(block[0] for block in good) * 1e9
        return Measured(control, added, len(fast), self.calls)
