"""What hooks cost in time, as pytest-benchmark measured it: shown next to the counts, compared with nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reports.runfile import check_version
from reports.strict import BadInput, validate

MEASURE = "measure it with: pytest suites/timing --benchmark-only --benchmark-json=FILE"
WORKLOADS = {"empty": "empty module", "small": "small layer", "large": "large layer"}
PLAIN = "plain_call"
DIGITS = 4  # of a number of nanoseconds: more than any clock holds


@dataclass(frozen=True)
class Times:
    """The times of one torch on one machine, as they are recorded: "times" in costs.schema.json, in ns."""

    where: str
    told: Mapping[str, Any]


def from_benchmarks(document: Mapping[str, Any], path: Path) -> Times:
    """Return the times in the JSON of pytest-benchmark. Raises BadInput where it is that of other tests."""
    validate(document, "costs.schema.json#/$defs/benchmarks", path, "", MEASURE)
    sides: dict[tuple[str, str, str], list[float]] = {}
    rows: dict[str, dict[str, Any]] = {}
    torches = set()
    for each in document["benchmarks"]:
        info = each["extra_info"]
        key = (info["kind"], info.get("workload", ""), info.get("side", ""))
        if key in sides:
            raise BadInput(path, " ".join(key).strip(), "is there twice", MEASURE)
        sides[key] = [float(f"{each['stats'][name] * 1e9:.{DIGITS}g}") for name in ("q1", "median", "q3")]
        if key[0] != PLAIN:
            rows[key[0]] = {"says": info.get("says", key[0])}
            torches.add(info.get("torch"))
    plain = next((middle for (kind, *_), (_, middle, _) in sides.items() if kind == PLAIN), 0.0)
    if not plain or len(torches) != 1:
        fault = "has no time of a plain call" if not plain else f"is of {len(torches)} torches where one is wanted"
        raise BadInput(path, "", fault, MEASURE)
    for (kind, workload, side), hook in sides.items():
        if side == "hook":
            if (kind, workload, "bare") not in sides:
                raise BadInput(path, f"{kind} {workload}", "has no time without the hook", MEASURE)
            rows[kind][workload] = sides[kind, workload, "bare"] + hook
    machine, torch = document["machine_info"], str(torches.pop())
    check_version(path, "", "torch", torch, MEASURE)
    name = machine.get("cpu", {}).get("brand_raw") or machine["machine"]
    told = {"torch": torch, "python": machine["python_version"], "machine": name, PLAIN: plain, "rows": rows}
    return Times(str(path), told)
