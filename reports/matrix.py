"""The matrix of the page: clauses as rows, versions as columns, neighbouring equal cells drawn as one range."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

from reports.atlas import Atlas, Cell, Column, is_claim, truth, varies
from reports.chapters import order

SIGNS = {
    "conforms": "✓",
    "deviates": "≠",
    "crashed": "!",
    "hung": "∞",
    "refused": "⊘",
    "absent": "–",
    "unseen": "?",
}
MEANINGS = {
    "conforms": "torch does what the reading in force says, and every other reading is proven wrong",
    "deviates": "torch does otherwise; the clause opens to the smallest program that shows it",
    "crashed": "the process died",
    "hung": "the process had to be stopped",
    "refused": "this mode declines with a clear error",
    "absent": "the API is not there in this torch",
    "unseen": "not run, or recorded with an older text of the clause",
}
CLAIM_SIGNS = {"true": "✓", "false": "✗"}
CIRCLED = "①②③④⑤⑥⑦⑧⑨⑩⑪⑫⑬⑭⑮⑯⑰⑱⑲⑳"
SHADES = 4
WORD_NEEDS = 3  # columns
FEW_COLUMNS = 8  # these are wide


@dataclass(frozen=True)
class Range:
    """Neighbouring columns that say the same."""

    columns: tuple[Column, ...]
    cell: Cell
    sign: str
    number: str
    word: str
    spoken: str
    kind: str
    roomy: bool


@dataclass(frozen=True)
class Row:
    """One clause in the first mode; the page's script draws the others from its data."""

    clause: str
    says: str
    point: str
    disagrees: bool
    ranges: tuple[Range, ...]


@dataclass(frozen=True)
class Chapter:
    """One chapter's rows."""

    name: str
    title: str
    rows: tuple[Row, ...]


def chapters(atlas: Atlas) -> list[Chapter]:
    """Return all rows, grouped by chapter, in the order in which the suite is read."""
    clauses = sorted(atlas.clauses, key=lambda clause: order(clause, atlas.clauses[clause]))
    rows = [_row(atlas, clause) for clause in clauses]
    grouped = groupby(rows, key=lambda row: row.clause.split(".")[0])
    return [Chapter(name, title(name), tuple(found)) for name, found in grouped]


def claims(atlas: Atlas) -> Counter[str]:
    """Return how many claims of tutorials are true on the torch in focus, how many false, how many unanswered."""
    names = [name for name in atlas.clauses if name.startswith("tutorial.")]
    cells = [atlas.cell(name, atlas.focus, atlas.modes[0]) for name in names]
    readings = [cell.reading if cell.verdict == "conforms" else None for cell in cells]
    answers = [truth(reading) for reading in readings]
    return Counter(answer if answer in CLAIM_SIGNS else "" for answer in answers)


def title(name: str) -> str:
    """Return a chapter's or a topic's name as words."""
    words = name.replace("_", " ")
    return words[0].upper() + words[1:]


def _row(atlas: Atlas, clause: str) -> Row:
    found = atlas.clauses[clause]
    point = clause.partition(".")[2]
    shown = tuple(ranges(atlas, clause, atlas.modes[0]))
    return Row(clause, found["says"], point, found["docs"] == "contradicts", shown)


def ranges(atlas: Atlas, clause: str, mode: str, *, fine: bool = False) -> Iterator[Range]:
    """Yield a clause's cells from the oldest torch to the newest, equal neighbours as one; fine looks at traces too."""
    pairs = [(column, atlas.cell(clause, column, mode)) for column in atlas.columns]
    for _, group in groupby(pairs, key=_look_closely if fine else _look):
        columns, cells = zip(*group, strict=True)
        yield _range(atlas, clause, columns, cells[0])


def _look(pair: tuple[Column, Cell]) -> tuple[object, ...]:
    """Return what lets two neighbours be drawn as one: a run of one's own always stands apart."""
    column, cell = pair
    return cell.verdict, cell.reading, cell.declared, cell.holds, cell.note, column.this_run and column.key


def _look_closely(pair: tuple[Column, Cell]) -> tuple[object, ...]:
    return *_look(pair), pair[1].essence


def _range(atlas: Atlas, clause: str, columns: tuple[Column, ...], cell: Cell) -> Range:
    found = atlas.clauses[clause]
    names = [reading["name"] for reading in found["readings"]]
    sign, number, word, kind = SIGNS[cell.verdict], "", cell.verdict, cell.verdict
    spoken = cell.verdict + (", not declared" if cell.new else "")
    if cell.reading is not None and is_claim(found):
        sign, word, kind, spoken = _claim(cell, sign, kind, spoken)
    elif cell.reading is not None and varies(found):
        index = names.index(cell.reading) if cell.reading in names else 0
        number = CIRCLED[index] if index < len(CIRCLED) else str(index + 1)
        spoken += f", reading {index + 1}: {cell.reading}"
        if cell.verdict == "conforms":
            word = cell.reading
            kind = f"conforms r{min(index + 1, SHADES)}"
    if cell.new:
        kind += " new"
    if cell.note:
        spoken += f" ({cell.note})"
    roomy = len(columns) >= WORD_NEEDS or len(atlas.columns) <= FEW_COLUMNS or columns[0].this_run
    return Range(columns, cell, sign, number, word, f"{spoken}; {span(columns)}", kind, roomy)


def _claim(cell: Cell, sign: str, kind: str, spoken: str) -> tuple[str, str, str, str]:
    """Return how a claim is drawn: what counts for the reader is whether it is true."""
    answer = cell.reading or ""
    if cell.verdict == "conforms":
        return CLAIM_SIGNS[truth(answer)], answer, f"claim-{truth(answer)}", f"the claim is {answer} (conforms)"
    return sign, cell.verdict, kind, f"{spoken} from: the claim is {answer}"


def span(columns: tuple[Column, ...]) -> str:
    """Return "torch 1.4 to 1.9" for a range of columns."""
    first, last = columns[0].label, columns[-1].label
    return f"torch {first}" if len(columns) == 1 else f"torch {first} to {last}"
