"""Measure what hooks cost on the installed torch: python -m suites.timing [--run-file FILE].

Each figure is measured in many processes: where a process happens to lie in memory, in which order it hashes, and what
the machine does in that second move a figure more than all repetition within it. Two processes run at a time, where
there are two processors for them. `python -m reports overhead FILE` shows the figures.
"""

import argparse
import json
import math
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from threading import Event
from typing import Any, Callable, Dict, Iterator, List, Sequence, Tuple

DEFAULT_RUN_FILE = Path("reports/out/timing/current.jsonl")
PROCESSES = 32
FEWEST_PROCESSES = 8  # fewer cannot give an interval of 99 %
JOBS = 2
SECONDS = 113.0
GRACE = 5.0  # seconds more that the fewest processes may take
LEAST_SECONDS = 2.0  # of measuring in one process
STARTING = 4.0  # the guess for the first process: what it takes until it measures
PATIENCE = 20.0  # how many times longer than planned a process may take before it counts as hung
QUIET = 0.5  # load average per core
LOOK_EVERY = 5.0  # seconds between two looks at the load


Lines = List[Dict[str, Any]]
Run = Callable[[int, float, Path], Lines]  # (number of the process, seconds, run file)


class TimingError(Exception):
    """Something the user can mend; its text is one line."""


def parser() -> argparse.ArgumentParser:
    """The options of the command."""
    found = argparse.ArgumentParser(prog="python -m suites.timing", description="Measure what hooks cost here.")
    found.add_argument("--run-file", type=Path, default=DEFAULT_RUN_FILE, help="default: %(default)s")
    found.add_argument("--fresh", action="store_true", help="replace a run file that exists")
    found.add_argument("--processes", type=int, default=PROCESSES, metavar="N", help="default: %(default)s")
    found.add_argument("--seconds", type=float, default=SECONDS, metavar="S", help="in all; default: %(default)g")
    found.add_argument("--jobs", type=int, metavar="N", help="processes at a time; default: 2, or the processors")
    found.add_argument("--wait", type=float, default=0.0, metavar="S", help="wait so long at most for a quiet machine")
    return found


def wait_until_quiet(
    seconds: float,
    load: Callable[[], float],
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], Any] = time.sleep,
) -> bool:
    """Wait so long at most until the machine does little else; say whether it does."""
    began = clock()
    while load() > QUIET:
        left = seconds - (clock() - began)
        if left <= 0:
            return False
        sleep(min(LOOK_EVERY, left))
    return True


def load_per_core() -> float:
    """The load average of the last minute for each core."""
    return os.getloadavg()[0] / (os.cpu_count() or 1)


def processors() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def run_process(number: int, seconds: float, path: Path, jobs: int = 1) -> Lines:
    """Measure in one fresh process, of so many at a time, and return the lines of its run file."""
    command = [sys.executable, "-m", "pytest", "suites/timing", "-q", "-W", "ignore", "-p", "no:cacheprovider"]
    command += ["--assert=plain", "-p", "no:hypothesispytest"]  # a second of starting each, and nothing of it is used
    command += ["--benchmark-quiet", f"--run-file={path}", f"--timing-process={number}", f"--timing-jobs={jobs}"]
    command += [f"--timing-seconds={seconds:.3f}"]
    environment = dict(os.environ, PYTHONHASHSEED=str(number))
    environment.setdefault("OMP_NUM_THREADS", "1")
    try:
        child = subprocess.run(
            command,
            check=False,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=PATIENCE * (seconds + STARTING),
        )
    except subprocess.TimeoutExpired:
        raise TimingError(f"process {number} hung; run: python {' '.join(command[1:4])}") from None
    if child.returncode:
        said = [line for line in child.stdout.splitlines() if re.match(r"E  |ERROR: (?!usage)|FAILED|.*: error:", line)]
        why = (said or child.stdout.splitlines() or ["it said nothing"])[0].strip()
        raise TimingError(f"process {number} failed ({why[:160]}); run: python {' '.join(command[1:4])}")
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    lines = [json.loads(line) for line in text.splitlines()]
    if not any(line["type"] == "benchmark" for line in lines):
        raise TimingError(f"process {number} measured nothing; run: python {' '.join(command[1:4])}")
    return lines


