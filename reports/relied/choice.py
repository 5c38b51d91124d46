"""Which clauses somebody's code relies on: about what it registers, with its options, in the ways that it names."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from packaging.version import Version

from fixtures.clause.about import GRAD
from fixtures.clause.matters_if import NEVER
from fixtures.families import KINDS
from reports.data.atlas import Atlas
from reports.data.clause import Clause
from reports.data.strict import BadInput
from reports.relied.named import Places, about
from reports.usage.lacks import Lacking
from reports.usage.uses import Code, Use

#: What a clause is about whose id begins so, or whose sentence says so: hooks that do this. It is left out where the
#: code shows that they do not.
ONLY_IF = {
    "returns": re.compile(
        r"^(input\.replacement|output\.replacement|gradient\.replace|backward\.returns)\."
        r"|hook (that )?returns|may return"
    ),
    "edits": re.compile(r"^(gradient\.edits|backward\.inplace)\."),
    "raises": re.compile(r"(hooks?|they|call) (that )?raise[sd]?\b|exception of|error of|hook made fail|if .* raises"),
}
#: These are about hooks that do nothing of the kind, too.
ALSO = re.compile(r"\.(none_keeps|looks_only|parameters|every_call|every_backward|sees_the_sum|grad_mode_is_off)\b")
#: What is so special that code has to show it.
SHOWN = {
    "returns": re.compile(r"^handles\.written\."),
    "registers": re.compile(
        r"^handles\.inside\.|adds to its own module|tensor hook registers on its own|another of its kind registers"
    ),
}
#: A sentence about what torch refuses: code that works does not rely on it, unless it catches the error.
REFUSED = re.compile(
    r"\b(raises?|in|with|gives?|(?<!without )an?) (?<!without )(an )?([A-Z]\w+Error|error\b)|is refused|refuses?\b"
)
#: What somebody's own users may call: a clause about it and a hook concerns the hook.
OF_ALL = {GRAD}
#: So many APIs are those that a sentence is true of, one by one; fewer are used together.
SEVERAL = 3


@dataclass(frozen=True)
class Relied:
    """The clauses that code relies on, each with the uses that it concerns; and what it names, with where."""

    code: Code
    version: Version
    clauses: Mapping[str, tuple[Use, ...]]
    named: Places


def relied(atlas: Atlas, code: Code, path: Path, version: Version) -> Relied:
    """Return the clauses that concern uses which may run on this torch. Raises BadInput where there are none."""
    if not code.uses:
        raise BadInput(path, "", "uses no hook of torch", "name the code that registers hooks")
    uses = [use for use in code.uses if not code.guards.shut(use.guards, version)]
    named, names = Places.read(path, code.root), Lacking(atlas)
    apis = {names.name(use) for use in uses}
    found = {}
    for name, clause in atlas.clauses.items():
        things = about(clause)
        mine = (use for use in uses if named.admits(things, use.file) and not clause.is_claim)
        mine = (use for use in mine if concerns(clause, names.name(use), use, apis))
        if mine := tuple(use for use in mine if not code.accepts(use, name)):
            found[name] = mine
    return Relied(code, version, found, named)


def concerns(clause: Clause, api: str, use: Use, apis: set[str]) -> bool:
    """Say whether a clause is about an API as it is used: with an option only where that is given, or may be.

    `apis` are all that the code uses.
    """
    kinds, *words = clause.matters_if.split() or [NEVER]
    matters = bool(use.kinds & {*kinds.split("|")})
    if matters and any(use.seen.get(word) is False for word in words):
        return False
    if not use.caught and REFUSED.search(clause.says):
        return False
    text = f"{clause.id} {clause.says}"
    if any(says.search(text) and not use.seen.get(word) for word, says in SHOWN.items()):
        return False
    if not ALSO.search(text) and any(
        says.search(text) and use.seen.get(word) is False for word, says in ONLY_IF.items()
    ):
        return False
    options = {option for one, option in clause.needed if one == api}
    if matters and not options:  # what matters to a hook on all modules is said of the method, too
        options = {option for _, option in clause.needed} or {""}
    fits = bool(options & {"", *use.options}) or (bool(options) and use.unsure)
    shown = matters and all(word in use.seen for word in words)
    return fits and (shown or _together(clause, apis))


def _together(clause: Clause, apis: set[str]) -> bool:
    """Say whether all that a clause is about is used: one of several, or of two of one family, is enough."""
    about = clause.apis - OF_ALL
    return len(about) >= SEVERAL or about <= apis or len({*map(_family, about)}) == 1


def _family(api: str) -> tuple[str, bool]:
    """Return what hooks of an API are on, and whether they run in the backward pass."""
    kinds = [kind for kind in KINDS.values() if api in (kind.api, kind.everywhere)]
    return (kinds[0].owner, "backward" in kinds[0].name) if kinds else (api, False)


def in_order(relied: Relied) -> Iterator[tuple[tuple[Use, ...], list[str]]]:
    """Yield the clauses that concern the same uses together, in the order of the code."""
    groups: dict[tuple[Use, ...], list[str]] = {}
    for name, uses in relied.clauses.items():
        groups.setdefault(uses, []).append(name)
    yield from sorted(groups.items())
