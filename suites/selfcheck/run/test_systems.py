"""Linux, Windows and macOS: what only some systems have is named in one file, and the suite runs without it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from fixtures.clause.clause import CLAUSES
from suites.examples import import_for_newest
from suites.selfcheck.tiny_suites import ROOT, Tiny

SYSTEM = ROOT / "fixtures" / "run" / "system.py"
#: The modules, and the names in modules, that Windows or macOS lack.
MODULES = ("fcntl", "grp", "msvcrt", "pwd", "resource", "termios")
NAMES = {
    "os": ("fork", "geteuid", "getpgid", "getuid", "killpg", "mkfifo", "setsid", "uname"),
    "signal": ("ITIMER_PROF", "SIGALRM", "SIGHUP", "SIGKILL", "SIGPROF", "SIGUSR1", "setitimer"),
    "faulthandler": ("register",),
}
ELSEWHERE = ("/proc", "/dev/", "/tmp", "preexec_fn", "prctl", "start_new_session")
#: These measure on Linux, and say so.
LEFT_OUT = ("suites/selfcheck/", "suites/timing/", "reports/scope/", "reports/upstream/", "reports/why/")
#: pytest and numpy go by the name of the system, and need these where it has them.
STAY = ("getuid", "uname")
AWAY = f"""
import faulthandler, os, signal, sys
for name in {MODULES!r}:
    sys.modules[name] = None
for module, names in {NAMES!r}.items():
    for name in names:
        if hasattr(sys.modules[module], name) and name not in {STAY!r}:
            delattr(sys.modules[module], name)
"""


def test_what_only_some_systems_have_is_in_one_file() -> None:
    words = [rf"import {name}\b" for name in MODULES] + [re.escape(word) for word in ELSEWHERE]
    words += [rf"\b{module}\.{name}\b" for module, names in NAMES.items() for name in names]
    named = re.compile("|".join(words))
    assert len(named.findall(SYSTEM.read_text("utf-8"))) > 5
    for path in (each for room in ("fixtures", "suites", "reports") for each in (ROOT / room).rglob("*.py")):
        name = path.relative_to(ROOT).as_posix()
        if path != SYSTEM and not name.startswith(LEFT_OUT) and "/out/" not in name:
            assert named.findall(path.read_text("utf-8")) == [], name


@pytest.mark.parametrize("options", [(), ("-n1",)])
def test_the_suite_runs_where_they_are_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options) -> None:
    """Neither has it a text encoding other than ASCII, unless it asks for one."""
    for name, value in (("LC_ALL", "C"), ("PYTHONUTF8", "0"), ("PYTHONCOERCECLOCALE", "0")):
        monkeypatch.setenv(name, value)
    tiny = Tiny(tmp_path / "tiny", good="", bad="assert '≠' == 'ä'", apart_dies="ctypes.string_at(0)")
    (tiny.folder / "away.py").write_text(AWAY, encoding="utf-8")
    status, said = tiny.run("-p", "away", *options)
    assert status == 1, said
    wanted = {"good": "conforms", "bad": "deviates", "apart_dies": "crashed"}
    assert tiny.verdicts() == wanted, said
    assert "≠" in tiny.message("bad")
    assert tiny.lines()[-1]["type"] == "footer"
    assert b"\r" not in tiny.path.read_bytes()


def test_the_file_of_a_clause_is_named_alike_whatever_the_spelling_of_a_drive(monkeypatch: pytest.MonkeyPatch) -> None:
    import_for_newest()
    clause = next(iter(CLAUSES.values()))
    found = clause.record(str(ROOT))["file"]
    assert (ROOT / found).is_file()
    monkeypatch.setattr("os.path.normcase", str.lower)
    assert clause.record(str(ROOT).upper())["file"] == found


def test_where_no_process_ends_with_all_it_started_a_sweep_says_so(monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    from fixtures.run import system
    from reports.__main__ import main

    monkeypatch.setattr(system, "FIRST_OF_A_GROUP", {})
    assert main(["sweep"]) == 2
    assert capsys.readouterr().err.startswith("sweep: needs Linux or macOS, ")
