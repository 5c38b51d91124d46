"""Intervals from order statistics of one value per process; what they assume of it is said."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from operator import mul
from statistics import median

#: How surely an interval holds the true median of the processes.
CONFIDENCE = 0.99


@dataclass(frozen=True)
class Estimate:
    """A median over processes, and the interval around it."""

    low: float
    mid: float
    high: float

    @property
    def zero(self) -> bool:
        """Whether nothing at all would also explain what was measured."""
        return self.low <= 0 <= self.high

    def gap(self, other: Estimate) -> float:
        """Return how far the two intervals lie apart; nothing above 0 where they meet."""
        return max(other.low - self.high, self.low - other.high)

    def times(self, factor: float) -> Estimate:
        """Return the same of something so many times as long."""
        return Estimate(self.low * factor, self.mid * factor, self.high * factor)

    @property
    def reach(self) -> float:
        """The end of the interval that lies farther from zero."""
        return max(abs(self.low), abs(self.high))


def coverage(count: int, rank: int) -> float:
    """Return how surely the interval from the rank-th lowest to the rank-th highest of so many holds the median."""
    return 1 - 2 * sum(math.comb(count, index) for index in range(rank)) / 2**count


def rank(count: int, confidence: float = CONFIDENCE) -> int:
    """Return the greatest rank whose interval is sure enough; 0 where there are too few values."""
    found = 0
    while found + 1 <= count // 2 and coverage(count, found + 1) >= confidence:
        found += 1
    return found


#: The fewest processes that can give an interval.
FEWEST = next(count for count in range(1, 100) if rank(count))


def estimate(values: Sequence[float], confidence: float = CONFIDENCE) -> Estimate:
    """Return the median and its interval, as wide as it can be where the values are too few for more.

    The values come from different processes.
    """
    place = rank(len(values), confidence) or rank(len(values))
    if not place:
        raise ValueError(f"{len(values)} values give no interval of {CONFIDENCE:.0%}: {FEWEST} are needed")
    ordered = sorted(values)
    return Estimate(ordered[place - 1], median(ordered), ordered[-place])


@functools.cache
def signed_rank(count: int, confidence: float) -> int:
    """Return the greatest rank among the means of all pairs whose interval is sure enough; at least the first.

    Wilcoxon's signed-rank test: how many of the 2**count ways to sign the ranks have so small a sum of positive ones.
    """
    ways = [1]
    for rank in range(1, count + 1):
        ways = [low + high for low, high in zip([*ways, *[0] * rank], [*[0] * rank, *ways], strict=True)]
    missed = list(itertools.accumulate(ways))
    return max(1, sum(1 - 2 * each / 2**count >= confidence for each in missed[: len(ways) // 2]))


def pseudomedian(values: Sequence[float], confidence: float = CONFIDENCE) -> Estimate:
    """Return the median of the means of all pairs (Hodges and Lehmann) and its interval.

    As sure as it says for values that err as far to the one side as to the other; narrower than that of the median
    where few of them lie far out.
    """
    means = sorted((one + other) / 2 for one, other in itertools.combinations_with_replacement(values, 2))
    place = signed_rank(len(values), confidence)
    return Estimate(means[place - 1], median(means), means[-place])


def dot(some: Sequence[float], others: Sequence[float]) -> float:
    """Return the sum of their products."""
    return sum(map(mul, some, others))


def slope(xs: Sequence[float], ys: Sequence[float]) -> float:
    """Return the slope of the line through nothing with the least squares of errors; 0 where nothing moves."""
    moved = dot(xs, xs)
    return dot(xs, ys) / moved if moved else 0.0


def line(points: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """Return slope and intercept of the line with the least squares of errors."""
    count = len(points)
    mean_x = sum(x for x, _ in points) / count
    mean_y = sum(y for _, y in points) / count
    slope = sum((x - mean_x) * (y - mean_y) for x, y in points) / sum((x - mean_x) ** 2 for x, _ in points)
    return slope, mean_y - slope * mean_x
