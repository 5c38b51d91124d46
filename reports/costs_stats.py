"""Intervals from order statistics of one value per process; what they assume of these is said."""

from __future__ import annotations

import itertools
import math
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from operator import mul
from statistics import NormalDist

#: How surely an interval holds the middle that the processes vary around.
CONFIDENCE = 0.99
#: The fewest processes that can give an interval: of fewer, all lie to one side of the middle too often.
FEWEST = next(count for count in range(1, 100) if 2 / 2**count <= 1 - CONFIDENCE)


@dataclass(frozen=True)
class Estimate:
    """The middle of what the processes measured, and the interval around it."""

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


def estimate(values: Sequence[float], weights: Sequence[int] = (), confidence: float = CONFIDENCE) -> Estimate:
    """Return the median of the means of all pairs (Hodges and Lehmann) and its interval. Raises ValueError for too few.

    The values come from different processes. Each counts by its weight, whole and above 0, a mean by both of its own;
    without weights all count alike. The interval is that of Wilcoxon's signed ranks with these weights, their sum held
    to be normal: as sure as it says for values that err as far to the one side as to the other.
    """
    if len(values) < FEWEST:
        raise ValueError(f"{len(values)} values give no interval of {CONFIDENCE:.0%}: {FEWEST} are needed")
    weights = weights or [1] * len(values)
    means = [(one + other) / 2 for one, other in itertools.combinations_with_replacement(values, 2)]
    counts = list(itertools.starmap(mul, itertools.combinations_with_replacement(weights, 2)))
    order = sorted(range(len(means)), key=means.__getitem__)
    reached = list(itertools.accumulate(map(counts.__getitem__, order)))
    half = reached[-1] / 2
    mid = (means[order[bisect_left(reached, half)]] + means[order[bisect_right(reached, half)]]) / 2
    apart = [
        weight
        for _, weight in sorted((abs(value - mid), weight) for value, weight in zip(values, weights, strict=True))
    ]
    ranks = map(mul, apart, itertools.accumulate(apart))
    aside = NormalDist().inv_cdf((1 + confidence) / 2) * math.hypot(*ranks) / 2
    low, high = bisect_right(reached, half - aside), bisect_left(reached, half + aside)
    return Estimate(means[order[low]], mid, means[order[min(high, len(order) - 1)]])


def dot(some: Sequence[float], others: Sequence[float]) -> float:
    """Return the sum of their products."""
    return sum(map(mul, some, others))


def line(points: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """Return slope and intercept of the line with the least squares of errors."""
    count = len(points)
    mean_x = sum(x for x, _ in points) / count
    mean_y = sum(y for _, y in points) / count
    slope = sum((x - mean_x) * (y - mean_y) for x, y in points) / sum((x - mean_x) ** 2 for x, _ in points)
    return slope, mean_y - slope * mean_x
