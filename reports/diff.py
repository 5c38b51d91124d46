"""The difference between two torches: which cells changed, and how."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from reports.atlas import Cell, newest_table, recorded_cells, run_cells
from reports.forms import escaped, fenced
from reports.names import did_you_mean, near, unknown
from reports.programs import path_of, program
from reports.runfile import Key, Run, read_run
from reports.strict import FORMAT, BadInput
from reports.traces import side_by_side
from reports.verdicts import Recorded, Table

#: what an upgrade may bring, what hurts most first
KINDS = {
    "deviates": "new deviations",
    "removed": "removed",
    "changed": "changed readings",
    "fixed": "fixed",
    "added": "added",
    "otherwise": "otherwise different",
}
BROKEN = ("deviates", "crashed", "hung")


@dataclass(frozen=True)
class Change:
    """One cell that is not the same on both sides."""

    clause: str
    mode: str
    to_mode: str
    says: str
    before: Cell
    after: Cell

    @property
    def kind(self) -> str:
        """What the change is to somebody who upgrades: one of KINDS."""
        before, after = self.before.verdict, self.after.verdict
        if after in BROKEN and before not in BROKEN:
            return "deviates"
        if before in BROKEN and after == "conforms":
            return "fixed"
        if (before == "absent") != (after == "absent"):
            return "added" if before == "absent" else "removed"
        return "changed" if before == after == "conforms" else "otherwise"


@dataclass(frozen=True)
class Diff:
    """All changes from one torch to another, and what could not be compared."""

    before: str
    after: str
    changes: tuple[Change, ...]
    same: int
    unseen: int


def compare(
    first: str, second: str, table: Table, recorded: list[Recorded], modes: tuple[str, str] | None = None
) -> Diff:
    """Compare two sides, each a minor version or a run file: in every mode, or each side in the one that is named."""
    sides = _side(first, recorded), _side(second, recorded)
    _, clauses = newest_table(table, [side for side in sides if isinstance(side, Run)])
    before, after = (_cells(side, clauses) for side in sides)
    old_name, new_name = map(_name, sides)
    if modes:
        known = sorted({mode for _, mode in (*before, *after)})
        before, after = (_of_mode(cells, mode, known) for cells, mode in zip((before, after), modes, strict=True))
        old_name, new_name = f"{old_name}, {modes[0]}", f"{new_name}, {modes[1]}"
    changes: list[Change] = []
    same = unseen = 0
    blank = Cell("unseen")
    for key in sorted(set(before) | set(after)):
        old, new = before.get(key, blank), after.get(key, blank)
        if "unseen" in (old.verdict, new.verdict):
            unseen += 1
        elif state(old) == state(new):
            same += 1
        else:
            clause, mode = key
            old_mode, new_mode = modes or (mode, mode)
            changes.append(Change(clause, old_mode, new_mode, clauses[clause]["says"], old, new))
    return Diff(old_name, new_name, tuple(changes), same, unseen)


def _of_mode(cells: Mapping[Key, Cell], asked: str, known: list[str]) -> dict[Key, Cell]:
    """Return the cells of one mode under no mode's name, so that they meet those of another."""
    if asked not in known:
        raise unknown("mode", asked, known, f"measured are {', '.join(known)}")
    return {(clause, ""): cell for (clause, mode), cell in cells.items() if mode == asked}


def state(cell: Cell) -> tuple[Any, ...]:
    """Return what makes two cells equal for a reader: the verdict, the reading, and which reading holds instead."""
    return cell.verdict, cell.reading, cell.holds


def _side(name: str, recorded: list[Recorded]) -> Recorded | Run:
    for old in recorded:
        if name.removeprefix("torch") in (old.minor, old.torch):
            return old
    path, plain = Path(name), name.removeprefix("torch")
    known = [old.minor for old in recorded]
    listed = ", ".join(known) or "none"
    if path.exists() or (path.suffix and not name.replace(".", "").isdigit()):
        return read_run(path)
    if path.suffix or near(plain, known):
        hint = did_you_mean(plain, known) or f"take one of {listed}, or a run file"
        raise BadInput(name, "", "no such version is recorded", hint)
    raise BadInput(name, "", "is neither a recorded version nor a run file", f"recorded are {listed}")


def _cells(side: Recorded | Run, clauses: Mapping[str, Any]) -> dict[Key, Cell]:
    return run_cells(side, clauses) if isinstance(side, Run) else recorded_cells(side, clauses)


def _name(side: Recorded | Run) -> str:
    return f"{side.header['torch']} (this run)" if isinstance(side, Run) else side.torch


def words(cell: Cell) -> str:
    """Return a cell in words."""
    text = cell.verdict
    if cell.new:
        text += ", not declared"
    if cell.reading is not None:
        text += f" ({cell.reading})"
    if cell.holds:
        text += f", behaves as {' / '.join(cell.holds)}"
    return text


