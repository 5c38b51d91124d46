"""What is told of costs: a session is read as it was made, nothing is found where nothing changed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from reports.costs import Costs, from_run
from reports.costs_change import Change, changes, compare, compared, unhooked
from reports.costs_recorded import read_costs, record
from reports.costs_stats import Estimate
from reports.costs_view import BELOW, calls, environment, number, summary
from reports.runfile import Run, read_run
from reports.strict import BadInput
from suites.selfcheck import synthetic, timing_session
from suites.selfcheck.timing_session import KINDS, Machine

QUIET = {"spread": 0.0, "jitter": 0.0, "interrupted": 0.0}


def costs(seed: int, **content) -> Costs:
    machine = Machine(seed, **content.pop("machine", {}))
    return from_run(timing_session.run(machine, **content))


def test_a_session_is_read_as_it_was_made() -> None:
    found = costs(1, machine=QUIET)
    for kind, seconds in KINDS.items():
        values = found.figures["call", kind, "empty", 1].values
        assert values["added"].mid == pytest.approx(seconds * 1e9)
        assert values["ratio"].mid == pytest.approx(1 + seconds / timing_session.CONTROL)
        assert values["plain_calls"].mid == pytest.approx(seconds / timing_session.PLAIN)
    for name, told in (("slope", 20e3), ("first", 20e3), ("next", 20e3), ("intercept", 0)):
        assert found.figures[name, "forward", "empty", 1].values["added"].mid == pytest.approx(told, abs=1e-6)


def test_forty_comparisons_of_a_torch_with_itself_find_no_change() -> None:
    """At most one of forty, each run beside the one before, with all figures that a real run has.

    A spread of 10 % between processes must not make changes, nor what a run does to each of its figures, up to 0.6 %.
    """
    false, seen = 0, 0
    for spread in (0.01, 0.1):
        last = None
        for trial in range(21):
            now = from_run(timing_session.whole_session(Machine(trial, spread, drift=0.006)))
            if last:
                false += bool(changes(last, now))
                seen += len(compared(last, now))
            last = now
    assert false <= 1
    assert seen > 40 * 40


def test_a_slowdown_of_five_percent_is_found_and_named() -> None:
    found = 0
    for trial in range(20):
        before = costs(100 + trial)
        after = costs(200 + trial, slower={"full_backward": 1.05})
        named = [change.after.key for change in changes(before, after)]
        found += named == [("call", "full_backward", "empty", 1)]
    assert found >= 19


@pytest.mark.parametrize("ratio", [0.9, 1.1])
def test_what_all_hooks_share_is_found(ratio) -> None:
    """A release that makes every hook slower, or faster, is no machine."""
    kinds = ("forward_pre", "forward", "full_backward")
    for trial in range(10):
        before = costs(100 + trial, machine={"jitter": 0.002})
        for hooks in (kinds, tuple(KINDS)):
            after = costs(200 + trial, machine={"jitter": 0.002}, slower=dict.fromkeys(hooks, ratio))
            assert {change.after.hook for change in changes(before, after)} == set(hooks)


@pytest.mark.parametrize(
    "pace", [lambda process: 1.1, lambda process: 1 + process / 50, lambda process: 1 + 0.2 * (process > 9)]
)
def test_a_slow_machine_makes_no_change(pace) -> None:
    """Of a whole run, or of some processes: all that they measure takes longer, plain calls too."""
    before = costs(1, machine=QUIET)
    after = costs(1, machine={**QUIET, "pace": pace})
    for name in ("plain_calls", "ratio"):
        old, new = (each.figures["call", "full_backward", "empty", 1].values[name] for each in (before, after))
        assert new.mid == pytest.approx(old.mid)
        assert new.high == pytest.approx(new.low)
    for trial in range(10):
        assert changes(costs(300 + trial), costs(400 + trial, machine={"pace": pace})) == []


def test_a_slow_machine_does_not_hide_a_slow_hook() -> None:
    before = costs(1)
    after = costs(2, machine={"pace": lambda process: 1.1}, slower={"full_backward": 1.05})
    (found,) = changes(before, after)
    assert found.after.hook == "full_backward"
    assert found.ratio == pytest.approx(1.05, abs=0.01)
    assert found.old.mid * (found.ratio or 0) == pytest.approx(found.new.mid)


@pytest.mark.parametrize("works", [0.9, 1.1])
def test_slower_works_without_hooks_are_no_change_of_a_hook(works) -> None:
    """All of them, so that it could be the machine; or some, beside which their hooks would seem to cost less."""
    for trial in range(10):
        before = costs(100 + trial)
        after = costs(200 + trial, works=works)
        assert unhooked(before, after) == pytest.approx(works, abs=0.01)
        assert changes(before, after) == []


def whole(seed: int, slower: dict[str, float] | None = None, **machine: float) -> Costs:
    return from_run(timing_session.whole_session(Machine(seed, **machine), slower))


@pytest.mark.parametrize("shift", [-0.07, 0.07])
def test_what_moves_hooks_together_is_the_machine(shift) -> None:
    """From process to process, and so from run to run; but not those that do not go with them."""
    before, after = whole(1, sway=0.04), whole(2, sway=0.04, shift=shift)
    assert changes(before, after) == []
    found = {each.after.key: each for each in compared(before, after) if each.after.workload == "empty"}
    assert found["call", "kind_k", "empty", 1].machine == pytest.approx(1 + shift, abs=0.035)
    assert found["call", "kind_j", "empty", 1].machine == pytest.approx(1, abs=0.02)


@pytest.mark.parametrize("shift", [-0.07, 0.07])
def test_what_a_hook_feels_on_a_larger_module_is_told_by_the_empty_one(shift) -> None:
    """There its processes hardly show what moves them all, but what a whole run shifts is there too."""
    before, after = whole(1, sway=0.04, hidden=1.0), whole(2, sway=0.04, shift=shift, hidden=1.0)
    assert changes(before, after) == []
    assert compare(before, after, ("call", "kind_k", "small", 1)).machine == pytest.approx(1 + shift, abs=0.035)


def test_what_moves_hooks_together_may_be_the_lesser_part_of_what_moves_one() -> None:
    before, after = whole(1, spread=0.03, sway=0.04), whole(2, spread=0.03, sway=0.04, shift=0.07)
    found = {each.after.key: each for each in compared(before, after) if each.after.workload == "empty"}
    assert found["call", "kind_k", "empty", 1].machine == pytest.approx(1.07, abs=0.035)
    assert found["call", "kind_j", "empty", 1].machine == pytest.approx(1, abs=0.02)


@pytest.mark.parametrize("shift", [-0.04, 0.0, 0.04])
def test_a_slow_hook_is_found_beside_what_moves_all(shift) -> None:
    before, after = whole(1, sway=0.04), whole(2, {"kind_k": 1.06}, sway=0.04, shift=shift)
    assert {each.after.hook for each in changes(before, after)} == {"kind_k"}


def test_what_moves_all_hooks_of_a_pass_too_far_is_a_release() -> None:
    slower = {kind: 1.25 for kind, (work, _) in timing_session.MANY.items() if work == "both"}
    found = changes(whole(1, sway=0.04), whole(2, slower, sway=0.04))
    assert {each.after.hook for each in found} == set(slower)


def test_an_interval_is_narrower_without_what_moves_all() -> None:
    before, after = whole(1, spread=0.002, sway=0.05), whole(2, spread=0.002, sway=0.05)
    change = compare(before, after, ("call", "kind_k", "empty", 1))
    added = change.before.values["added"]
    assert change.sides
    assert added.low < change.sides[0].mid < added.high
    assert change.sides[0].high - change.sides[0].low < (added.high - added.low) / 2


@pytest.mark.parametrize(("quiet", "counted"), [(24, 24), (15, 15), (8, 8), (7, 8), (5, 12), (1, 12)])
def test_processes_beside_which_somebody_used_the_machine_do_not_count(quiet: int, counted: int) -> None:
    """What they added is not told; but where few were quiet, the quietest of the others are: one decides nothing."""
    lines = timing_session.session(Machine(1, **QUIET))
    for each in lines:
        late = each.get("process", 0) - quiet
        if late > 0 and each["figure"] == "process":
            each["pace"] *= 1.1 + late / 100
        elif late > 0 and each["figure"] == "call" and each["added"]:
            each["added"] *= 1.5 + late / 100
    header, *rows, _ = lines
    found = from_run(Run(Path("made-up.jsonl"), header, {}, tuple(rows)))
    assert (found.environment["processes"], found.environment["left_out"]) == (counted, 24 - counted)
    whole = from_run(timing_session.run(Machine(1, **QUIET))).figures["call", "full_backward", "empty", 1]
    told = found.figures["call", "full_backward", "empty", 1]
    assert len(told.each) == counted
    assert (told.values["added"].high > 1.4 * whole.values["added"].high) == (quiet < counted)
    assert (told.values["added"].mid > 1.2 * whole.values["added"].mid) == (quiet < counted / 2)
    assert environment(found).count(f"the quietest {counted} of 24 processes") == (counted < 24)


def test_a_slow_clock_leaves_no_process_out() -> None:
    """It makes a plain call slow too, and so is nobody else's doing."""
    found = costs(1, machine={**QUIET, "pace": lambda process: 1 + 0.2 * (process % 2)})
    assert (found.environment["processes"], found.environment["left_out"]) == (24, 0)
    assert found.pace == pytest.approx(costs(2, machine=QUIET).pace, rel=1e-3)


