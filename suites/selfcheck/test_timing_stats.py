"""The intervals of the costs hold what they promise."""

from __future__ import annotations

import random
from itertools import product
from statistics import mean, median

import pytest

from reports.costs_stats import (
    CONFIDENCE,
    FEWEST,
    Estimate,
    coverage,
    estimate,
    line,
    pseudomedian,
    rank,
    signed_rank,
)
from suites.selfcheck.timing_session import PROCESSES

TRIALS = 20_000


@pytest.mark.parametrize(
    "draw",
    [
        lambda rng: rng.gauss(0, 1),
        lambda rng: rng.lognormvariate(0, 2) - 1,
        lambda rng: rng.gauss(0, 1) / rng.gauss(0, 1),
        lambda rng: rng.gauss(0, 1) if rng.random() < 0.8 else rng.gauss(0, 50),
    ],
    ids=["normal", "lognormal", "without a mean", "outliers"],
)
def test_an_interval_holds_the_median_as_often_as_it_says(draw) -> None:
    """Whatever the processes look like: each of these has the median 0."""
    rng = random.Random(3)
    held = sum(estimate([draw(rng) for _ in range(PROCESSES)]).zero for _ in range(TRIALS))
    assert held / TRIALS == pytest.approx(coverage(PROCESSES, rank(PROCESSES)), abs=0.002)
    assert held / TRIALS >= CONFIDENCE


def test_an_interval_needs_eight_values() -> None:
    assert FEWEST == 8
    assert estimate(range(8)) == Estimate(0, 3.5, 7)
    assert estimate(range(12)) == Estimate(1, 5.5, 10)
    with pytest.raises(ValueError, match="7 values give no interval"):
        estimate(range(7))


def test_the_line_of_least_squares() -> None:
    assert line([(1, 5), (2, 7), (4, 11)]) == pytest.approx((2, 3))
    assert line([(0, 0), (1, 2), (2, 1)]) == pytest.approx((0.5, 0.5))


def test_the_middle_is_the_median() -> None:
    values = [5.0, 1.0, 9.0, 2.0, 8.0, 3.0, 7.0, 4.0, 6.0]
    assert estimate(values).mid == median(values)


@pytest.mark.parametrize(
    ("count", "confidence", "critical"),
    [(8, 0.95, 3), (8, 0.99, 0), (10, 0.95, 8), (10, 0.99, 3), (20, 0.95, 52), (20, 0.99, 37), (24, 0.99, 61)],
)
def test_the_ranks_are_those_of_wilcoxon(count: int, confidence: float, critical: int) -> None:
    """The greatest sum of ranks that his table, and every textbook since, takes for too small."""
    assert signed_rank(count, confidence) == critical + 1


@pytest.mark.parametrize(("count", "confidence"), [(8, 0.99), (9, 0.95), (11, 0.995)])
def test_an_interval_of_means_holds_the_middle_as_often_as_it_says(count: int, confidence: float) -> None:
    """Exactly, for values that err as far to the one side as to the other: every way to sign them is tried."""
    rng = random.Random(count)
    sizes = [rng.lognormvariate(0, 1) for _ in range(count)]
    ways = list(product((1, -1), repeat=count))
    missed = sum(not pseudomedian([sign * size for sign, size in zip(signs, sizes, strict=True)], confidence).zero
                 for signs in ways)  # fmt: skip
    sums = sorted(sum(place for place, sign in enumerate(signs, 1) if sign > 0) for signs in ways)
    place = signed_rank(count, confidence)
    assert missed == 2 * sum(each < place for each in sums)
    assert missed <= (1 - confidence) * len(ways) < 2 * sum(each <= place for each in sums)


def test_an_interval_of_means_by_hand() -> None:
    """The means of 1, 2 and 10 are 1, 1.5, 2, 5.5, 6 and 10; of so few values all are the interval."""
    assert pseudomedian([2, 10, 1]) == Estimate(1, 3.75, 10)


def test_an_interval_of_means_is_narrower_than_that_of_the_median() -> None:
    rng = random.Random(4)
    pairs = [
        (pseudomedian(each), estimate(each)) for each in ([rng.gauss(0, 1) for _ in range(24)] for _ in range(200))
    ]
    means, medians = (mean(each.high - each.low for each in found) for found in zip(*pairs, strict=True))
    assert means < 0.8 * medians
