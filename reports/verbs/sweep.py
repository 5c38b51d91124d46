"""Measure every torch version of tox.ini, one throw-away environment after another.

An environment of torch 2.x takes several GB, so each one is removed when it is measured; while it runs, the next one is
installed. What was measured stays in reports/out/runs/: one run file per version, the output of tox, and a note that
says of which sources it is; of some clauses or a mode in a folder of reports/out/parts/, with --count in
reports/out/counts/. A version whose note still fits is not measured again; one that was interrupted goes on.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

from fixtures.run import system
from fixtures.run.naming import REPORTS
from fixtures.run.progress import clock
from reports.data.runfile import Follower
from reports.data.strict import BadInput
from reports.data.table import source_digest
from reports.record.torches import (
    COUNTED,
    MEASURED,
    REASONS,
    WORK,
    Asked,
    Release,
    disk_usage,
    has_note,
    known_versions,
    line_of,
    pick,
    reason,
)
from reports.verbs.verb import add_verb

ROOT = Path(__file__).resolve().parents[2]
ROOM_NEEDED = 8e9  # bytes that one environment may take, with its downloads
AT_ONCE = 2  # environments on the disk: one runs, the next is installed; more with --jobs
CACHE_ROOM = 5e9  # bytes of packages that are kept for the next version
ONE_TIME = ("torch", "triton")  # packages of which each version has its own
DISK_EVERY = 10.0
PLAIN_EVERY = 30.0
STOP_GRACE = 20.0


EPILOG = """The same command goes on where it was interrupted.
exit status: 0 every version was measured to its end, 1 some were not, 2 it cannot be started, 130 interrupted.
example: python -m reports sweep --mode copy 1.13 2.15"""


def add_parser(sub: Any) -> None:
    """Add the verb sweep to the command line."""
    says = "measure every torch version of tox.ini, each in a throw-away environment"
    parser = add_verb(sub, "sweep", run, says, EPILOG, listed=False)
    parser.add_argument("versions", nargs="*", metavar="VERSION", help="such as 1.4 or 2.13 (default: all)")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="versions at the same time (default: 1)")
    parser.add_argument(
        "--clauses", action="append", default=[], metavar="PREFIX", help="only clauses whose id begins so, repeatable"
    )
    parser.add_argument("--mode", action="append", default=[], metavar="NAME", help="a mode, repeatable; default eager")
    parser.add_argument("--examples", type=int, metavar="N", help="plans per property, handed to the suite")
    parser.add_argument(
        "--timeout", type=float, default=30, metavar="MIN", help="minutes to install or run one version (default: 30)"
    )
    parser.add_argument("--count", action="store_true", help="count what hooks cost instead of the verdicts")
    parser.add_argument("--fresh", action="store_true", help="measure again what is already complete")
    parser.add_argument("--keep", action="store_true", help="leave the environments on the disk")


class Sweep:
    """The versions to measure, and all that is running."""

    def __init__(
        self, versions: list[Release], options: argparse.Namespace, tox: Callable[[Release, str], list[str]]
    ) -> None:
        self.versions = versions
        self.options = options
        self.tox = tox
        self.stop = threading.Event()
        self.installing = threading.Lock()
        self.running = threading.Semaphore(options.jobs)
        # Environments are made in the order of the versions: each waits for the one before it to have its turn.
        self.turns = [threading.Event() for _ in versions]
        self.refused = ""  # what the suite says of the clauses or modes asked for
        self.began = time.monotonic()
        self.peak = 0
        root = versions[0].root
        digest = source_digest(root, COUNTED, ()) if options.count else source_digest(root, MEASURED)
        self.notes = {
            version.minor: {
                "sources": digest,
                "torch": version.patch,
                "examples": options.examples,
                "clauses": sorted(version.part.clauses),
                "modes": sorted(version.part.modes),
            }
            for version in versions
        }

    def measure(self, version: Release) -> None:
        """Bring one version to its end, whatever that is."""
        try:
            self.bring(version)
        finally:
            self.turns[self.versions.index(version)].set()

    def bring(self, version: Release) -> None:
        if self.stop.is_set():
            return
        version.update()
        mine = not self.options.fresh and has_note(version, self.notes[version.minor])
        if mine and version.ended:
            version.state, version.says = "kept", version.counts()
            return
        if not (mine and version.begun):
            version.run_file.unlink(missing_ok=True)
            version.follower = Follower(version.run_file)
        version.note_file.write_text(json.dumps(self.notes[version.minor]), encoding="utf-8")
        version.state = "running"
        try:
            ended = self.install(version) or self.perform(version)
        finally:
            self.watch_disk()
            if not self.options.keep:
                shutil.rmtree(version.env_folder, ignore_errors=True)
        self.judge(version, ended)

    def install(self, version: Release) -> str:
        """Make the environment, one at a time; return why there is none."""
        place = self.versions.index(version)
        if place:
            self.turns[place - 1].wait()
        with self.installing:
            self.turns[place].set()
            began = time.monotonic()
            ended, status = self.run_tox(version, "install")
            self.trim()
            version.installing = version.seconds = time.monotonic() - began
        return ended or (reason(version.tox_log) if status else "")

    def perform(self, version: Release) -> str:
        """Run what is to be measured; return what ended it before its end."""
        with self.running:
            began = time.monotonic()
            ended, _ = self.run_tox(version, "resume" if version.begun else "run")
            version.seconds += time.monotonic() - began
        return ended

    def trim(self) -> None:
        """Keep of the packages only what another version may need; the environment keeps its own by hard links."""
        if self.cache.exists():
            command = [sys.executable, "-m", "uv", "cache", "clean", *ONE_TIME]  # tox-uv brings uv
            environment = {**os.environ, "UV_CACHE_DIR": str(self.cache)}
            subprocess.run(command, env=environment, capture_output=True, check=False)
        self.watch_disk()
        if disk_usage(self.cache) > CACHE_ROOM:
            shutil.rmtree(self.cache, ignore_errors=True)

    @property
    def cache(self) -> Path:
        return self.versions[0].root / WORK / "cache"

    def run_tox(self, version: Release, step: str) -> tuple[str, int]:
        """Take one step with a version; return what ended it, if anything did, and its exit status."""
        if self.stop.is_set():
            return "interrupted", 1
        environment = {
            name: value for name, value in os.environ.items() if not name.startswith(("TOX_", "VIRTUAL_ENV"))
        }
        environment["UV_CACHE_DIR"] = str(self.cache)
        workers = max(1, (os.cpu_count() or 1) // self.options.jobs)
        environment.setdefault("PYTEST_XDIST_AUTO_NUM_WORKERS", str(workers))
        with version.tox_log.open("wb" if step == "install" else "ab") as log:
            child = subprocess.Popen(
                self.tox(version, step),
                cwd=version.root,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                **system.FIRST_OF_A_GROUP,
            )
        deadline = time.monotonic() + self.options.timeout * 60
        try:
            while child.poll() is None:
                time.sleep(0.2)
                if self.stop.is_set():
                    return "interrupted", 1
                if time.monotonic() > deadline:
                    return f"stopped after {self.options.timeout:g} minutes", 1
        finally:
            end_group(child)
        return "", child.returncode

    def judge(self, version: Release, ended: str) -> None:
        """Say what became of a version, from its run file and not from any exit status."""
        version.update()
        if version.ended:
            version.state, version.says = "measured", version.counts()
        elif version.begun:
            version.state, version.says = "incomplete", f"{version.far()}: {ended or reason(version.tox_log)}"
        else:
            version.state, version.says = "not measured", ended or reason(version.tox_log)
            if REASONS[0].search(version.says):
                self.refused = version.says.removeprefix("ERROR: ")
                self.stop.set()

    def watch_disk(self) -> None:
        self.peak = max(self.peak, disk_usage(self.versions[0].root / WORK))

    def text(self) -> str:
        """Say in one line how far the sweep is."""
        ended = [version for version in self.versions if version.state not in ("waiting", "running")]
        running = [version for version in self.versions if version.state == "running"]
        parts = [f"{len(ended)} of {len(self.versions)} versions"]
        for version in running:
            version.update()
            parts.append(f"{version.env}: {version.far()}")
        elapsed = time.monotonic() - self.began
        parts.append(f"{clock(elapsed)} elapsed")
        fresh = sum(version.seconds > 0 for version in ended)
        if fresh:
            left = elapsed / fresh * (len(self.versions) - len(ended) - 0.5 * len(running))
            parts.append(f"about {clock(max(left, 0))} left")
        return "  ".join(parts)

    def run(self) -> None:
        """Measure all versions; an interruption ends what is running and keeps what is done."""
        with ThreadPoolExecutor(max(AT_ONCE, self.options.jobs)) as pool:
            waiting = {pool.submit(self.measure, version): version for version in self.versions}
            try:
                self.follow(waiting)
            except KeyboardInterrupt:
                self.stop.set()
                raise
        shutil.rmtree(self.cache, ignore_errors=True)

    def follow(self, waiting: dict[Future[None], Release]) -> None:
        """Show progress until every version has ended."""
        tty = sys.stdout.isatty()
        last_disk = last_line = time.monotonic()
        while waiting:
            for future in [future for future in waiting if future.done()]:
                version = waiting.pop(future)
                future.result()
                if tty:
                    sys.stdout.write("\r\x1b[K")
                print(line_of(version), flush=True)
            if tty:
                sys.stdout.write("\r\x1b[K" + self.text()[: shutil.get_terminal_size().columns - 1])
                sys.stdout.flush()
            elif time.monotonic() - last_line > PLAIN_EVERY:
                last_line = time.monotonic()
                print(self.text(), flush=True)
            if time.monotonic() - last_disk > DISK_EVERY:
                self.watch_disk()
                last_disk = time.monotonic()
            time.sleep(0.5)
        if tty:
            sys.stdout.write("\r\x1b[K")


def end_group(child: subprocess.Popen[str]) -> None:
    """End tox and all it started; pytest gets the time to end its workers."""
    for hard in (False, True):
        with contextlib.suppress(ProcessLookupError):
            system.end_group(child.pid, hard)
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(STOP_GRACE)


def tox_command(options: argparse.Namespace) -> Callable[[Release, str], list[str]]:
    """Return the function that makes the command of a step with a version: install, run or resume."""

    def command(version: Release, step: str) -> list[str]:
        words = [sys.executable, "-m", "tox", "exec" if options.count and step != "install" else "run"]
        words += ["-e", version.env, "--workdir", str(version.root / WORK / "tox")]
        if step == "install":
            return [*words, "--notest"]
        if options.count:
            return [*words, "--", "python", "-m", "suites.timing", "--count", "--out", str(version.run_file)]
        words += ["--", f"--run-file={version.asked}", *version.part.words]
        words += [] if version.part.modes else ["--mode", "eager"]  # a few plans in others are not recorded
        words += ["--resume"] if step == "resume" else []
        return words + (["--examples", str(options.examples)] if options.examples else [])

    return command


def prepare(options: argparse.Namespace, root: Path) -> list[Release]:
    """Check what can be checked before anything is started."""
    if not system.FIRST_OF_A_GROUP:
        hint = "run one release after another, as in: tox -e torch2.15"
        raise BadInput("sweep", "", "needs Linux or macOS, where a process ends with all that it started", hint)
    known = known_versions(root / "tox.ini")
    part = Asked(tuple(options.clauses), tuple(options.mode))
    if options.count and part.words:
        raise BadInput("sweep", "", f"--count counts all kinds of hook, and knows no {part.words[0]}", "leave one out")
    versions = [Release(minor, known[minor], root, options.count, part) for minor in pick(options.versions, known)]
    if options.jobs < 1 or options.timeout <= 0 or (options.examples is not None and options.examples < 1):
        raise BadInput("sweep", "", "--jobs, --timeout or --examples is too small", "give a number above 0")
    if options.count and not shutil.which("valgrind"):
        raise BadInput("sweep", "", "counting needs valgrind, which is not installed", "apt-get install valgrind")
    if not (importlib.util.find_spec("tox") and importlib.util.find_spec("tox_uv")):
        raise BadInput("sweep", "", "tox is not installed here", "python -m pip install tox tox-uv, or tox -e sweep")
    for folder in (versions[0].folder, root / WORK):
        folder.mkdir(parents=True, exist_ok=True)
    free = shutil.disk_usage(root / WORK).free
    needed = ROOM_NEEDED * min(len(versions), max(AT_ONCE, options.jobs))
    if free < needed:
        wanted = f"{free / 1e9:.0f} GB of disk are free where {needed / 1e9:.0f} GB are needed"
        raise BadInput("sweep", "", wanted, "free some disk, or name fewer versions at once")
    return versions


def run(args: argparse.Namespace) -> int:
    """Sweep, sum up, and return 0 when every version was measured to its end."""
    versions = prepare(args, ROOT)
    sweep = Sweep(versions, args, tox_command(args))
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # ends it as Ctrl-C does, with all that it started
    try:
        sweep.run()
    except KeyboardInterrupt:
        print("interrupted; the same command goes on where this one stopped", file=sys.stderr)
        return 130
    if sweep.refused:
        print(f"sweep: {sweep.refused}; no other version was tried", file=sys.stderr)
        return 2
    print(f"\n{'version':<10} {'state':<12} {'install':>7} {'in all':>6}  cells or reason")
    for version in versions:
        print(line_of(version))
    print(f"total {clock(time.monotonic() - sweep.began)}, at most {sweep.peak / 1e9:.1f} GB of disk at any moment")
    done = [version for version in versions if version.complete]
    if done:
        files = " ".join(version.run_file.relative_to(ROOT).as_posix() for version in done)
        reports = "tox -e reports --" if "TOX_ENV_NAME" in os.environ else REPORTS
        print(f"next: {reports} {'overhead --record' if args.count else 'record'} {files}")
    return 0 if len(done) == len(versions) else 1
