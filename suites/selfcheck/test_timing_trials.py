"""The trials of the timing, with made-up runs: what they count, print and end with. Nothing here is timed."""

from __future__ import annotations

import re
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from reports.costs import Costs, from_run
from reports.strict import BadInput
from suites.selfcheck import slowdown as plug_in
from suites.selfcheck import synthetic, timing_session, timing_trials
from suites.selfcheck.timing_session import Machine
from suites.timing import kinds


class Bench:
    """Measures on a made-up machine, and remembers what it was asked for."""

    def __init__(self, factor: float = 1.05, crowded: int = 0) -> None:
        self.asked: list[tuple[str, str]] = []
        self.factor, self.crowded = factor, crowded  # the number of the run beside which somebody used the machine

    def __call__(self, name: str, slowdown: str) -> Costs:
        self.asked.append((name, slowdown))
        hook, _, nanoseconds = slowdown.partition(":")
        slower = {hook: self.factor} if float(nanoseconds or 0) else {}
        crowd = 1.2 if len(self.asked) == self.crowded else 1.0
        machine = Machine(len(self.asked), jitter=0.002, interrupted=0.0, crowd=crowd)
        return from_run(timing_session.run(machine, slower=slower))


def test_runs_of_one_torch_are_compared_with_the_one_before(capsys) -> None:
    bench = Bench()
    assert timing_trials.same(3, bench) == 0
    assert [name for name, _ in bench.asked] == ["same-0", "same-1", "same-2", "same-3"]
    *lines, last = capsys.readouterr().out.splitlines()
    for line in lines:
        assert re.fullmatch(r"\d: \d+ figures, changed: none; ratios agree within [012]\.\d% \(call .*\)", line), line
    assert last == "0 of 3 comparisons found a change where there was none"


def test_what_is_not_compared_is_no_trial(capsys) -> None:
    assert timing_trials.same(3, Bench(crowded=2)) == 0
    *lines, last = capsys.readouterr().out.splitlines()
    assert [": not compared: somebody else used the machine" in line for line in lines] == [True, True, False]
    assert last == "0 of 1 comparisons found a change where there was none"


def test_trials_of_which_none_was_compared_tell_nothing(capsys) -> None:
    for trials in (timing_trials.same, timing_trials.slower):
        with pytest.raises(BadInput, match="no two runs could be compared"):
            trials(1, Bench(crowded=2))
        assert capsys.readouterr().out.splitlines()[-1].startswith("0 of 0 ")


def test_a_slowdown_that_is_not_compared_is_no_trial(capsys) -> None:
    assert timing_trials.slower(2, Bench(crowded=2)) == 0
    *_, one, _, last = capsys.readouterr().out.splitlines()
    assert one.startswith("1: forward by ")
    assert one.endswith(" ns, not compared: somebody else used the machine while made-up.jsonl was measured")
    assert last == "1 of 1 slowdowns were found and named"


def test_every_four_slowdowns_have_a_fresh_run_beside_them(capsys) -> None:
    bench = Bench()
    assert timing_trials.slower(6, bench) == 0
    assert [name for name, _ in bench.asked] == [
        "slower-plain-0", "slower-1-forward", "slower-2-forward_pre", "slower-3-full_backward", "slower-4-leaf",
        "slower-plain-1", "slower-5-node", "slower-6-forward", "slower-plain-2",
    ]  # fmt: skip
    assert {slowdown for name, slowdown in bench.asked if "plain" in name} == {"forward:0"}
    assert [slowdown.split(":")[0] for name, slowdown in bench.asked if "plain" not in name] == [
        "forward", "forward_pre", "full_backward", "leaf", "node", "forward",
    ]  # fmt: skip
    assert capsys.readouterr().out.endswith("6 of 6 slowdowns were found and named\n")


