"""The matrix of the page: clauses as rows, versions as columns, and how often each answer is given."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import groupby

from reports.data.atlas import Atlas, Column
from reports.data.cell import Cell
from reports.data.forms import begun
from reports.data.order import CHAPTERS, order
from reports.data.statements import ANSWERS, statement

SIGNS = {
    "holds": "✓",
    "true": "✓",
    "otherwise": "⇄",
    "false": "✗",
    "deviates": "≠",
    "crashed": "!",
    "hung": "∞",
    "refused": "⊘",
    "absent": "–",
    "unseen": "?",
}
#: What the answers of `reports.data.statements` mean to a reader.
MEANINGS = {
    "holds": "the sentence is true on this torch",
    "true": "a sentence that tutorials teach, and it is true on this torch",
    "otherwise": "torch does something else here, as recorded: the bar names it, and the clause opens to its sentence",
    "false": "a sentence that tutorials teach, and it is not true on this torch",
    "deviates": "a bug, or a difference that nobody wrote down; the clause opens to a program that shows it",
    "crashed": "the process died",
    "hung": "the process had to be stopped",
    "refused": "this mode of execution, or what was measured in place of a release, declines with a clear error",
    "absent": "the API is not there in this torch",
    "unseen": "not run, or recorded with an older text of the clause",
}
MANY_COLUMNS = 40  # more have no room on a screen: then the matrix scrolls sideways


@dataclass(frozen=True)
class Row:
    """One clause; the script of the page draws what it answers on each version."""

    clause: str
    says: str
    point: str
    limits: str
    disagrees: bool


@dataclass(frozen=True)
class Chapter:
    """One chapter's rows, what it is about, and what its clauses answer on the torch in focus."""

    name: str
    title: str
    about: str
    answers: Mapping[str, int]
    rows: tuple[Row, ...]


def chapters(atlas: Atlas) -> list[Chapter]:
    """Return all rows, grouped by chapter, in the order in which the suite is read."""
    rows = [
        Row(one.id, one.says, one.id.partition(".")[2], one.limits, one.docs == "contradicts")
        for one in sorted(atlas.clauses.values(), key=order)
    ]
    grouped = groupby(rows, key=lambda row: row.clause.split(".")[0])
    return [
        Chapter(name, title(name), CHAPTERS.get(name, ""), answers(atlas, name, atlas.focus), tuple(found))
        for name, found in grouped
    ]


def answers(atlas: Atlas, chapter: str, column: Column) -> dict[str, int]:
    """Return how often each answer is given in a chapter on one torch, in the order of ANSWERS."""
    own = (clause for clause in atlas.clauses.values() if clause.chapter == chapter)
    counts = Counter(statement(clause, atlas.cell(clause.id, column, atlas.modes[0])).answer for clause in own)
    return {answer: counts[answer] for answer in ANSWERS if counts[answer]}


def tally(atlas: Atlas) -> dict[str, dict[str, int]]:
    """Return, for each column by its key, how often each answer is given there, in the order of ANSWERS."""
    known: dict[tuple[str, str, str | None], str] = {}
    tallied = {}
    for column in atlas.columns:
        counts: Counter[str] = Counter()
        for name, found in atlas.clauses.items():
            cell = atlas.cell(name, column, atlas.modes[0])
            key = (name, cell.verdict, cell.reading)
            if key not in known:
                known[key] = statement(found, cell).answer
            counts[known[key]] += 1
        tallied[column.key] = {answer: counts[answer] for answer in ANSWERS if counts[answer]}
    return tallied


def present(atlas: Atlas) -> list[str]:
    """Return the answers that are given anywhere on the page, in any mode."""
    found = {(clause, cell.verdict, cell.reading) for (clause, _, _), cell in atlas.cells.items()}
    shown = [(atlas.clauses[name], Cell(verdict, reading)) for name, verdict, reading in found if name in atlas.clauses]
    seen = {statement(clause, cell).answer for clause, cell in shown}
    if len(atlas.cells) < len(atlas.measured) * len(atlas.columns) * len(atlas.modes):
        seen.add("unseen")
    return [answer for answer in ANSWERS if answer in seen]


def claims(atlas: Atlas) -> Counter[str]:
    """Return how many claims of tutorials are true on the torch in focus, how many false, how many unanswered."""
    found = {name: clause for name, clause in atlas.clauses.items() if clause.is_claim}
    given = (statement(found[name], atlas.cell(name, atlas.focus, atlas.modes[0])).answer for name in found)
    return Counter(answer if answer in ("true", "false") else "" for answer in given)


def title(name: str) -> str:
    """Return a chapter's or a topic's name as words."""
    return begun(name.replace("_", " "))
