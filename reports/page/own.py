"""The runs that the page was made with, next to what is recorded: the same figures and clusters as check and triage."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fixtures.judge.in_words import in_words
from fixtures.judge.triage import Cluster, triage, words
from reports.data.atlas import nearest_to
from reports.data.forms import torch_of
from reports.data.runfile import Run, is_release, minor
from reports.data.verdicts import read_recorded
from reports.record.comparing import CellChange, Comparison, comparison


@dataclass(frozen=True)
class Start:
    """What some failures share, and the clause to look at first."""

    count: int
    shared: str
    clause: str
    mode: str
    difference: str


@dataclass(frozen=True)
class Own:
    """The answer about somebody's own runs: in one sentence each, what differs, worst first, and where to start."""

    says: tuple[str, ...]
    changes: tuple[CellChange, ...]
    starts: tuple[Start, ...]


def own(runs: Sequence[Run], folder: Path) -> Own:
    """Return what is said of these runs; one of a torch that is not recorded is not compared: `diff` is for that."""
    known = read_recorded(folder)
    recorded = [run for run in runs if is_release(run.version) and minor(run.version) in {old.minor for old in known}]
    found = comparison(recorded, folder) if recorded else Comparison(0, 0, (), (), ())
    says = [one.words for one in found.matches]
    for run in runs:
        if run not in recorded:
            nearest = nearest_to(run.version, known)
            says.append(
                f"your {torch_of(run.measured)} is not recorded" + (f"; the nearest is {nearest}" * bool(nearest))
            )
    cells = [line for run in runs for line in run.lines.values()]
    return Own(tuple(dict.fromkeys(says)), found.changes, tuple(map(_start, triage(cells))))


def _start(one: Cluster) -> Start:
    return Start(len(one.cells), words(one), one.start["clause"], one.start["mode"], in_words(one.start))
