"""A machine that does not exist: a clock that only moves when work spends time, and sessions measured by it."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

from reports.runfile import Run
from suites.selfcheck import synthetic
from suites.timing.pairs import BLOCK, Arm, Turns, nothing

#: Seconds of one call without hooks, and what one hook of each kind adds to it.
CONTROL = 20e-6
KINDS = {"forward_pre": 16e-6, "forward": 20e-6, "full_backward": 500e-6, "leaf": 2e-6, "node": 40e-6}
PLAIN = 4e-6
#: As many kinds as the suite has, each with its work and its cost; how many times as long works and workloads take.
MANY = {
    f"kind_{letter}": (("forward", "both", "leaf")[index % 3], (index + 1) * 4e-6)
    for index, letter in enumerate("abcdefghijklmnopqrstuv")
}
MANY_REGISTERED = tuple(MANY)[:17]
WORKS = {"forward": 1.0, "both": 3.0, "leaf": 2.0}
WORKLOADS = {"empty": 1.0, "small": 1.5, "large": 20.0}
ABSENT = "torch.Tensor.register_post_accumulate_grad_hook"
PROCESSES = 24


class Clock:
    """A clock that stands still until somebody spends time."""

    def __init__(self) -> None:
        self.now = 0.0
        self.pace: Callable[[float], float] = lambda now: 1.0

    def __call__(self) -> float:
        return self.now

    def spend(self, seconds: float) -> None:
        self.now += seconds * self.pace(self.now)


class Machine:
    """What disturbs a measurement: a spread between processes, noise in each block, interruptions, a slow clock.

    And what a whole run does to each figure of it: `drift`, to either side at most. And what it does to all hooks of
    the pass `both`: it moves them by `sway` from process to process, and by `shift` in the whole run; of the former the
    part `hidden` is not seen on larger modules. Somebody else makes what needs the caches so many times as slow as
    `crowd` says.
    """

    def __init__(
        self,
        seed: int,
        spread: float = 0.01,
        jitter: float = 0.01,
        interrupted: float = 0.05,
        pace: Any = None,
        drift: float = 0.0,
        sway: float = 0.0,
        shift: float = 0.0,
        crowd: float = 1.0,
        hidden: float = 0.0,
    ) -> None:
        self.rng = random.Random(seed)
        self.pace: Callable[[int], float] = pace or (lambda process: 1.0)
        self.process = 0
        self.spread, self.jitter, self.interrupted = spread, jitter, interrupted
        self.drift, self.crowd = drift, crowd
        self.drifted: dict[str, float] = {}
        self.sway, self.shift, self.hidden = sway, shift, hidden
        self.swayed: dict[int, float] = {}

    def arms(self, clock: Clock, *costs: float) -> list[Arm]:
        """Works of these costs; whatever disturbs one comes at the begin of its block."""
        return [self._arm(clock, cost) for cost in costs]

    def _arm(self, clock: Clock, cost: float) -> Arm:
        factor = [1.0]

        def enter() -> Callable[[], Any]:
            factor[0] = self.rng.gauss(1, self.jitter)
            if self.rng.random() < self.interrupted:
                factor[0] += self.rng.random()
            return nothing

        slow = self.pace(self.process)
        return Arm(lambda: clock.spend(cost * factor[0] * slow), enter)

    def added(self, cost: float, figure: str = "") -> float:
        """What a hook adds in one process."""
        drifted = self.drifted.setdefault(figure, self.rng.uniform(-1, 1)) if self.drift else 0.0
        return cost * self.rng.gauss(1, self.spread) * (1 + self.drift * drifted)

    def moved(self, work: str, workload: str) -> float:
        """How many times as much each hook of a pass adds in this process."""
        swayed = self.swayed.setdefault(self.process, self.rng.gauss(1 + self.shift, self.sway))
        if workload != "empty":
            swayed += self.hidden * (1 + self.shift - swayed)
        return swayed if work == "both" else 1.0


def row(figure: str, process: int, hook: str, **content: Any) -> dict[str, Any]:
    """One row as the suite writes it."""
    made: dict[str, Any] = {
        "type": "benchmark", "figure": figure, "process": process, "hook": hook, "says": f"{hook} hook",
        "workload": "empty", "work": "forward", "hooks": 1, "absent": [], "unit": "ns", "fires": 1, "calls": 16,
        "rounds": 6, "control": None, "added": None,
    }  # fmt: skip
    made.update(content)
    return made


def process_row(machine: Machine, process: int) -> dict[str, Any]:
    """The row about one process."""
    pace = round(100_000 * machine.pace(process) * machine.crowd)
    return {
        "type": "benchmark", "figure": "process", "process": process, "machine": "Made-up 9000", "cores": 2,
        "threads": 1, "jobs": 1, "python": "3.11.7", "hash_seed": str(process), "load": [0.1, 0.2], "pace": pace,
        "seconds": 5.0,
    }  # fmt: skip


def measured(machine: Machine, *costs: float, rounds: float = 6) -> tuple[float, list[float]]:
    """Measure works of these costs by turns; nanoseconds of the first and what the others add."""
    clock = Clock()
    turns = Turns([machine.arms(clock, *costs) for _ in range(2)], clock)
    turns.run(rounds * len(costs) * 2 * BLOCK)
    found = turns.measured()
    return found.control, found.added


def session(
    machine: Machine, slower: dict[str, float] | None = None, torch: str = "2.15.0", works: float = 1.0
) -> list[dict[str, Any]]:
    """The lines of a run file: how many times as much each kind adds, and as long the works without hooks take."""
    lines: list[dict[str, Any]] = []
    work = CONTROL * works
    for process in range(1, PROCESSES + 1):
        machine.process = process
        control, (same,) = measured(machine, work, work)
        lines.append(row("same", process, "forward", hooks=0, fires=0, control=control, added=same))
        control, (nil,) = measured(machine, PLAIN / 2, PLAIN / 2)
        lines.append(row("same", process, "nothing", work="nothing", hooks=0, fires=0, control=control, added=nil))
        control, (plain,) = measured(machine, PLAIN / 2, PLAIN / 2 + machine.added(PLAIN))
        lines.append(row("floor", process, "plain_call", work="nothing", control=control, added=plain))
        for kind, cost in KINDS.items():
            cost *= (slower or {}).get(kind, 1.0)
            control, (added,) = measured(machine, work, work + machine.added(cost))
            lines.append(row("call", process, kind, control=control, added=added))
        lines.append(row("call", process, "nothing_at_all", control=control, added=same))
        lines.append(row("call", process, "post_accumulate", absent=[ABSENT], fires=0))
        counts = (1, 2, 4)
        control, each = measured(machine, work, *(work + CONTROL * count for count in counts), rounds=1)
        for count, added in zip(counts, each, strict=True):
            lines.append(row("count", process, "forward", hooks=count, control=control, added=added))
        lines.append(row("memory", process, "full_backward", work="hold", unit="bytes", control=1600.0, added=4600.0))
        lines.append(process_row(machine, process))
    return [synthetic.header({}, torch), *lines, synthetic.footer([])]


def run(machine: Machine, **content: Any) -> Run:
    """A session as if it had been read, to save the time."""
    header, *rows, _ = session(machine, **content)
    return Run(Path("made-up.jsonl"), header, {}, tuple(rows))


def write(path: Path, machine: Machine, **content: Any) -> Path:
    """Write a session as a run file."""
    return synthetic.write_lines(path, session(machine, **content))


def write_three(folder: Path) -> dict[str, Path]:
    """Write runs of one torch twice, and of one whose full backward hook is 40 % slower."""
    return {
        "base": write(folder / "base.jsonl", Machine(1), torch="2.14.1"),
        "again": write(folder / "again.jsonl", Machine(2), torch="2.14.1"),
        "slow": write(folder / "slow.jsonl", Machine(3), slower={"full_backward": 1.4}),
    }


def whole_session(machine: Machine, slower: dict[str, float] | None = None) -> Run:
    """A session with as many figures as a real one: each kind on each workload, and registering."""
    rows: list[dict[str, Any]] = []
    for process in range(1, PROCESSES + 1):
        machine.process = process
        control, (nil,) = measured(machine, PLAIN / 2, PLAIN / 2)
        rows.append(row("same", process, "nothing", work="nothing", hooks=0, control=control, added=nil))
        control, (plain,) = measured(machine, PLAIN / 2, PLAIN / 2 + machine.added(PLAIN, "floor"))
        rows.append(row("floor", process, "plain_call", work="nothing", control=control, added=plain))
        for workload, long in WORKLOADS.items():
            for work, longer in WORKS.items():
                seconds = CONTROL * long * longer
                control, (same,) = measured(machine, seconds, seconds)
                rows.append(
                    row("same", process, work, work=work, workload=workload, hooks=0, control=control, added=same)
                )
            for kind, (work, cost) in MANY.items():
                seconds = CONTROL * long * WORKS[work]
                cost *= (slower or {}).get(kind, 1.0) * machine.moved(work, workload)
                control, (added,) = measured(machine, seconds, seconds + machine.added(cost, f"{kind} {workload}"))
                rows.append(row("call", process, kind, work=work, workload=workload, control=control, added=added))
        for kind in MANY_REGISTERED:
            cost = machine.added(MANY[kind][1], f"{kind} registered")
            control, (added,) = measured(machine, PLAIN / 2, PLAIN / 2 + cost)
            rows.append(row("register", process, kind, work="nothing", control=control, added=added))
        rows.append(process_row(machine, process))
    return Run(Path("made-up.jsonl"), synthetic.header({}, "2.15.0"), {}, tuple(rows))