def measure(
    processes: int,
    seconds: float,
    jobs: int = 1,
    run: Run = run_process,
    clock: Callable[[], float] = time.monotonic,
) -> Lines:
    """Run the processes, so many at a time, and return the lines of one run file. Raises TimingError for too few."""
    began, parts, over = clock(), {}, Event()
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(jobs) as pool:

        def lane(first: int) -> None:
            numbers = range(first, processes + 1, jobs)
            fewest = min(len(numbers), math.ceil(FEWEST_PROCESSES / jobs))
            for number, share in shares(numbers, fewest, seconds, clock):
                if over.is_set():
                    break
                try:
                    parts[number] = run(number, share, Path(folder) / f"{number}.jsonl")
                except TimingError:
                    over.set()
                    raise
                print(f"process {number} of {processes}  {clock() - began:.0f} s", flush=True)

        lanes = [pool.submit(lane, first) for first in range(1, jobs + 1)]
        try:
            for each in lanes:
                each.result()
        finally:
            over.set()
    if len(parts) < processes:
        print(f"{len(parts)} of {processes} processes: starting them takes long here", file=sys.stderr)
    lines = [line for line in parts[min(parts)] if line["type"] == "header"]
    lines += [line for number in sorted(parts) for line in parts[number] if line["type"] == "benchmark"]
    return [*lines, {"type": "footer", "cells": 0, "counts": {}, "seconds": round(clock() - began, 1)}]


def shares(
    numbers: Sequence[int], fewest: int, seconds: float, clock: Callable[[], float]
) -> Iterator[Tuple[int, float]]:
    """Yield each process and the seconds that it may measure, while they run one after another.

    What is left of the time is divided among the processes that are left, less what they take to start. Where starting
    takes so long that too little is left to measure, there are fewer processes. Raises TimingError for too few.
    """
    began, starts, planned = clock(), [STARTING], len(numbers)
    for done, number in enumerate(numbers):
        if done == planned:
            return
        left = seconds - (clock() - began)
        share = max(LEAST_SECONDS, left / (planned - done) - starts[-1])
        process_began = clock()
        yield number, share
        starts.append(max(0.0, clock() - process_began - share))
        if done:  # the first one also brings torch from the disk
            planned = still_possible(
                len(numbers), fewest, done + 1, clock() - began, seconds, statistics.median(starts[2:])
            )


def still_possible(processes: int, fewest: int, done: int, spent: float, seconds: float, start: float) -> int:
    """Return how many processes there can be, each with the least time that tells something.

    Raises TimingError where not even the fewest fit, with some grace.
    """
    each = start + LEAST_SECONDS
    found = min(processes, done + max(0, int((seconds - spent) / each)))
    if found >= fewest:
        return found
    missing = fewest - done
    if missing * each > seconds + GRACE - spent:
        raise TimingError(
            f"starting a process takes {start:.0f} s here, so that {fewest} of them do not fit into "
            f"{seconds:.0f} s: give --seconds {math.ceil(spent + (missing + 1) * each)}, "
            "or a machine that does nothing else"
        )
    return fewest


def main() -> int:
    """Measure, write the run file, and return the exit status: 0 done, 2 it could not be."""
    options = parser().parse_args()
    try:
        seconds = 0 < options.seconds < math.inf and 0 <= options.wait < math.inf
        jobs = min(JOBS, processors()) if options.jobs is None else options.jobs
        if options.processes < FEWEST_PROCESSES or jobs < 1 or not seconds:
            fault = (
                f"--processes must be {FEWEST_PROCESSES} or more, --jobs and --seconds above 0, and --wait not below"
            )
            raise TimingError(fault)
        if options.run_file.is_dir():
            raise TimingError(f"{options.run_file}: is a folder; name a file")
        if options.run_file.exists() and not options.fresh:
            raise TimingError(f"{options.run_file}: the file exists; add --fresh to replace it")
        options.run_file.parent.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=str(options.run_file.parent)).close()  # better told now than after two minutes
        if not wait_until_quiet(options.wait, load_per_core):
            print(f"the machine is busy (load {load_per_core():.1f} per core): intervals will be wide", file=sys.stderr)
        lines = measure(options.processes, options.seconds, jobs, partial(run_process, jobs=jobs))
        options.run_file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    except TimingError as error:
        print(f"suites.timing: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        print(f"suites.timing: {options.run_file}: cannot be written ({error.strerror})", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("interrupted; nothing was written", file=sys.stderr)
        return 130
    print(f"{options.run_file}\nnext: python -m reports overhead {options.run_file}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
