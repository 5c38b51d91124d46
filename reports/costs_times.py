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


@dataclass(frozen=True)
class Times:
    """The times of one torch on one machine, as they are recorded: "times" in costs.schema.json, in ns."""

    where: str
    told: Mapping[str, Any]


def from_benchmarks(document: Mapping[str, Any], path: Path) -> Times:
    """Return the times in the JSON of pytest-benchmark. Raises BadInput where it is that of other tests."""
    try:
        machine, told = (
            document["machine_info"],
            [(each["extra_info"], each["stats"]) for each in document["benchmarks"]],
        )
        sides = {
            (info["kind"], info["workload"], info["side"]): [
                round(stats[name] * 1e9, 1) for name in ("q1", "median", "q3")
            ]
            for info, stats in told
        }
        torch, *others = {info["torch"] for info, _ in told if info["kind"] != PLAIN}
        rows: dict[str, dict[str, Any]] = {info["kind"]: {"says": info["says"]} for info, _ in told}
        for (kind, workload, side), hook in sides.items():
            if side == "hook":
                rows[kind][workload] = sides[kind, workload, "bare"] + hook
        _, plain, _ = sides[PLAIN, "empty", "bare"]
        name = machine.get("cpu", {}).get("brand_raw") or machine["machine"]
        found = {"torch": torch, "python": machine["python_version"], "machine": name, PLAIN: plain, "rows": rows}
    except (KeyError, TypeError, ValueError, AttributeError):  # it has another shape
        raise BadInput(path, "", "is not the JSON of a whole run of suites/timing", MEASURE) from None
    if others or len(sides) != len(told):
        raise BadInput(path, "", "holds more than one run", MEASURE)
    del rows[PLAIN]
    validate(found, "costs.schema.json#/$defs/times", path, "", MEASURE)
    check_version(path, "", "torch", torch, MEASURE)
    return Times(str(path), found)
