"""The timing put to the test on a real machine: python -m suites.selfcheck.timing_trials same 40 | slower 20.

`same` compares runs of one torch with each other: each change that it finds is false. `slower` makes one kind of hook
5 % slower at a time and sees whether that kind is found. A run takes two minutes; the machine must do nothing else.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

from reports.costs import Costs, from_run
from reports.costs_change import changes, compared
from reports.runfile import read_run

ROOT = Path(__file__).resolve().parents[2]
SLOWER = 0.05
#: What the shortest slowdown takes, in nanoseconds: where 5 % are less, they cannot be made.
SHORTEST = 40.0
FOLDER = ROOT / "reports" / "out" / "trials"


def measure(path: Path, seconds: float, slowdown: str = "") -> Costs:
    """Measure this torch, with one kind of hook slowed down; what was measured before is read again."""
    if not path.exists():
        environment = dict(os.environ)
        if slowdown:
            environment.update(SLOWDOWN=slowdown, PYTEST_ADDOPTS="-p suites.selfcheck.slowdown")
        command = [sys.executable, "-m", "suites.timing", "--run-file", str(path), "--seconds", str(seconds)]
        subprocess.run(command, cwd=ROOT, env=environment, check=True, stdout=subprocess.DEVNULL)
    return from_run(read_run(path, timings=True))


def named(before: Costs, after: Costs) -> list[str]:
    """Return the figures that changed."""
    return [f"{' '.join(map(str, each.after.key))} {each.ratio:.3f}" for each in changes(before, after)]


def same(trials: int, seconds: float) -> int:
    """Compare each run with the one before it; return how many comparisons found a change."""
    false, last = 0, measure(FOLDER / "same-0.jsonl", seconds)
    for trial in range(1, trials + 1):
        now = measure(FOLDER / f"same-{trial}.jsonl", seconds)
        found = named(last, now)
        false += bool(found)
        print(f"{trial}: {len(compared(last, now))} figures, changed: {', '.join(found) or 'none'}", flush=True)
        last = now
    print(f"{false} of {trials} comparisons found a change where there was none")
    return false


def slower(trials: int, seconds: float) -> int:
    """Slow down one kind after another; return how many were not found, or found under another name."""
    plain = measure(FOLDER / "same-0.jsonl", seconds)
    figures = [each.after for each in compared(plain, plain) if each.after.key[::2] == ("call", "empty")]
    fit = [each for each in figures if each.fires == 1 and each.values["added"].mid * SLOWER >= SHORTEST]
    missed = 0
    for trial in range(1, trials + 1):
        figure = fit[(trial - 1) % len(fit)]
        nanoseconds = figure.values["added"].mid * SLOWER
        path = FOLDER / f"slower-{trial}.jsonl"
        found = named(plain, measure(path, seconds, f"{figure.hook}:{nanoseconds:.1f}"))
        right = any(each.startswith(f"call {figure.hook} empty") for each in found)
        right = right and all(each.split()[1] == figure.hook for each in found)
        missed += not right
        print(f"{trial}: {figure.hook} by {nanoseconds:.0f} ns, changed: {', '.join(found) or 'none'}", flush=True)
    print(f"{trials - missed} of {trials} slowdowns were found and named")
    return missed


def main() -> int:
    """Run the trials and return 0 when at most one of 40, or of 20, went wrong."""
    parser = argparse.ArgumentParser(prog="python -m suites.selfcheck.timing_trials")
    parser.add_argument("what", choices=["same", "slower"])
    parser.add_argument("trials", type=int)
    parser.add_argument("--seconds", type=float, default=110.0)
    options = parser.parse_args()
    FOLDER.mkdir(parents=True, exist_ok=True)
    wrong = {"same": same, "slower": slower}[options.what](options.trials, options.seconds)
    return 0 if wrong <= 1 else 1


if __name__ == "__main__":
    sys.exit(main())