@pytest.mark.parametrize(("slowdown", "same"), [(timing_trials.UNSLOWED, True), ("forward:40", False)])
def test_the_plug_in_slows_down_what_it_is_told(monkeypatch, slowdown, same) -> None:
    monkeypatch.setattr(kinds, "KINDS", dict(kinds.KINDS))
    monkeypatch.setattr(kinds, "ALL", kinds.ALL)
    monkeypatch.setenv("SLOWDOWN", slowdown)
    plug_in.pytest_configure(None)  # type: ignore[arg-type]
    changed = [kind.name for kind in kinds.ALL if kind.hook not in (kinds.observe, kinds.keep)]
    assert changed == ([] if same else ["forward"])


@pytest.mark.parametrize("hook", [kinds.observe, kinds.keep])
def test_a_slowed_hook_does_what_the_hook_does(hook) -> None:
    assert plug_in.slowed(hook, 3)(1, 2) == hook(1, 2)
    sizes = [len(plug_in.slowed(hook, count).__code__.co_code) for count in (0, 10, 20)]
    assert sizes[2] - sizes[1] == sizes[1] - sizes[0] > 0


def test_a_slowdown_has_as_many_statements_as_take_its_time(monkeypatch) -> None:
    monkeypatch.setattr(plug_in, "times", lambda: [3.0 * count for count in plug_in.COUNTS])
    assert [plug_in.statements_for(told) for told in (0.0, 3.0, 60.0, 301.0, 9000.0)] == [0, 1, 20, 100, 3000]


def test_the_nearest_run_is_taken() -> None:
    bench = Bench()
    sides = {}
    real = bench.__call__

    def measure(name: str, slowdown: str) -> Costs:
        sides[id(found := real(name, slowdown))] = name
        kept.append(found)
        return found

    kept: list[Costs] = []
    found = [(trial, sides[id(plain)]) for trial, _, plain, _ in timing_trials.slowdowns(5, measure)]
    assert found == [(1, "slower-plain-0"), (2, "slower-plain-0"), (3, "slower-plain-1"), (4, "slower-plain-1"),
                     (5, "slower-plain-1")]  # fmt: skip


def test_what_is_not_found_or_found_elsewhere_is_missed(monkeypatch) -> None:
    assert timing_trials.slower(2, Bench(1.0)) == 2
    real = timing_trials.changes
    elsewhere = timing_trials.changes(
        from_run(timing_session.run(Machine(1))), from_run(timing_session.run(Machine(2), slower={"node": 2.0}))
    )
    monkeypatch.setattr(timing_trials, "changes", lambda before, after: real(before, after) + elsewhere)
    assert timing_trials.slower(2, Bench()) == 2


def test_what_cannot_be_slowed_down_is_said(monkeypatch, capsys) -> None:
    monkeypatch.setattr(timing_trials, "LEAST", 0.01)
    assert [each.hook for each in timing_trials.fit(Bench()("same-0", ""))] == [
        "forward", "forward_pre", "full_backward", "node",
    ]  # fmt: skip
    assert capsys.readouterr().out == "excluded: leaf: 101 ns are less than a comparison tells, which is 200 ns\n"


def test_a_slowdown_is_held_to_the_longest_work_of_its_way(monkeypatch, capsys) -> None:
    """As a comparison is: a pass from a leaf to what the other pass back takes."""
    monkeypatch.setattr(timing_trials, "LEAST", 0.02)
    quiet = Machine(1, spread=0.0, jitter=0.0, interrupted=0.0)
    timing_trials.fit(from_run(timing_session.whole_session(quiet)))
    told = capsys.readouterr().out
    assert "excluded: kind_c: 600 ns are less than a comparison tells, which is 1200 ns\n" in told


@pytest.mark.parametrize(("slower", "status"), [({}, 0), ({"node": 1.1}, 1)])
def test_two_run_files_agree_or_not(tmp_path: Path, capsys, slower, status) -> None:
    files = [
        timing_session.write(tmp_path / f"{seed}.jsonl", Machine(seed, jitter=0.002, interrupted=0.0), slower=each)
        for seed, each in ((1, {}), (2, slower))
    ]
    assert timing_trials.main(["agree", *map(str, files)]) == status
    worst, where = re.fullmatch(
        r"ratios of the figures above noise agree within (.*)% \((.*)\)\n", capsys.readouterr().out
    ).groups()  # type: ignore[union-attr]
    assert (float(worst) > 3) == bool(status)
    assert where == "call node empty 1" or not status


