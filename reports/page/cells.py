"""What the cells of the page say, stored once: the script of the page looks it up, groups and draws."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from reports.data.atlas import NOT_RUN, VERDICT_NAMES, Atlas, Column
from reports.data.cell import Cell
from reports.data.clause import Clause
from reports.data.neighbours import neighbours
from reports.data.statements import Statement, kind_of_change, statement
from reports.data.traces import aligned
from reports.page.programs import Lines


class Once:
    """Values stored once, each known by its place: most cells, and most clauses, have theirs in common."""

    def __init__(self, *values: Any) -> None:
        self.values: list[Any] = []
        self._places: dict[str, int] = {}
        for value in values:
            self.place(value)

    def place(self, value: Any) -> int:
        """Return the place of a value."""
        place = self._places.setdefault(repr(value), len(self.values))
        if place == len(self.values):
            self.values.append(value)
        return place


class Cells:
    """The cells of an atlas as the page has them."""

    def __init__(self, atlas: Atlas, lines: Lines) -> None:
        self._atlas, self._lines = atlas, lines
        self._cells, self._ranges, self._acts, self._states = Once(), Once(), Once(), Once()
        #: The first one stands for the sentence of the clause itself.
        self._texts = Once(None)
        self._known: dict[tuple[Any, ...], int] = {}
        self._evidence: list[dict[str, Any]] = []

    @property
    def tables(self) -> dict[str, Any]:
        """All that was stored; `acts` are the answers with their effects, and what it is that one follows another."""
        acts = [Statement("", answer, effect) for answer, effect in self._acts.values]
        return {
            "texts": self._texts.values,
            "acts": [
                {
                    "answer": act.answer,
                    "effect": act.effect,
                    "conforms": act.answer not in VERDICT_NAMES,
                    "good": act.good,
                    "weight": act.weight,
                    "before": [kind_of_change(act, after) for after in acts],
                }
                for act in acts
            ],
            "cells": self._cells.values,
            "ranges": self._ranges.values,
            "evidence": self._evidence,
        }

    def text(self, clause: Clause, says: str) -> int:
        """Return the place of a sentence that is said of a clause."""
        return self._texts.place(None if says == clause.says else says)

    def ranges(self, clause: Clause, mode: str) -> int:
        """Return the place of the ranges of a clause: [columns, place of its cell, and of its evidence if it has any].

        Neighbours are one range where they say and show the same; a run of your own is never joined with others.
        """

        def same(column: Column) -> tuple[Any, ...]:
            cell = self._atlas.cell(clause.id, column, mode)
            return _shown(cell), column.this_run and column.key, cell.essence

        found = []
        for _, columns in neighbours(self._atlas.columns, same):
            cell = self._atlas.cell(clause.id, columns[0], mode)
            found.append([len(columns), self._cell(clause, cell)])
            if cell.evidence is not None:
                found[-1].append(self._shows(clause, cell, cell.evidence))
        return self._ranges.place(found)

    def _cell(self, clause: Clause, cell: Cell) -> int:
        key = clause.id, _shown(cell)
        if key not in self._known:
            self._known[key] = self._cells.place(self._says(clause, cell))
        return self._known[key]

    def _shows(self, clause: Clause, cell: Cell, evidence: Mapping[str, Any]) -> int:
        """Return the place of evidence, which is stored once for a clause, however many versions and modes show it."""
        key = clause.id, cell.essence
        if key not in self._known:
            self._known[key] = len(self._evidence)
            self._evidence.append(_evidence(evidence, self._lines))
        return self._known[key]

    def _says(self, clause: Clause, cell: Cell) -> dict[str, Any]:
        """Return what a cell says; two with one `state` are the same to a reader."""
        said, names = statement(clause, cell), clause.reading_names
        reading = names.index(cell.reading) if cell.reading in names else -1
        verdict, name, *rest = cell.state
        answer = said.answer + ", not written down by us" * said.new
        word, words, spoken = said.answer, answer, answer
        if reading >= 0 and (clause.is_claim or clause.varies):
            conforms = cell.verdict == "conforms"
            word = names[reading] if conforms else word
            if clause.is_claim:
                words = names[reading] if conforms else words
                spoken = f"the claim is {words}" if conforms else f"{answer} from: {names[reading]}"
            else:
                spoken += f", reading {reading + 1}: {names[reading]}"
        found = {
            "act": self._acts.place((said.answer, said.effect)),
            "state": self._states.place((verdict, name if reading < 0 else reading, *rest)),
            "reading": reading,
            "says": self.text(clause, said.says),
        }
        more = {
            "detail": said.detail and self.text(clause, said.detail),
            "cause": said.cause,
            "reason": said.reason,
            "ref": said.ref,
            "note": cell.note,
            "holds": [one.name for one in clause.readings if one.name in cell.holds and one.told],
            "new": said.new,
            "declared": cell.declared,
            "constant": said.constant,
            "untold": not said.told,
            "unrun": cell.verdict == "unseen" and (cell.note == NOT_RUN or cell.partial),
            "word": word if word != said.answer else "",
            "words": words if words != said.answer else "",
            "spoken": spoken if spoken != words else "",
        }
        return {**found, **{name: value for name, value in more.items() if value}}


def _shown(cell: Cell) -> tuple[Any, ...]:
    """Return all of a cell that is shown in words."""
    return cell.verdict, cell.reading, cell.declared, cell.deviation, cell.holds, cell.note


def _evidence(evidence: Mapping[str, Any], lines: Lines) -> dict[str, Any]:
    found: dict[str, Any] = {"lines": aligned(evidence["expected"], evidence["observed"])}
    more = {name: evidence[name] for name in ("message", "plan")}
    if evidence["reproducer"]:
        more["reproducer"] = lines.packed(evidence["reproducer"])
    return {**found, **{name: value for name, value in more.items() if value}}
