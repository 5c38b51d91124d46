"""What is counted and timed of hooks: the kinds, the passes with and without them, and the command."""

from __future__ import annotations

import inspect
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch

from fixtures.stages.stage import missing
from suites.timing import count, hooked, kinds
from suites.timing.__main__ import CountError, process
from suites.timing.kinds import COUNTED, KINDS, LIB, REGISTERED, Kind
from suites.timing.workloads import WORKLOADS, Pass

ROOT = Path(__file__).resolve().parents[3]
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(autouse=True)
def forget_global_hooks():
    yield
    LIB.reset()


@pytest.mark.parametrize("workload", WORKLOADS)
@pytest.mark.parametrize("name", KINDS)
def test_a_hook_is_called_and_then_gone(name: str, workload: str) -> None:
    assert not missing(KINDS[name].needs), "the self-check runs on the newest torch, which has them all"
    hooked.check(KINDS[name], workload)


def deaf(one: Pass, hook: kinds.Hook) -> kinds.Undo:
    return lambda: None


def staying(one: Pass, hook: kinds.Hook) -> kinds.Undo:
    one.module.register_forward_hook(hook)
    return lambda: None


@pytest.mark.parametrize(
    ("attach", "fault"), [(deaf, "calls the hook 0 times"), (staying, "still called after it was")]
)
def test_a_hook_that_is_not_called_or_stays_is_no_figure(attach, fault: str) -> None:
    with pytest.raises(hooked.NotCalled, match=fault):
        hooked.check(Kind("odd", "odd hook", "forward", attach=attach), "empty")


def lines_of(function: Callable[..., Any]) -> list[str]:
    """Give the lines of a function below its head, each without its margin."""
    return [line.strip() for line in inspect.getsource(function).splitlines()[1:]]


@pytest.mark.parametrize("name", [name for name in KINDS if name not in REGISTERED])
def test_a_pass_of_its_own_is_its_twin_and_one_line_with_the_hook(name: str) -> None:
    """Both are called through the same partial function, so that neither pays for how it is called."""
    kind, one = KINDS[name], Pass("empty")
    own, twin = lines_of(kind.own_pass), lines_of(kind.twin)
    (extra,) = [line for line in own if line not in twin]
    assert [line for line in own if line != extra] == twin
    assert any(word in extra for word in ("hook", "retain_grad", "save_on_cpu"))
    plain, work = hooked.bare(kind, one), hooked.hooked(kind, one, kind.hook)
    assert isinstance(plain, partial)
    assert isinstance(work, partial)
    assert (plain.func, work.func, plain.args) == (kind.twin, kind.own_pass, work.args)


@pytest.mark.parametrize("name", REGISTERED)
def test_with_a_registered_hook_the_pass_is_the_same(name: str) -> None:
    one = Pass("empty")
    assert hooked.bare(KINDS[name], one) == hooked.hooked(KINDS[name], one, KINDS[name].hook)


@pytest.mark.parametrize("name", COUNTED)
def test_the_second_and_the_sixteenth_are_counted_where_so_many_are_called(name: str, monkeypatch) -> None:
    """A count that adds one to its figure for each call of a hook, so that each hook costs exactly one."""
    seen: list[int] = []
    kind = KINDS[name]._replace(hook=lambda *args: seen.append(1))

    def counting(work: Callable[[], Any], times: int) -> float:
        seen.clear()
        work()
        return len(seen)

    assert count.one_hook(kind, counting) == {"hook": (0, 1), "second": (0, 1), "sixteenth": (0, 1)}


def test_registering_is_counted_with_its_removal() -> None:
    log: list[str] = []

    def attach(one: Pass, hook: kinds.Hook) -> kinds.Undo:
        log.append("registered")
        return lambda: log.append("removed")

    count.registering(Kind("logs", "hook that logs", "forward", attach=attach), count.not_counted)
    assert log == ["registered", "removed"] * (count.WARM + 1)


def test_what_a_build_declines_or_lacks_is_a_row_with_the_reason(monkeypatch) -> None:
    def declines(*args: Any) -> None:
        raise NotImplementedError("no such hook\non this device")

    monkeypatch.setattr(torch.Tensor, "retain_grad", declines)
    rows = {row["kind"]: row for row in count.explored(["retain_grad", "tensor"])}
    assert rows["retain_grad"]["why"] == "NotImplementedError: no such hook on this device"
    assert (rows["tensor"]["why"], rows["tensor"]["absent"]) == ("", [])
    monkeypatch.setattr(count, "missing", list)
    assert count.explored(["multi_grad"])[0]["absent"] == ["torch.autograd.graph.register_multi_grad_hook"]


