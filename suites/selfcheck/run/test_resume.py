"""The run file of a session: it is written by one at a time, in whole lines, and nothing that was measured is lost."""

from __future__ import annotations

import json
import os
import random
import resource
import signal
import threading
import time
from pathlib import Path

import pytest

from fixtures.run import files, isolate, system, watch
from fixtures.run.progress import Progress
from suites.selfcheck.tiny_suites import Tiny


@pytest.fixture
def tiny(tmp_path: Path) -> Tiny:
    return Tiny(tmp_path / "tiny", first="", second="", third="")


def test_an_old_run_is_replaced_and_other_files_are_refused(tiny: Tiny) -> None:
    assert tiny.run()[0] == 0
    tiny.write(other="")
    assert tiny.run("-n2")[0] == 0
    assert tiny.verdicts() == {"other": "conforms"}
    assert sorted(path.name for path in tiny.folder.iterdir() if "run" in path.name) == ["run.jsonl"]
    tiny.path.write_text("my notes\n")
    status, said = tiny.run()
    assert (status, tiny.path.read_text()) == (4, "my notes\n")
    assert "is no run file: name another place" in said


@pytest.mark.parametrize(
    ("path", "says"),
    [("suites", "is no file that can be replaced"), (os.devnull, "is no file"), ("suites/test_tiny.py/x", "cannot be")],
)
def test_a_place_that_cannot_be_written_is_one_line(tiny: Tiny, path: str, says: str) -> None:
    status, said = tiny.run(f"--run-file={path}")
    assert (status, f"--run-file {path}: {says}" in said, "Traceback" in said) == (4, True, False), said


def test_the_old_run_stays_until_the_new_one_begins(tiny: Tiny) -> None:
    assert tiny.run()[0] == 0
    before = tiny.path.read_text()
    assert tiny.run("--no-such-option")[0] == 4
    for nothing in ("--collect-only", "--setup-plan"):
        tiny.run(nothing)
        assert tiny.path.read_text() == before
    (tiny.folder / "suites" / "test_other.py").write_text("raise ValueError")  # one file of two
    for options in ((), ("-n1",)):
        status, said = tiny.run(*options)
        assert (status in (2, 4), "test_other.py" in said, tiny.path.read_text()) == (True, True, before), said


def test_a_run_that_leaves_clauses_out_says_so(tiny: Tiny) -> None:
    assert tiny.run()[0] == 0
    assert tiny.lines()[0]["whole"]
    for some in ("--ignore=suites/nowhere.py", "--clauses=tiny.topic.f", "--deselect=suites/test_tiny.py::test_first"):
        assert tiny.run(some)[0] == 0
        assert not tiny.lines()[0]["whole"]


def test_a_run_goes_on(tiny: Tiny) -> None:
    assert tiny.run()[0] == 0
    found = tiny.cells()
    kept = [line for line in tiny.lines() if line["type"] != "footer" and line.get("clause") != "tiny.topic.first"]
    for options in ((), ("-n2",)):
        tiny.path.write_text("".join(json.dumps(line) + "\n" for line in kept) + '{"type": "ce')
        status, said = tiny.run(*options, "--resume")
        assert (status, "1 passed" in said) == (0, True), said
        assert tiny.cells() == found
        assert tiny.lines()[-1]["cells"] == 3
    whole = tiny.path.read_text()
    assert tiny.run("--resume")[0] == 0, "nothing is left to run"
    assert tiny.path.read_text() == whole


def test_a_damaged_line_is_refused_where_a_run_goes_on(tiny: Tiny) -> None:
    assert tiny.run()[0] == 0
    lines = tiny.path.read_text().splitlines(keepends=True)
    tiny.path.write_text("".join([*lines[:2], "not json\n", *lines[2:]]))
    for options in ((), ("-n1",)):
        status, said = tiny.run(*options, "--resume")
        assert (status, "line 3 is not a line of a run file" in said) == (4, True), said


@pytest.mark.parametrize("options", [(), ("-n1",)])
def test_two_runs_do_not_write_one_file(tiny: Tiny, options: tuple[str, ...]) -> None:
    tiny.write(first="", waits="while not os.path.exists('go'): time.sleep(0.05)")
    first = tiny.start(*options)
    tiny.wait_for("waits")
    for more in ((), ("--resume", "-n1")):
        status, said = tiny.run(*more)
        assert status == 4
        assert sum("another run writes it" in line for line in said.splitlines()) == 1
    (tiny.folder / "go").touch()
    first.communicate(timeout=60)
    assert first.returncode == 0
    assert tiny.verdicts() == {"first": "conforms", "waits": "conforms"}
    assert tiny.lines()[-1]["type"] == "footer"


