"""The verb overhead and the timing command: what they print, refuse and gate, and with which exit status."""

from __future__ import annotations

import copy
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from reports.__main__ import main, parser
from reports.costs_stats import FEWEST
from reports.strict import validate
from suites.selfcheck import synthetic, timing_session
from suites.selfcheck.timing_session import PROCESSES, Machine
from suites.timing.__main__ import FEWEST_PROCESSES

ROOT = Path(__file__).resolve().parents[2]
QUIET = {"spread": 0.0, "jitter": 0.0, "interrupted": 0.0}


@pytest.fixture
def runs(tmp_path: Path) -> dict[str, Path]:
    return timing_session.write_three(tmp_path)


def call(tmp_path: Path, *arguments: object) -> int:
    return main(["overhead", *map(str, arguments), "--costs", str(tmp_path / "costs")])


def complaint(capsys) -> str:
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1), err
    return err


def test_a_run_is_shown(tmp_path, runs, capsys) -> None:
    assert call(tmp_path, runs["base"]) == 0
    out = capsys.readouterr().out
    assert out.startswith(
        "torch 2.14.1+cpu: Made-up 9000, 2 cores, 1 thread, Python 3.11.7, Linux-x86_64, load 0.1 to 0.2;"
    )
    (line,) = [line for line in out.splitlines() if line.startswith("nothing_at_all hook ")]
    assert "below noise" in line
    assert not any(sign.isdigit() for sign in line)


def test_a_recorded_version_is_shown_by_its_name(tmp_path, runs, capsys) -> None:
    (tmp_path / "costs").mkdir()
    assert call(tmp_path, "--record", runs["base"]) == 0
    capsys.readouterr()
    assert call(tmp_path, "2.14") == 0
    assert capsys.readouterr().out.startswith("torch 2.14.1: Made-up 9000")
    assert call(tmp_path, "2.15") == 2
    assert "is neither a recorded version nor a run file; recorded are 2.14" in complaint(capsys)


def test_one_version_is_measured_again_beside_those_recorded(tmp_path, runs, capsys) -> None:
    (tmp_path / "costs").mkdir()
    assert call(tmp_path, "--record", runs["base"], runs["slow"]) == 0
    before = {path.name: path.read_bytes() for path in (tmp_path / "costs").iterdir()}
    again = timing_session.write(tmp_path / "new.jsonl", Machine(9))
    assert call(tmp_path, "--record", "2.14", again) == 0
    after = {path.name: path.read_bytes() for path in (tmp_path / "costs").iterdir()}
    assert [name for name in sorted(after) if after[name] != before[name]] == ["2.15.json"]
    capsys.readouterr()
    assert call(tmp_path, "--record", "2.13", again) == 2
    assert "2.13: is neither a recorded version nor a run file; recorded are 2.14, 2.15" in complaint(capsys)


def test_markdown_is_a_table(tmp_path, runs, capsys) -> None:
    assert call(tmp_path, runs["base"], "--format", "markdown") == 0
    out = capsys.readouterr().out
    assert "| forward hook | " in out
    assert "| nothing\\_at\\_all hook | below noise | below noise |" in out


def test_json_is_the_recorded_form(tmp_path, runs, capsys) -> None:
    assert call(tmp_path, runs["base"], "--format", "json") == 0
    told = json.loads(capsys.readouterr().out)
    assert told["torch"] == "2.14.1"
    assert "call nothing_at_all empty 1" in told["below_noise"]
    assert "call forward empty 1" not in told["below_noise"]
    (forward,) = [each for each in told["figures"] if (each["figure"], each["hook"]) == ("call", "forward")]
    low, mid, high = forward["values"]["ratio"]
    assert low <= mid <= high
    assert mid == pytest.approx(2, rel=0.05)


