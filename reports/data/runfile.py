"""The run file: JSON lines of one session in one environment, read into a validated object and written back.

A file that still grows is read by a `Follower`.
"""

from __future__ import annotations

import functools
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import InvalidVersion, Version

from fixtures.run.naming import RUN
from reports.data.cell import Cell, Key
from reports.data.clause import Clause, Clauses, read_clauses
from reports.data.strict import BadInput, foreign_format, parse, read_bytes, shown, validate, write_atomic

KINDS = ("header", "started", "cell", "footer")
AGAIN = "run the suite again into a new file"
USUAL = {"platform": "Linux-x86_64", "device": "cpu"}  # where releases are recorded
#: The local part of a version that PyTorch itself gives to a build of a release: cpu, cu117, rocm6.2.
OFFICIAL = re.compile(r"cpu(\.cxx11\.abi)?|cu\d+(\.[a-z.]+)?|rocm[\d.]+|xpu")


@dataclass(frozen=True)
class Run:
    """One validated session: the header, the lines of its cells by clause and mode, and whether it was finished."""

    path: Path
    header: Mapping[str, Any]
    clauses: Clauses
    lines: Mapping[Key, Mapping[str, Any]]
    seconds: float = 0.0
    missing: tuple[Key, ...] = field(default=())
    footer: bool = True

    @functools.cached_property
    def cells(self) -> Mapping[Key, Cell]:
        """What was measured."""
        return {key: Cell.of_line(line, self.clauses[key[0]].digest) for key, line in self.lines.items()}

    @property
    def version(self) -> Version:
        """The torch version under test."""
        return Version(self.header["torch"])

    @property
    def target(self) -> Mapping[str, Any] | None:
        """What was measured, where that is more than a release on the CPU."""
        found: Mapping[str, Any] | None = self.header.get("target")
        return found

    @property
    def measured(self) -> str:
        """Who was measured: "2.13.0+cpu"; of a target its words, never the release alone."""
        return str(self.target["words"] if self.target else self.header["torch"])

    @property
    def complete(self) -> bool:
        """Whether nothing that was to run is missing."""
        return not self.missing

    @property
    def resume(self) -> str:
        """The command that finishes an unfinished run."""
        return f"resume it with: {RUN} --resume --run-file={self.path}"


def minor(version: Version) -> str:
    """Return "2.13" for 2.13.1."""
    return f"{version.major}.{version.minor}"


def is_release(version: Version) -> bool:
    """Say whether this is a torch that was released, in one of the builds that PyTorch offers."""
    official = version.local is None or OFFICIAL.fullmatch(version.local) is not None
    return official and not (version.is_prerelease or version.is_devrelease)


def run_key(run: Run) -> str:
    """Return the key of a run's column: the minor version of a release, and what else makes it its own.

    A target is known by its words, which name its device.
    """
    key = run.measured if run.target else minor(run.version) if is_release(run.version) else str(run.version)
    asked = [name for name in USUAL if not (run.target and name == "device")]
    own = [run.header[name] for name in asked if run.header[name] != USUAL[name]]
    return " ".join([key, *own])


def read_run(path: Path, *, partial: bool = False) -> Run:
    """Return the only run in the file."""
    runs = read_runs(path, partial=partial)
    if len(runs) > 1:
        raise BadInput(path, "", f"holds {len(runs)} runs where one is wanted", "name a file with one run")
    return runs[0]


def read_runs(path: Path, *, partial: bool = False) -> list[Run]:
    """Return every run in the file; an unfinished one is an error unless that is wanted."""
    lines = list(_lines(path, partial))
    if not lines:
        raise BadInput(path, "", "is empty", AGAIN)
    runs = [_run(path, section) for section in _sections(path, lines)]
    for run in runs:
        if not partial and not run.complete:
            clause, mode = run.missing[0]
            fault = f"the run is not finished: no cell of {clause} [{mode}] ({len(run.missing)} missing)"
            raise BadInput(path, "", fault, run.resume)
    return runs


