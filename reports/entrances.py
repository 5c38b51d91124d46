"""What can be chosen at the page's entrances: chapters, hook APIs with their options, and the usual versions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from reports.apis import known_apis, need
from reports.atlas import Atlas, Column


@dataclass(frozen=True)
class Api:
    """A hook API and its options, as `rely --api` names them."""

    name: str
    options: tuple[str, ...]


@dataclass(frozen=True)
class Entrances:
    """The choices of the three entrances."""

    apis: tuple[Api, ...]
    oldest: Column
    newest: Column
    before: Column


def entrances(atlas: Atlas) -> Entrances:
    """Return what can be chosen; an upgrade is usually one within the newest major version."""
    newest = atlas.columns[-1]
    same = [column for column in atlas.columns if column.version.major == newest.version.major]
    return Entrances(_apis(atlas.clauses), atlas.columns[0], newest, same[0] if len(same) > 1 else atlas.columns[0])


def _apis(clauses: Mapping[str, Mapping[str, Any]]) -> tuple[Api, ...]:
    needs = sorted({need(text) for clause in clauses.values() for text in clause["needs"]})
    return tuple(
        Api(name, tuple(f"{name}({option})" for api, option in needs if api == name and option))
        for name in sorted(known_apis(clauses))
    )
