"""What hooks cost on one torch, in instructions and in time: how it is held, and how it is read from a file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from packaging.version import Version

from reports.data.runfile import check_version, minor
from reports.data.strict import BadInput, parse, read_bytes, shown, validate

FORMAT = "hook counts 1"
COUNT = "count a torch in a clone with: python -m suites.timing"
NOT_COUNTED = "not counted"
BUILD = ("python", "libc", "valgrind")
HOOK = "hook"  # the figure of one hook, which every kind has
#: The words for each figure, of a kind of hook.
WORDS = {
    "hook": "{}", "second": "the 2nd {}", "sixteenth": "the 16th {}", "register": "registering and removing a {}",
}  # fmt: skip
MEASURE = "measure it in a clone with: pytest suites/timing --benchmark-only --benchmark-json=FILE"
WORKLOADS = {"empty": "empty module", "small": "small layer", "large": "large layer"}
PLAIN = "plain_call"
Key = tuple[str, str]


@dataclass(frozen=True)
class Figure:
    """What hooks of one kind add to one pass, and the pass without them: the medians over the seeds, and the extremes.

    In instructions. Where `why` says why nothing was counted, all numbers are 0.
    """

    figure: str
    kind: str
    says: str
    work: str
    bare: float = 0.0
    added: float = 0.0
    lowest: float = 0.0
    highest: float = 0.0
    why: str = ""

    @property
    def key(self) -> Key:
        """What makes it another figure of the same torch."""
        return self.figure, self.kind

    @property
    def words(self) -> str:
        """The figure in words."""
        return WORDS[self.figure].format(self.says)


@dataclass(frozen=True)
class Costs:
    """All figures of one torch, and with what they were counted; `build` is python, libc and valgrind."""

    where: str
    torch: str
    build: Mapping[str, str]
    seeds: int
    figures: Mapping[Key, Figure]

    @property
    def minor(self) -> str:
        """The minor version, by which it is recorded."""
        return minor(Version(self.torch))

    @property
    def python(self) -> str:
        """The version of Python, such as 3.11.7."""
        return self.build["python"].split(" ")[0]


@dataclass(frozen=True)
class Times:
    """The times of one torch on one machine, as they are recorded: "times" in costs.schema.json, in ns."""

    where: str
    document: Mapping[str, Any]


def read(path: Path) -> Costs | Times:
    """Return what is in a counts file, or in the JSON of pytest-benchmark. Raises BadInput for any other file."""
    document = parse(read_bytes(path), path, "", COUNT)
    if isinstance(document, dict) and "benchmarks" in document:
        return from_benchmarks(document, path)
    version = document.get("format") if isinstance(document, dict) else None
    if version != FORMAT:
        fault = "is neither a counts file nor JSON of pytest-benchmark"
        if isinstance(version, str) and version.startswith(FORMAT[:-1]):
            fault = f"is of the format {shown(version)}, this suite reads {FORMAT!r}"
        raise BadInput(path, "", fault, COUNT)
    return from_counts(document, path)


def from_counts(document: Mapping[str, Any], path: Path) -> Costs:
    """Return what is in a counts file. Raises BadInput where it does not hold one number for each seed."""
    validate(document, "costs.schema.json#/$defs/counts", path, "", COUNT)
    check_version(path, "", "torch", document["torch"], COUNT)
    figures: dict[Key, Figure] = {}
    for row in document["rows"]:
        figure = _figure(row, len(document["seeds"]), path)
        if figure.key in figures:
            raise BadInput(path, " ".join(figure.key), "is there twice", COUNT)
        figures[figure.key] = figure
    return Costs(str(path), document["torch"], document["build"], len(document["seeds"]), figures)


def _figure(row: Mapping[str, Any], seeds: int, path: Path) -> Figure:
    names = row["figure"], row["kind"], row["says"], row["work"]
    why = [f"this torch has no {', '.join(row['absent'])}"] * bool(row["absent"]) + [row["why"]] * bool(row["why"])
    for name in ("bare", "added"):
        wanted = 0 if why else seeds
        if len(row[name]) != wanted:
            fault = f"has {len(row[name])} numbers in {name} where there are {wanted}" + (" seeds" if wanted else "")
            raise BadInput(path, f"{row['figure']} {row['kind']}", fault, COUNT)
    if why:
        return Figure(*names, why="; ".join(why))
    added = row["added"]
    return Figure(*names, median(row["bare"]), median(added), min(added), max(added))


def from_benchmarks(document: Mapping[str, Any], path: Path) -> Times:
    """Return the times in the JSON of pytest-benchmark. Raises BadInput where it is that of other tests."""
    try:
        machine, runs = (
            document["machine_info"],
            [(each["extra_info"], each["stats"]) for each in document["benchmarks"]],
        )
        sides = {
            (info["kind"], info["workload"], info["side"]): [
                round(stats[name] * 1e9, 1) for name in ("q1", "median", "q3")
            ]
            for info, stats in runs
        }
        torch, *others = {info["torch"] for info, _ in runs if info["kind"] != PLAIN}
        rows: dict[str, dict[str, Any]] = {info["kind"]: {"says": info["says"]} for info, _ in runs}
        for (kind, workload, side), hook in sides.items():
            if side == "hook":
                rows[kind][workload] = sides[kind, workload, "bare"] + hook
        _, plain, _ = sides[PLAIN, "empty", "bare"]
        name = machine.get("cpu", {}).get("brand_raw") or machine["machine"]
        found = {"torch": torch, "python": machine["python_version"], "machine": name, PLAIN: plain, "rows": rows}
    except (KeyError, TypeError, ValueError, AttributeError):  # it has another shape
        raise BadInput(path, "", "is not the JSON of a whole run of suites/timing", MEASURE) from None
    if others or len(sides) != len(runs):
        raise BadInput(path, "", "holds more than one run", MEASURE)
    del rows[PLAIN]
    validate(found, "costs.schema.json#/$defs/times", path, "", MEASURE)
    check_version(path, "", "torch", torch, MEASURE)
    return Times(str(path), found)
