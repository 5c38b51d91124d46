"""What a mode of execution does otherwise than eager for the hooks that code uses: `affects --mode`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

from packaging.specifiers import SpecifierSet

from fixtures.rules import RULES
from reports.data.atlas import Atlas, Column
from reports.data.by_mode import ASSUMED, CALLS, OTHER, SAME, in_mode, otherwise
from reports.data.cell import BROKEN
from reports.data.neighbours import from_to, neighbours
from reports.data.statements import UNKNOWN, Statement
from reports.data.strict import BadInput
from reports.data.table import RULE
from reports.usage.affects import Affected, AffectedSpan, Counts, Finding, Unmeasured, concerned, spans
from reports.usage.lacks import Lacking
from reports.usage.stated import (
    CHECKPOINT,
    COMPILE,
    CONCERNS,
    EVER,
    HOLD,
    IS,
    LEFT_OUT,
    REENTRANT,
    REMEDIES,
    WHERE_NOT,
    WHERE_SO,
)
from reports.usage.uses import Code, Use

#: The record has no effect of a sentence about a mode: one that names an error raises.
RAISES = re.compile(r"\braises?\b|\bfails?\b|\brefuses\b|Error\b")
SEEN = ("conforms", "deviates")
GRAPH = "torch.autograd.graph."
#: What is otherwise for a use: its name, its sentence, where, and the words that code does not decide.
Met = tuple[str, str, tuple[AffectedSpan, ...], tuple[str, ...]]


def affects_in_mode(
    atlas: Atlas, columns: tuple[Column, ...], code: Code, table: Lacking, mode: str, path: str, why: str
) -> Affected:
    """Return a finding for each rule and each clause of the mode that concerns hooks in the code.

    Raises BadInput where the mode was measured on none of these releases.
    """
    measured = atlas.measured_in(mode, columns)
    if not measured:
        known_on = ", ".join(column.label for column in atlas.measured_in(mode, atlas.columns))
        raise BadInput("--mode", mode, "was measured on none of these releases", f"it was on {known_on}")
    found: dict[tuple[Met, str], list[Use]] = {}
    unmeasured: dict[tuple[str, str], list[Use]] = {}
    alike: dict[Any, list[Met]] = {}
    undeclared = _undeclared(atlas, measured, mode)
    answers = {
        (use.api, column): in_mode(atlas, column, use.api, mode).answer for use in code.uses for column in measured
    }
    for use in code.uses:
        name = table.name(use)
        on = [
            column
            for column in measured
            if not code.guards.shut(use.guards, column.version) and table.has(name, "", column.version) is not False
        ]
        shown = _with(use)
        key = (use.api, use.options, use.unsure, (*sorted(shown.seen.items()),), (*on,))
        if key not in alike:
            alike[key] = [*_met(atlas, on, shown, mode, undeclared)]
        for one in alike[key]:
            if not code.accepts(use, one[0]):
                found.setdefault((one, _instead(atlas, one[0], use)), []).append(use)
        left_out = any(concerned(words, use) == () for words in LEFT_OUT.get(mode, ()))
        unknown = [column for column in on if left_out or answers[use.api, column] not in (SAME, OTHER)]
        if unknown and not code.accepts(use):
            unmeasured.setdefault((use.api, _named(measured, unknown)), []).append(use)
    findings = [
        Finding(name, says, where, tuple(uses), instead, left, mode=mode)
        for ((name, says, where, left), instead), uses in found.items()
    ]
    findings.sort(key=lambda one: (one.rank, one.clause, one.uses))
    sure, unsure = (tuple(one for one in findings if bool(one.open) is hangs) for hangs in (False, True))
    missed = tuple(Unmeasured(api, where, tuple(uses)) for (api, where), uses in sorted(unmeasured.items()))
    assumed = (*_assumed(mode), *_not_on(columns, measured, mode))
    counts = _counts(atlas, measured, mode)
    why += f", {mode} next to eager"
    return Affected(path, measured, why, counts, code, sure, unsure, False, mode, assumed, missed)


def _assumed(mode: str) -> Iterator[str]:
    """Yield what the mode is in a program, and which modes are the other cases of the like."""
    yield "assumed: " + "; ".join((CALLS.get(mode, mode), *([ASSUMED[mode]] if mode in ASSUMED else [])))
    like = [each for some in (COMPILE, CHECKPOINT + REENTRANT) if mode in some for each in some if each != mode]
    if like:
        yield "other cases are " + "; ".join(f"--mode {each}: {CALLS[each]}" for each in like)


def _not_on(columns: tuple[Column, ...], measured: tuple[Column, ...], mode: str) -> Iterator[str]:
    left = [column for column in columns if column not in measured]
    if left:
        yield f"nothing is known of {mode} on torch {_named(columns, left)}: it was not measured there"


def _named(columns: Iterable[Column], some: list[Column]) -> str:
    runs = neighbours([*columns], key=lambda column: column in some)
    return " and ".join(from_to(run[0].label, run[-1].label) for inside, run in runs if inside)


def _with(use: Use) -> Use:
    """Return a use with what is seen of it that matters to modes alone."""
    more = {"?parameter": True} if use.seen.get("inner") is False else {}
    more |= {"?returns_none": not use.seen["returns"]} if "returns" in use.seen else {}
    more |= {"?prepended": False} if not use.unsure and "prepend" not in use.options else {}
    more |= {"?pair": False} if "always_call" in use.options else {}
    return replace(use, seen={**use.seen, **more})


def _undeclared(atlas: Atlas, columns: tuple[Column, ...], mode: str) -> dict[str, dict[Column, str]]:
    """Return what a run says that no rule does: clause -> release -> what torch does."""
    known = {RULE + rule.name for rule in RULES.get(mode, ())}
    found: dict[str, dict[Column, str]] = {}
    for name, column in product(atlas.clauses, columns):
        cell = atlas.cell(name, column, mode)
        if otherwise(cell) and cell.deviation not in known:
            found.setdefault(name, {})[column] = cell.note or UNKNOWN
    return found


def _met(
    atlas: Atlas, on: Sequence[Column], use: Use, mode: str, undeclared: Mapping[str, Mapping[Column, str]]
) -> Iterator[Met]:
    """Yield what is otherwise for a use on releases."""
    for rule in RULES.get(mode, ()):
        name = f"{mode}.{rule.name}"
        there = [column for column in on if SpecifierSet(rule.torch, prereleases=True).contains(column.version)]
        asked = (concerned(_settled(mode, each), use) for each in CONCERNS.get(name) or CONCERNS[rule.name])
        left = next((each for each in asked if each is not None), None)
        if there and left is not None:
            yield name, rule.says, _spans(on, there, rule.says), left
    for rows in (WHERE_SO, WHERE_NOT, EVER):
        for name in (name for name, (modes, _) in rows.items() if mode in modes and name in atlas.clauses):
            left = _about(atlas, name, rows[name][1], use, mode)
            mine = _told(atlas, name, on, so=rows is not WHERE_NOT, ever=rows is EVER) if left is not None else ()
            if mine and left is not None:
                yield name, atlas.clauses[name].says, mine, left
    for name, notes in undeclared.items():
        there = [column for column in on if column in notes and use.api in atlas.clauses[name].about]
        if there:
            yield name, atlas.clauses[name].says, _spans(on, there, notes[there[-1]]), ()


def _settled(mode: str, words: str) -> str:
    """Return the words without what the mode decides."""
    hold = {HOLD.get(mode, ""), *(f"?{case}" for case in IS.get(mode, ()))}
    return " ".join(word for word in words.split() if word not in hold)


def _about(atlas: Atlas, name: str, words: str, use: Use, mode: str) -> tuple[str, ...] | None:
    """Return the words that a use leaves open of a clause; None where it does not concern it."""
    clause, spelled = atlas.clauses[name], {use.api, GRAPH + use.api}
    spelled |= {f"Optimizer.{use.api}"} if use.api.startswith("register_step") else set()
    options = {
        option.rstrip(")") for api, _, option in (each.partition("(") for each in clause.about) if api in spelled
    }
    if not options:
        return None
    if not options & {"", *use.options}:
        words += " ?option"
        if not use.unsure:
            return None
    unseen = [word for word in clause.matters_if.split() if word[0] == "?"]
    kinds = "|".join(sorted(use.kinds))
    return concerned(_settled(mode, " ".join(dict.fromkeys([kinds, *words.split(), *unseen]))), use)


def _told(atlas: Atlas, name: str, on: Sequence[Column], *, so: bool, ever: bool) -> tuple[AffectedSpan, ...]:
    """Return where a clause says that the mode is otherwise than eager, and what it says there."""
    every = spans(atlas.clauses[name], [(column, atlas.cell(name, column, atlas.modes[0])) for column in on])
    return tuple(
        replace(span, said=_worse(span.said))
        for span in every
        if ever or span.said.answer in BROKEN or span.said.good is so
    )


def _worse(said: Statement) -> Statement:
    """Return what is otherwise than eager with an effect."""
    if said.effect != "none":
        return said
    return replace(said, effect="error" if RAISES.search(said.detail or said.says) else "silent")


def _spans(columns: Sequence[Column], on: Sequence[Column], says: str) -> tuple[AffectedSpan, ...]:
    said = _worse(Statement(says, "deviates"))
    runs = neighbours(columns, key=lambda column: column in on)
    return tuple(AffectedSpan(run[0].label, run[-1].label, said) for there, run in runs if there)


def _instead(atlas: Atlas, name: str, use: Use) -> str:
    """Return what a clause says to do instead, to a use that it is about."""
    clause, remedy = atlas.clauses.get(name), atlas.clauses.get(REMEDIES.get(name, ""))
    if clause and clause.instead:
        return clause.instead
    return f"{remedy.says} ({remedy.id})" if remedy and use.api in remedy.about else ""


def _counts(atlas: Atlas, columns: tuple[Column, ...], mode: str) -> Counts:
    """Return how many clauses the mode was measured for, and how many are otherwise there on one of the releases."""
    counts = Counts()
    for name in atlas.clauses:
        cells = [atlas.cell(name, column, mode) for column in columns]
        seen = [cell for cell in cells if cell.verdict in SEEN]
        counts.clauses += bool(seen)
        counts.differ += any(map(otherwise, seen))
    return counts
