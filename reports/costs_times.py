"""What hooks cost in time, as pytest-benchmark measured it: read beside the counts, compared with nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reports.runfile import check_version
from reports.strict import BadInput, validate

MEASURE = "measure it with: pytest suites/timing --benchmark-only --benchmark-json=FILE"
WORKLOADS = {"empty": "empty module", "small": "small layer", "large": "large layer"}
PLAIN = "plain_call"
NANO = 1e9
DIGITS = 4  # of a number of nanoseconds: more than any clock holds
Quartiles = tuple[float, float, float]


@dataclass(frozen=True)
class Timed:
    """One pass without and with a hook: the quartiles of each, in ns."""

    bare: Quartiles
    hook: Quartiles

    @property
    def added(self) -> float:
        """What the hook adds, in ns: the difference of the medians."""
        return self.hook[1] - self.bare[1]

    @property
    def ranges(self) -> tuple[float, float]:
        """The interquartile ranges without and with the hook, in ns."""
        return self.bare[2] - self.bare[0], self.hook[2] - self.hook[0]

    @property
    def below_noise(self) -> bool:
        """Whether the difference is less than the larger of the two ranges."""
        return self.added < max(self.ranges)


@dataclass(frozen=True)
class Times:
    """All times of one torch on one machine; `plain_call` is one call of a Python function that does nothing, in ns."""

    where: str
    torch: str
    python: str
    machine: str
    plain_call: float
    says: Mapping[str, str]
    cells: Mapping[tuple[str, str], Timed]


def from_benchmarks(document: Mapping[str, Any], path: Path) -> Times:
    """Return the times in the JSON of pytest-benchmark. Raises BadInput where it is that of other tests."""
    validate(document, "costs.schema.json#/$defs/benchmarks", path, "", MEASURE)
    sides: dict[tuple[str, str, str], Quartiles] = {}
    says: dict[str, str] = {}
    torches = set()
    for each in document["benchmarks"]:
        info, stats = each["extra_info"], each["stats"]
        key = (info["kind"], info.get("workload", ""), info.get("side", ""))
        if key in sides:
            raise BadInput(path, " ".join(key).strip(), "is there twice", MEASURE)
        q1, middle, q3 = (_short(stats[name] * NANO) for name in ("q1", "median", "q3"))
        sides[key] = (q1, middle, q3)
        says[info["kind"]] = info.get("says", info["kind"])
        torches |= {info["torch"]} if "torch" in info else set()
    plain = next((middle for (kind, *_), (_, middle, _) in sides.items() if kind == PLAIN), 0.0)
    if not plain or len(torches) != 1:
        fault = "has no time of a plain call" if not plain else f"is of {len(torches)} torches where one is wanted"
        raise BadInput(path, "", fault, MEASURE)
    machine = document["machine_info"]
    name = machine.get("cpu", {}).get("brand_raw") or machine["machine"]
    (torch,) = torches
    check_version(path, "", "torch", torch, MEASURE)
    cells = dict(_cells(sides, path))
    kinds = {kind: says[kind] for kind, _ in cells}
    return Times(str(path), torch, machine["python_version"], name, plain, kinds, cells)


def _cells(sides: Mapping[tuple[str, str, str], Quartiles], path: Path) -> Iterator[tuple[tuple[str, str], Timed]]:
    for kind, workload, side in sides:
        if kind != PLAIN and side != "bare":
            if (kind, workload, "bare") not in sides:
                raise BadInput(path, f"{kind} {workload}", "has no time without the hook", MEASURE)
            yield (kind, workload), Timed(sides[kind, workload, "bare"], sides[kind, workload, side])


def _short(value: float) -> float:
    return float(f"{value:.{DIGITS}g}")


def document(times: Times) -> dict[str, Any]:
    """Return the times as they are recorded: the quartiles without and then with the hook, in ns."""
    rows: dict[str, dict[str, Any]] = {kind: {"says": says} for kind, says in times.says.items()}
    for (kind, load), one in times.cells.items():
        rows[kind][load] = [*one.bare, *one.hook]
    told = {"torch": times.torch, "python": times.python, "machine": times.machine, PLAIN: times.plain_call}
    return {**told, "rows": rows}


def from_document(told: Mapping[str, Any], where: str) -> Times:
    """Return recorded times."""
    cells = {
        (kind, load): Timed((b1, b2, b3), (h1, h2, h3))
        for kind, row in told["rows"].items()
        for load, (b1, b2, b3, h1, h2, h3) in ((load, row[load]) for load in WORKLOADS if load in row)
    }
    says = {kind: row["says"] for kind, row in told["rows"].items()}
    return Times(where, told["torch"], told["python"], told["machine"], told[PLAIN], says, cells)
