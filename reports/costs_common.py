"""What moves the hooks of one pass together, from process to process and from run to run.

Each registration makes a handle that takes its number from its class, and so changes that class. What this costs moves
by a tenth within minutes, also of a class that has nothing to do with torch, and not of one that does not count: Python
looks up anew what it knew of the class, probably in a part of its cache that others pushed out of the processor's. So
hooks that are registered anew in each pass, by their user or by torch itself, move together, each by its own measure.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import exp, log
from operator import mul
from statistics import median
from typing import NamedTuple

from reports.costs import LEAST, Costs, Figure, Key
from reports.costs_stats import dot

#: The fewest other hooks that can tell what moved them all: one that changed by itself must not decide.
FEWEST = 4
#: Those go with the others that feel it this much beside the third of them.
GOES_WITH = 0.6
#: What is more between two runs is no machine's: 15 %.
MOST = log(1.15)
#: The part of a shift by which a hook may feel more of it, or less, than its processes tell.
UNSURE = 0.25
#: The least part of what a hook does from process to process that the others must explain.
EXPLAINED = 0.15
#: How often it is told anew which of them go with the others.
TURNS = 3


class Seen(NamedTuple):
    """What one hook did in each process of both runs: by how much it differs from its run, as logarithms."""

    moves: Sequence[float]
    weights: Sequence[int]
    weighted: Sequence[float]  # the one times the other


class Common(NamedTuple):
    """What moves the hooks of a pass together, and how much one of them feels it."""

    felt: float  # from process to process: 1 for as much as the others, 0 for not at all
    felt_by_runs: float  # the same from the one run to the other
    moves: tuple[list[float], list[float]]  # in each process of both runs, as logarithms around 0
    shift: float  # from the one run to the other, as a logarithm

    @property
    def machine(self) -> float:
        """How many times as much the hook adds in the second run by what moves all."""
        return exp(self.felt_by_runs * self.shift) if abs(self.shift) <= MOST else 1.0

    @property
    def unsure(self) -> float:
        """How far that may be wrong, for how much the hook feels it is told from few processes."""
        return UNSURE * abs(self.shift) if abs(self.shift) <= MOST else 0.0

    def without(self, figures: tuple[Figure, Figure]) -> tuple[tuple[float, ...], ...]:
        """Return what the hook adds in each process of both runs, without what moves all."""
        return tuple(
            tuple(value * exp(-self.felt * move) for value, move in zip(figure.each, moves, strict=True))
            for figure, moves in zip(figures, self.moves, strict=True)
        )


def common(before: Costs, after: Costs, key: Key, works: float) -> Common | None:
    """Return what moves the other hooks of the same pass; None where there are too few, or nothing does.

    `works` is how many times as long the works without hooks take in the second run.
    """
    figures = before.figures[key], after.figures[key]
    if not _positive(*figures):
        return None
    theirs = [_others(costs, figure) for costs, figure in zip((before, after), figures, strict=True)]
    both = sorted(theirs[0].keys() & theirs[1].keys())
    if len(both) < FEWEST:
        return None
    runs = [(theirs[0][other], theirs[1][other]) for other in both]
    seen = [_seen(*each) for each in runs]
    shifts = [log(after.values["added"].mid / before.values["added"].mid / works) for before, after in runs]
    moves = _middle([each.moves for each in seen], [each.weights for each in seen])
    with_them, felt = list(range(len(both))), [1.0] * len(both)
    for _ in range(TURNS):
        felt = [_felt(moves, each) for each in seen]
        most = sorted(felt)[-3]
        if most <= 0:
            return None
        with_them = [place for place in range(len(both)) if felt[place] >= GOES_WITH * most]
        usual = median(felt[place] for place in with_them)
        felt = [each / usual for each in felt]
        moved = [[move / felt[place] for move in seen[place].moves] for place in with_them]
        moves = _middle(moved, [seen[place].weights for place in with_them])
    own = _felt(moves, _seen(*figures))
    first = len(figures[0].each)
    shift = median(shifts[place] / felt[place] for place in with_them)
    return Common(own, max(own, _on_empty(before, after, key, moves)), (moves[:first], moves[first:]), shift)


def _on_empty(before: Costs, after: Costs, key: Key, moves: Sequence[float]) -> float:
    """Return how much the hook feels what moves all where it is measured best, as a part of what it adds here.

    A larger module makes few rounds in a process, in which its own processes hardly tell it.
    """
    figures = before.figures[key], after.figures[key]
    best = (key[0], key[1], "empty", key[3])
    if best == key or best not in before.figures or best not in after.figures:
        return 0.0
    told = before.figures[best], after.figures[best]
    if not _positive(*told):
        return 0.0
    return _felt(moves, _seen(*told)) * told[0].values["added"].mid / figures[0].values["added"].mid


def _positive(before: Figure, after: Figure) -> bool:
    """Say whether each process of both runs told an amount, so that it has a logarithm."""
    return min((*before.each, *after.each), default=0.0) > 0


def _others(costs: Costs, figure: Figure) -> dict[Key, Figure]:
    """Return the other hooks of the same pass on the empty module; registering goes with registering."""
    name = "register" if figure.figure == "register" else "call"
    return {
        each.key: each
        for each in costs.figures.values()
        if (each.figure, each.workload, each.way) == (name, "empty", figure.way) and each.hook != figure.hook
        if each.each and min(each.each) > 0 and not costs.below_noise(each)
    }


def _seen(before: Figure, after: Figure) -> Seen:
    moves, weights = (*before.deviations, *after.deviations), (*before.weights, *after.weights)
    return Seen(moves, weights, tuple(map(mul, moves, weights)))


def _middle(moves: Iterable[Sequence[float]], weights: Iterable[Sequence[int]]) -> list[float]:
    """Return the median in each process, of those that count there; nothing moves where none does."""
    found = []
    for each, counts in zip(zip(*moves, strict=True), zip(*weights, strict=True), strict=True):
        told = [move for move, count in zip(each, counts, strict=True) if count > LEAST]
        found.append(median(told) if told else 0.0)
    return found


def _felt(moves: Sequence[float], seen: Seen) -> float:
    """Return how much one of them feels what moves all, over both runs; nothing where it could be chance.

    It is the slope with the least squares of errors, each process counting by its weight.
    """
    moved = dot(list(map(mul, moves, moves)), seen.weights)
    found = dot(moves, seen.weighted) / moved if moved else 0.0
    return found if found > 0 and found**2 * moved >= EXPLAINED * dot(seen.moves, seen.weighted) else 0.0