def test_a_plain_call_brings_its_own_uncertainty() -> None:
    """Half of the processes call a plain function twice as slowly: so wide is the cost in plain calls."""
    lines = timing_session.session(Machine(1, **QUIET))
    for each in lines:
        for name in {"floor": ["added"], "process": ["pace"]}.get(each.get("figure", ""), []):
            each[name] *= 1 + each["process"] % 2
    header, *rows, _ = lines
    found = from_run(Run(Path("made-up.jsonl"), header, {}, tuple(rows))).figures["call", "full_backward", "empty", 1]
    assert found.values["added"].low == pytest.approx(found.values["added"].high)
    assert found.values["plain_calls"].high == pytest.approx(2 * found.values["plain_calls"].low)


def test_a_change_must_pass_the_margin_and_part_the_intervals() -> None:
    before = costs(1, machine=QUIET)
    assert changes(before, costs(2, machine=QUIET, slower={"forward": 1.029})) == []
    (found,) = changes(before, costs(3, machine=QUIET, slower={"forward": 1.031}))
    assert found.ratio == pytest.approx(1.031)
    (found,) = changes(before, costs(4, machine=QUIET, slower={"forward": 0.9}))
    assert found.ratio == pytest.approx(0.9)
    wide = costs(5, machine={"spread": 0.2}, slower={"forward": 1.1})
    assert ("call", "forward", "empty", 1) not in [change.after.key for change in changes(before, wide)]


