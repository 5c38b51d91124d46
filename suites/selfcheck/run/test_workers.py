"""pytest-xdist: the same verdicts and one whole run file, also where processes die, hang or are ended."""

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

from fixtures.judge.verdict import JudgedCell
from reports.data.runfile import read_runs
from suites.selfcheck.tiny_suites import ROOT, SPINS, Tiny, family, left

# Plans, arguments, and clauses that run in a process of their own.
SOME = (
    "suites/retain/test_keep.py",
    "suites/gradient/kinds/test_usual.py",
    "suites/gradient/test_crash.py",
    "-k",
    "not view",
)
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
#: What a clause may do to its process, the verdict, and words of the message. More than xdist restarts by itself.
ENDS = {
    "leaves": ("os._exit(0)", "crashed", "the process died: exit status 0x0"),
    "killed": ("os.kill(os.getpid(), signal.SIGKILL)", "crashed", "the process died: SIGKILL"),
    "segfault": ("ctypes.string_at(0)", "crashed", "the process died: SIGSEGV"),
    "aborts": ("os.abort()", "crashed", "the process died: SIGABRT"),
    "thread": ("threading.Thread(target=ctypes.string_at, args=(0,)).start(); time.sleep(60)", "crashed", "SIGSEGV"),
    "torn": ("open('run.jsonl', 'a').write('{\"type\": \"cel'); os._exit(9)", "crashed", "exit status 0x9"),
    "loop": ("while True: pass", "hung", "test_loop"),
    "spins": (SPINS, "hung", "test_spins"),
    "waits": ("ctypes.PyDLL(None).sleep(600)", "hung", "test_waits"),
    "apart_dies": ("ctypes.string_at(0)", "crashed", "SIGSEGV"),
    "apart_spins": (SPINS, "hung", "more than 4 s of processor time"),
    "asks": ("raise SystemExit(3)", "deviates", "SystemExit: 3"),
    "stops": ("raise KeyboardInterrupt", "deviates", "KeyboardInterrupt"),
    "skips": ("import pytest; pytest.skip('no')", "deviates", "Skipped: no"),
    "ends": ("import pytest; pytest.exit('no')", "deviates", "Exit: no"),
}
#: Those that need no other process.
RAISE = {name: end for name, end in ENDS.items() if name in ("asks", "stops", "skips", "ends", "apart_dies")}
FLAKY = """
@given(number=st.integers(0, 3))
def _flaky(number):
    seen.append(number)
    assert len(seen) != 2
seen = []
_flaky()"""


