"""The recorded costs: one small file for each torch, all of one sweep on one machine."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from reports.costs import FLOOR, SHORTEST, Costs, Figure, check_kind, check_noise, value_names
from reports.costs_stats import Estimate
from reports.runfile import check_version, is_release
from reports.strict import FORMAT, BadInput, foreign_format, parse, read_bytes, shown, validate, write_atomic
from reports.verdicts import VERDICTS

COSTS = VERDICTS / "costs"
AGAIN = "restore it with git, or record the sweep again"
ONE_SWEEP = timedelta(days=1)  # within which its runs must have begun
DIGITS = 4  # of a number in a file: more than any measurement holds


def read_costs(folder: Path = COSTS) -> list[Costs]:
    """Return all recorded costs, oldest torch first; none where nothing was recorded yet."""
    return sorted((_costs(path) for path in folder.glob("*.json")), key=lambda costs: costs.version)


def _costs(path: Path) -> Costs:
    document = parse(read_bytes(path), path, "", AGAIN)
    foreign_format(document, path, "")
    validate(document, "costs.schema.json", path, "", AGAIN)
    check_version(path, "", "torch", document["torch"])
    figures = [_figure(each) for each in document["figures"]]
    keyed = {figure.key: figure for figure in figures}
    if len(keyed) != len(figures):
        raise BadInput(path, "", "holds a figure twice", AGAIN)
    for figure in figures:
        _check(path, figure, document["environment"]["processes"])
    if FLOOR not in keyed or not keyed[FLOOR].values:
        raise BadInput(path, "", "holds no plain Python call", AGAIN)
    check_noise(path, keyed, AGAIN)
    found = Costs(str(path), document["torch"], document["sweep"], document["environment"], keyed)
    if found.minor != path.stem:
        raise BadInput(path, "", f"holds torch {found.torch}, not {path.stem}", AGAIN)
    return found


def _check(path: Path, figure: Figure, processes: int) -> None:
    place = " ".join(map(str, figure.key))
    check_kind(path, place, figure.figure, figure.unit, figure.work)
    if figure.each and figure.absent:
        raise BadInput(path, place, "must not have each", AGAIN)
    if figure.each and len(figure.each) != processes:
        raise BadInput(path, place, f"tells {len(figure.each)} of {processes} processes", AGAIN)
    if len(figure.weights) != len(figure.each):
        raise BadInput(path, place, f"has {len(figure.weights)} weights for {len(figure.each)} processes", AGAIN)
    names = set() if figure.absent else set(value_names(figure.figure, figure.unit, figure.work))
    odd = min(names ^ set(figure.values), default="")
    if odd:
        fault = f"{'has no' if odd in names else 'must not have'} {odd}"
        raise BadInput(path, place, fault, AGAIN)
    for name, value in figure.values.items():
        if not value.low <= value.mid <= value.high:
            raise BadInput(path, place, f"{name} does not lie in its interval", AGAIN)
    if "control" in names and figure.values["control"].low < SHORTEST:
        raise BadInput(path, place, f"the control takes {figure.values['control'].low:g} {figure.unit}", AGAIN)


def _figure(each: dict[str, Any]) -> Figure:
    values = {name: Estimate(*value) for name, value in each["values"].items()}
    lists = {name: tuple(each.get(name, ())) for name in ("absent", "each", "weights")}
    return Figure(**{**each, **lists, "values": values})


def document(costs: Costs) -> dict[str, Any]:
    """Return the costs as they are written."""
    figures = [
        {
            "figure": figure.figure, "hook": figure.hook, "workload": figure.workload, "hooks": figure.hooks,
            "says": figure.says, "work": figure.work, "absent": list(figure.absent), "unit": figure.unit,
            "fires": figure.fires,
            "values": {name: rounded(value) for name, value in figure.values.items()},
            **({"each": [short(value) for value in figure.each], "weights": [*figure.weights]} if figure.each else {}),
        }
        for figure in costs.figures.values()
    ]  # fmt: skip
    return {
        "format": FORMAT, "torch": costs.version.public, "sweep": costs.sweep,
        "environment": dict(costs.environment), "figures": figures,
    }  # fmt: skip


def rounded(value: Estimate) -> list[float]:
    """Return low, middle and high."""
    return [short(number) for number in (value.low, value.mid, value.high)]


def short(number: float) -> float:
    """Return a number with as many digits as mean something."""
    return float(f"{number:.{DIGITS}g}")


def record(sweep: Iterable[Costs], folder: Path = COSTS) -> list[Path]:
    """Write the costs of one sweep in place of all that were recorded. Raises BadInput unless they belong together."""
    sweep = sorted(sweep, key=lambda costs: costs.version)
    first = sweep[0]
    seen: dict[str, Costs] = {}
    for costs in sweep:
        if not is_release(costs.version):
            raise BadInput(costs.where, "", f"torch {costs.torch} is no release", "only releases are recorded")
        if costs.minor in seen:
            raise BadInput(costs.where, "", f"{seen[costs.minor].where} is of torch {costs.minor} too", "give one")
        if costs.machine != first.machine:
            fault = f"was measured on {shown(costs.machine)}, but {first.where} on {shown(first.machine)}"
            raise BadInput(costs.where, "", fault, "record one sweep on one machine")
        seen[costs.minor] = costs
    earliest, latest = min(sweep, key=_began), max(sweep, key=_began)
    if _began(latest) - _began(earliest) > ONE_SWEEP:
        fault = f"was measured {latest.sweep}, but {earliest.where} {earliest.sweep}: more than a day before"
        raise BadInput(latest.where, "", fault, "record one sweep")
    texts = {}
    for costs in sweep:
        whole = document(costs)
        texts[folder / f"{costs.minor}.json"] = _text({**whole, "sweep": earliest.sweep})
    for path, text in texts.items():
        write_atomic(path, text)
    for path in folder.glob("*.json"):
        if path not in texts:
            path.unlink()
    return list(texts)


def _began(costs: Costs) -> datetime:
    try:
        return datetime.fromisoformat(costs.sweep)
    except ValueError:
        raise BadInput(costs.where, "", f"began {shown(costs.sweep)}, which is no time", "measure again") from None


def _text(whole: dict[str, Any]) -> str:
    """Return the file: one line for each figure."""
    figures = ",\n".join("  " + json.dumps(figure, ensure_ascii=False) for figure in whole["figures"])
    rest = json.dumps({**whole, "figures": []}, indent=1, ensure_ascii=False)
    return rest.replace('"figures": []', f'"figures": [\n{figures}\n ]') + "\n"