def test_json_gives_no_number_below_noise(tmp_path, runs, capsys) -> None:
    """Nor may a program take one for granted. The work beside itself is not below the noise: it is the noise."""
    assert call(tmp_path, runs["base"], "--format", "json") == 0
    told = json.loads(capsys.readouterr().out)
    validate(told, "costs.schema.json#/$defs/overhead", tmp_path, "")
    figures = {" ".join(str(each[name]) for name in ("figure", "hook", "workload", "hooks")): each["values"]
               for each in told["figures"]}  # fmt: skip
    assert {"call nothing_at_all empty 1", "intercept forward empty 1"} <= set(told["below_noise"])
    for name, values in figures.items():
        for what, value in values.items():
            assert (value is None) == (name in told["below_noise"] and what != "control"), (name, what)
    assert figures["same forward empty 0"]["added"][0] <= 0


def test_the_noise_is_told(tmp_path, runs, capsys) -> None:
    assert call(tmp_path, runs["base"]) == 0
    *_, noise = capsys.readouterr().out.split("Noise of this run\n")
    head, forward, nothing = noise.splitlines()
    assert head.split("  ")[0] == "what"
    assert re.match(r"forward beside itself, empty module +\S+ \(-\S+ to \S+\) ns +(1.0|0.99)", forward)
    assert re.match(r"nothing beside itself +\S+ \(-\S+ to \S+\) ns$", nothing)


def test_the_help_says_the_exit_status_and_an_example_that_parses(capsys) -> None:
    with pytest.raises(SystemExit):
        main(["overhead", "--help"])
    text = capsys.readouterr().out
    assert "exit status: 0 shown" in text
    example = text.split("example: python -m reports ")[1].split()
    assert parser("overhead").parse_args(example).overhead_max_ratio == ["forward=1.3"]


@pytest.mark.parametrize(
    ("limit", "fault"),
    [
        ("forwards=1.3", "no kind of hook is called 'forwards'; did you mean forward?"),
        ("forward", "'' is no ratio of 1.03 or more"),
        ("forward=fast", "'fast' is no ratio"),
        ("forward=nan", "'nan' is no ratio"),
        ("forward=1.01", "'1.01' is no ratio of 1.03 or more"),
        ("post_accumulate=1.3", "post_accumulate is absent on torch 2.14.1"),
    ],
)
def test_a_gate_that_cannot_be_is_refused(tmp_path, runs, capsys, limit, fault) -> None:
    assert call(tmp_path, runs["again"], "--baseline", runs["base"], "--overhead-max-ratio", limit) == 2
    assert fault in complaint(capsys)


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        ([], "no costs are recorded"),
        (["--from", "2.14"], "--from and --to go together"),
        (["--from", "9.9", "--to", "base"], "is neither a recorded version nor a run file"),
        (["--record"], "--record needs run files"),
        (["again", "--baseline", "base"], "a gate needs one run file"),
        (["--baseline", "base", "--overhead-max-ratio", "forward=1.3"], "a gate needs one run file"),
        (
            ["again", "--baseline", "base", "--overhead-max-ratio", "forward=1.3", "--format", "json"],
            "a gate answers in text",
        ),
        (
            ["again", "--baseline", "base", "--overhead-max-ratio", "forward=1.3", "--from", "base"],
            "neither compares nor records",
        ),
        (["missing.jsonl"], "there is no such file"),
        (["base", "again"], "2 run files where one is shown"),
        (["--record", "base", "again"], "is of torch 2.14 too"),
    ],
)
def test_bad_arguments_are_told_in_one_line(tmp_path, runs, capsys, arguments, fault) -> None:
    assert call(tmp_path, *(runs.get(word, word) for word in arguments)) == 2
    assert fault in complaint(capsys)


def rows_of(lines, figure, process=1):
    return [each for each in lines if (each.get("figure"), each.get("process")) == (figure, process)]


def without(lines, *gone):
    lines[:] = [each for each in lines if not any(each is one for one in gone)]


def every(lines, figure, to, **like):
    """Change the rows of a figure, the same in each process."""
    for each in lines:
        if each.get("figure") == figure and all(each[name] == value for name, value in like.items()):
            each.update(to)


