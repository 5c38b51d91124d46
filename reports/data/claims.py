"""What readers show: the sentences of the suite, and claims of tutorials, answered by the clauses that decide them."""

from __future__ import annotations

import inspect
from collections.abc import Container, Mapping
from typing import Any

from fixtures.clause.clause import level_of
from reports.data.cell import Cell, Key
from reports.data.clause import Clause, Clauses
from reports.tutorial import backward, calling, forward, tensor
from reports.tutorial.claim import NOTES, Answer, Claim

PARTS = (backward, calling, forward, tensor)
CLAIMS = {one.id: one for part in PARTS for one in part.CLAIMS}
MODE = "eager"
#: Nothing of a claim is measured.
DIGEST = "0" * 12


def sentences(clauses: Clauses, failed: Container[str] = ()) -> dict[str, Clause]:
    """Return the clauses and the claims that they decide; of those that only check the model what has failed."""
    kept = {name: one for name, one in clauses.items() if not one.checks_model or name in failed}
    known = {name: _clause(one) for name, one in CLAIMS.items() if kept.keys() >= set(one.clauses)}
    return dict(sorted({**kept, **known}.items()))


def answers(cells: Mapping[Key, Cell], clauses: Clauses) -> dict[Key, Cell]:
    """Return the cells of those claims, of one torch, whose clauses all have a cell there."""
    asked = {name: [(clause, MODE) for clause in CLAIMS[name].clauses] for name in clauses.keys() & CLAIMS.keys()}
    return {
        (name, MODE): _cell(CLAIMS[name], {clause: cells[clause, mode] for clause, mode in keys})
        for name, keys in asked.items()
        if cells.keys() >= set(keys)
    }


def shown_by(name: str) -> str:
    """Return the clause whose example shows a clause: of a claim the first one that decides it."""
    return CLAIMS[name].clauses[0] if name in CLAIMS else name


def _cell(claim: Claim, cells: Mapping[str, Cell]) -> Cell:
    for answer in claim.answers:
        if all(_has(cells[name], named) for name, named in answer.by.items()):
            return Cell("conforms", answer.name, digest=DIGEST)
    if any(cell.verdict == "absent" for cell in cells.values()):
        return Cell("absent", digest=DIGEST)
    unclear = next((name for name, cell in cells.items() if cell.verdict != "conforms"), claim.clauses[0])
    return Cell("unseen", digest=DIGEST, note=f"decided by {unclear}: {cells[unclear].verdict}")


def _has(cell: Cell, named: str | tuple[str, ...]) -> bool:
    found = cell.reading if cell.verdict == "conforms" else cell.verdict
    return found in ((named,) if isinstance(named, str) else named)


def _clause(claim: Claim) -> Clause:
    """Return a claim as a clause with the record that a clause of the suite would have."""
    source = [NOTES, *claim.source]
    part = next(part for part in PARTS if claim in part.CLAIMS)
    above, _, _ = inspect.getsource(part).partition(f'"{claim.id}"')
    return Clause.read(claim.id, {
        "says": claim.says, "level": level_of(source), "source": source, "readings": list(map(_reading, claim.answers)),
        "needs": [claim.needs] * bool(claim.needs), "about": list(claim.about), "docs": "", "note": claim.note,
        "asked": [claim.asked], "code": "".join(map(_by, claim.answers)), "digest": DIGEST,
        "file": f"{part.__name__.replace('.', '/')}.py", "line": above.count("\n") + 1,
    })  # fmt: skip


def _reading(answer: Answer) -> dict[str, Any]:
    words = {"name": answer.name, "torch": answer.torch, "says": answer.says, "effect": answer.effect}
    return {**words, "says_the_same": answer.name.startswith("true")}


def _by(answer: Answer) -> str:
    """Return in a line by which clauses an answer is given, with the readings that they must have."""
    named = {name: [one] if isinstance(one, str) else one for name, one in answer.by.items()}
    return f"{answer.name}: " + ", ".join(f"{name} ({' or '.join(each)})" for name, each in named.items()) + "\n"
