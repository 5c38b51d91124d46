"""What can be chosen in the page's views: hook APIs and the usual versions; and what no clause speaks of yet."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from fixtures.judge.unstated import UNSTATED
from reports.data.atlas import Atlas, Column
from reports.data.clause import Clauses, known_apis


@dataclass(frozen=True)
class Uncovered:
    """What no clause speaks of yet: in words, why, and the words in lower case by which a reader asks for it."""

    what: str
    why: str
    words: tuple[str, ...]


def _uncovered() -> Iterator[Uncovered]:
    """Yield the modes and devices that are not recorded, and the hook APIs without clauses, by reason."""
    words = ("compile", "dynamo", "inductor", "torch.jit", "export", "functorch", "torch.func", "vmap", "checkpoint")
    what = "torch.compile, torch.jit, torch.export, torch.func, checkpoint"
    yield Uncovered(what, "No plan is executed in these ways yet", words)
    words = ("ddp", "fsdp", "dataparallel", "distributed")
    yield Uncovered("DataParallel, DistributedDataParallel, FSDP", "They need several processes or devices", words)
    words = ("cuda", "gpu", "mps", "xpu", "tpu")
    yield Uncovered("devices other than the CPU", "Recorded is the CPU; the suite runs on others with --device", words)
    for reason in dict.fromkeys(UNSTATED.values()):
        names = [name for name, why in UNSTATED.items() if why == reason]
        yield Uncovered(", ".join(names), reason[0].upper() + reason[1:], tuple(name.lower() for name in names))


UNCOVERED = tuple(_uncovered())


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
