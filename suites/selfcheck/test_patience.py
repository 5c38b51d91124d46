"""When a silent process counts as hung: one that works, one that stands still, and one that only waits for its turn."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator

import pytest

from fixtures.run.patience import STILL, WINDOW, Patience, processor_seconds, run

SECONDS = 180.0
LINUX = pytest.mark.skipif(processor_seconds(1) is None, reason="no /proc here: the clock alone counts")


def ended(share: float | None, limit: float = 100_000.0) -> float | None:
    """Return when patience is over with a process that gets this share of a processor; None says it never was."""
    clock = 0.0

    def used(_: int) -> float | None:
        return None if share is None else share * clock

    patience = Patience(1, SECONDS, lambda: clock, used)
    while clock < limit:
        clock += 0.1
        if patience.over():
            return clock
    return None


def about(seconds: float) -> object:
    """A window more at most: what is less than one is not looked at."""
    return pytest.approx(seconds + WINDOW / 2, abs=WINDOW / 2 + 0.2)


@pytest.mark.parametrize(
    ("share", "seconds"),
    [
        (1.0, SECONDS),  # spins
        (0.0, SECONDS),  # deadlock
        (STILL / 2, SECONDS),  # deadlock, with a thread that looks round now and then
        (8.0, SECONDS),  # eight threads that spin
        (None, SECONDS),  # nobody can say what it took
        (0.1, 10 * SECONDS),  # at its work, next to nine others
        (0.05, 20 * SECONDS),
    ],
)
def test_what_a_process_is_charged(share: float | None, seconds: float) -> None:
    assert ended(share) == about(seconds)


def test_a_sign_of_life_begins_anew() -> None:
    clock = 0.0
    patience = Patience(1, SECONDS, lambda: clock, lambda _: clock)
    for _ in range(9):
        clock += SECONDS / 3
        assert not patience.over()
        patience.renew()


def test_work_counts_after_a_standstill_too() -> None:
    """Nobody hides a hang by working a little in between: both add up."""
    clock = used = 0.0
    patience = Patience(1, SECONDS, lambda: clock, lambda _: used)
    while clock < 2 * SECONDS and not patience.over():
        clock += WINDOW
        used += WINDOW if int(clock / WINDOW) % 2 else 0.0
    assert clock == about(SECONDS)


@pytest.fixture
def child() -> Iterator[Callable[[str], subprocess.Popen[bytes]]]:
    started: list[subprocess.Popen[bytes]] = []

    def start(code: str) -> subprocess.Popen[bytes]:
        started.append(subprocess.Popen([sys.executable, "-c", code], start_new_session=True, stdout=subprocess.PIPE))
        return started[-1]

    yield start
    for one in started:
        os.killpg(one.pid, signal.SIGKILL)
        one.communicate()


#: spends half a second of processor time, says so, and sleeps
WORK = "import time\nwhile time.process_time() < 0.5: pass\nprint(flush=True)\ntime.sleep(600)"
#: starts that in a child of its own
PARENT = f"import subprocess, sys\nsubprocess.run([sys.executable, '-c', {WORK!r}])"


@LINUX
@pytest.mark.parametrize("code", [WORK, PARENT])
def test_the_processor_time_of_a_process_and_its_session_is_read(
    child: Callable[[str], subprocess.Popen[bytes]], code: str
) -> None:
    one = child(code)
    assert one.stdout is not None
    one.stdout.readline()
    used = processor_seconds(one.pid)
    assert used is not None
    assert used > 0.4
    time.sleep(0.3)
    later = processor_seconds(one.pid)
    assert later is not None
    assert later - used < 0.2


@pytest.mark.parametrize("code", ["while True: pass", "import threading; threading.Event().wait()"])
def test_a_process_that_spins_or_waits_for_ever_is_killed(code: str) -> None:
    status, said = run([sys.executable, "-c", f"print('begins', flush=True)\n{code}"], 3.0)
    assert (status, said) == (None, "begins\n")


@LINUX
def test_a_process_that_is_slow_by_load_comes_to_its_end() -> None:
    """It works a tenth of the time, as on a machine with nine others at work, and needs longer than its seconds."""
    code = "import time\nend = time.monotonic() + 6\nwhile time.monotonic() < end:\n"
    code += "    until = time.process_time() + 0.02\n    while time.process_time() < until: pass\n    time.sleep(0.18)"
    assert run([sys.executable, "-c", code], 4.0) == (0, "")


def test_a_process_that_ends_says_how() -> None:
    assert run([sys.executable, "-c", "print('words'); raise SystemExit(3)"], 60.0) == (3, "words\n")
