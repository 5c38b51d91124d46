"""Where torch and its documentation disagree: the scripts of reports/upstream, and the versions by the verdicts."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reports.data.atlas import Atlas, Column
from reports.data.neighbours import from_to, neighbours
from reports.data.statements import statement
from reports.data.strict import BadInput

UPSTREAM = Path(__file__).parents[1] / "upstream"
FIELDS = ("Documentation", "torch", "As documented", "See also", "Doubt")
_FIELD = re.compile(rf"^(?P<name>{'|'.join(FIELDS)}): ", re.MULTILINE)
_ADDRESS = re.compile(r"https://\S+")
FORM = 'begin its docstring with a sentence, and "Documentation:" with an address and "torch:" below it'


@dataclass(frozen=True)
class Disagreement:
    """One script: what its docstring says, and its text."""

    clause: str
    sentence: str
    documentation: str
    address: str
    torch: str
    as_documented: tuple[str, ...]
    see: tuple[str, ...]
    doubt: str
    code: str


def read_scripts(folder: Path = UPSTREAM) -> list[Disagreement]:
    """Return what the scripts say, in the order of their names; the name is the clause."""
    return [_read(path) for path in sorted(folder.glob("*.py"))]


def _read(path: Path) -> Disagreement:
    code = path.read_text("utf-8")
    try:
        docstring = ast.get_docstring(ast.parse(code)) or ""
    except SyntaxError as error:
        raise BadInput(path, f"line {error.lineno}", "is not Python", FORM) from error
    sentence, *parts = _FIELD.split(docstring)
    fields = dict(zip(parts[::2], (" ".join(part.split()) for part in parts[1::2]), strict=True))
    address = _ADDRESS.search(fields.get("Documentation", ""))
    if not sentence.strip() or address is None or "torch" not in fields:
        raise BadInput(path, "", "does not say what is documented, where, and what torch does", FORM)
    return Disagreement(
        clause=path.stem,
        sentence=" ".join(sentence.split()),
        documentation=" ".join(fields["Documentation"].replace(address[0], "").split()),
        address=address[0],
        torch=fields["torch"],
        as_documented=tuple(name for name in fields.get("As documented", "").split("; ") if name),
        see=tuple(_ADDRESS.findall(fields.get("See also", "").replace(",", " "))),
        doubt=fields.get("Doubt", ""),
        code=code,
    )


def contradicts(atlas: Atlas, one: Disagreement, column: Column) -> bool:
    """Say whether torch was measured to contradict its documentation there.

    A cell that conforms does what its reading says, which the script may name as documented. One that deviates from
    a reading that is as documented contradicts too.
    """
    cell = atlas.cell(one.clause, column, atlas.modes[0])
    if cell.verdict == "conforms":
        return cell.reading not in one.as_documented
    return cell.verdict == "deviates" and atlas.clauses[one.clause].in_force(column.version) in one.as_documented


def when(atlas: Atlas, one: Disagreement) -> list[tuple[str, str]]:
    """Return the ranges of versions that contradict, each with what torch does there where that is not one thing."""
    found = [
        (keys, says) for says, keys in _ranges(atlas, lambda column: _says(atlas, one, column)) if says is not None
    ]
    alone = len({says for _, says in found}) == 1
    return [(keys, "" if alone else says) for keys, says in found]


def versions(atlas: Atlas, one: Disagreement) -> str:
    """Return "1.8 to 2.15" for the versions that contradict."""
    return ", ".join(keys for there, keys in _ranges(atlas, lambda column: contradicts(atlas, one, column)) if there)


def _ranges(atlas: Atlas, key: Callable[[Column], Any]) -> Iterator[tuple[Any, str]]:
    """Yield what neighbouring versions have in common, with their range."""
    for value, columns in neighbours(atlas.columns, key):
        yield value, from_to(columns[0].label, columns[-1].label)


def _says(atlas: Atlas, one: Disagreement, column: Column) -> str | None:
    """Return what torch does instead in the words of its reading or deviation; nothing where it is as documented."""
    if not contradicts(atlas, one, column):
        return None
    found = statement(atlas.clauses[one.clause], atlas.cell(one.clause, column, atlas.modes[0]))
    return found.detail or found.says


def known(atlas: Atlas, folder: Path = UPSTREAM) -> list[Disagreement]:
    """Return the scripts whose clause is in the atlas."""
    return [one for one in read_scripts(folder) if one.clause in atlas.clauses]