def test_two_run_files_that_are_not_compared_do_not_agree(tmp_path: Path, capsys) -> None:
    files = [timing_session.write(tmp_path / f"{crowd}.jsonl", Machine(1, crowd=crowd)) for crowd in (1.0, 1.2)]
    assert timing_trials.main(["agree", *map(str, files)]) == 1
    assert capsys.readouterr().out.startswith("not compared: somebody else used the machine")


def test_a_file_that_is_no_timing_is_told_in_one_line(tmp_path: Path, capsys) -> None:
    assert timing_trials.main(["agree", str(tmp_path / "missing.jsonl"), str(tmp_path / "missing.jsonl")]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_nothing_old_is_read_again(tmp_path: Path, monkeypatch) -> None:
    """A file belongs to the sources that measured it and to their seconds."""
    made = []

    def run(command, **content) -> CompletedProcess[str]:
        made.append((Path(command[command.index("--run-file") + 1]), content["env"].get("SLOWDOWN")))
        timing_session.write(made[-1][0], Machine(1))
        return CompletedProcess(command, 0)

    monkeypatch.setattr(timing_trials, "FOLDER", tmp_path)
    monkeypatch.setattr(timing_trials.subprocess, "run", run)
    timing_trials.measuring(110.0)("same-0", "")
    timing_trials.measuring(110.0)("same-0", "")
    timing_trials.measuring(30.0)("same-0", "")
    monkeypatch.setattr(timing_trials, "source_digest", lambda *told: "other")
    monkeypatch.setattr(timing_trials, "statements_for", lambda nanoseconds: round(nanoseconds / 2))
    timing_trials.measuring(110.0)("same-0", "forward:40.6")
    assert len({path for path, _ in made}) == len(made) == 3
    assert [slowdown for _, slowdown in made] == [None, None, "forward:20"]


def test_what_somebody_disturbed_is_measured_again(tmp_path: Path, monkeypatch) -> None:
    """Whether it is says the pace of its processes alone; what was quiet is kept."""
    made = []

    def run(command, **content) -> CompletedProcess[str]:
        path = Path(command[command.index("--run-file") + 1])
        assert not path.exists() or "--fresh" in command
        lines = timing_session.session(Machine(len(made)))
        for each in lines:
            if path.name.startswith("same-0") and not made and each.get("figure") == "process":
                each["pace"] *= 1 + each["process"] % 2
        synthetic.write_lines(path, lines)
        made.append(path.name.partition("-2.")[0])
        return CompletedProcess(command, 0)

    monkeypatch.setattr(timing_trials, "FOLDER", tmp_path)
    monkeypatch.setattr(timing_trials.subprocess, "run", run)
    monkeypatch.setattr(timing_trials, "version", lambda name: "2.15.0")
    left = [
        timing_trials.measuring(110.0)(name, "").environment["left_out"]
        for _ in range(3)
        for name in ("same-0", "same-1")
    ]
    assert left == [12, 0, 0, 0, 0, 0]
    assert made == ["same-0", "same-1", "same-0"]


def test_a_run_that_fails_is_told_in_one_line(tmp_path: Path, monkeypatch, capsys) -> None:
    monkeypatch.setattr(timing_trials, "FOLDER", tmp_path)
    monkeypatch.setattr(timing_trials.subprocess, "run", lambda command, **_: CompletedProcess(command, 2))
    monkeypatch.setattr(timing_trials, "version", lambda name: "2.15.0")
    assert timing_trials.main(["same", "1"]) == 2
    assert capsys.readouterr().err == "timing_trials, same-0: could not be measured; mend what the lines above tell\n"
