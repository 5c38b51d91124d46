"""Tiny suites whose clauses do what a test says, run in a process of their own."""

from __future__ import annotations

import json
import multiprocessing
import os
import shutil
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
HEAD = """
import ctypes, os, re, signal, sys, threading, time
from hypothesis import given, strategies as st
from fixtures.clause.clause import Reading, clause

READINGS = (Reading("so", "", "So it is."), Reading("not so", "never", "It is not.", value=1))
"""
CLAUSE = """

@clause("tiny.topic.{name}", says="So it is.", source="measured", readings=READINGS{more})
def test_{name}(subject):
{body}
    assert subject.value is None
"""
#: C code that keeps the interpreter for ever.
SPINS = "re.match('(a+)+$', 'a' * 60 + 'b')"


#: Forks processes that have imported what costs most; nothing of this project, nor of a test.
FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload(["torch", "pytest", "hypothesis", "hypothesis.strategies"])


def _pytest(options: list[str], folder: Path, environment: dict[str, str], said: Path) -> None:
    """Be `python -m pytest` in a folder; all that is said goes into a file."""
    with said.open("wb") as file:
        for stream in (1, 2):
            os.dup2(file.fileno(), stream)
    sys.stdout, sys.stderr = (open(stream, "w", buffering=1, closefd=False) for stream in (1, 2))  # noqa: SIM115
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.path[:0] = [str(folder), environment["PYTHONPATH"]]
    sys.argv[:] = ["pytest", *options]
    import pytest

    status = pytest.main(options)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(int(status))


class Tiny:
    """A folder with a suite of clauses: each is a name and what its test does before it conforms."""

    def __init__(self, folder: Path, **bodies: str) -> None:
        self.folder, self.path = folder, folder / "run.jsonl"
        (folder / "suites").mkdir(parents=True)
        for name in ("conftest.py", "pyproject.toml"):
            shutil.copy(ROOT / name, folder / name)
        self.write(**bodies)

    def write(self, before: str = "", **bodies: str) -> None:
        """Write the clauses; those whose name begins with apart run in a process of their own."""
        text = HEAD + before
        for name, body in bodies.items():
            more = ", isolated=True" if name.startswith("apart") else ""
            text += CLAUSE.format(name=name, body=textwrap.indent(body or "pass", "    "), more=more)
        (self.folder / "suites" / "test_tiny.py").write_text(text, "utf-8")

    def command(self, *options: str) -> list[str]:
        quiet = ["-q", "-p", "no:cacheprovider", "--profile=recorded", "--examples=10"]
        quiet += ["-p", "xdist.plugin"] if any(option.startswith("-n") for option in options) else []
        return [sys.executable, "-m", "pytest", *quiet, f"--run-file={self.path}", *options]

    def place(self) -> dict[str, Any]:
        """Where a command runs, and what becomes of what it says."""
        own = {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
        said: Any = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
        return {"cwd": self.folder, "env": {**os.environ, **own}, **said}

    def run(self, *options: str) -> tuple[int, str]:
        """Return the exit status and what is said; in a process that has torch already, which takes most of a start."""
        said, place = self.folder / "said", self.place()
        process = FORKS.Process(target=_pytest, args=(self.command(*options)[3:], place["cwd"], place["env"], said))
        process.start()
        process.join(240)
        assert process.exitcode is not None, f"it did not end: {said.read_text('utf-8')}"
        return process.exitcode, said.read_text("utf-8")

    def run_with(self, *options: str, **more: Any) -> tuple[int, str]:
        """Return the same of a process that is started from nothing, with what `subprocess.run` takes."""
        done = subprocess.run(self.command(*options), timeout=240, **self.place(), **more)
        return done.returncode, done.stdout

    def start(self, *options: str) -> subprocess.Popen[str]:
        """Start a run in a group of its own."""
        return subprocess.Popen(self.command(*options), start_new_session=True, **self.place())

    def wait_for(self, text: str) -> None:
        """Wait until the run file has a text."""
        give_up = time.monotonic() + 100
        while not (self.path.exists() and text in self.path.read_text("utf-8")):
            assert time.monotonic() < give_up, f"{text} never came"
            time.sleep(0.05)

    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.path.read_text("utf-8").splitlines()]

    def cells(self) -> dict[str, dict[str, Any]]:
        """Return what was found of each clause, but for the time it took."""
        cells = [line for line in self.lines() if line["type"] == "cell"]
        assert len({cell["clause"] for cell in cells}) == len(cells)
        return {cell["clause"].removeprefix("tiny.topic."): {**cell, "seconds": 0} for cell in cells}

    def verdicts(self) -> dict[str, str]:
        return {name: cell["verdict"] for name, cell in self.cells().items()}

    def message(self, name: str) -> str:
        cell = self.cells()[name]
        return (cell["evidence"] or {}).get("message", "") or cell["note"]


def family(pid: int) -> list[int]:
    """The processes below this one, by /proc."""
    children: dict[int, list[int]] = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            fields = Path("/proc", name, "stat").read_text().rpartition(")")[2].split()
        except OSError:  # it ended meanwhile
            continue
        if fields[0] != "Z":
            children.setdefault(int(fields[1]), []).append(int(name))
    found = list(children.get(pid, []))
    for one in found:
        found += children.get(one, [])
    return found


def left(pids: list[int], seconds: float) -> list[int]:
    """Which of these processes are still there after so many seconds at most."""
    give_up = time.monotonic() + seconds
    while True:
        alive = [pid for pid in pids if _alive(pid)]
        if not alive or time.monotonic() > give_up:
            return alive
        time.sleep(0.1)


def _alive(pid: int) -> bool:
    try:
        return Path("/proc", str(pid), "stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