def test_what_cannot_be_told_from_nothing_is_no_number() -> None:
    found = costs(1)
    rows = {row.hook: row.cells for row in calls(found).rows}
    assert rows["nothing_at_all"][:3] == (BELOW, BELOW, BELOW)
    assert rows["post_accumulate"][:3] == ("absent", "absent", "absent")
    assert rows["forward"][0].startswith(("4.9", "5.0"))
    assert rows["forward"][2].startswith(("19,", "20,"))
    assert set(rows["forward"][3:]) == {"not measured"}


def test_a_hook_that_a_pass_calls_more_than_once_says_so() -> None:
    found = costs(1)
    figures = dict(found.figures)
    for workload, fires in (("empty", 4), ("small", 8)):
        figure = replace(found.figures["call", "node", "empty", 1], workload=workload, fires=fires)
        same = replace(found.figures["same", "forward", "empty", 0], workload=workload)
        figures |= {figure.key: figure, same.key: same}
    says = {row.hook: row.says for row in calls(replace(found, figures=figures)).rows}
    assert (says["node"], says["forward"]) == ("node hook (4 or 8 calls)", "forward hook")


def test_less_than_the_work_beside_itself_is_below_noise(tmp_path: Path) -> None:
    """An interval that leaves out zero is not enough where the same work seems to differ by as much."""
    lines = timing_session.session(Machine(1, 0.0, 0.0, 0.0))
    for each in lines:
        if each.get("figure") == "same":
            each["added"] = 1990.0 + each["process"] * 2
    found = from_run(read_run(synthetic.write_lines(tmp_path / "a.jsonl", lines), timings=True))
    leaf, forward = (found.figures["call", kind, "empty", 1] for kind in ("leaf", "forward"))
    assert not leaf.values["added"].zero
    assert found.below_noise(leaf)
    assert not found.below_noise(forward)
    assert [change for change in compared(found, found) if change.after.hook == "leaf"] == []


@pytest.mark.parametrize(("added", "told"), [(900.0, False), (1100.0, True)])
def test_what_leaves_the_noise_must_lie_farther_off_than_the_noise(added: float, told: bool) -> None:
    """The intervals part in both cases; the noise of this run is 1,000 ns."""

    def run(more: float) -> Costs:
        lines = timing_session.session(Machine(1, **QUIET))
        for each in lines:
            if each.get("figure") == "same":
                each["added"] = 1000.0 if each["process"] % 2 else -1000.0
            if each.get("hook") == "nothing_at_all":
                each["added"] = 1000.0 - each["process"] + more
        header, *rows, _ = lines
        return from_run(Run(Path("made-up.jsonl"), header, {}, tuple(rows)))

    before, after = run(0.0), run(added)
    (change,) = [each for each in compared(before, after) if each.after.hook == "nothing_at_all"]
    assert change.below == (True, False)
    assert change.ratio is None
    assert change.old.gap(change.new) > 0
    assert [each.after.hook for each in changes(before, after)] == ["nothing_at_all"] * told


