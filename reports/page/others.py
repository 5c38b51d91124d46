"""The view *Others*: recorded targets, each with what differs, grouped by why."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from reports.data.atlas import Atlas
from reports.data.forms import counted
from reports.record.on_target import GROUPS, told, worst_first
from reports.record.targets import Target

#: What a reason of a target's file may name: an address, or an issue of a repository.
LINK = re.compile(r"https://[\w./~%+:@!$&'()*,;=?#-]*[\w/]|(?P<repository>[\w.-]+/[\w.-]+)#(?P<number>\d+)")


def others(atlas: Atlas, targets: Iterable[Target]) -> list[dict[str, Any]]:
    """Return what the page says of each target about the sentences that it has: how many, and which, in each group."""
    found = []
    for target in targets:
        rows = sorted(told(target, atlas.clauses, atlas.clauses), key=worst_first)
        by = {group: [one for one in rows if one.group == group] for group in GROUPS}
        counts = [counted(len(by[group]), *words) for group, words in reversed(GROUPS.items()) if by[group]]
        found.append({"target": target, "by": by, "counts": counts})
    return found


def linked(text: str) -> list[tuple[str, str]]:
    """Return a reason in pieces, each with the address that it names, or nothing."""
    pieces, end = [], 0
    for found in LINK.finditer(text):
        issue = f"https://github.com/{found['repository']}/issues/{found['number']}"
        pieces += [(text[end : found.start()], ""), (found[0], issue if found["number"] else found[0])]
        end = found.end()
    return [(piece, address) for piece, address in [*pieces, (text[end:], "")] if piece]