def _by_kind(diff: Diff) -> list[tuple[str, list[Change]]]:
    groups = [(title, [one for one in diff.changes if one.kind == kind]) for kind, title in KINDS.items()]
    return [(title, changes) for title, changes in groups if changes]


def as_text(diff: Diff) -> str:
    """Return the difference for a terminal."""
    lines = [f"torch {diff.before} -> {diff.after}: {_summary(diff)}"]
    for title, changes in _by_kind(diff):
        lines += ["", f"{title} ({len(changes)})"]
        for change in changes:
            lines += [
                "",
                f"{change.clause} [{_modes(change)}]  {change.says}",
                f"  - {words(change.before)}",
                f"  + {words(change.after)}",
                *(f"  example: python {path}" for path in _example(change)),
            ]
            for torch, evidence in _evidence(diff, change):
                lines += [f"  on torch {torch}:", *(f"    {line}" for line in evidence["plan"].split("\n") if line)]
                lines += [f"    {line}" for line in side_by_side(evidence["expected"], evidence["observed"])]
    return "\n".join(lines) + "\n"


def as_json(diff: Diff) -> str:
    """Return the difference as JSON."""
    document = {
        "format": FORMAT,
        "before": diff.before,
        "after": diff.after,
        "same": diff.same,
        "unseen": diff.unseen,
        "changes": [
            {
                "clause": change.clause,
                "mode": change.mode,
                "to_mode": change.to_mode,
                "kind": change.kind,
                "says": change.says,
                "before": _plain(change.before),
                "after": _plain(change.after),
                "example": next(_example(change), None),
            }
            for change in diff.changes
        ],
    }
    return json.dumps(document, indent=1) + "\n"


def as_markdown(diff: Diff) -> str:
    """Return the difference as a table for an issue or a pull request."""
    lines = [f"**torch {escaped(diff.before)} → {escaped(diff.after)}**: {_summary(diff)}", ""]
    for title, changes in _by_kind(diff):
        lines += [f"### {title[0].upper() + title[1:]} ({len(changes)})", ""]
        lines += ["| clause | before | after | says | example |", "|---|---|---|---|---|"]
        for change in changes:
            mode = "" if _modes(change) == "eager" else f" [{_modes(change)}]"
            row = (words(change.before), words(change.after), change.says)
            example = "".join(f"`{path}`" for path in _example(change))
            lines.append(f"| `{change.clause}`{mode} | {' | '.join(map(escaped, row))} | {example} |")
        lines.append("")
        for change in changes:
            for torch, evidence in _evidence(diff, change):
                what = "plan and traces" if evidence["plan"] else "traces"
                lines += ["<details>", f"<summary>{change.clause} on torch {escape(torch)}: {what}</summary>", ""]
                lines += fenced(evidence["plan"]) if evidence["plan"] else []
                lines += fenced("\n".join(side_by_side(evidence["expected"], evidence["observed"])), "text")
                lines += ["", "</details>", ""]
    return "\n".join(lines) + "\n"


def _modes(change: Change) -> str:
    return change.mode if change.mode == change.to_mode else f"{change.mode} -> {change.to_mode}"


def _evidence(diff: Diff, change: Change) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield each side that has traces to show, with its name."""
    for torch, cell in ((diff.before, change.before), (diff.after, change.after)):
        if cell.evidence is not None and (cell.evidence["expected"] or cell.evidence["observed"]):
            yield torch, cell.evidence


def _example(change: Change) -> Iterator[str]:
    """Yield the path of the program that shows what each side does, if there is one."""
    if program(change.clause, change.says):
        yield path_of(change.clause)


def _plain(cell: Cell) -> dict[str, Any]:
    return {
        "verdict": cell.verdict,
        "reading": cell.reading,
        "declared": cell.declared,
        "holds": list(cell.holds),
        "evidence": dict(cell.evidence) if cell.evidence is not None else None,
    }


def _summary(diff: Diff) -> str:
    kinds = Counter((change.before.verdict, change.after.verdict) for change in diff.changes)
    told = [f"{count} {old} to {new}" for (old, new), count in sorted(kinds.items()) if old != new]
    readings = sum(count for (old, new), count in kinds.items() if old == new)
    if readings:
        told.append(f"{readings} of another reading")
    detail = f" ({', '.join(told)})" if told else ""
    unseen = f", {diff.unseen} not seen on both" if diff.unseen else ""
    return f"{len(diff.changes)} of {len(diff.changes) + diff.same} cells differ{detail}{unseen}"


FORMATS = {"text": as_text, "json": as_json, "markdown": as_markdown}
