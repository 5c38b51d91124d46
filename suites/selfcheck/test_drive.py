"""The driver against tiny suites that die, hang and fail, with a recorder of 30 lines instead of the real one."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from fixtures.run.patience import HUNG

ROOT = Path(__file__).resolve().parents[2]

RECORDER = """
import json, os

def pytest_addoption(parser):
    parser.addoption("--run-file")
    parser.addoption("--resume", action="store_true")

def write(config, entry):
    with open(config.getoption("--run-file"), "a") as stream:
        stream.write(json.dumps(entry) + chr(10))

def identity(item):
    return "tiny.topic." + item.name[5:]

def pytest_collection_modifyitems(config, items):
    path = config.getoption("--run-file")
    if not os.path.exists(path):
        nodes = {item.nodeid: [identity(item), "eager"] for item in items}
        write(config, {"type": "header", "torch": "9.9", "nodes": nodes})
    entries = [json.loads(line) for line in open(path)]
    done = {entry["clause"] for entry in entries if entry["type"] == "cell"}
    items[:] = [item for item in items if identity(item) not in done]

def pytest_runtest_setup(item):
    write(item.config, {"type": "started", "clause": identity(item), "mode": "eager"})

def pytest_runtest_makereport(item, call):
    if call.when == "call":
        verdict = "deviates" if call.excinfo else "conforms"
        entry = {"type": "cell", "clause": identity(item), "mode": "eager", "verdict": verdict, "declared": False}
        write(item.config, entry)

def pytest_sessionfinish(session):
    if not os.environ.get("NO_FOOTER"):
        write(session.config, {"type": "footer", "cells": 0, "counts": {}, "seconds": 0})
"""

GOOD = "def test_first(): pass\ndef test_last(): pass\n"
SEGFAULT = "import os, signal\ndef test_first(): pass\ndef test_dies(): os.kill(os.getpid(), signal.SIGSEGV)\n"
LEAVES = "import os\ndef test_leaves(): os._exit(0)\n"
HANGS = "import time\ndef test_hangs(): time.sleep(600)\n"
FAILS = "def test_fails():\n    wanted = 1\n    assert wanted == 2\n"
LAST = "def test_last(): pass\n"


class Room:
    """A folder with a tiny suite and a driver to run on it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.run_file = folder / "out" / "run.jsonl"
        (folder / "conftest.py").write_text(RECORDER)

    def suite(self, *parts: str) -> Room:
        (self.folder / "test_tiny.py").write_text("".join(parts))
        return self

    def command(self, *arguments: str) -> list[str]:
        own = ["-p", "no:cacheprovider", *arguments]
        return [sys.executable, "-m", "fixtures.run", "--run-file", str(self.run_file), *own]

    def environment(self, **extra: str) -> dict[str, str]:
        return {**os.environ, "PYTHONPATH": str(ROOT), **extra}

    def drive(self, *arguments: str, **extra: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self.command(*arguments),
            cwd=self.folder,
            env=self.environment(**extra),
            capture_output=True,
            text=True,
            timeout=100,
        )

    def entries(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.run_file.read_text().splitlines()]

    def verdicts(self) -> dict[str, str]:
        return {entry["clause"].split(".")[-1]: entry["verdict"] for entry in self.cells()}

    def cells(self) -> list[dict[str, Any]]:
        return [entry for entry in self.entries() if entry["type"] == "cell"]


@pytest.fixture
def room(tmp_path: Path) -> Room:
    return Room(tmp_path)


def test_content_suite_ends_with_zero(room: Room) -> None:
    done = room.suite(GOOD).drive()
    assert done.returncode == 0, done.stderr
    assert room.verdicts() == {"first": "conforms", "last": "conforms"}
    assert "2 passed" in done.stdout
    assert done.stdout.splitlines()[-1].startswith("2 of 2 clauses: 2 conforms; run file ")


def test_failure_is_shown_and_ends_with_one(room: Room) -> None:
    done = room.suite(FAILS, LAST).drive()
    assert done.returncode == 1
    assert "assert 1 == 2" in done.stdout
    assert "deviates, not declared in suites/deviations.py: tiny.topic.fails (eager)" in done.stdout
    assert room.verdicts() == {"fails": "deviates", "last": "conforms"}


def test_crash_costs_one_cell(room: Room) -> None:
    done = room.suite(SEGFAULT, LEAVES, LAST).drive()
    assert done.returncode == 1
    assert room.verdicts() == {"first": "conforms", "dies": "crashed", "leaves": "crashed", "last": "conforms"}
    messages = [entry["evidence"]["message"] for entry in room.cells() if entry["verdict"] == "crashed"]
    assert messages == ["the process died: SIGSEGV", "the process left with exit status 0"]
    assert room.entries()[-1]["type"] == "footer"


def test_crash_line_has_the_closed_keys_of_a_cell(room: Room) -> None:
    room.suite(SEGFAULT).drive()
    crashed = room.cells()[-1]
    assert sorted(crashed) == [
        *("clause", "declared", "evidence", "holds", "mode", "note", "reading", "refuted", "seconds", "type", "verdict")
    ]
    assert sorted(crashed["evidence"]) == ["expected", "message", "observed", "plan", "reproducer"]


