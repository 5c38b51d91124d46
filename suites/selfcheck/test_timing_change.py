"""When a change of costs is told: the rule on two made-up sides of one figure."""

from __future__ import annotations

from dataclasses import replace
from statistics import NormalDist

import pytest

from reports.costs import Figure, from_run
from reports.costs_change import Change, compare
from reports.costs_stats import Estimate, estimate
from suites.selfcheck import timing_session
from suites.selfcheck.timing_session import PROCESSES, Machine


@pytest.mark.parametrize(
    ("works", "own", "added", "sure"),
    [
        (1.0, 1.0, 1.1, True),
        (1.0, 1.1, 1.1, False),  # its own work takes longer too: the place where it is measured, not the hook
        (1.0, 1.1, 1.0, False),  # its own work takes longer, and the hook does not
        (1.0, 1.08, 1.1, False),
        (1.0, 0.93, 1.02, False),
        (1.0, 1.2, 1.1, False),
        (1.1, 1.1, 1.1, False),  # the machine is slower
        (1.1, 1.1, 1.0, False),  # all works take longer, and no hook does: it may not be praised
        (1.1, 1.1, 1.2, True),
        (0.9, 0.9, 1.0, False),
        (0.9, 0.9, 0.8, True),
        (1.02, 1.1, 1.0, False),
        (1.02, 1.02, 0.96, True),
        (1.0, 1.0, 1.02, False),
    ],
)
def test_a_change_is_one_whatever_is_held_to_be_the_unit(works, own, added, sure) -> None:
    before, after = sides(added)
    assert Change(before, after, works, own).sure() == sure


@pytest.mark.parametrize(
    ("machine", "added", "sure"),
    [
        (1.04, 1.04, False),  # all other hooks of its pass changed as much
        (1.04, 1.0, False),  # they did, and it did not: it may not be praised
        (1.04, 1.1, True),
        (0.97, 1.05, True),
        (0.97, 1.02, True),
        (0.97, 0.9, True),
        (0.97, 0.96, False),
    ],
)
def test_what_moves_all_hooks_of_a_pass_is_no_change_of_one(machine, added, sure) -> None:
    before, after = sides(added)
    assert Change(before, after, machine=machine).sure() == sure


@pytest.mark.parametrize(("unit", "works", "added", "sure"), [("ns", 1.1, 1.15, True), ("ns", 1.1, 1.1, False),
                                                              ("ns", 1.1, 1.0, False), ("bytes", 1.1, 1.1, True),
                                                              ("bytes", 1.1, 1.0, False)])  # fmt: skip
def test_bytes_do_not_know_how_fast_the_machine_is(unit, works, added, sure) -> None:
    before, after = (replace(figure, unit=unit) for figure in sides(added))
    assert Change(before, after, works, works).sure() == sure


@pytest.mark.parametrize(("work", "sure"), [(20_000, True), (30_000, False)])
def test_a_difference_must_be_a_part_of_the_work(work, sure) -> None:
    """A hundred nanoseconds more are 0.5 % of the one work and 0.33 % of the other."""
    before, after = sides(1.1)
    assert Change(before, after, longest=work).sure() == sure


@pytest.mark.parametrize(
    ("key", "times"),
    [
        (("call", "kind_a", "empty", 1), 1.0),  # a forward
        (("call", "kind_c", "empty", 1), 3.0),  # from a leaf and back, which is twice as long: the longer way back
        (("call", "kind_b", "empty", 1), 3.0),
        (("call", "kind_b", "small", 1), 4.5),
        (("register", "kind_a", "empty", 1), 0.0),
    ],
)
def test_the_work_that_counts_is_the_longest_of_its_way(key, times) -> None:
    """Where an object lies in memory makes as many nanoseconds in the shorter pass as in the longer."""
    run = from_run(timing_session.whole_session(Machine(1, spread=0.0, jitter=0.0, interrupted=0.0)))
    for each in (run, replace(run, figures=dict(reversed(list(run.figures.items()))))):
        assert compare(each, each, key).longest == pytest.approx(timing_session.CONTROL * times * 1e9)


@pytest.mark.parametrize(("added", "sure"), [(1.04, False), (1.06, True)])
def test_what_may_be_wrong_of_the_machine_widens_the_margin(added, sure) -> None:
    before, after = sides(added)
    assert Change(before, after, unsure=0.02).sure() == sure


@pytest.mark.parametrize(("other", "told"), [(10_500.0, False), (10_570.0, False), (10_640.0, True)])
def test_dozens_of_figures_need_wider_intervals_than_one(other: float, told: bool) -> None:
    """What parts from an interval of 99 % may still be chance: it must part from that of 99.5 %."""
    key = ("call", "full_backward", "empty", 1)
    before = from_run(timing_session.run(Machine(1)))
    spread = NormalDist(10_000.0, 1000.0).quantiles(PROCESSES + 1)
    pair = [
        replace(before, figures={**before.figures, key: replace(before.figures[key], each=each, values=values(each))})
        for each in (tuple(spread), (other,) * PROCESSES)
    ]
    assert (estimate(spread).high < other) == (other > 10_500)
    assert compare(pair[0], pair[1], key).sure() == told


def values(each: tuple[float, ...]) -> dict[str, Estimate]:
    """What is told of a figure that adds so much in each process."""
    return {"added": estimate(each)}


def sides(added: float) -> tuple[Figure, Figure]:
    """One figure of two runs: it adds so many times as much in the second, and both are sure of it."""
    figure = from_run(timing_session.run(Machine(1))).figures["call", "full_backward", "empty", 1]
    narrow = Estimate(999, 1000, 1001)
    return replace(figure, values={"added": narrow}), replace(figure, values={"added": narrow.times(added)})
