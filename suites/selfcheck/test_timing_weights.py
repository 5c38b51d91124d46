"""What a process counts: by what it measured at full speed, and next to nothing where it saw only a slow processor."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from reports.costs import from_run
from reports.costs_change import changes, compare, compared, not_compared
from reports.runfile import Run
from suites.selfcheck import timing_session
from suites.selfcheck.timing_session import Machine

QUIET = {"spread": 0.0, "jitter": 0.0, "interrupted": 0.0}


@pytest.mark.parametrize("name", ["rounds", "calls"])
def test_a_process_counts_by_the_calls_that_it_measured(name: str) -> None:
    """A quarter of them saw half as much again: chance where they measured as much as the others, else the figure."""

    def told(times: int) -> list[float]:
        lines = timing_session.session(Machine(1, **QUIET))
        for each in lines:
            if each.get("figure") in {"call", "count"} and each["added"] and each["process"] % 4 == 0:
                each["added"] *= 1.5
                each[name] *= times
        header, *rows, _ = lines
        figures = from_run(Run(Path("made-up.jsonl"), header, {}, tuple(rows))).figures
        return [figures[figure, "forward", "empty", 1].values["added"].mid for figure in ("call", "slope", "next")]

    assert told(1) == pytest.approx([20e3] * 3)
    assert told(30) == pytest.approx([30e3] * 3)


@pytest.mark.parametrize(("busy", "said"), [(7, ""), (8, "not compared: somebody else used the machine while")])
def test_a_run_of_which_many_processes_do_not_count_is_not_compared(busy: int, said: str) -> None:
    made = timing_session.run(Machine(1, **QUIET))

    def seen(row: Mapping[str, Any]) -> Mapping[str, Any]:
        return {**row, "pace": row["pace"] * 1.2} if row["figure"] == "process" and row["process"] <= busy else row

    quiet, other = from_run(made), from_run(replace(made, benchmarks=tuple(map(seen, made.benchmarks))))
    assert not_compared(quiet, other)[: len(said)] == not_compared(other, quiet)[: len(said)] == said
    assert bool(compared(quiet, other)) == (not said)


def slow_processor(run: Run, figures: tuple[str, ...], but: str = "", only: str = "") -> Run:
    """Every third process saw only a slow processor while it measured these figures: half as long again, and more."""

    def seen(row: Mapping[str, Any]) -> Mapping[str, Any]:
        if row["figure"] not in figures or row["process"] % 3 or row["absent"]:
            return row
        if row["hook"] == but or only not in ("", row["hook"]):
            return row
        return {**row, "rounds": 0, "control": row["control"] * 1.5, "added": row["added"] * 1.8}

    return replace(run, benchmarks=tuple(map(seen, run.benchmarks)))


@pytest.mark.parametrize("figures", [("call",), ("register",), ("same", "call")])
def test_what_was_measured_while_the_processor_was_slow_makes_no_change(figures: tuple[str, ...]) -> None:
    """Neither of the figures so measured, nor of what moves them all, nor of the others in the same process."""
    made = timing_session.whole_session(Machine(1, sway=0.04))
    before, after = from_run(made), from_run(slow_processor(made, figures))
    assert changes(before, after) == []
    for name in ("call", "register"):
        change = compare(before, after, (name, "kind_k", "empty", 1))
        assert (change.machine, change.ratio) == (pytest.approx(1, abs=0.01), pytest.approx(1, abs=0.01))


def test_that_makes_no_change_either_where_few_hooks_are_measured() -> None:
    """Too few to tell what moves them all."""
    made = timing_session.run(Machine(1))
    assert changes(from_run(made), from_run(slow_processor(made, ("call",)))) == []


@pytest.mark.parametrize(("measured", "told"), [(7, False), (8, True)])
def test_what_few_processes_measured_while_it_was_fast_is_not_compared(measured: int, told: bool) -> None:
    key = ("call", "node", "empty", 1)
    made = timing_session.run(Machine(1))

    def seen(row: Mapping[str, Any]) -> Mapping[str, Any]:
        slow = row["figure"] == "call" and row["hook"] == "node" and row["process"] > measured
        return {**row, "rounds": 0} if slow else row

    other = from_run(replace(made, benchmarks=tuple(map(seen, made.benchmarks))))
    for one, two in ((from_run(made), other), (other, from_run(made))):
        assert (key in [change.after.key for change in compared(one, two)]) == told


@pytest.mark.parametrize("hooks", [{"but": "kind_k"}, {"only": "kind_k"}])
def test_it_does_not_hide_what_moves_all(hooks: dict[str, str]) -> None:
    before = from_run(timing_session.whole_session(Machine(1, sway=0.04)))
    after = from_run(
        slow_processor(timing_session.whole_session(Machine(2, sway=0.04, shift=0.07)), ("call",), **hooks)
    )
    change = compare(before, after, ("call", "kind_k", "empty", 1))
    assert change.machine == pytest.approx(1.07, abs=0.035)
    assert change.ratio == pytest.approx(1, abs=0.035)


def test_a_plain_call_measured_while_the_processor_was_slow_decides_nothing() -> None:
    made = timing_session.whole_session(Machine(1))
    before, after = (
        each.figures["call", "kind_k", "empty", 1].values["plain_calls"]
        for each in (from_run(made), from_run(slow_processor(made, ("floor",))))
    )
    assert after.mid == pytest.approx(before.mid, rel=0.01)
