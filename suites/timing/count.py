"""Count what each kind of hook costs, in instructions, in this process: `python -m suites.timing` starts it.

Under valgrind it counts. Without valgrind it only says what there is to count, and checks that each hook is called.
"""

import gc
import json
import os
import platform
import statistics
import sys
import warnings
from typing import Any, Callable, Dict, List, NamedTuple, Sequence, Tuple

import torch

from fixtures.stages.stage import missing
from suites.timing.counter import RUNNING_ON_VALGRIND, START, STOP, ZERO, Counter
from suites.timing.hooked import NotCalled, attach, bare, check, hooked
from suites.timing.kinds import COUNTED, KINDS, LIB, REGISTERED, Kind
from suites.timing.workloads import Pass

#: Calls in one counting, and before it. They are fixed: what a call costs depends a little on how many there were.
TIMES = {
    "forward": 300, "both": 30, "leaf": 30, "step": 30, "nothing": 100, "state_dict": 100, "load": 100,
    "optimizer_state_dict": 100, "optimizer_load": 30, "register_parameter": 100, "register_buffer": 100,
    "register_module": 100,
}  # fmt: skip
WARM = 10
ROUNDS = 3
#: What a kind that a build declines, or does otherwise, may raise: its row says so, and the others are counted.
DECLINED = (NotCalled, AttributeError, NotImplementedError, RuntimeError, TypeError, ValueError)

Count = Callable[[Callable[[], Any], int], float]
Found = Dict[str, Tuple[float, float]]  # figure -> instructions of the bare pass, and what is added


class Job(NamedTuple):
    """A kind, and the figures that are counted for it together."""

    kind: Kind
    figures: Tuple[str, ...]
    run: Callable[[Kind, Count], Found]
    work: str


def one_hook(kind: Kind, count: Count) -> Found:
    """One hook on the empty module; for some kinds also what the second and the sixteenth add."""
    one, times = Pass("empty"), TIMES[kind.work]
    plain, work = bare(kind, one), hooked(kind, one, kind.hook)

    def total(of: Callable[[], Any]) -> float:
        for _ in range(WARM):
            of()
        return count(of, times)

    base = total(plain)
    many = [base]
    for more in (1, 1, 13, 1) if kind.name in COUNTED else (1,):
        attach(kind, one, kind.hook, more)
        many.append(total(work))
    found = {"hook": (base, many[1] - base)}
    if len(many) > 2:
        found["second"] = (base, many[2] - many[1])
        found["sixteenth"] = (base, many[4] - many[3])
    return found


def registering(kind: Kind, count: Count) -> Found:
    """Registering one hook and removing it."""
    one = Pass("empty")

    def there_and_back() -> None:
        kind.attach(one, kind.hook)()

    for _ in range(WARM):
        there_and_back()
    return {"register": (0.0, count(there_and_back, TIMES["nothing"]))}


JOBS = (
    *(
        Job(kind, ("hook", "second", "sixteenth") if kind.name in COUNTED else ("hook",), one_hook, kind.work)
        for kind in KINDS.values()
    ),
    *(Job(KINDS[name], ("register",), registering, "nothing") for name in REGISTERED),
)


def not_counted(work: Callable[[], Any], times: int) -> float:
    """Do the work once: what torch imports or prepares at first use is not counted, and takes minutes if it is."""
    work()
    return 0.0


def explored(kinds: Sequence[str]) -> List[Dict[str, Any]]:
    """Run each kind without counting. Returns a row for each figure, with the reason where it cannot be counted."""
    rows: List[Dict[str, Any]] = []
    for job in (job for job in JOBS if job.kind.name in kinds):
        absent, why = missing(job.kind.needs), ""
        if not absent:
            try:
                check(job.kind, "empty")
                job.run(job.kind, not_counted)
            except DECLINED as error:
                why = "{}: {}".format(type(error).__name__, " ".join(str(error).split())[:160])
            LIB.reset()
        rows += [
            {"figure": figure, "kind": job.kind.name, "says": job.kind.says, "work": job.work} for figure in job.figures
        ]
        for row in rows[-len(job.figures) :]:
            row.update({"absent": absent, "why": why})
    return rows


def counted(counter: Counter, rows: List[Dict[str, Any]]) -> Dict[str, Tuple[float, float]]:
    """Count what can be counted. Returns the figures by their name and kind, each the median of some rounds."""
    possible = {(row["figure"], row["kind"]) for row in rows if not (row["absent"] or row["why"])}
    jobs = [job for job in JOBS if (job.figures[0], job.kind.name) in possible]
    gc.collect()
    gc.disable()
    counter.ask(START)
    counter.count(Pass("empty").both, WARM)  # the first counting is too high
    found = {}
    for job in jobs:
        rounds = []
        for _ in range(ROUNDS):
            rounds.append(job.run(job.kind, counter.count))
            LIB.reset()
        for figure in job.figures:
            base, added = zip(*(each[figure] for each in rounds))
            found[figure + " " + job.kind.name] = (statistics.median(base), statistics.median(added))
    counter.ask(STOP)
    counter.ask(ZERO)
    return found


def main(out_file: str, kinds: str) -> None:
    """Print one line of JSON: the torch, the rows, and the figures where valgrind counts.

    `kinds` are names with commas between, or nothing for all. Ends with 1 and a line for a name that is no kind.
    """
    names = kinds.split(",") if kinds else list(KINDS)
    unknown = [name for name in names if name not in KINDS]
    if unknown:
        raise SystemExit("no kind of hook is called {}; known are {}".format(unknown[0], ", ".join(KINDS)))
    warnings.simplefilter("ignore")  # torch speaks of hooks that it will drop one day
    torch.set_num_threads(1)
    rows = explored(names)
    counter = Counter(out_file)
    figures = counted(counter, rows) if counter.ask(RUNNING_ON_VALGRIND) else {}
    python = " ".join(sys.version.split())
    build = {"python": python, "libc": " ".join(platform.libc_ver())}
    print(json.dumps({"torch": torch.__version__, "build": build, "rows": rows, "figures": figures}))
    sys.stdout.flush()
    os._exit(0)  # an end in order takes long under valgrind, and nothing is left to do


if __name__ == "__main__":
    main(*sys.argv[1:])
