"""The view *Others*: recorded targets, each with what differs, grouped by why."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from reports.data.atlas import Atlas
from reports.data.forms import begun, counted
from reports.record.on_target import GROUPS, Told, told
from reports.record.targets import NEEDS, Target

#: What a reason of a target's file may name: an address, or an issue of a repository.
LINK = re.compile(
    r"(?P<address>https://[\w./~%+:@!$&'()*,;=?#-]*[\w/])|(?P<repository>[\w.-]+/[\w.-]+)#(?P<number>\d+)"
)


@dataclass(frozen=True)
class Group:
    """Clauses that are refused for one reason: what it is, why that is so, and their ids."""

    what: str
    why: tuple[str, ...]
    clauses: tuple[str, ...]


@dataclass(frozen=True)
class Other:
    """One recorded target as the page shows it."""

    target: Target
    #: How many clauses are in each group, in words.
    counts: tuple[str, ...]
    differs: tuple[Told, ...]
    lacks: tuple[Group, ...]
    declined: tuple[Group, ...]
    otherwise: tuple[Told, ...]
    older: int
    unasked: int

    @property
    def where(self) -> str:
        """What was measured, and when."""
        found = self.target.record
        around = [f"around the network {found['wrap']}"] if found["wrap"] else []
        parts = [f"torch {found['torch']}", f"device {found['device']}", f"numbers in {found['dtype']}", *around]
        return ", ".join([*parts, f"Python {found['python']}", found["platform"], found["began"][:10]])


def others(atlas: Atlas, targets: Iterable[Target]) -> list[Other]:
    """Return what the page says of targets about the sentences that it has."""
    return [_other(atlas, target) for target in targets]


def _other(atlas: Atlas, target: Target) -> Other:
    rows = told(target, atlas.clauses, atlas.clauses)
    by = {group: [one for one in rows if one.group == group] for group in GROUPS}
    older = len(target.older(atlas.clauses))
    shown = ((group, len(by[group])) for group in reversed(GROUPS) if group != "unmeasured")
    return Other(
        target,
        tuple(counted(count, *GROUPS[group]) for group, count in shown if count),
        tuple(sorted(by["differs"], key=lambda one: ("no matter of hooks" in one.says, one.verdict != "deviates"))),
        _grouped(target, by["lacks"]),
        _grouped(target, by["declined"]),
        tuple(by["otherwise"]),
        older,
        len(by["unmeasured"]) - older,
    )


def _grouped(target: Target, rows: Iterable[Told]) -> tuple[Group, ...]:
    """Return clauses by what was said of them, what most have in common first."""
    found: dict[str, list[str]] = {}
    for one in rows:
        found.setdefault(target.notes[one.clause], []).append(one.clause)
    groups = sorted(found.items(), key=lambda pair: (-len(pair[1]), pair[0]))
    return tuple(
        Group(begun(note.removeprefix(NEEDS)) if target.lacks(note) else note, _why(target, note), tuple(clauses))
        for note, clauses in groups
    )


def _why(target: Target, note: str) -> tuple[str, ...]:
    return tuple(target.record["lacks"][name]["why"] for name in target.lacks(note))


def linked(text: str) -> list[tuple[str, str]]:
    """Return a reason in pieces, each with the address that it names, or nothing."""
    pieces, end = [], 0
    for found in LINK.finditer(text):
        issue = f"https://github.com/{found['repository']}/issues/{found['number']}"
        pieces += [(text[end : found.start()], ""), (found[0], found["address"] or issue)]
        end = found.end()
    return [(piece, address) for piece, address in [*pieces, (text[end:], "")] if piece]