@pytest.mark.parametrize("options", [(), ("-n1",)])
def test_a_full_disk_is_one_line_and_what_was_measured_stays(tiny: Tiny, options: tuple[str, ...]) -> None:
    assert tiny.run()[0] == 0
    found, header = tiny.cells(), len(tiny.path.read_bytes().splitlines()[0])

    def full(size: int) -> tuple[int, str]:
        return tiny.run_with(*options, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size)))

    status, said = full(header + 500)
    assert status == 4, said
    assert sum("cannot be written (File too large); its " in line for line in said.splitlines()) == 1, said
    assert "Traceback" not in said
    assert "footer" not in {line["type"] for line in tiny.lines()}
    assert tiny.cells().items() <= found.items()
    assert tiny.run(*options, "--resume")[0] == 0
    assert tiny.cells() == found
    before = tiny.path.read_bytes()
    assert full(header - 200)[0] == 4
    assert tiny.path.read_bytes() == before, "the new run never began"
    assert [path.name for path in tiny.folder.glob("run*")] == ["run.jsonl"]


def test_a_run_that_is_killed_at_any_moment_goes_on_to_the_same_cells(tmp_path: Path) -> None:
    tiny = Tiny(tmp_path / "tiny", **{f"c{n}": "time.sleep(0.2)" for n in range(20)})
    assert tiny.run("-n2")[0] == 0
    found, moment = tiny.cells(), random.Random(0)
    tiny.path.unlink()
    for done in (3, 8, 14):
        run = tiny.start("-n2", "--resume")
        while not tiny.path.exists() or tiny.path.read_text().count('"cell"') < done:
            time.sleep(0.01)
        time.sleep(moment.uniform(0, 0.2))
        os.killpg(run.pid, signal.SIGKILL)
        run.communicate()
        kept = tiny.path.read_text()
        assert 0 < kept.count('"type": "cell"') < 20
        assert '"type": "footer"' not in kept
    assert tiny.run("-n2", "--resume")[0] == 0
    assert tiny.cells() == found
    assert tiny.lines()[-1]["cells"] == 20


def test_a_run_that_stops_at_its_first_failure_says_that_it_is_not_complete(tiny: Tiny) -> None:
    tiny.write(bad="assert False", first="", second="time.sleep(1)")
    for options in ((), ("-n1",)):
        status, said = tiny.run(*options, "-x")
        assert status in (1, 2), said
        assert "the run is not complete" in said
        assert tiny.lines()[-1]["type"] != "footer"


def test_the_lock_of_a_file_that_was_removed_keeps_nobody_away(tmp_path: Path) -> None:
    first = files.RunFile(str(tmp_path / "run.jsonl"), resume=False)
    waits = Path(first.lock.name).open("a")  # noqa: SIM115 - as a session does that comes at the same moment
    with pytest.raises(pytest.UsageError, match="another run writes it"):
        files.RunFile(str(tmp_path / "run.jsonl"), resume=False)
    first.close()
    assert not files.locked(waits)
    files.RunFile(str(tmp_path / "run.jsonl"), resume=False).close()
    assert list(tmp_path.iterdir()) == []


def test_a_crash_of_any_system_is_a_crash() -> None:
    assert [system.crashed(status) for status in (-11, 0xC0000005, 0xC0000409, 0, 1, 5, 255)] == [True] * 3 + [
        False
    ] * 4
    assert system.how(0xC0000005) == "exit status 0xc0000005"
    assert system.how(-11) == "SIGSEGV"
    assert isolate.stacks() is None


class Reporter:
    """A terminal, or none."""

    def __init__(self, isatty: bool) -> None:
        self.isatty, self.said = isatty, []

    def rewrite(self, line: str, erase: bool) -> None:
        self.said.append(line)

    write = write_line = lambda self, line, **_: self.said.append(line)


HEADER = {"torch": "2.15.0", "modes": ["eager"], "nodes": {str(place): ["a.b.c", "eager"] for place in range(100)}}


def test_the_progress_says_what_is_open_and_how_long_it_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    now = iter([0.0, *[30.0] * 9])
    monkeypatch.setattr(time, "monotonic", lambda: next(now))
    monkeypatch.setenv("COLUMNS", "200")
    progress = Progress(Reporter(True), HEADER, 10)
    progress.show(40, ["a.b.c", "d.e.f"])
    assert progress.reporter.said == ["torch 2.15.0  40 of 100 clauses  0:30 elapsed  about 1:00 left  a.b.c, d.e.f"]
    assert "time left unknown" in progress.text(12, [])
    monkeypatch.setenv("COLUMNS", "40")
    progress.show(41, ["a.b.c"])
    assert len(progress.reporter.said[-1]) == 39
    plain = Progress(Reporter(False), HEADER, 10)
    plain.show(40, [])
    assert plain.reporter.said == [], "a line every 15 seconds is enough"
    assert "1 of 100 clauses and modes" in Progress(
        Reporter(True), {**HEADER, "nodes": {**HEADER["nodes"], "0": ["a.b.c", "copy"]}}, 0
    ).text(1, [])


def test_signals_are_handled_in_the_main_thread_only() -> None:
    before = signal.getsignal(signal.SIGTERM)
    other = threading.Thread(target=watch.on_signals, args=(watch.interrupt,))
    other.start()
    other.join()
    assert signal.getsignal(signal.SIGTERM) is before
    back = watch.on_signals(watch.interrupt)
    assert signal.getsignal(signal.SIGTERM) is watch.interrupt
    back()
    assert signal.getsignal(signal.SIGTERM) is before