def test_an_interval_around_zero_is_below_noise() -> None:
    """Even where the median lies far from zero and the same work beside itself shows none."""
    found = costs(1, machine=QUIET)
    leaf = found.figures["call", "leaf", "empty", 1]
    assert not found.below_noise(leaf)
    wide = replace(leaf, values={**leaf.values, "added": Estimate(-100, 3000, 3100)})
    assert found.below_noise(wide)


def test_sentences_tell_plain_calls() -> None:
    said = " ".join(summary(costs(1, machine=QUIET)))
    assert "A full_backward hook costs about 125 (125 to 125) plain Python calls where the module is empty." in said
    assert "holds about 4,600 (4,600 to 4,600) bytes" in said


@pytest.mark.parametrize(
    ("value", "told"),
    [(0.00123, "0.00123"), (1.0, "1.00"), (24.94, "24.9"), (123.4, "123"), (999.9, "1,000"), (12_345.6, "12,300"),
     (-2661.2, "-2,660"), (0.0, "0.00")],
)  # fmt: skip
def test_numbers_tell_three_digits(value: float, told: str) -> None:
    assert number(value) == told


def test_a_change_is_a_ratio_of_what_was_added() -> None:
    one, other = (costs(seed).figures["call", "node", "empty", 1] for seed in (1, 2))
    told = Change(one, other)
    assert told.ratio == pytest.approx(other.values["added"].mid / one.values["added"].mid)
    assert Change(one, other, 1.25).ratio == pytest.approx((told.ratio or 0) / 1.25)


def test_recorded_costs_are_read_back(tmp_path: Path) -> None:
    made = [costs(1, torch="2.14.1"), costs(2, torch="2.15.0")]
    first = record(made, tmp_path / "costs")
    assert [path.name for path in first] == ["2.14.json", "2.15.json"]
    found = read_costs(tmp_path / "costs")
    assert [each.torch for each in found] == ["2.14.1", "2.15.0"]
    assert found[0].environment == made[0].environment
    for key, figure in made[1].figures.items():
        again = found[1].figures[key]
        assert (again.says, again.work, again.absent, again.fires) == (
            figure.says, figure.work, figure.absent, figure.fires,
        )  # fmt: skip
        for name, value in figure.values.items():
            assert again.values[name].mid == pytest.approx(value.mid, rel=1e-3)
        assert again.each == pytest.approx(figure.each, rel=1e-3)
    texts = [path.read_bytes() for path in first]
    record(found, tmp_path / "costs")
    assert [path.read_bytes() for path in first] == texts


def test_a_recording_replaces_the_last_sweep(tmp_path: Path) -> None:
    record([costs(1, torch="2.14.1"), costs(2)], tmp_path / "costs")
    record([costs(3)], tmp_path / "costs")
    assert [path.name for path in (tmp_path / "costs").iterdir()] == ["2.15.json"]


def test_a_recording_is_of_releases_on_one_machine(tmp_path: Path) -> None:
    one, other = costs(1), costs(2, torch="2.14.1")
    other.environment["machine"] = "Other 1"  # type: ignore[index]
    for sweep, fault in (
        ([one, one], "is of torch 2.15 too"),
        ([one, other], "record one sweep on one machine"),
        ([costs(3, torch="2.16.0.dev1")], "is no release"),
        ([costs(3), replace(costs(4, torch="2.14.1"), sweep="2026-11-18T07:00:00Z")], "more than a day before"),
        ([replace(costs(3), sweep="2026-99-18T07:00:00Z")], "'2026-99-18T07:00:00Z', which is no time"),
    ):
        with pytest.raises(BadInput, match=fault):
            record(sweep, tmp_path / "costs")
    assert not (tmp_path / "costs").exists()


def test_a_sweep_may_last_a_day(tmp_path: Path) -> None:
    made = [
        replace(costs(1), sweep="2026-11-20T06:00:00Z"),
        replace(costs(2, torch="2.14.1"), sweep="2026-11-19T06:00:00Z"),
    ]
    record(made, tmp_path / "costs")
    assert {each.sweep for each in read_costs(tmp_path / "costs")} == {"2026-11-19T06:00:00Z"}
