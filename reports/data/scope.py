"""The scope: what a usual program is, and for each word of that a small program that shows what happens outside."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from pathlib import Path

from fixtures.clause.usual import ENOUGH, SURROUNDINGS, WORDS, Surrounding
from fixtures.run.naming import REPORTS

PROGRAMS = Path(__file__).parents[1] / "scope"
#: What every answer says of its sentences.
LINE = "each sentence is about a usual program, and about what it names beyond that"
#: The same for a terminal.
SCOPE = f"{LINE} ({REPORTS} scope)"
AROUND = "Around every program, and varied by no plan:"
INSIDE = "Of programs; explain says of each clause beyond which words it was tested:"


@dataclass(frozen=True)
class ScopeWord:
    """A word of the scope: what is usual, what happens outside, the program that shows it, and who says more."""

    name: str
    usual: str
    outside: str
    program: str
    see: tuple[str, ...]


def part(of: Surrounding) -> ScopeWord:
    """Return a word of the scope with its program."""
    text = (PROGRAMS / of.program).read_text(encoding="utf-8")
    return ScopeWord(of.name, of.usual, ast.get_docstring(ast.parse(text)) or "", text, of.see)


def scope() -> dict[str, list[ScopeWord]]:
    """Return both lists under their titles."""
    return {AROUND: [part(one) for one in SURROUNDINGS], INSIDE: [part(one) for one in WORDS]}


def tested(beyond: tuple[str, ...] | None) -> str:
    """Return with which programs a clause was tested, in one line; None: it draws no plans."""
    if beyond is None:
        return "tested with one program, or with drawn values in it"
    if not beyond:
        return "tested with usual programs"
    return f"tested with usual programs, and beyond: {', '.join(beyond)}"


HOW = f"A clause was tested beyond a word where at least {ENOUGH} of the plans of its recorded run go beyond it."