BROKEN = {
    "no rows": (lambda lines: without(lines, *lines[1:-1]), "holds no timing rows"),
    "few processes": (
        lambda lines: without(lines, *(each for each in lines if each.get("process", 0) > 7)),
        "holds 7 whole processes where an interval needs 8",
    ),
    "a process twice": (lambda lines: lines.insert(2, rows_of(lines, "process")[0]), "process 1 is there twice"),
    "a row twice": (lambda lines: lines.insert(2, rows_of(lines, "floor")[0]), "is there twice"),
    "a row missing": (
        lambda lines: without(lines, rows_of(lines, "floor")[0]),
        "is missing, or the process is not whole",
    ),
    "a process without its row": (lambda lines: without(lines, rows_of(lines, "process", 9)[0]), "is not whole"),
    "no floor": (
        lambda lines: without(lines, *(each for each in lines if each.get("figure") == "floor")),
        "holds no plain Python call",
    ),
    "no noise": (
        lambda lines: without(lines, *(each for each in lines if each.get("figure") == "same")),
        "has no noise: the work forward was not measured beside itself on empty",
    ),
    "another machine": (
        lambda lines: rows_of(lines, "process", 3)[0].update(machine="Other 1"),
        "its processes differ in machine: 'Made-up 9000' and 'Other 1'",
    ),
    "other threads": (lambda lines: rows_of(lines, "process", 3)[0].update(threads=2), "differ in threads"),
    "half a measurement": (lambda lines: rows_of(lines, "call")[0].update(added=None), "neither measured nor absent"),
    "a control of nothing": (lambda lines: rows_of(lines, "call")[0].update(control=0), "the control takes 0 ns"),
    "absent here, there not": (
        lambda lines: rows_of(lines, "call", 2)[0].update(absent=["torch.x"], control=None, added=None),
        "absent is ['torch.x'], but [] in process 1",
    ),
    "a free call": (lambda lines: rows_of(lines, "floor")[0].update(added=0.0), "a plain Python call took no time"),
    "a call of next to no time": (lambda lines: rows_of(lines, "floor")[0].update(added=1e-300), "took no time"),
    "no hooks counted": (lambda lines: every(lines, "count", hooks=4, to={"hooks": 0}), "counts no hooks"),
    "a call in bytes": (lambda lines: every(lines, "call", hook="node", to={"unit": "bytes"}), "is in bytes"),
    "memory in ns": (lambda lines: every(lines, "memory", to={"unit": "ns"}), "is in ns"),
    "a call beside nothing": (
        lambda lines: every(lines, "call", hook="node", to={"work": "nothing"}),
        "call node empty 1: is beside 'nothing'",
    ),
    "a plain call beside a work": (lambda lines: every(lines, "floor", to={"work": "both"}), "is beside 'both'"),
    "a key that nobody knows": (lambda lines: rows_of(lines, "call")[0].update(extra=1), "has the unknown key 'extra'"),
    "a word for a number": (lambda lines: rows_of(lines, "call")[0].update(added="fast"), "'fast'"),
    "no figure": (lambda lines: rows_of(lines, "call")[0].pop("figure"), "has no key"),
    "a figure that nobody knows": (
        lambda lines: rows_of(lines, "call")[0].update(figure="speed"),
        "'speed' is none of",
    ),
    "a hook with a sign": (lambda lines: rows_of(lines, "call")[0].update(hook="<b>"), "breaks the rule pattern"),
}


def test_numbers_of_hooks_that_this_torch_or_workload_lacks_make_no_line(tmp_path, capsys) -> None:
    lines = timing_session.session(Machine(1, **QUIET))
    every(lines, "count", hooks=4, to={"absent": ["torch.x"], "control": None, "added": None})
    every(lines, "count", hooks=2, to={"workload": "small", "hooks": 1})
    lines[1:1] = [{**each, "workload": "small"} for each in lines if each.get("figure") == "same"]
    assert call(tmp_path, synthetic.write_lines(tmp_path / "odd.jsonl", lines)) == 0
    assert "What further hooks add" not in capsys.readouterr().out