def test_allowed_crash_leaves_the_exit_status_alone(room: Room) -> None:
    assert room.suite(SEGFAULT, LAST).drive("--allow-crashed").returncode == 0
    assert room.suite(FAILS, LAST).drive("--allow-crashed").returncode == 1


def test_hang_costs_one_cell_and_leaves_its_stack_in_the_log(room: Room) -> None:
    done = room.suite(HANGS, LAST).drive("--idle", "6")
    assert done.returncode == 1
    assert room.verdicts() == {"hangs": "hung", "last": "conforms"}
    assert room.cells()[0]["evidence"]["message"] == "no new line, " + HUNG.format(6) + ": the process was killed"
    assert "test_hangs" in room.run_file.with_suffix(".log").read_text()


def test_crash_while_a_line_is_written_leaves_whole_lines(room: Room) -> None:
    torn = "import os\ndef test_torn(request):\n"
    torn += "    open(request.config.getoption('--run-file'), 'a').write('{\"type\": \"cel'); os._exit(9)\n"
    room.suite(torn, LAST).drive()
    assert room.verdicts() == {"torn": "crashed", "last": "conforms"}


def test_crash_behind_the_last_cell_still_gets_a_footer(room: Room) -> None:
    done = room.suite(GOOD).drive(NO_FOOTER="1")
    assert done.returncode == 0, done.stdout + done.stderr
    assert room.entries()[-1]["type"] == "footer"
    assert room.entries()[-1]["counts"] == {"conforms": 2}


def test_death_outside_any_cell_stops_with_one_line(room: Room) -> None:
    done = room.suite("import os\nos._exit(7)\n").drive()
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].startswith("error: the run stopped at 0 of 0 clauses, outside any cell")
    assert "exit status 7" in done.stderr


def test_cell_that_is_run_again_and_again_is_stopped(room: Room) -> None:
    (room.folder / "conftest.py").write_text(RECORDER.replace("not in done", "is not None"))
    done = room.suite(LEAVES).drive()
    assert done.returncode == 2
    assert len(room.cells()) == 1


def test_usage_error_of_pytest_is_passed_on_and_keeps_the_old_run(room: Room) -> None:
    room.suite(GOOD).drive()
    before = room.run_file.read_text()
    done = room.drive("--no-such-option")
    assert done.returncode == 2
    assert "--no-such-option" in done.stdout
    assert "Traceback" not in done.stdout + done.stderr
    assert room.run_file.read_text() == before


def test_old_run_is_replaced_and_other_files_are_refused(room: Room) -> None:
    room.suite(FAILS).drive()
    assert room.suite(GOOD).drive().returncode == 0
    assert "fails" not in room.verdicts()
    room.run_file.write_text("my notes\n")
    refused = room.drive()
    assert refused.returncode == 2
    assert refused.stderr.count("\n") == 1
    assert room.run_file.read_text() == "my notes\n"


def test_resume_keeps_what_is_done_and_drops_a_torn_line(room: Room) -> None:
    room.suite(GOOD).drive()
    header, *rest = room.run_file.read_text().splitlines(keepends=True)
    room.run_file.write_text(header + rest[0] + rest[1] + rest[2] + '{"type": "ce')
    done = room.drive("--resume")
    assert done.returncode == 0, done.stderr
    assert room.verdicts() == {"first": "conforms", "last": "conforms"}
    assert sum(entry["type"] == "started" for entry in room.entries()) == 3  # the open cell ran again


def test_resume_of_a_complete_run_starts_nothing(room: Room) -> None:
    room.suite(SEGFAULT).drive()
    before = room.run_file.read_text()
    assert room.drive("--resume").returncode == 1
    assert room.run_file.read_text() == before


def test_damaged_run_file_is_refused_on_resume(room: Room) -> None:
    room.suite(GOOD).drive()
    room.run_file.write_text(room.run_file.read_text() + "not json\n")
    done = room.drive("--resume")
    assert done.returncode == 2
    assert done.stderr.startswith("error: ")
    assert "line 7" in done.stderr


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM])
def test_interruption_kills_the_child_and_says_how_to_go_on(room: Room, sign: signal.Signals) -> None:
    child_id = "import os, pathlib\ndef test_tell(): pathlib.Path('pid').write_text(str(os.getpid()))\n"
    room.suite(child_id, HANGS)
    driver = subprocess.Popen(
        room.command(), cwd=room.folder, env=room.environment(), stderr=subprocess.PIPE, text=True
    )
    give_up = time.monotonic() + 60
    while not (room.run_file.exists() and "topic.hangs" in room.run_file.read_text().split("\n", 1)[1]):
        assert time.monotonic() < give_up
        time.sleep(0.05)
    driver.send_signal(sign)
    errors = driver.communicate(timeout=30)[1]
    assert driver.returncode == 130
    assert "--resume" in errors
    with pytest.raises(ProcessLookupError):
        os.kill(int((room.folder / "pid").read_text()), 0)
