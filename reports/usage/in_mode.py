"""What a mode of execution does otherwise than eager for the hooks that code uses: `affects --mode`."""

from __future__ import annotations

import re
from collections import Counter

from reports.data.atlas import Atlas, Column
from reports.data.by_mode import UNDECLARED, UNPLAYED, known, otherwise
from reports.data.neighbours import neighbours
from reports.data.statements import Statement
from reports.data.strict import BadInput
from reports.data.table import RULE
from reports.usage.affects import Affected, AffectedSpan, Counts, Finding
from reports.usage.uses import Code, Use

#: The record has no effect of a rule: one whose sentence names an error raises.
RAISES = re.compile(r"\braises\b|Error\b")
#: Plans with one hook under test may hold others: a rule matters to an API that so many of the clauses about it alone
#: are otherwise by.
SHARE = 1 / 8
SEEN = ("conforms", "deviates")


def affects_in_mode(atlas: Atlas, columns: tuple[Column, ...], code: Code, mode: str, path: str, why: str) -> Affected:
    """Return a finding for each rule that matters to hooks in the code, once for a file and an API.

    Raises BadInput where the mode was measured on none of these releases.
    """
    have = {key for _, key, each in atlas.cells if each == mode}
    measured = tuple(column for column in columns if column.key in have)
    if not measured:
        known_on = ", ".join(column.label for column in atlas.columns if column.key in have)
        raise BadInput("--mode", mode, "was measured on none of these releases", f"it was on {known_on}")
    columns = measured
    files: dict[str, dict[str, Use]] = {}
    for use in code.uses:
        files.setdefault(use.file, {}).setdefault(use.api, use)
    met = {column: _met(atlas, column, mode) for column in columns}
    found: dict[tuple[str, str, tuple[AffectedSpan, ...]], list[Use]] = {}
    for first in files.values():
        on: dict[tuple[str, str, str], list[Column]] = {}
        for column in columns:
            for name, says, api in met[column]:
                if api in first and not code.guards.shut(first[api].guards, column.version):
                    on.setdefault((name, says, api), []).append(column)
        for (name, says, api), those in on.items():
            if not code.accepts(first[api], name):
                found.setdefault((name, says, _spans(columns, those, says)), []).append(first[api])
    findings = [Finding(name, says, spans, tuple(uses), mode=mode) for (name, says, spans), uses in found.items()]
    findings.sort(key=lambda one: (one.rank, one.clause, one.uses))
    unmeasured = sorted({use.api for use in code.uses} - _measured(atlas, columns, mode))
    why += f", {mode} next to eager" + (f" (not measured there: {', '.join(unmeasured)})" if unmeasured else "")
    return Affected(path, columns, why, _counts(atlas, columns, mode), code, (*findings,), ())


def _measured(atlas: Atlas, columns: tuple[Column, ...], mode: str) -> set[str]:
    """Return the APIs that a clause is about that was measured in the mode, without those that no plan of it has."""
    clauses = (
        clause
        for name, clause in atlas.measured.items()
        if any(atlas.cell(name, column, mode).verdict in SEEN for column in columns)
    )
    return {api for clause in clauses for api in clause.about} - {*UNPLAYED.get(mode, ())}


def _met(atlas: Atlas, column: Column, mode: str) -> list[tuple[str, str, str]]:
    """Return what is otherwise: the name "MODE.RULE", the sentence, and an API that it matters to."""
    apis = {*known(atlas)}
    measured: Counter[str] = Counter()
    met: Counter[tuple[str, str, str]] = Counter()
    for name, clause in atlas.measured.items():
        cell, about = atlas.cell(name, column, mode), apis.intersection(clause.about)
        if len(about) == 1 and cell.verdict in SEEN:
            (api,) = about
            measured[api] += 1
            if otherwise(cell):
                met[f"{mode}.{(cell.deviation or UNDECLARED).removeprefix(RULE)}", cell.note, api] += 1
    return [(name, says, api) for (name, says, api), count in met.items() if count >= SHARE * measured[api]]


def _spans(columns: tuple[Column, ...], on: list[Column], says: str) -> tuple[AffectedSpan, ...]:
    said = Statement(says, "deviates", "error" if RAISES.search(says) else "silent")
    runs = neighbours(columns, key=lambda column: column in on)
    return tuple(AffectedSpan(run[0].label, run[-1].label, said) for there, run in runs if there)


def _counts(atlas: Atlas, columns: tuple[Column, ...], mode: str) -> Counts:
    """Return how many clauses the mode was measured for, and how many are otherwise there on one of the releases."""
    counts = Counts()
    for name in atlas.clauses:
        cells = [atlas.cell(name, column, mode) for column in columns]
        seen = [cell for cell in cells if cell.verdict in SEEN]
        counts.clauses += bool(seen)
        counts.differ += any(map(otherwise, seen))
    return counts
