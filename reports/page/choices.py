"""What can be chosen in the page's views: hook APIs and the usual versions."""

from __future__ import annotations

from dataclasses import dataclass

from reports.data.atlas import Atlas, Column
from reports.data.clause import Clauses, known_apis


@dataclass(frozen=True)
class Api:
    """A hook API and its options, as `rely --api` names them."""

    name: str
    options: tuple[str, ...]


@dataclass(frozen=True)
class Choices:
    """The choices of the three views that answer questions."""

    apis: tuple[Api, ...]
    oldest: Column
    newest: Column
    before: Column


def choices(atlas: Atlas) -> Choices:
    """Return what can be chosen; an upgrade is usually one within the newest major version."""
    newest = atlas.columns[-1]
    same = [column for column in atlas.columns if column.version.major == newest.version.major]
    return Choices(_apis(atlas.clauses), atlas.columns[0], newest, same[0] if len(same) > 1 else atlas.columns[0])


def _apis(clauses: Clauses) -> tuple[Api, ...]:
    named = sorted({one for clause in clauses.values() for one in clause.needed})
    return tuple(
        Api(name, tuple(f"{name}({option})" for api, option in named if api == name and option))
        for name in sorted(known_apis(clauses))
    )
