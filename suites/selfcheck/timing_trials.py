"""The timing put to the test on a real machine: python -m suites.selfcheck.timing_trials same 40 | slower 20.

`same` compares runs of one torch with each other: each change that it finds is false. `slower` makes one kind of hook
5 % slower at a time and sees whether that kind is found. `agree A B` tells how far two run files of one torch differ.
A run takes two minutes; the machine must do nothing else. The same command again measures only what somebody else
disturbed.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path

from reports.costs import Costs, Figure, from_run
from reports.costs_change import LEAST, MARGIN, changes, check_comparable, compared, many_out, not_compared
from reports.runfile import read_run
from reports.strict import BadInput
from reports.torches import TIMED, source_digest
from suites.selfcheck.slowdown import statements_for
from suites.timing.__main__ import SECONDS

ROOT = Path(__file__).resolve().parents[2]
SLOWER = 0.05
EVERY = 4  # slowdowns between two runs without
UNSLOWED = "forward:0"  # the plug-in is there and slows nothing down
FOLDER = ROOT / "reports" / "out" / "trials"
Measure = Callable[[str, str], Costs]  # (name, slowdown: a hook and nanoseconds, or nothing)


def measuring(seconds: float) -> Measure:
    """Return what measures this torch, with one kind of hook slowed down or none.

    What the same sources measured of this torch in as many seconds is read again: trials go on where they were
    interrupted. It is measured again where too many of its processes do not count, whatever its figures are.
    """
    digest = f"{version('torch')}-{source_digest(ROOT, (*TIMED, 'suites/selfcheck/slowdown.py'), ())}"

    def measure(name: str, slowdown: str) -> Costs:
        path = FOLDER / f"{name}-{digest}-{seconds:g}.jsonl"
        if not path.exists() or many_out(costs(path)):
            environment = dict(os.environ)
            if slowdown:
                hook, _, nanoseconds = slowdown.partition(":")
                environment["SLOWDOWN"] = f"{hook}:{statements_for(float(nanoseconds))}"
                environment["PYTEST_ADDOPTS"] = "-p suites.selfcheck.slowdown"
            command = [sys.executable, "-m", "suites.timing", "--run-file", str(path), "--seconds", str(seconds)]
            done = subprocess.run([*command, "--fresh"], cwd=ROOT, env=environment, stdout=subprocess.DEVNULL)
            if done.returncode:
                raise BadInput("timing_trials", name, "could not be measured", "mend what the lines above tell")
        return costs(path)

    return measure


def costs(path: Path) -> Costs:
    """Return the costs in a run file."""
    return from_run(read_run(path, timings=True))


def named(before: Costs, after: Costs) -> list[str]:
    """Return the figures that changed."""
    told = ((each.after.key, each.ratio) for each in changes(before, after))
    return [f"{' '.join(map(str, key))} {'no ratio' if ratio is None else f'{ratio:.3f}'}" for key, ratio in told]


def disagreement(before: Costs, after: Costs) -> tuple[float, str]:
    """Return by how much the ratio of a figure above noise differs at most, and which figure that is."""
    found = [
        (abs(change.after.values["ratio"].mid / change.before.values["ratio"].mid - 1), " ".join(map(str, key)))
        for change in compared(before, after)
        if not any(change.below) and "ratio" in change.after.values and (key := change.after.key)
    ]
    return max(found, default=(0.0, "nothing"))


def same(trials: int, measure: Measure) -> int:
    """Compare each run with the one before it; return how many comparisons found a change."""
    false, made, last = 0, 0, measure("same-0", "")
    for trial in range(1, trials + 1):
        now = measure(f"same-{trial}", "")
        found, (worst, where) = named(last, now), disagreement(last, now)
        false += bool(found)
        why = not_compared(last, now)
        made += not why
        says = (
            f"{len(compared(last, now))} figures, changed: {', '.join(found) or 'none'}; "
            f"ratios agree within {worst:.1%} ({where})"
        )
        print(f"{trial}: {why or says}", flush=True)
        last = now
    print(f"{false} of {made} comparisons found a change where there was none")
    check_made(made)
    return false


def check_made(made: int) -> None:
    """Raise BadInput where nothing was compared, so that nothing could go wrong."""
    if not made:
        raise BadInput("timing_trials", "", "no two runs could be compared", "run it while nobody uses the machine")


def fit(plain: Costs) -> list[Figure]:
    """Return the figures of which a slowdown by 5 % could be told, and say of which it could not."""
    told = [figure for key, figure in sorted(plain.figures.items()) if key[::2] == ("call", "empty") and figure.values]
    found = []
    for each in [each for each in told if not plain.below_noise(each)]:
        slowdown, least = each.values["added"].mid * SLOWER, LEAST * plain.works[each.way, each.workload]
        if each.fires != 1:
            print(f"excluded: {each.hook}: one pass calls it {each.fires} times")
        elif slowdown < least:
            print(f"excluded: {each.hook}: {slowdown:.0f} ns are less than a comparison tells, which is {least:.0f} ns")
        else:
            found.append(each)
    return found


def slowdowns(trials: int, measure: Measure) -> Iterator[tuple[int, Figure, Costs, Costs]]:
    """Yield each slowed run beside the nearest run without: one is measured before every four, and one at the end."""
    plain = measure("slower-plain-0", UNSLOWED)
    figures = fit(plain)
    for first in range(0, trials, EVERY):
        slowed = []
        for trial in range(first + 1, min(first + EVERY, trials) + 1):
            figure = figures[(trial - 1) % len(figures)]
            slowdown = f"{figure.hook}:{figure.values['added'].mid * SLOWER:.1f}"
            slowed.append((trial, figure, measure(f"slower-{trial}-{figure.hook}", slowdown)))
        after = measure(f"slower-plain-{first // EVERY + 1}", UNSLOWED)
        for place, (trial, figure, now) in enumerate(slowed):
            yield trial, figure, plain if place < len(slowed) / 2 else after, now
        plain = after


def slower(trials: int, measure: Measure) -> int:
    """Slow down one kind after another; return how many were not found, or found under another name."""
    missed, made = 0, 0
    for trial, figure, plain, now in slowdowns(trials, measure):
        why = not_compared(plain, now)
        made += not why
        missed += not why and {each.after.hook for each in changes(plain, now)} != {figure.hook}
        nanoseconds = figure.values["added"].mid * SLOWER
        told = why or "changed: " + (", ".join(named(plain, now)) or "none")
        print(f"{trial}: {figure.hook} by {nanoseconds:.0f} ns, {told}", flush=True)
    print(f"{made - missed} of {made} slowdowns were found and named")
    check_made(made)
    return missed


def agree(one: Path, other: Path) -> int:
    """Say by how much two runs differ at most; return 1 beyond the margin."""
    before, after = costs(one), costs(other)
    check_comparable(before, after)
    why = not_compared(before, after)
    if why:
        print(why)
        return 1
    worst, where = disagreement(before, after)
    print(f"ratios of the figures above noise agree within {worst:.1%} ({where})")
    return int(worst > MARGIN)


def main(arguments: list[str] | None = None) -> int:
    """Run the trials and return 0 when one at most went wrong, 1 for more, 2 when none could be told."""
    parser = argparse.ArgumentParser(prog="python -m suites.selfcheck.timing_trials")
    sub = parser.add_subparsers(dest="what", required=True)
    for name in ("same", "slower"):
        each = sub.add_parser(name)
        each.add_argument("trials", type=int)
        each.add_argument("--seconds", type=float, default=SECONDS)
    both = sub.add_parser("agree")
    both.add_argument("one", type=Path)
    both.add_argument("other", type=Path)
    options = parser.parse_args(arguments)
    try:
        if options.what == "agree":
            return agree(options.one, options.other)
        FOLDER.mkdir(parents=True, exist_ok=True)
        wrong = {"same": same, "slower": slower}[options.what](options.trials, measuring(options.seconds))
    except BadInput as error:
        print(error, file=sys.stderr)
        return 2
    return 0 if wrong <= 1 else 1


if __name__ == "__main__":
    sys.exit(main())
