"""Merging run files: shards of one run become one run, runs of several torches follow one another.

Whatever would make the result false is refused: cells given twice, shards that are missing or were cut from another set
of cells, other texts of the clauses, another suite, another environment.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from fixtures.run.naming import RUN
from reports.data.cell import Key
from reports.data.clause import Clause
from reports.data.runfile import Run, run_key
from reports.data.strict import BadInput, shown

SAME = ("torch", "build", "python", "platform", "device", "profile", "examples", "seed", "hypothesis", "target")


def merge(runs: Iterable[Run]) -> list[Run]:
    """Return one run for each environment, refusing whatever would make the result false."""
    groups: dict[str, list[Run]] = {}
    clauses: dict[str, tuple[str, Run]] = {}
    first: Run | None = None
    for run in runs:
        first = first or run
        _check_whole(run)
        _check_suite(first, run)
        _check_texts(clauses, run)
        groups.setdefault(run_key(run), []).append(run)
    return [_one(groups[key]) for key in sorted(groups, key=lambda key: (groups[key][0].version, key))]


def _one(group: list[Run]) -> Run:
    check_group(group)
    _check_shards(group)
    group = settled(group)
    first = group[0]
    header: dict[str, Any] = {**first.header, "shard": [1, 1]}
    header["modes"], header["clauses"], header["nodes"] = [], {}, {}
    clauses: dict[str, Clause] = {}
    lines: dict[Key, Any] = {}
    for run in group:
        clauses.update(run.clauses)
        header["clauses"].update(run.header["clauses"])
        header["nodes"].update(run.header["nodes"])
        header["modes"] += [mode for mode in run.header["modes"] if mode not in header["modes"]]
        lines.update(run.lines)
    header["began"] = min(run.header["began"] for run in group)
    return Run(first.path, header, clauses, lines, sum(run.seconds for run in group))


def _check_whole(run: Run) -> None:
    """Refuse a run without its end: the merged file would have one."""
    if not run.footer:
        hint = f"resume it with: {RUN} --resume --run-file={run.path}"
        raise BadInput(run.path, "", "the run is not finished: it has no footer", hint)


def check_group(group: list[Run]) -> None:
    """Refuse runs that cannot be one column: of two environments, builds, searches or suites, or with a cell twice."""
    seen: dict[Key, Run] = {}
    texts: dict[str, tuple[str, Run]] = {}
    for run in group:
        _check_same(group[0], run)
        _check_suite(group[0], run)
        _check_texts(texts, run)
        for key, cell in run.cells.items():
            if cell.few is not None:  # gives way to one of all plans
                continue
            other = seen.setdefault(key, run)
            if other is not run:
                was, now = other.cells[key].verdict, cell.verdict
                verdicts = "both say " + now if was == now else f"{was} there, {now} here"
                fault = f"{key[0]} [{key[1]}] is also in {other.path} ({verdicts})"
                raise BadInput(run.path, "", fault, "give one of the two files")


def settled(group: list[Run]) -> list[Run]:
    """Return the runs without the cells of a few plans that another run has of all plans, or that came before."""
    known = {key for run in group for key, cell in run.cells.items() if cell.few is None}
    found = []
    for run in group:
        lines = {key: line for key, line in run.lines.items() if run.cells[key].few is None or key not in known}
        known |= lines.keys()
        found.append(replace(run, lines=lines))
    return found


def _check_same(first: Run, run: Run) -> None:
    for name in SAME:
        ours, theirs = run.header.get(name), first.header.get(name)
        if ours != theirs:
            fault = f"{name} is {shown(ours)}, but {shown(theirs)} in {first.path}"
            raise BadInput(run.path, "line 1", fault, "merge runs of one environment, made with the same options")


def _check_suite(first: Run, run: Run) -> None:
    ours, theirs = run.header["suite"], first.header["suite"]
    if ours != theirs:
        fault = f"was run with the suite {ours}, but {first.path} with {theirs}"
        raise BadInput(run.path, "line 1", fault, "run all with one suite")


def _check_texts(known: dict[str, tuple[str, Run]], run: Run) -> None:
    """Refuse two texts of one clause: cells of the one would be shown under the sentence of the other."""
    for name, clause in run.clauses.items():
        digest, other = known.setdefault(name, (clause.digest, run))
        if digest != clause.digest:
            fault = f"the clause {name} has another text than in {other.path}"
            raise BadInput(run.path, "line 1", fault, "run all with one suite")


def _check_shards(group: list[Run]) -> None:
    """Refuse shards that are not those of one run: the merged run would seem whole."""
    of = {run.header["shard"][1] for run in group}
    for total in sorted(of - {1}):
        have = {run.header["shard"][0]: run for run in group if run.header["shard"][1] == total}
        for run in group:
            if run.header["shard"][1] == total and have[run.header["shard"][0]] is not run:
                shard, path = run.header["shard"][0], have[run.header["shard"][0]].path
                raise BadInput(
                    run.path, "line 1", f"is shard {shard} of {total}, as {path} is", "give one of the two files"
                )
        missing = [str(shard) for shard in range(1, total + 1) if shard not in have]
        if missing:
            fault = f"shard {', '.join(missing[:5])} of {total} is missing"
            raise BadInput(next(iter(have.values())).path, "", fault, "give all shards of the run")
        _check_cut([have[shard] for shard in range(1, total + 1)])


def _check_cut(shards: list[Run]) -> None:
    """Refuse shards of different sets of cells: dealt out in turn, no shard has more than one cell above the last."""
    first, hint = shards[0], "run all shards with the same --mode and --clauses"
    for run in shards[1:]:
        if run.header.get("selection") != first.header.get("selection"):
            shard, of = run.header["shard"]
            fault = (
                f"shard {shard} of {of} was cut from other cells than shard {first.header['shard'][0]} in {first.path}"
            )
            raise BadInput(run.path, "line 1", fault, hint)
    sizes = [len(run.header["nodes"]) for run in shards]
    for run, size, before in zip(shards[1:], sizes[1:], sizes, strict=False):
        if set(run.header["modes"]) != set(first.header["modes"]):
            ours, theirs = (", ".join(each.header["modes"]) for each in (run, first))
            raise BadInput(run.path, "line 1", f"has the modes {ours}, but {first.path} has {theirs}", hint)
        if not sizes[0] - 1 <= size <= before:
            shard, of = run.header["shard"]
            fault = f"shard {shard} of {of} has {size} cells and the first one {sizes[0]}: not cut from the same cells"
            raise BadInput(run.path, "line 1", fault, hint)
