"""What hooks cost on one torch: the timing rows of a run file, each figure with its interval over the processes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from math import log
from pathlib import Path
from statistics import median
from typing import Any

from packaging.version import Version

from reports.costs_stats import FEWEST, Estimate, estimate, line
from reports.runfile import Run, minor
from reports.strict import BadInput, shown

AGAIN = "measure again: python -m suites.timing"
#: How many times as many plain calls a fixed piece of Python may take that needs the caches: more is somebody else's
#: doing.
CROWDED = 1.05
SAME_MACHINE = ("machine", "cores", "threads", "jobs", "python")
Key = tuple[str, str, str, int]
#: How much a process counts that saw the processor slow and nothing else.
LEAST = 1
FLOOR: Key = ("floor", "plain_call", "empty", 1)
#: What one row says of its figure, the same in every process.
TOLD = ("says", "work", "absent", "unit", "fires")
#: The figures that are one difference between a work and the same with hooks: the work beside itself shows their noise.
DIFFERENCES = ("call", "count", "modules", "register", "first", "intercept")

#: The figures of which each process is kept, for they are compared.
EACH = ("call", "register")
#: The figures that are measured beside no work.
ALONE = ("floor", "register")
#: The least time that anything takes, in ns: what is less was not measured.
SHORTEST = 1e-3
#: The figures that are made of the costs by number of hooks.
MADE = ("slope", "intercept", "first", "next")


@dataclass(frozen=True)
class Figure:
    """One figure: what was measured, and what came out; nothing came out where torch lacks the hook."""

    figure: str
    hook: str
    workload: str
    hooks: int
    says: str
    work: str
    absent: tuple[str, ...]
    unit: str
    fires: int
    values: Mapping[str, Estimate]
    #: What it added in each process, where figures of two runs are compared by that.
    each: tuple[float, ...] = ()
    #: How much each of these counts.
    weights: tuple[int, ...] = ()

    @property
    def key(self) -> Key:
        """What tells it from the other figures of a torch."""
        return self.figure, self.hook, self.workload, self.hooks

    @property
    def way(self) -> str:
        """Which way its pass takes: that from a leaf goes back as the other does."""
        return "both" if self.work == "leaf" else self.work

    @cached_property
    def deviations(self) -> tuple[float, ...]:
        """By how much each process differs from the figure, as logarithms. Raises ValueError for values not above 0."""
        return tuple(log(value / self.values["added"].mid) for value in self.each)

    @property
    def slow(self) -> bool:
        """Whether too few processes measured it while the processor was fast."""
        return bool(self.weights) and sum(weight > LEAST for weight in self.weights) < FEWEST


@dataclass(frozen=True)
class Costs:
    """All figures of one torch, and the machine they are of."""

    where: str
    torch: str
    sweep: str
    environment: Mapping[str, Any]
    figures: Mapping[Key, Figure]

    @property
    def version(self) -> Version:
        """The torch version."""
        return Version(self.torch)

    @property
    def minor(self) -> str:
        """The minor version, which names the recorded file."""
        return minor(self.version)

    @property
    def machine(self) -> tuple[Any, ...]:
        """What must be the same for two times to be compared. Python is not: old torch has no other."""
        return tuple(self.environment[name] for name in ("machine", "cores", "threads", "jobs", "platform"))

    @property
    def pace(self) -> float:
        """How many plain calls a fixed piece of Python takes that goes through much code: the more, the fuller are the
        caches with what somebody else does. A clock that runs slower makes both slower.
        """
        return self.environment["pace"] / self.figures[FLOOR].values["added"].mid

    @cached_property
    def works(self) -> Mapping[tuple[str, str], float]:
        """How much the longest work without hooks takes, by its way and its workload; there is no time of no work."""
        found: dict[tuple[str, str], float] = {}
        for each in self.figures.values():
            if each.work != "nothing" and "control" in each.values:
                place = each.way, each.workload
                found[place] = max(each.values["control"].mid, found.get(place, 0.0))
        return found

    def noise(self, figure: Figure) -> float:
        """Return what the same work beside itself seems to add, at most; 0 for what is no difference of two works."""
        return self.figures[beside_itself(figure)].values["added"].reach if figure.figure in DIFFERENCES else 0.0

    def below_noise(self, figure: Figure) -> bool:
        """Say whether a figure cannot be told from nothing."""
        added = figure.values["added"]
        return added.zero or abs(added.mid) <= self.noise(figure)


def beside_itself(figure: Figure) -> Key:
    """Return the figure that shows the noise of another."""
    return "same", figure.work, figure.workload, 0


def check_noise(where: str | Path, figures: Mapping[Key, Figure], mend: str) -> None:
    """Raise BadInput unless the noise of every figure was measured."""
    for figure in figures.values():
        same = figures.get(beside_itself(figure))
        if figure.figure in DIFFERENCES and figure.values and not (same and same.values):
            fault = f"has no noise: the work {figure.work} was not measured beside itself on {figure.workload}"
            raise BadInput(where, " ".join(map(str, figure.key)), fault, mend)


def from_run(run: Run) -> Costs:
    """Return the costs of a run. Raises BadInput for rows that do not make one whole measurement."""
    processes = _processes(run)
    rows = _rows(run, set(processes))
    if min(row["added"] for row in rows[FLOOR].values()) < SHORTEST:
        raise BadInput(run.path, "", "a plain Python call took no time", AGAIN)
    plain = _plain(rows[FLOOR])
    paces = {number: process["pace"] / plain[number] for number, process in processes.items()}
    counted = alone(paces)
    rows = {key: {number: row for number, row in each.items() if number in counted} for key, each in rows.items()}
    slow = _slow(rows)
    figures = {key: _figure(key, each, slow, plain) for key, each in rows.items()}
    for hook in sorted({key[1] for key in figures if key[0] == "count"}):
        figures.update((each.key, each) for each in _line(hook, figures, rows, slow))
    check_noise(run.path, figures, AGAIN)
    first = processes[min(processes)]
    loads = [load for process in processes.values() for load in process["load"]]
    environment = {name: first[name] for name in SAME_MACHINE}
    environment |= {
        "platform": run.header["platform"], "load": [min(loads), max(loads)],
        "pace": round(median(paces[number] for number in counted) * figures[FLOOR].values["added"].mid),
        "processes": len(counted), "left_out": len(processes) - len(counted),
    }  # fmt: skip
    return Costs(str(run.path), run.header["torch"], run.header["began"], environment, figures)


def alone(paces: Mapping[int, float]) -> list[int]:
    """Return the processes beside which nobody else used the machine; the fewest that tell enough where they are less.

    What decides is how many plain calls a fixed piece of Python takes that knows nothing of hooks, and no figure. It is
    told beside the first behind the quietest quarter: it differs by some percent from one process to the next.
    """
    order = sorted(paces, key=lambda number: (paces[number], number))
    quiet = paces[order[len(order) // 4]]
    count = sum(pace <= CROWDED * quiet for pace in paces.values())
    return sorted(order[: max(FEWEST, count)])


def _processes(run: Run) -> dict[int, Mapping[str, Any]]:
    found: dict[int, Mapping[str, Any]] = {}
    for row in run.benchmarks:
        if row["figure"] == "process":
            if row["process"] in found:
                raise BadInput(run.path, "", f"process {row['process']} is there twice", AGAIN)
            found[row["process"]] = row
    if not run.benchmarks:
        raise BadInput(run.path, "", "holds no timing rows", "give a run file that python -m suites.timing wrote")
    if len(found) < FEWEST:
        fault = f"holds {len(found)} whole processes where an interval needs {FEWEST}"
        raise BadInput(run.path, "", fault, AGAIN)
    for name in SAME_MACHINE:
        told = sorted({str(row[name]) for row in found.values()})
        if len(told) > 1:
            fault = f"its processes differ in {name}: {shown(told[0])} and {shown(told[1])}"
            raise BadInput(run.path, "", fault, "measure all processes on one machine")
    return found


def _rows(run: Run, processes: set[int]) -> dict[Key, dict[int, Mapping[str, Any]]]:
    """Return the rows by figure and process; every figure must be told by every process, and in the same way."""
    found: dict[Key, dict[int, Mapping[str, Any]]] = {}
    for row in run.benchmarks:
        if row["figure"] == "process":
            continue
        key = (row["figure"], row["hook"], row["workload"], row["hooks"])
        place = f"process {row['process']}, {' '.join(map(str, key))}"
        each = found.setdefault(key, {})
        if row["process"] in each:
            raise BadInput(run.path, place, "is there twice", AGAIN)
        _check_row(run, place, row, next(iter(each.values()), row))
        each[row["process"]] = row
    for key, each in found.items():
        if set(each) != processes:
            odd = min(set(each) ^ processes)
            place = f"process {odd}, {' '.join(map(str, key))}"
            raise BadInput(run.path, place, "is missing, or the process is not whole", AGAIN)
    if FLOOR not in found or found[FLOOR][min(processes)]["absent"]:
        raise BadInput(run.path, "", "holds no plain Python call to compare with", AGAIN)
    return found


def _slow(rows: Mapping[Key, Mapping[int, Mapping[str, Any]]]) -> dict[int, float]:
    """Return how slowly each process ran beside the others: what its works without hooks took.

    It is 1.03 where most of them took 3 % longer than in the middle process. All that a process measured is divided
    by it: the machine changed its clock, or somebody else used its caches. What was only measured while the processor
    was slow tells nothing of this.
    """
    found: dict[int, list[float]] = {}
    for each in rows.values():
        fast = {number: row for number, row in each.items() if row["rounds"] and not row["absent"]}
        controls = {number: row["control"] for number, row in fast.items() if row["unit"] == "ns"}
        middle = median(controls.values()) if controls else 1.0
        for number, control in controls.items():
            found.setdefault(number, []).append(control / middle)
    return {number: median(found.get(number, [1.0])) for number in rows[FLOOR]}


def _plain(floor: Mapping[int, Mapping[str, Any]]) -> dict[int, float]:
    """Return what a plain call took in each process; as in the others where the processor was slow at it."""
    fast = {number: row["added"] for number, row in floor.items() if row["rounds"]}
    middle = median(fast.values()) if fast else 0.0
    return {number: fast.get(number, middle or row["added"]) for number, row in floor.items()}


def _check_row(run: Run, place: str, row: Mapping[str, Any], first: Mapping[str, Any]) -> None:
    for name in TOLD:
        if row[name] != first[name]:
            fault = f"{name} is {shown(row[name])}, but {shown(first[name])} in process {first['process']}"
            raise BadInput(run.path, place, fault, AGAIN)
    if any((row[name] is None) != bool(row["absent"]) for name in ("control", "added")):
        raise BadInput(run.path, place, "is neither measured nor absent", AGAIN)
    if not row["absent"] and row["control"] < SHORTEST:
        raise BadInput(run.path, place, f"the control takes {row['control']} {row['unit']}", AGAIN)
    if row["figure"] == "count" and row["hooks"] < 1:
        raise BadInput(run.path, place, "counts no hooks", AGAIN)
    check_kind(run.path, place, row["figure"], row["unit"], row["work"])


def check_kind(where: str | Path, place: str, figure: str, unit: str, work: str) -> None:
    """Raise BadInput for a figure in a foreign unit, or beside nothing where it needs a work beside it."""
    if (unit == "bytes") != (figure == "memory"):
        raise BadInput(where, place, f"is in {unit}", AGAIN)
    if figure != "same" and (work == "nothing") != (figure in ALONE):
        raise BadInput(where, place, f"is beside {shown(work)}", AGAIN)


def _figure(
    key: Key, rows: Mapping[int, Mapping[str, Any]], slow: Mapping[int, float], plain: Mapping[int, float]
) -> Figure:
    first = next(iter(rows.values()))
    if first["absent"]:
        return _made(key, first, {})
    slow = slow if first["unit"] == "ns" else dict.fromkeys(slow, 1.0)
    made: dict[str, Callable[[int, Mapping[str, Any]], float]] = {
        "control": lambda number, row: row["control"] / slow[number],
        "added": lambda number, row: row["added"] / slow[number],
        "ratio": lambda number, row: 1 + row["added"] / row["control"],
        "plain_calls": lambda number, row: row["added"] / plain[number],
    }
    names = value_names(key[0], first["unit"], first["work"])
    values = {name: [made[name](number, rows[number]) for number in sorted(rows)] for name in names}
    weights = [_weight(rows[number]) for number in sorted(rows)]
    figure = _made(key, first, {name: estimate(told, weights) for name, told in values.items()})
    if key[0] in EACH and first["unit"] == "ns":
        return replace(figure, each=tuple(values["added"]), weights=tuple(weights))
    return figure


def _weight(row: Mapping[str, Any]) -> int:
    """Return how much a process counts for a figure: by the calls that it measured while the processor was fast."""
    return max(LEAST, row["rounds"] * row["calls"])


def value_names(figure: str, unit: str, work: str) -> tuple[str, ...]:
    """Return which values a figure has that was measured."""
    if figure in MADE:
        return ("added",)
    told = {"control": True, "added": True, "ratio": work != "nothing", "plain_calls": unit == "ns"}
    return tuple(name for name, there in told.items() if there)


def _made(key: Key, row: Mapping[str, Any], values: Mapping[str, Estimate]) -> Figure:
    return Figure(*key, row["says"], row["work"], tuple(row["absent"]), row["unit"], row["fires"], values)


def _line(
    hook: str,
    figures: Mapping[Key, Figure],
    rows: Mapping[Key, Mapping[int, Mapping[str, Any]]],
    slow: Mapping[int, float],
) -> Iterable[Figure]:
    """Yield slope and intercept of the cost by number of hooks, and what the first and each next hook cost."""
    keys = sorted(key for key in figures if key[:3] == ("count", hook, "empty") and figures[key].values)
    if len(keys) < 2:
        return
    first = next(iter(rows[keys[0]].values()))
    found: dict[str, list[float]] = {name: [] for name in MADE}
    weights = [_weight(row) for row in rows[keys[0]].values()]  # all of one comparison, so the same for each count
    for number in rows[keys[0]]:
        points = [(float(key[3]), rows[key][number]["added"] / slow[number]) for key in keys]
        slope, intercept = line(points)
        found["slope"].append(slope)
        found["intercept"].append(intercept)
        found["first"].append(points[0][1] / points[0][0])
        found["next"].append((points[-1][1] - points[0][1]) / (points[-1][0] - points[0][0]))
    for name, values in found.items():
        yield _made((name, hook, "empty", 1), first, {"added": estimate(values, weights)})