@pytest.mark.parametrize("name", BROKEN)
def test_bad_rows_are_told_in_one_line(tmp_path, capsys, name) -> None:
    breaks, fault = BROKEN[name]
    lines = copy.deepcopy(timing_session.session(Machine(1, **QUIET)))
    breaks(lines)
    assert call(tmp_path, synthetic.write_lines(tmp_path / "bad.jsonl", lines)) == 2
    assert fault in complaint(capsys)


@pytest.mark.parametrize("verb", ["page", "record", "check", "merge"])
def test_a_timing_is_no_run_of_clauses(tmp_path, runs, capsys, verb) -> None:
    """Recorded as one it would say that nothing is known of this torch."""
    out = tmp_path / "out"
    extra = ["--out", str(out)] if verb in ("page", "merge") else []
    assert main([verb, str(runs["base"]), *extra, "--verdicts", str(tmp_path / "verdicts")]) == 2
    assert "holds timings and no verdicts; give it to: python -m reports overhead" in complaint(capsys)
    assert not out.exists()
    assert not (tmp_path / "verdicts").exists()


def test_two_machines_are_not_compared(tmp_path, runs, capsys) -> None:
    lines = timing_session.session(Machine(1, **QUIET))
    for each in lines:
        if each.get("figure") == "process":
            each["machine"] = "Other 1"
    other = synthetic.write_lines(tmp_path / "other.jsonl", lines)
    assert call(tmp_path, "--from", runs["base"], "--to", other) == 2
    assert "times are compared only within one machine" in complaint(capsys)
    assert call(tmp_path, other, "--baseline", runs["base"], "--overhead-max-ratio", "forward=2") == 2
    assert "only within one machine" in complaint(capsys)


def test_suite_and_reports_agree_on_the_fewest_processes() -> None:
    assert FEWEST_PROCESSES == FEWEST <= PROCESSES


def timing(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "suites.timing", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, env={**os.environ, **environment})


def test_the_timing_command_refuses_in_one_line(tmp_path: Path) -> None:
    there = tmp_path / "there.jsonl"
    there.write_text("mine", "utf-8")
    for arguments, fault in (
        (["--processes", "7"], "--processes must be 8 or more"),
        (["--jobs", "0"], "--jobs and --seconds above 0"),
        (["--seconds", "0"], "--seconds above 0"),
        (["--seconds", "nan"], "--seconds above 0"),
        (["--wait", "-1"], "--wait not below"),
        (["--run-file", str(there)], "the file exists"),
        (["--run-file", str(tmp_path)], "is a folder; name a file"),
        (["--run-file", str(there / "run.jsonl")], "cannot be written"),
    ):
        found = timing(*arguments)
        assert (found.returncode, found.stdout, found.stderr.count("\n")) == (2, "", 1), found.stderr
        assert fault in found.stderr
    assert there.read_text("utf-8") == "mine"


def test_a_process_that_fails_is_told_and_nothing_is_written(tmp_path: Path) -> None:
    found = timing("--run-file", str(tmp_path / "run.jsonl"), PYTEST_ADDOPTS="--no-such-option")
    assert found.returncode == 2
    last = found.stderr.splitlines()[-1]
    assert last.startswith("suites.timing: process 1 failed (")
    assert "--no-such-option" in last
    assert not (tmp_path / "run.jsonl").exists()


def test_a_process_that_measures_nothing_is_told(tmp_path: Path) -> None:
    found = timing("--run-file", str(tmp_path / "run.jsonl"), "--jobs", "1", PYTEST_ADDOPTS="--collect-only")
    said = "suites.timing: process 1 measured nothing; run: python -m pytest suites/timing"
    assert (found.returncode, found.stderr.splitlines()[-1]) == (2, said)
    assert not (tmp_path / "run.jsonl").exists()