def suite(*options: str) -> tuple[int, str]:
    """Run the suite itself with 10 plans for each clause."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:randomly", "--profile=recorded", "--examples=10"]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run([*command, *options], cwd=ROOT, capture_output=True, text=True, env=environment)
    return done.returncode, done.stdout + done.stderr


def test_two_workers_write_what_one_session_writes(tmp_path: Path) -> None:
    found, ended = [], []
    for options in ((), ("-n2",)):
        path = tmp_path / f"run{len(found)}.jsonl"
        status, said = suite(*SOME, "--run-file", os.path.relpath(path, ROOT), *options)  # a word of its own
        assert status == 0, said
        lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        cells = {(line["clause"], line["mode"]): {**line, "seconds": 0} for line in lines if line["type"] == "cell"}
        found.append(({**lines[0], "began": ""}, cells, {**lines[-1], "seconds": 0}))
        assert [len(run.cells) for run in read_runs(path)] == [len(cells)]
        # The last one: where the run is slow, lines of its progress begin so, too.
        ended.append([line.partition(";")[0] for line in said.splitlines() if line.startswith("torch ")][-1])
    assert found[0] == found[1]
    assert ended[0] == ended[1]


def test_a_cell_that_ends_its_process_or_does_not_end_is_a_verdict_and_costs_no_other(tmp_path: Path) -> None:
    bodies = {name: body for name, (body, _, _) in ENDS.items()}
    tiny = Tiny(tmp_path / "tiny", first="", **bodies, flaky=FLAKY, last="")
    status, said = tiny.run("-n2", "--dist=worksteal", "--idle=4")
    assert status == 1, said
    wanted = {name: verdict for name, (_, verdict, _) in ENDS.items()}
    assert tiny.verdicts() == {**wanted, "first": "conforms", "last": "conforms", "flaky": "unseen"}, said
    assert {name: says for name, (_, _, says) in ENDS.items() if says not in tiny.message(name)} == {}
    assert "Flaky" in tiny.message("flaky")
    assert sorted(tiny.lines()[0]["nodes"].values()) == sorted([f"tiny.topic.{name}", "eager"] for name in tiny.cells())
    assert tiny.lines()[0]["whole"]
    assert tiny.lines()[-1]["type"] == "footer"
    assert set(tiny.cells()["segfault"]) == {"type", *JudgedCell("", "", "").__dict__}
    before = tiny.path.read_text("utf-8")
    status, said = tiny.run("-n2", "--idle=4", "--resume")
    assert (status, tiny.path.read_text("utf-8")) == (1, before), "nothing is left to run, and it failed"


def test_without_workers_too_where_the_process_lives(tmp_path: Path) -> None:
    tiny = Tiny(tmp_path / "tiny", first="", **{name: body for name, (body, _, _) in RAISE.items()}, flaky=FLAKY)
    status, said = tiny.run()
    wanted = {name: verdict for name, (_, verdict, _) in RAISE.items()}
    assert (status, tiny.verdicts()) == (1, {**wanted, "first": "conforms", "flaky": "unseen"}), said
    assert tiny.lines()[-1]["type"] == "footer"


def test_a_process_that_dies_between_two_cells_loses_none(tmp_path: Path) -> None:
    tiny = Tiny(tmp_path / "tiny", **{f"c{n}": "" for n in range(6)})
    for when, first in (("protocol(item)", "item.name.startswith('test_c3')"), ("logfinish(nodeid)", "'c5' in nodeid")):
        # Only in a worker: the session that starts them calls these hooks too, sometimes before the worker does.
        once = f"if worker and not os.path.exists('died') and {first}: open('died', 'w'); os._exit(5)"
        dies = f"import os\ndef pytest_runtest_{when}:\n    {once}\n"
        which = "def pytest_configure(config):\n    global worker\n    worker = hasattr(config, 'workerinput')\n"
        (tiny.folder / "dies.py").write_text(dies + which)
        status, said = tiny.run("-n2", "-p", "dies")
        assert (status, list(tiny.verdicts().values())) == (1, ["conforms"] * 6), said
        assert tiny.lines()[-1]["type"] == "footer"
        assert "a worker died between cells (exit status 0x5): the run fails" in said
        (tiny.folder / "died").unlink()


def test_the_terminal_shows_what_fails_and_the_end(tmp_path: Path) -> None:
    debug = "import logging\nlog = logging.getLogger('noisy')\nlog.setLevel('DEBUG')\nlog.debug('no%s', 'ise')\n"
    tiny = Tiny(tmp_path / "tiny", good="", bad=f"{debug}assert 1 == 2")
    for options in (("-v", "-q"), ("-n2",)):
        status, said = tiny.run(*options)
        assert status == 1
        assert "deviates tiny.topic.bad (eager)" in said.splitlines()
        assert "    start here: tiny.topic.bad [eager]: So it is." in said.splitlines()
        assert "    first difference: this is false: 1 == 2" in said.splitlines()
        assert "FAILED" not in said
        assert "good" not in said
        assert "noise" not in said
        assert any(line.startswith("torch ") and "1 conforms" in line for line in said.splitlines())


def test_of_many_failures_one_of_each_group_is_shown_and_what_is_no_clause_is_as_ever(tmp_path: Path) -> None:
    tiny = Tiny(tmp_path / "tiny", **{f"c{n}": f"assert {n} == 0" for n in range(1, 5)}, flaky=FLAKY)
    (tiny.folder / "suites" / "test_plain.py").write_text("def test_plain():\n    assert 'plain' == 0\n")
    for options in ((), ("-n2",)):
        status, said = tiny.run("-v", *options)
        lines = said.splitlines()
        assert status == 1, said
        assert said.count("deviates tiny.topic.c") == 4, said
        assert [line for line in lines if line.startswith("FAILED")] == [
            "FAILED suites/test_plain.py::test_plain - AssertionError: assert 'plain' == 0"
        ]
        assert said.count("start here: tiny.topic.c1 [eager]: So it is.") == 1
        assert [line for line in lines if line.startswith("clause tiny")] == ["clause tiny.topic.flaky: So it is."]
        assert any(line.startswith("one failure of each group is shown: -v shows all 5; ") for line in lines)
        assert "6 failed" in lines[-1]
        assert any("collecting, which takes some ten seconds" in line for line in lines), said
    _, said = tiny.run("-v", "-v")
    assert sum(line.startswith("clause tiny") for line in said.splitlines()) == 5, said
    assert "one failure of each group" not in said


@pytest.mark.parametrize("options", [(), ("-n1",)])
def test_what_is_wrong_with_the_command_line_is_one_line(tmp_path: Path, options: tuple[str, ...]) -> None:
    tiny = Tiny(tmp_path / "tiny", first="")
    assert tiny.run()[0] == 0
    before = tiny.path.read_text("utf-8")
    for wrong, says in (
        (("--mode=none",), "--mode none: no such mode"),
        (("--clauses=none.",), "--clauses none.: no clause begins with this"),
        (("suites/nowhere.py",), "file or directory not found: suites/nowhere.py"),
        (("--idle=0",), "--idle 0: give a number of seconds above 0"),
        (("--resume", "--examples=11"), "--resume goes on with the same run only: examples was 10, and is 11"),
    ):
        path = f"--run-file={tiny.path}"  # a mode is part of the name
        status, said = tiny.run(*options, path, *wrong)
        assert status == 4, said
        assert sum(says in line for line in said.splitlines()) == 1, said
        assert "Traceback" not in said
        assert "INTERNALERROR" not in said
        assert tiny.path.read_text("utf-8") == before


def test_a_worker_that_dies_before_its_first_cell_ends_the_run_and_keeps_the_old_one(tmp_path: Path) -> None:
    tiny = Tiny(tmp_path / "tiny", first="")
    assert tiny.run("-n2")[0] == 0
    before = tiny.path.read_text("utf-8")
    tiny.write("os._exit(7)", first="")
    status, said = tiny.run("-n2")
    assert (status, "a worker died before its first cell (exit status 0x7)" in said) == (2, True), said
    assert tiny.path.read_text("utf-8") == before


@LINUX
@pytest.mark.parametrize(
    ("sign", "options", "body"),
    [
        (signal.SIGINT, (), "time.sleep(600)"),
        (signal.SIGTERM, (), None),
        (signal.SIGINT, ("-n1",), SPINS),
        (signal.SIGTERM, ("-n1",), SPINS),
        (signal.SIGKILL, ("-n1",), SPINS),
        (signal.SIGKILL, ("-n1",), None),
    ],
)
def test_who_ends_the_run_leaves_nothing_running(tmp_path: Path, sign: Any, options: Any, body: str | None) -> None:
    spare = tmp_path / "tiny" / "spare"  # in full: a cell of its own process has another folder
    bodies = {"apart_spins" if body is None else "spins": f"if not os.path.exists({str(spare)!r}): {body or SPINS}"}
    tiny = Tiny(tmp_path / "tiny", first="", **bodies)
    run = tiny.start(*options)
    tiny.wait_for("spins")
    tiny.wait_for('"started", "clause": "tiny.topic.' + next(iter(bodies)))
    tiny.wait_for('"cell"')
    give_up = time.monotonic() + 60
    while body is None and len(family(run.pid)) < len(options) + 1:  # the process of the lone cell, too
        assert time.monotonic() < give_up
    children = family(run.pid)
    run.send_signal(sign)
    said = run.communicate(timeout=10)[0]
    assert left(children, 3) == []
    assert tiny.verdicts() == {"first": "conforms"}
    if sign != signal.SIGKILL:
        assert run.returncode == 2
        assert "the run is not complete, 1 of 2 clauses are judged: the same command with --resume goes on" in said
    spare.touch()
    status, said = tiny.run(*options, "--resume")
    assert (status, set(tiny.verdicts().values()), len(tiny.cells())) == (0, {"conforms"}, 2), said


def test_a_torch_that_cannot_be_imported_is_one_line(tmp_path: Path) -> None:
    tiny = Tiny(tmp_path / "tiny", first="")
    (tiny.folder / "torch.py").write_text("raise ImportError('libcuda.so: no such file')")
    for options in ((), ("-n1",)):
        status, said = tiny.run_with(*options)
        assert (status, tiny.path.exists(), "INTERNALERROR" in said) == (4, False, False), said
        assert said.count("ERROR: torch cannot be imported (libcuda.so: no such file)") == 1
    status, said = tiny.run_with("-n1", "--dist=each")
    assert (status, "--dist each would judge each cell several times" in said) == (4, True)


def test_the_session_that_starts_workers_does_not_import_torch(tmp_path: Path) -> None:
    tiny = Tiny(tmp_path / "tiny", first="")
    probe = "import sys\ndef pytest_unconfigure(config):\n    open(f'{hasattr(config, \"workerinput\")}', 'w').write("
    (tmp_path / "tiny" / "probe.py").write_text(probe + "str('torch' in sys.modules))\n")
    assert tiny.run_with("-n2", "-p", "probe")[0] == 0
    assert [(tmp_path / "tiny" / name).read_text() for name in ("False", "True")] == ["False", "True"]