def _lines(path: Path, partial: bool) -> Iterator[tuple[int, dict[str, Any]]]:
    raw_lines = read_bytes(path).split(b"\n")
    cut = raw_lines.pop() if raw_lines[-1] else None
    if raw_lines and not raw_lines[-1]:
        raw_lines.pop()
    for number, raw in enumerate(raw_lines, 1):
        yield number, _line(path, number, raw)
    if cut is not None:
        number = len(raw_lines) + 1
        try:
            last = _line(path, number, cut)
        except BadInput:
            if partial and number > 1:
                return
            if number == 1 and not cut.startswith(b'{"type": "header"'):
                raise
            hint = f"resume it with: {RUN} --resume --run-file={path}"
            raise BadInput(path, f"line {number}", "the last line is cut off", hint) from None
        yield number, last


def _line(path: Path, number: int, raw: bytes) -> dict[str, Any]:
    place = f"line {number}"
    value = parse(raw, path, place)
    foreign_format(value, path, place)
    kind = value.get("type") if isinstance(value, dict) else None
    if not isinstance(kind, str) or kind not in KINDS:
        fault = f"has the type {shown(kind)}, not one of {', '.join(KINDS)}" if kind else "is not a line of a run file"
        raise BadInput(path, place, fault, "give a run file that this suite wrote (*.jsonl)")
    validate(value, f"runfile.schema.json#/$defs/{kind}", path, place)
    return value


def _sections(path: Path, lines: list[tuple[int, dict[str, Any]]]) -> list[list[tuple[int, dict[str, Any]]]]:
    """Cut a merged file into its runs: each begins with a header and ends with a footer."""
    sections: list[list[tuple[int, dict[str, Any]]]] = []
    closed = True
    for number, line in lines:
        if line["type"] == "header":
            if not closed:
                fault = "a second header before the footer: two runs were written into one file"
                raise BadInput(path, f"line {number}", fault, "give each run its own file")
            sections.append([])
            closed = False
        elif closed:
            fault = "comes after the footer" if sections else "comes before the header"
            raise BadInput(path, f"line {number}", f"a {line['type']} line {fault}", AGAIN)
        sections[-1].append((number, line))
        closed = line["type"] == "footer"
    return sections


def _run(path: Path, lines: list[tuple[int, dict[str, Any]]]) -> Run:
    number, header = lines[0]
    clauses = _check_header(path, f"line {number}", header)
    cells: dict[Key, dict[str, Any]] = {}
    footer: dict[str, Any] | None = None
    for number, line in lines[1:]:
        place = f"line {number}"
        if line["type"] == "cell":
            _add_cell(path, place, clauses, header["modes"], cells, line)
        elif line["type"] == "started":
            _check_key(path, place, clauses, header["modes"], line)
        else:
            _check_footer(path, place, cells, line)
            footer = line
    wanted = {tuple(node) for node in header["nodes"].values()}
    wanted |= {(line["clause"], line["mode"]) for _, line in lines if line["type"] == "started"}
    missing = tuple(sorted(wanted - set(cells)))
    if footer is None and not wanted:
        fault = "the run is not finished: it has no footer and no nodes"
        raise BadInput(path, f"line {number}", fault, f"resume it with: {RUN} --resume --run-file={path}")
    seconds = footer["seconds"] if footer else sum(cell["seconds"] for cell in cells.values())
    return Run(path, header, clauses, cells, seconds, missing, footer is not None)


def _check_header(path: Path, place: str, header: dict[str, Any]) -> Clauses:
    """Return the clauses of a header that contradicts itself nowhere."""
    for name in ("torch", "suite"):
        check_version(path, place, name, header[name])
    shard, of = header["shard"]
    if shard > of:
        raise BadInput(path, place, f"shard {shard} of {of} cannot be", "shards count from 1: --shard 1/3 … 3/3")
    clauses = read_clauses(header["clauses"])
    check_clauses(path, place, clauses.values())
    for node, (clause, mode) in header["nodes"].items():
        if clause not in clauses:
            raise BadInput(path, place, f"node {shown(node)} is of the unknown clause {clause}", AGAIN)
        if mode not in header["modes"]:
            raise BadInput(path, place, f"node {shown(node)} is of the unknown mode {mode}", AGAIN)
    return clauses


def check_version(path: Path, place: str, name: str, version: str, hint: str = AGAIN) -> None:
    """Raise BadInput unless the text is a version as Python packages spell it."""
    try:
        Version(version)
    except InvalidVersion:
        raise BadInput(path, place, f"{name} {shown(version)} is not a version", hint) from None


