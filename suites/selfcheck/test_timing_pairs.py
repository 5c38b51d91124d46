"""The timing code, with a clock that only moves when work spends time: nothing here is timed."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from statistics import median
from threading import Barrier

import pytest

from suites.selfcheck.timing_session import Clock, Machine
from suites.timing import pairs
from suites.timing.__main__ import (
    FEWEST_PROCESSES,
    JOBS,
    LEAST_SECONDS,
    PROCESSES,
    QUIET,
    SECONDS,
    TimingError,
    measure,
    shares,
    wait_until_quiet,
)
from suites.timing.pairs import Arm, Turns

CONTROL, HOOK = 2e-6, 0.5e-6


def quiet(clock: Clock) -> list[Arm]:
    return [Arm(lambda: clock.spend(CONTROL)), Arm(lambda: clock.spend(CONTROL + HOOK))]


def measured(groups: list[list[Arm]], clock: Clock, seconds: float = 0.02) -> pairs.Measured:
    turns = Turns(groups, clock)
    turns.run(seconds)
    return turns.measured()


def test_the_difference_is_found() -> None:
    clock = Clock()
    found = measured([quiet(clock)], clock)
    assert found.control == pytest.approx(CONTROL * 1e9)
    assert found.added == pytest.approx([HOOK * 1e9])


def test_a_machine_that_gets_slower_adds_nothing() -> None:
    """Half as fast again at the end: one work after the other would be wrong by more than the hook costs."""
    clock = Clock()
    clock.pace = lambda now: 1 + now / 0.04
    found = measured([quiet(clock)], clock)
    assert found.added[0] == pytest.approx(HOOK * 1e9 * 1.25, rel=0.1)

    clock = Clock()
    clock.pace = lambda now: 1 + now / 0.04
    turns = Turns([quiet(clock)], clock)
    turns.calls = 50
    first = [turns.block(turns.groups[0][0]) for _ in range(80)]
    second = [turns.block(turns.groups[0][1]) for _ in range(80)]
    assert median(second) - median(first) > 2 * HOOK


def test_interruptions_add_nothing() -> None:
    clock, rng = Clock(), random.Random(1)
    clock.pace = lambda now: 50.0 if rng.random() < 0.0005 else 1.0
    found = measured([quiet(clock)], clock)
    assert found.rounds > 50
    assert found.added[0] == pytest.approx(HOOK * 1e9, rel=0.01)


def two_speeds(share: float, seed: int = 1) -> Clock:
    """A clock of a processor that somebody else uses too: for a share of the time it needs almost twice as long."""
    clock, rng, until = Clock(), random.Random(seed), [0.0, 1.0]

    def pace(now: float) -> float:
        while now >= until[0]:
            until[:] = [until[0] + rng.uniform(0.0002, 0.01), 1.8 if rng.random() < share else 1.0]
        return until[1]

    clock.pace = pace
    return clock


def shared(clock: Clock) -> list[Arm]:
    """A work that needs twice as long at half speed, and a hook that does not."""
    return [
        Arm(lambda: clock.spend(CONTROL)),
        Arm(lambda: (clock.spend(CONTROL), clock.spend(HOOK / clock.pace(clock.now)))),
    ]


@pytest.mark.parametrize("share", [0.1, 0.4, 0.7])
def test_what_is_measured_at_half_speed_does_not_count(share: float) -> None:
    clock = two_speeds(share)
    turns = Turns([shared(clock)], clock, pairs.Gauge(clock, lambda: clock.spend(5e-6)))
    turns.run(0.5)
    found = turns.measured()
    assert found.control == pytest.approx(CONTROL * 1e9, rel=1e-6)
    assert found.added[0] == pytest.approx(HOOK * 1e9, rel=1e-6)
    assert pairs.FEWEST_ROUNDS < found.rounds < len(turns.blocks)


def test_without_the_gauge_half_speed_would_count() -> None:
    clock = two_speeds(0.7)
    assert measured([shared(clock)], clock, 0.5).control > 1.5 * CONTROL * 1e9


@pytest.mark.parametrize(("slow", "counts"), [(pairs.SLOW, False), (1.6, True)])
def test_a_work_that_slows_the_gauge_itself_may_count(slow: float, counts: bool) -> None:
    """What a large work leaves behind makes the next spin slow; that is no other user of the processor."""
    clock, cold = Clock(), []

    def work() -> None:
        clock.spend(0.001)
        cold[:] = [True, True]  # the spin that is timed is slow too

    def spin() -> None:
        clock.spend(7.5e-6 if cold and cold.pop() else 5e-6)

    gauge = pairs.Gauge(clock, spin)
    gauge()
    turns = Turns([[Arm(work)] * 2], clock, gauge, slow)
    turns.run(0.1)
    assert len(turns.fast()) == (len(turns.blocks) if counts else 0)


def mostly_slow(fast: float, slow: float, after: float) -> Turns:
    """A processor that takes `slow` times as long once `after` seconds are over, and `fast` times before."""
    clock = Clock()
    gauge = pairs.Gauge(clock, lambda: clock.spend(5e-6))
    gauge()
    clock.pace = lambda now: fast if now < after else slow
    turns = Turns([[Arm(lambda: clock.spend(0.01))] * 2], clock, gauge)
    turns.run(0.001)
    assert len(turns.blocks) == pairs.FEWEST_ROUNDS * pairs.PATIENCE
    return turns


def test_where_the_processor_is_slow_throughout_the_fastest_rounds_tell_and_do_not_count() -> None:
    found = mostly_slow(1.4, 1.8, 0.5).measured()
    assert (found.control, found.rounds) == (pytest.approx(14e6), 0)


def test_few_rounds_at_full_speed_count_alone() -> None:
    found = mostly_slow(1.0, 1.8, 0.25).measured()
    assert found.control == pytest.approx(10e6)
    assert 0 < found.rounds < pairs.FEWEST_ROUNDS


def test_the_gauge_is_read_when_it_is_warm() -> None:
    """A work that empties the caches makes the next spin slow, which is no reason to leave out its round."""
    clock, cold = Clock(), [True]

    def spin() -> None:
        clock.spend(9e-6 if cold[0] else 5e-6)
        cold[0] = False

    def work() -> None:
        clock.spend(0.01)
        cold[0] = True

    turns = Turns([[Arm(work)] * 2], clock, pairs.Gauge(clock, spin))
    turns.run(0.5)
    assert turns.measured().rounds == len(turns.blocks) > pairs.FEWEST_ROUNDS


def test_a_comparison_goes_on_with_other_objects() -> None:
    """What was measured before counts too, and the blocks are as long."""
    clock = Clock()
    turns = Turns([quiet(clock)], clock)
    turns.run(0.05)
    calls, rounds = turns.calls, len(turns.blocks)
    slow = [Arm(lambda: clock.spend(2 * CONTROL)), Arm(lambda: clock.spend(2 * CONTROL + HOOK))]
    turns.renew([slow])
    turns.run(0.05)
    assert turns.calls == calls
    assert rounds < len(turns.blocks)
    assert turns.measured().added == pytest.approx([HOOK * 1e9])
    assert turns.measured().control > CONTROL * 1e9
    with pytest.raises(ValueError, match="a comparison needs"):
        turns.renew([])


def test_where_an_object_lies_is_averaged() -> None:
    """One of three groups is slow: the figure is that of the others."""
    clock = Clock()
    slow = [Arm(lambda: clock.spend(CONTROL)), Arm(lambda: clock.spend(CONTROL + 3 * HOOK))]
    found = measured([quiet(clock), slow, quiet(clock)], clock)
    assert found.added == pytest.approx([HOOK * 1e9])


def test_blocks_take_turns_and_hooks_come_and_go() -> None:
    clock, seen = Clock(), []

    def arm(name: str) -> Arm:
        def enter():
            seen.append(f"{name} in")
            return lambda: seen.append(f"{name} out")

        return Arm(lambda: clock.spend(CONTROL), enter)

    turns = Turns([[arm("a"), arm("b")], [arm("A"), arm("B")]], clock)
    for _ in range(4):
        turns.round()
    order = ["a", "b", "B", "A", "b", "a", "A", "B"]
    assert seen == [f"{name} {way}" for name in order for way in ("in", "out")]


def test_the_first_call_after_a_change_is_not_timed() -> None:
    clock, cold = Clock(), [False]

    def work() -> None:
        clock.spend(CONTROL + (1.0 if cold[0] else 0.0))
        cold[0] = False

    def enter():
        cold[0] = True
        return pairs.nothing

    found = Turns([[Arm(work, enter), Arm(work, enter)]], clock)
    found.round()
    assert found.blocks == [pytest.approx([CONTROL, CONTROL])]


def test_blocks_are_long_and_the_time_is_kept() -> None:
    clock = Clock()
    turns = Turns([quiet(clock)], clock)
    turns.run(0.05)
    assert turns.calls * CONTROL >= pairs.BLOCK / 2
    assert 0.05 <= clock.now <= 0.05 + 5 * pairs.BLOCK


def test_an_interruption_does_not_make_blocks_short() -> None:
    clock = Clock()
    waits = iter([0.0, 0.5])  # the second block of all is interrupted
    arms = [Arm(lambda: clock.spend(CONTROL + next(waits, 0.0)))] * 2
    turns = Turns([arms], clock)
    turns.run(0.05)
    assert turns.calls * CONTROL >= pairs.BLOCK / 2


def test_slow_work_is_measured_the_fewest_times_that_tell() -> None:
    clock = Clock()
    found = measured([[Arm(lambda: clock.spend(1.0))] * 2], clock)
    assert (found.rounds, found.calls, found.added) == (pairs.FEWEST_ROUNDS, 1, [0.0])


@pytest.mark.parametrize("groups", [[], [[]], [[Arm(pairs.nothing)]], [[Arm(pairs.nothing)] * 2, [Arm(pairs.nothing)]]])
def test_a_comparison_needs_two_sides(groups: list[list[Arm]]) -> None:
    with pytest.raises(ValueError, match="a comparison needs"):
        Turns(groups, Clock())


def test_noise_is_noise() -> None:
    """The same work beside itself where every fifth block is interrupted: little of it, whatever the seed."""
    for seed in range(10):
        clock = Clock()
        machine = Machine(seed, jitter=0.05, interrupted=0.2)
        found = measured([machine.arms(clock, CONTROL, CONTROL) for _ in range(3)], clock, 0.1)
        assert abs(found.added[0]) < CONTROL * 1e9 / 30


LANE = range(1, PROCESSES // JOBS + 1)
FEWEST = FEWEST_PROCESSES // JOBS


def lane(clock: Clock, starts: Callable[[int], float], seconds: float = SECONDS) -> list[float]:
    """Run the processes of one processor, each of which takes so long to start; return what each may measure."""
    found = []
    for number, share in shares(LANE, FEWEST, seconds, clock):
        clock.spend(starts(number) + share)
        found.append(share)
    return found


@pytest.mark.parametrize(
    ("starts", "processes"),
    [
        (lambda number: 1.0, 16),
        (lambda number: 4.0, 16),
        (lambda number: 7.0, 12),
        (lambda number: 40.0 if number == 1 else 3.0, 14),  # torch comes from a cold disk
        (lambda number: 15.0 if number == 6 else 3.0, 16),  # somebody else was busy for a while
        (lambda number: 3.0 + number / 2, 13),
        (lambda number: 9.0, 10),
        (lambda number: 16.0, 6),
        (lambda number: 24.0, FEWEST),
        (lambda number: 24.0 if number < 3 else 26.0, FEWEST),  # not refused for a second or two at the end
    ],
)
def test_a_run_stays_within_two_minutes(starts, processes) -> None:
    """Where starting is slow there are fewer processes."""
    clock = Clock()
    found = lane(clock, starts)
    assert clock.now <= 120.0
    assert min(found) >= LEAST_SECONDS
    assert len(found) == processes


def test_a_last_process_that_takes_for_ever_does_not_spoil_the_others() -> None:
    assert len(lane(Clock(), lambda number: 90.0 if number == 9 else 3.0)) == 9


def test_time_that_is_left_is_used() -> None:
    clock = Clock()
    lane(clock, lambda number: 3.0)
    assert clock.now == pytest.approx(SECONDS, abs=1.0)


def process(number: int, seconds: float, path: object):
    """A process that is over at once."""
    return [{"type": "header", "of": number}, {"type": "benchmark", "process": number}, {"type": "footer"}]


@pytest.mark.parametrize("jobs", [1, 2, 3])
def test_processes_that_run_at_a_time_make_one_run_file(jobs: int, capsys) -> None:
    lines = measure(PROCESSES, SECONDS, jobs, process)
    assert lines[0] == {"type": "header", "of": 1}
    assert [line["process"] for line in lines[1:-1]] == list(range(1, PROCESSES + 1))
    assert (lines[-1]["type"], lines[-1]["cells"]) == ("footer", 0)
    assert capsys.readouterr().err == ""


def test_as_many_run_at_a_time_as_are_asked_for() -> None:
    """Two wait for each other, which one alone could not."""
    both = Barrier(2, timeout=30.0)

    def run(number: int, seconds: float, path: object):
        both.wait()
        return process(number, seconds, path)

    assert len(measure(8, SECONDS, 2, run)) == 10


def test_where_one_fails_the_others_end_too() -> None:
    ran = []

    def run(number: int, seconds: float, path: object):
        ran.append(number)
        if number == 2:
            raise TimingError("process 2 failed")
        time.sleep(0.05)
        return process(number, seconds, path)

    with pytest.raises(TimingError, match="process 2 failed"):
        measure(PROCESSES, SECONDS, 2, run)
    assert len(ran) <= 4


def test_fewer_processes_are_told(capsys) -> None:
    clock = Clock()

    def run(number: int, seconds: float, path: object):
        clock.spend(seconds + 10.0)
        return process(number, seconds, path)

    lines = measure(PROCESSES, SECONDS, 1, run, clock)
    assert len(lines) - 2 < PROCESSES
    assert capsys.readouterr().err == f"{len(lines) - 2} of {PROCESSES} processes: starting them takes long here\n"


@pytest.mark.parametrize(
    ("quiet_from", "wait", "quiet", "waited"),
    [(0.0, 90.0, True, 0.0), (42.0, 90.0, True, 45.0), (200.0, 90.0, False, 90.0), (200.0, 0.0, False, 0.0),
     (200.0, 7.0, False, 7.0)],
)  # fmt: skip
def test_a_timing_waits_for_a_quiet_machine_but_not_for_ever(quiet_from, wait, quiet, waited) -> None:
    clock = Clock()
    found = wait_until_quiet(wait, lambda: QUIET * (1.0 if clock.now >= quiet_from else 1.1), clock, clock.spend)
    assert (found, clock.now) == (quiet, waited)


@pytest.mark.parametrize("start", [28.0, 60.0])
def test_a_machine_on_which_too_few_processes_fit_is_told_soon(start) -> None:
    """With the seconds that it is told to give they fit."""
    clock = Clock()
    with pytest.raises(TimingError, match=f"starting a process takes {start:.0f} s here") as told:
        lane(clock, lambda number: start)
    assert clock.now <= 2 * (start + SECONDS / len(LANE))
    needed = float(str(told.value).split("--seconds ")[1].split(",")[0])
    clock = Clock()
    assert len(lane(clock, lambda number: start, needed)) == FEWEST
    assert clock.now <= needed + start
