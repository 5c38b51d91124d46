"""The recorded costs: one file, a line for each figure, kind and release, so that its diff can be read."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from packaging.version import Version

from reports.costs.change import too_little
from reports.costs.counts import BUILD, NOT_COUNTED, Costs, Figure, Key, Times
from reports.data.runfile import check_version, is_release
from reports.data.strict import FORMAT, BadInput, foreign_format, parse, read_bytes, validate, write_atomic
from reports.data.verdicts import COSTS_NAME, VERDICTS

COSTS = VERDICTS / COSTS_NAME
AGAIN = "restore it with git, or record the counts again"


@dataclass(frozen=True)
class Record:
    """The counts of releases, oldest first, and perhaps the times of one of them."""

    costs: tuple[Costs, ...] = ()
    times: Times | None = None


NOTHING = Record()


def read_record(path: Path = COSTS) -> Record:
    """Return what is recorded; an empty record where there is no file."""
    if not path.exists():
        return NOTHING
    document = parse(read_bytes(path), path, "", AGAIN)
    foreign_format(document, path, "")
    validate(document, "costs.schema.json", path, "", AGAIN)
    found = [_costs(document, release, path) for release in document["releases"]]
    return Record(_sorted(found), Times(str(path), document["times"]) if "times" in document else None)


def _sorted(costs: Iterable[Costs]) -> tuple[Costs, ...]:
    return tuple(sorted(costs, key=lambda each: Version(each.torch)))


def _costs(document: dict[str, Any], release: str, path: Path) -> Costs:
    about = document["releases"][release]
    check_version(path, release, "torch", about["torch"], AGAIN)
    figures: dict[Key, Figure] = {}
    for figure, kinds in document["rows"].items():
        for kind, row in kinds.items():
            cell = row["of"].get(release)
            names = figure, kind, row["says"], row["work"]
            if isinstance(cell, str):
                figures[figure, kind] = Figure(*names, why=cell.removeprefix(f"{NOT_COUNTED}: "))
            elif cell:
                figures[figure, kind] = Figure(*names, *cell)
    costs = Costs(f"torch {release}", about["torch"], {name: about[name] for name in BUILD}, about["seeds"], figures)
    if costs.minor != release:
        raise BadInput(path, release, f"holds torch {costs.torch}", AGAIN)
    return costs


def document(record: Record) -> dict[str, Any]:
    """Return the record as it is written: the words and the order of the kinds are those of the newest release."""
    rows: dict[str, dict[str, Any]] = {}
    for costs in reversed(record.costs):
        for (figure, kind), one in costs.figures.items():
            row = rows.setdefault(figure, {}).setdefault(kind, {"says": one.says, "work": one.work, "of": {}})
            numbers = [round(number) for number in (one.bare, one.added, one.lowest, one.highest)]
            row["of"] = {costs.minor: f"{NOT_COUNTED}: {one.why}" if one.why else numbers, **row["of"]}
    releases = {each.minor: {"torch": each.torch, **each.build, "seeds": each.seeds} for each in record.costs}
    times = {"times": record.times.document} if record.times else {}
    return {"format": FORMAT, "releases": releases, "rows": rows, **times}


def merged(record: Record, counts: Iterable[Costs], times: Times | None = None) -> Record:
    """Return the record with these in the place of what it holds of their releases. Raises BadInput for no releases.

    Kinds of hook that are not counted again stay: counting some takes minutes where all take hours.
    """
    new: dict[str, Costs] = {}
    for costs in counts:
        version = Version(costs.torch)
        if not is_release(version):
            raise BadInput(costs.where, "", f"torch {costs.torch} is not a release", "only releases are recorded")
        if costs.minor in new:
            raise BadInput(costs.where, "", f"{new[costs.minor].where} is of torch {costs.minor} too", "give one")
        new[costs.minor] = Costs(costs.where, version.public, costs.build, costs.seeds, costs.figures)
    kept = {each.minor: each for each in record.costs}
    for minor in kept.keys() & new.keys():
        new[minor] = _together(kept[minor], new[minor])
    for costs in new.values():
        if too_little(costs):
            raise BadInput(costs.where, "", too_little(costs), "count it again, with five seeds")
    return Record(_sorted({**kept, **new}.values()), times or record.times)


def _together(old: Costs, new: Costs) -> Costs:
    """Return the new figures of a release, and the old ones of other kinds. Raises BadInput where they do not match."""
    figures = {**old.figures, **new.figures}
    same = (old.torch, old.build, old.seeds) == (new.torch, new.build, new.seeds)
    if not same and len(figures) > len(new.figures):
        lost = f"{len(figures) - len(new.figures)} figures of torch {old.torch} are counted with another build"
        raise BadInput(new.where, "", lost, "count all kinds of hook")
    return Costs(new.where, new.torch, new.build, new.seeds, figures)


def write_record(record: Record, path: Path) -> None:
    """Write the record: one line for each list of numbers."""
    text = json.dumps(document(record), indent=1, ensure_ascii=False)
    text = re.sub(r"\[\n([^\[\]{}\"]*?)\n\s*\]", lambda found: f"[{' '.join(found[1].split())}]", text)
    write_atomic(path, text + "\n")