def check_clauses(path: Path, place: str, clauses: Iterable[Clause]) -> None:
    """Raise BadInput for a clause whose readings have one name or no readable range."""
    for clause in clauses:
        if len(set(clause.reading_names)) != len(clause.readings):
            raise BadInput(path, place, f"two readings of {clause.id} have one name", "name each reading differently")
        for reading in clause.readings:
            try:
                SpecifierSet("" if reading.never else reading.torch)
            except InvalidSpecifier:
                fault = f"the reading {shown(reading.name)} of {clause.id} has the range {shown(reading.torch)}"
                raise BadInput(path, place, fault, 'write a range such as ">=1.10,<2.0" or "never"') from None


def _check_key(path: Path, place: str, clauses: Clauses, modes: list[str], line: dict[str, Any]) -> Key:
    clause, mode = line["clause"], line["mode"]
    if clause not in clauses:
        raise BadInput(path, place, f"is of the clause {clause}, which the header does not know", AGAIN)
    if mode not in modes:
        raise BadInput(path, place, f"is of the mode {mode}, which the header does not know", AGAIN)
    return clause, mode


def _add_cell(
    path: Path,
    place: str,
    clauses: Clauses,
    modes: list[str],
    cells: dict[Key, dict[str, Any]],
    line: dict[str, Any],
) -> None:
    key = _check_key(path, place, clauses, modes, line)
    names = set(clauses[key[0]].reading_names)
    named = {*line["refuted"], *line["holds"], *([] if line["reading"] is None else [line["reading"]])}
    if named - names:
        fault = f"names the reading {shown(min(named - names))}, which {key[0]} does not have"
        raise BadInput(path, place, fault, AGAIN)
    if key in cells:
        was, now = cells[key]["verdict"], line["verdict"]
        fault = f"a second cell of {key[0]} [{key[1]}], {now}" + (" again" if was == now else f" after {was}")
        raise BadInput(path, place, fault, AGAIN)
    cells[key] = line


def _check_footer(path: Path, place: str, cells: Mapping[Key, Any], footer: dict[str, Any]) -> None:
    counts = dict(Counter(cell["verdict"] for cell in cells.values()))
    named = {verdict: count for verdict, count in footer["counts"].items() if count}
    if footer["cells"] != len(cells) or named != counts:
        fault = f"the footer speaks of {footer['cells']} cells {named}, the file holds {len(cells)} {counts}"
        raise BadInput(path, place, fault, AGAIN)


def dump(run: Run) -> str:
    """Return the run as the lines of a run file, with a footer when nothing is missing."""
    lines: list[Mapping[str, Any]] = [run.header]
    for (clause, mode), line in run.lines.items():
        lines += [{"type": "started", "clause": clause, "mode": mode}, line]
    if run.footer:
        counts = Counter(line["verdict"] for line in run.lines.values())
        lines.append(
            {"type": "footer", "cells": len(run.lines), "counts": dict(sorted(counts.items())), "seconds": run.seconds}
        )
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)


def write_runs(path: Path, runs: list[Run]) -> None:
    """Write the runs one after another into one file."""
    write_atomic(path, "".join(dump(run) for run in runs))


class Follower:
    """A run file that still grows: how far the run is, and what came out so far."""

    def __init__(self, path: Path) -> None:
        """Begin before its first line."""
        self.path = path
        self.offset = self.number = 0
        self.header: Mapping[str, Any] | None = None
        self.cells: dict[Key, Cell] = {}
        self.finished = False

    def read(self) -> None:
        """Take in the whole lines written since the last call. Raises BadInput."""
        if not self.path.exists():
            return
        with self.path.open("rb") as stream:
            stream.seek(self.offset)
            fresh = stream.read()
        whole = fresh[: fresh.rfind(b"\n") + 1]
        self.offset += len(whole)
        for raw in whole.split(b"\n")[:-1]:
            self.number += 1
            line = _line(self.path, self.number, raw)
            if line["type"] == "header":
                self.header = line
            elif line["type"] == "cell":
                self.cells[line["clause"], line["mode"]] = Cell.of_line(line, "")
            self.finished = line["type"] == "footer"

    @property
    def progress(self) -> str:
        """How many cells there are, of how many."""
        return f"{len(self.cells)} of {len(self.header['nodes'])} clauses" if self.header else ""