def command(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the command and return how it ended."""
    return subprocess.run(
        [sys.executable, "-m", "suites.timing", *words],
        cwd=ROOT, capture_output=True, text=True, env={**os.environ, **environment},
    )  # fmt: skip


def fake(folder: Path, text: str) -> str:
    """Put a program called valgrind first on the path, and return the path."""
    program = folder / "valgrind"
    program.write_text("#!/bin/sh\n" + text)
    program.chmod(0o755)
    return f"{folder}{os.pathsep}{os.environ['PATH']}"


#: Valgrind with its options left out: what it is to run comes after the fifth.
RUNS = '[ "$1" = --version ] && echo valgrind-0 && exit\nshift 4\n'


def test_bad_input_is_one_line(tmp_path: Path) -> None:
    there = tmp_path / "there.json"
    there.write_text("mine")
    path = fake(tmp_path, "exit 1")
    for words, says in (
        (["--out", str(tmp_path)], f"{tmp_path}: is a folder; name a file"),
        (["--out", str(there)], f"{there}: the file exists; add --fresh to replace it"),
        (["--out", str(there / "x.json")], f"{there}: File exists"),
        (["--seeds", "0", "--out", str(tmp_path / "x.json")], "--seeds, --jobs and --first-seed must be 1 or more"),
        (["--kinds", "forwad", "--out", str(tmp_path / "x.json")], "no kind of hook is called forwad; known are"),
    ):
        done = command("--count", *words, PATH=path)
        assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
        assert says in done.stderr
    assert there.read_text() == "mine"


def test_a_process_that_fails_or_does_not_count_is_one_line(tmp_path: Path) -> None:
    out = tmp_path / "out" / "x.json"
    for text, says in (("echo broken >&2; exit 3", "ended with 3 and said: broken"), (RUNS + '"$@"', "did not count")):
        done = command("--count", "--seeds", "1", "--kinds", "leaf", "--out", str(out), PATH=fake(tmp_path, text))
        assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
        assert says in done.stderr
        assert not out.exists()
    out.write_text("mine")
    command("--count", "--seeds", "1", "--kinds", "leaf", "--out", str(out), "--fresh", PATH=fake(tmp_path, "exit 3"))
    assert out.read_text() == "mine"


def test_a_torch_that_has_none_of_the_kinds_is_no_fault_of_valgrind(tmp_path: Path) -> None:
    for absent in (["register_hook"], []):
        said = json.dumps({"rows": [{"absent": absent, "why": ""}], "figures": {}})
        under = ["/bin/sh", "-c", f"echo '{said}'"]
        if absent:
            assert process(tmp_path, 1, "leaf", under)["figures"] == {}
        else:
            with pytest.raises(CountError, match="did not count"):
                process(tmp_path, 1, "leaf", under)


def test_without_valgrind_counting_is_refused_and_times_are_still_measured(tmp_path: Path, monkeypatch) -> None:
    nothing = str(tmp_path / "empty")
    out = tmp_path / "x.json"
    refused = command("--count", "--out", str(out), PATH=nothing)
    assert (refused.returncode, refused.stderr.count("\n")) == (2, 1)
    assert "apt-get install valgrind" in refused.stderr
    assert not out.exists()
    quick = {"PATH": nothing, "PYTEST_ADDOPTS": "-k plain_call"}
    done = command("--out", str(out), **quick)
    assert done.returncode == 0, done.stderr
    assert "apt-get install valgrind" in done.stderr
    counts = json.loads(out.read_text())
    assert {(row["why"] != "", len(row["bare"])) for row in counts["rows"]} == {(True, 0)}
    times = json.loads((tmp_path / "x.times.json").read_text())
    assert [each["extra_info"]["kind"] for each in times["benchmarks"]] == ["plain_call"]
    shown = subprocess.run(
        [sys.executable, "-m", "reports", "overhead", str(out)], cwd=ROOT, capture_output=True, text=True
    )
    assert "\nnothing was counted: counting needs valgrind" in shown.stdout


@pytest.mark.skipif(shutil.which("valgrind") is None, reason="counting needs valgrind: apt-get install valgrind")
def test_two_counts_with_one_seed_are_the_same_to_the_last_instruction(tmp_path: Path) -> None:
    out = tmp_path / "x.json"
    words = ["--count", "--seeds", "1", "--kinds", "leaf", "--out", str(out), "--fresh"]
    figures, counts = [], {}
    for _ in range(2):
        done = command(*words)
        assert done.returncode == 0, done.stderr
        counts = json.loads(out.read_text())
        figures.append([(row["figure"], row["bare"], row["added"]) for row in counts["rows"]])
    assert [figure for figure, _, _ in figures[0]] == ["hook", "second", "sixteenth", "register"]
    assert all(len(added) == 1 and added[0] > 100 for _, _, added in figures[0])
    assert figures[0] == figures[1]
    assert counts["seeds"] == [1]
    assert counts["build"]["valgrind"].startswith("valgrind-")


def test_the_benchmarks_hold_each_kind_next_to_its_pass_without_it(tmp_path: Path) -> None:
    out = tmp_path / "times.json"
    words = [sys.executable, "-m", "pytest", "suites/timing", "--benchmark-only", "-q", f"--benchmark-json={out}"]
    words += ["-k", "plain_call or leaf-empty or leaf-large", "-W", "ignore", "-p", "no:cacheprovider"]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    rows = [each["extra_info"] for each in json.loads(out.read_text())["benchmarks"]]
    assert {(row["kind"], row["workload"], row["side"]) for row in rows} == {
        ("plain_call", "empty", "bare"),
        *(("leaf", workload, side) for workload in ("empty", "large") for side in ("bare", "hook")),
    }
