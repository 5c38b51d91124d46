"""Merging run files: shards of one run become one run, runs of several torches stand one after another."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from reports.atlas import run_key
from reports.runfile import Key, Run
from reports.strict import BadInput, shown

SAME = ("suite", "torch", "python", "platform", "device", "profile", "examples", "seed")


def merge(runs: Iterable[Run]) -> list[Run]:
    """Return one run for each environment, refusing whatever would make the result a lie."""
    groups: dict[str, list[Run]] = {}
    for run in runs:
        groups.setdefault(run_key(run), []).append(run)
    return [_one(groups[key]) for key in sorted(groups, key=lambda key: (groups[key][0].version, key))]


def _one(group: list[Run]) -> Run:
    first = group[0]
    header: dict[str, Any] = {**first.header, "shard": [1, 1]}
    header["modes"], header["clauses"], header["nodes"] = [], {}, {}
    cells: dict[Key, Any] = {}
    told: dict[Key, Run] = {}
    for run in group:
        _check_same(first, run)
        _add_clauses(header["clauses"], run)
        header["nodes"].update(run.header["nodes"])
        header["modes"] += [mode for mode in run.header["modes"] if mode not in header["modes"]]
        for key, cell in run.cells.items():
            other = told.setdefault(key, run)
            if other is not run:
                was, now = cells[key]["verdict"], cell["verdict"]
                lie = "both say " + now if was == now else f"{was} there, {now} here"
                fault = f"{key[0]} [{key[1]}] is also told by {other.path} ({lie})"
                raise BadInput(run.path, "", fault, "give one of the two files")
            cells[key] = cell
    _check_shards(group)
    header["began"] = min(run.header["began"] for run in group)
    benchmarks = tuple(row for run in group for row in run.benchmarks)
    return Run(first.path, header, cells, benchmarks, sum(run.seconds for run in group))


def _check_same(first: Run, run: Run) -> None:
    for name in SAME:
        ours, theirs = run.header[name], first.header[name]
        if ours != theirs:
            fault = f"{name} is {shown(ours)}, but {shown(theirs)} in {first.path}"
            raise BadInput(run.path, "line 1", fault, "merge runs of one environment, made with the same options")


def _add_clauses(table: dict[str, Any], run: Run) -> None:
    for name, clause in run.clauses.items():
        known = table.setdefault(name, clause)
        if known["digest"] != clause["digest"]:
            fault = f"the clause {name} has another text than in the files before"
            raise BadInput(run.path, "line 1", fault, "run all shards from one checkout")


def _check_shards(group: list[Run]) -> None:
    """Refuse a set of shards of which one is missing: the merged run would look whole."""
    of = {run.header["shard"][1] for run in group}
    for total in sorted(of - {1}):
        have = {run.header["shard"][0]: run for run in group if run.header["shard"][1] == total}
        missing = [str(shard) for shard in range(1, total + 1) if shard not in have]
        if missing:
            fault = f"shard {', '.join(missing[:5])} of {total} is missing"
            raise BadInput(next(iter(have.values())).path, "", fault, "give all shards of the run")
