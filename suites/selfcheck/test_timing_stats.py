"""The intervals of the costs hold what they promise."""

from __future__ import annotations

import random
from itertools import product
from statistics import fmean

import pytest

from reports.costs_stats import CONFIDENCE, FEWEST, Estimate, estimate, line
from suites.selfcheck.timing_session import PROCESSES

TRIALS = 3000


@pytest.mark.parametrize(
    "draw",
    [
        lambda rng, weight: rng.gauss(0, 1),
        lambda rng, weight: rng.gauss(0, 1) / weight**0.5,
        lambda rng, weight: rng.gauss(0, 1) / rng.gauss(0, 1),
        lambda rng, weight: rng.gauss(0, 1) if rng.random() < 0.8 else rng.gauss(0, 50),
    ],
    ids=["normal", "as sure as the weight says", "without a mean", "outliers"],
)
@pytest.mark.parametrize("heaviest", [1, 10])
def test_an_interval_holds_the_middle_as_often_as_it_says(draw, heaviest: int) -> None:
    """Whatever the processes look like: each of these errs as far to the one side of 0 as to the other."""
    rng, held = random.Random(3), 0
    for _ in range(TRIALS):
        weights = [rng.randint(1, heaviest) for _ in range(PROCESSES)]
        held += estimate([draw(rng, weight) for weight in weights], weights).zero
    assert held / TRIALS == pytest.approx(CONFIDENCE, abs=0.006)


@pytest.mark.parametrize("weights", [[1] * 11, [7, 1, 2, 1, 9, 3, 4, 8, 1, 5, 6]], ids=["alike", "different"])
def test_an_interval_misses_the_middle_as_seldom_as_it_says(weights: list[int]) -> None:
    """Every way to sign eleven errors is tried, at a confidence that is missed often enough to be counted."""
    rng = random.Random(11)
    sizes = [rng.lognormvariate(0, 1) for _ in weights]
    ways = list(product((1, -1), repeat=len(weights)))
    missed = sum(
        not estimate([sign * size for sign, size in zip(signs, sizes, strict=True)], weights, 0.95).zero
        for signs in ways
    )
    assert missed / len(ways) == pytest.approx(0.05, abs=0.01)


@pytest.mark.parametrize(
    ("count", "confidence", "critical"), [(8, 0.99, 0), (10, 0.99, 3), (20, 0.95, 52), (20, 0.99, 37), (24, 0.99, 61)]
)
def test_the_ranks_are_those_of_wilcoxon(count: int, confidence: float, critical: int) -> None:
    """The means of powers of four lie so far apart that each tells its rank: the greatest sum of ranks that his table
    takes for too small is met, but for one or two that the normal distribution is more careful."""
    values = [4.0**power for power in range(count)]
    means = sorted((one + other) / 2 for place, one in enumerate(values) for other in values[place:])
    assert critical - 2 <= means.index(estimate(values, confidence=confidence).low) <= critical


def test_an_interval_needs_eight_values() -> None:
    assert FEWEST == 8
    assert estimate(range(8)) == Estimate(0, 3.5, 7)
    with pytest.raises(ValueError, match="7 values give no interval"):
        estimate(range(7))


def test_an_interval_by_hand() -> None:
    """Of the 78 means of 0 to 11 the seventh lowest and the seventh highest: 0, 0.5, 1, 1, 1.5, 1.5, 2."""
    assert estimate(range(12)) == Estimate(2, 5.5, 9)


def test_weights_that_are_alike_count_for_nothing() -> None:
    values = [5.0, 1.0, 9.0, 2.0, 8.0, 3.0, 7.0, 4.0, 6.0, 30.0]
    assert estimate(values, [7] * len(values)) == estimate(values)


def test_a_process_that_measured_little_counts_little() -> None:
    values, weights = [*range(100, 108), *range(200, 206)], [60] * 8 + [6] * 6
    assert 100 <= estimate(values, weights).mid <= 107 < estimate(values).mid


def test_where_processes_measured_more_and_less_weights_come_nearer() -> None:
    rng = random.Random(4)
    errors = []
    for _ in range(300):
        weights = [rng.choice((6, 70)) for _ in range(PROCESSES)]
        values = [rng.gauss(0, weight**-0.5) for weight in weights]
        errors.append((estimate(values, weights).mid ** 2, estimate(values).mid ** 2))
    weighted, alike = (fmean(each) for each in zip(*errors, strict=True))
    assert weighted < 0.7 * alike


def test_the_line_of_least_squares() -> None:
    assert line([(1, 5), (2, 7), (4, 11)]) == pytest.approx((2, 3))
    assert line([(0, 0), (1, 2), (2, 1)]) == pytest.approx((0.5, 0.5))
