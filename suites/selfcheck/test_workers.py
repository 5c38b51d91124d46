"""pytest-xdist: the same verdicts and one whole run file, also when a worker dies, or a run goes on."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from reports.data.runfile import read_runs

ROOT = Path(__file__).resolve().parents[2]
# Plans, arguments, and clauses that run in a process of their own.
SOME = ("--clauses=retain.modules.un", "--clauses=gradient.errors.own", "--clauses=gradient.crash.")
TINY = """
import os
import signal

from fixtures.judge.clause import Reading, clause

READINGS = (Reading("so", "", "So it is."), Reading("not so", "never", "It is not.", value=1))


def made(name, function):
    return clause("tiny.topic." + name, says="So it is.", source="measured", readings=READINGS)(function)


def test_first(subject):
    assert subject.value is None


def test_second(subject):
    assert subject.value is None


def test_dies(subject):
    if not os.path.exists("spare"):
        os.kill(os.getpid(), signal.SIGSEGV)
    assert subject.value is None


for each in (test_first, test_dies, test_second):
    made(each.__name__[5:], each)
"""


def run(folder: Path, *options: str) -> tuple[int, str]:
    """Run the suite of a folder with 10 plans for each clause; return the exit status and what it says."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--profile=recorded", "--examples=10"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    done = subprocess.run([*command, *options], cwd=folder, capture_output=True, text=True, env=environment)
    return done.returncode, done.stdout + done.stderr


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    """Give a suite of three clauses, one of which ends its process."""
    for name in ("conftest.py", "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path / name)
    (tmp_path / "suites").mkdir()
    (tmp_path / "suites" / "test_tiny.py").write_text(TINY)
    return tmp_path


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def cells(path: Path) -> dict[str, dict[str, Any]]:
    return {line["clause"]: {**line, "seconds": 0} for line in lines(path) if line["type"] == "cell"}


def test_two_workers_write_what_one_session_writes(tmp_path: Path) -> None:
    alone, shared = tmp_path / "alone.jsonl", tmp_path / "shared.jsonl"
    status, said = run(ROOT, *SOME, f"--run-file={alone}")
    assert status == 0, said
    status, told = run(ROOT, *SOME, f"--run-file={shared}", "-n2")
    assert status == 0, told
    assert cells(shared) == cells(alone)
    one, other = ({**lines(path)[0], "began": ""} for path in (alone, shared))
    assert one == other
    assert [len(run.cells) for run in read_runs(shared)] == [lines(shared)[-1]["cells"]]
    summary = next(line for line in said.splitlines() if line.startswith("torch "))
    assert summary in told.splitlines()


def test_without_a_run_file_the_end_says_the_same(tiny: Path) -> None:
    (tiny / "spare").touch()
    for options in ((), ("-n2",)):
        status, said = run(tiny, "suites", *options)
        assert (status, "3 conforms" in said) == (0, True), said


def test_a_worker_that_dies_costs_one_cell(tiny: Path) -> None:
    path = tiny / "run.jsonl"
    status, said = run(tiny, "-n2", f"--run-file={path}")
    assert status == 1
    assert {name: cell["verdict"] for name, cell in cells(path).items()} == {
        "tiny.topic.first": "conforms", "tiny.topic.second": "conforms", "tiny.topic.dies": "crashed",
    }  # fmt: skip
    assert "crashed" in cells(path)["tiny.topic.dies"]["evidence"]["message"]
    assert "2 conforms, 1 crashed" in said
    assert lines(path)[-1]["type"] == "footer"
    assert lines(path)[0]["whole"]


def test_workers_go_on_with_a_run(tiny: Path) -> None:
    (tiny / "spare").touch()
    path = tiny / "run.jsonl"
    assert run(tiny, f"--run-file={path}")[0] == 0
    found = lines(path)
    kept = [line for line in found if line["type"] != "footer" and line.get("clause") != "tiny.topic.first"]
    path.write_text("".join(json.dumps(line) + "\n" for line in kept))
    status, said = run(tiny, "-n2", f"--run-file={path}", "--resume")
    assert (status, "1 passed" in said) == (0, True), said
    assert cells(path) == {line["clause"]: {**line, "seconds": 0} for line in found if line["type"] == "cell"}
    assert lines(path)[-1]["cells"] == 3
