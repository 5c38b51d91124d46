"""What costs more, or less, than before: on one machine, and only where the measurement is sure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import inf
from pathlib import Path
from statistics import median, median_low

from reports.costs import Costs, Figure, Key
from reports.costs_common import common
from reports.costs_stats import Estimate, estimate
from reports.strict import BadInput, shown

#: The least difference that is reported of one installed torch: 3 %.
MARGIN = 0.03
#: The least that is reported of two torches: 8 %. One that is installed anew moves by some percent by itself.
RELEASES = 0.08
#: How many times as many plain calls a fixed piece of Python may take in one run than in another: 2 % more.
CROWD = 0.02
#: The part of its processes that a run may leave out: 30 %.
MOST_OUT = 0.3
#: How surely the intervals hold that must part: dozens of figures are compared, and chance has as many.
SURE = 0.995
#: The least part of the work without hooks that a difference must be: where an object lies in memory makes this much.
LEAST = 0.004
#: The figures that are compared. The others are made of these, but for the encoder: other users of the machine make its
#: hooks a third slower, and it by less.
COMPARED = ("call", "register", "memory")


@dataclass(frozen=True)
class Change:
    """One figure of two runs."""

    before: Figure
    after: Figure
    #: How many times as long the works without hooks take now: the machine, its clock, and torch without hooks.
    works: float = 1.0
    #: The same of the works of its own pass and workload.
    own: float = 1.0
    #: How many times as much the hook would add by what moves the hooks of its pass together.
    machine: float = 1.0
    #: How far that may be wrong, as a part of what the hook adds.
    unsure: float = 0.0
    #: How much the longest work without hooks takes that goes the same way on the same workload.
    longest: float = 0.0
    #: What it added in both runs, with the intervals that are left without what moves them from process to process.
    sides: tuple[Estimate, Estimate] | None = None
    #: Which of the two is below the noise of its run.
    below: tuple[bool, bool] = (False, False)
    #: What the same work beside itself seems to add, at most, in the noisier of the two runs.
    noise: float = 0.0

    @property
    def added(self) -> tuple[Estimate, Estimate]:
        """What the hook added in each run, as it was measured there."""
        return self.sides or (self.before.values["added"], self.after.values["added"])

    @property
    def beside(self) -> float:
        """How many times as long the work that it was measured beside takes now; as the others where there is none."""
        old, new = self.before.values.get("control"), self.after.values.get("control")
        return new.mid / old.mid if old and new and self.after.work != "nothing" else self.works

    @property
    def old(self) -> Estimate:
        """What the hook added before, as it would be had it changed as the works without hooks and the machine did."""
        old = self.added[0]
        return old.times(self.works * self.machine) if self.before.unit == "ns" else old

    @property
    def new(self) -> Estimate:
        """What it adds now."""
        return self.added[1]

    @property
    def ratio(self) -> float | None:
        """How many times as much a hook adds now, beside the works without hooks; None for no two amounts."""
        amounts = not any(self.below) and self.old.mid > 0 and self.new.mid > 0
        return self.new.mid / self.old.mid if amounts else None

    def sure(self, margin: float = MARGIN) -> bool:
        """Say whether the hook changed, whatever is held to be its unit.

        It must have changed in each unit. It must have gone that way before it was set right by the other hooks too.
        Where there is no ratio, the intervals must lie farther apart than the noise.
        """
        beyond, apart = self.units(), self.units(margin)
        up = all(one.high < other.low for one, other in apart)
        down = all(other.high < one.low for one, other in apart)
        if self.ratio is None:
            return (up or down) and self.old.gap(self.new) > self.noise
        seen = self.ratio * self.machine  # not beside the others: they may have changed, and this one not
        told = (up and seen > 1) or (down and seen < 1)
        return told and all(self.beyond(one, other, margin) for one, other in beyond)

    def units(self, margin: float = inf) -> list[tuple[Estimate, Estimate]]:
        """Return what it added and adds, beside all works without hooks, and beside those of its own pass.

        A release may make one of them slower. Where all of them changed beyond the margin, its nanoseconds as they are
        must tell the same: else it could be the works alone.
        """
        old, new = self.added
        if self.before.unit != "ns":
            return [(old, new)]
        found = [(old.times(clock * self.machine), new) for clock in (self.works, self.own, self.beside)]
        return [*found, (old, new)] if far(self.works, margin) else found

    def over(self, limit: float) -> bool:
        """Say whether it surely adds more than so many times what it added, or what the noise could hide of that."""
        hidden = self.noise if any(self.below) else 0.0
        return all(new.low > limit * max(old.reach, hidden) for old, new in self.units(MARGIN))

    def beyond(self, old: Estimate, new: Estimate, margin: float) -> bool:
        """Say whether the two differ by more than the margin, and by more than a hook moves the work beside it."""
        moved = LEAST * self.longest
        return old.mid > 0 and far(new.mid / old.mid, margin + self.unsure) and abs(new.mid - old.mid) > moved

    @property
    def rank(self) -> tuple[float, Key]:
        """Its place among the changes: what comes or goes first, then the greatest."""
        return -max(self.ratio, 1 / self.ratio) if self.ratio else float("-inf"), self.after.key


def far(ratio: float, margin: float = MARGIN) -> bool:
    """Say whether a ratio lies beyond the margin, to either side."""
    return ratio > 0 and max(ratio, 1 / ratio) > 1 + margin


def check_comparable(before: Costs, after: Costs, *, sweep: bool = False) -> None:
    """Raise BadInput unless both were measured on one machine, and recorded ones in one sweep."""
    if before.machine != after.machine:
        fault = f"was measured on {shown(after.machine)}, but {before.where} on {shown(before.machine)}"
        raise BadInput(after.where, "", fault, "times are compared only within one machine: measure both there")
    if sweep and before.sweep != after.sweep:
        fault = f"belongs to the sweep of {after.sweep}, but {before.where} to that of {before.sweep}"
        raise BadInput(after.where, "", fault, "record both from one sweep")


def margin(before: Costs, after: Costs) -> float:
    """Return the least difference that is reported of these two."""
    return MARGIN if before.torch == after.torch else RELEASES


def changes(before: Costs, after: Costs, keys: Iterable[Key] | None = None) -> list[Change]:
    """Return the figures that changed, the greatest change first; with `keys`, only those of them."""
    least = margin(before, after)
    return sorted((each for each in compared(before, after, keys) if each.sure(least)), key=lambda each: each.rank)


def compared(before: Costs, after: Costs, keys: Iterable[Key] | None = None) -> list[Change]:
    """Return each figure that is above the noise on one side at least; none where the runs are not compared.

    None either that too few processes of a run measured while the processor was fast.
    """
    if not_compared(before, after):
        return []
    without = Unhooked(before, after)
    found = [
        compare(before, after, key, without)
        for key in sorted(before.figures if keys is None else before.figures.keys() & keys)
        if key[0] in COMPARED and _told(before.figures[key]) and key in after.figures and _told(after.figures[key])
    ]
    return [change for change in found if not all(change.below)]


def _told(figure: Figure) -> bool:
    return bool(figure.values) and not figure.slow


def compare(before: Costs, after: Costs, key: Key, without: Unhooked | None = None) -> Change:
    """Return one figure of both sides, which must have measured it."""
    old, new = before.figures[key], after.figures[key]
    without = without or Unhooked(before, after)
    works, own = without.all, without.like(old)
    below = before.below_noise(old), after.below_noise(new)
    noise = max(before.noise(old) * works, after.noise(new))
    change = Change(
        old, new, works, own, longest=after.works.get((new.way, new.workload), 0.0), below=below, noise=noise
    )
    if not (old.each and new.each) or any(below):
        return change
    together = common(before, after, key, works)
    each = together.without((old, new)) if together else (old.each, new.each)
    sides = estimate(each[0], old.weights, SURE), estimate(each[1], new.weights, SURE)
    if together is None:
        return replace(change, sides=sides)
    return replace(change, machine=together.machine, unsure=together.unsure, sides=sides)


def unhooked(before: Costs, after: Costs) -> float:
    """Return how many times as long the works without hooks take now: the median over all figures that have one."""
    return Unhooked(before, after).all


class Unhooked:
    """How many times as long the works without hooks take now, by their pass and their workload."""

    def __init__(self, before: Costs, after: Costs) -> None:
        self.ratios: dict[tuple[str, str], list[float]] = {}
        for key, figure in before.figures.items():
            old, now = figure.values.get("control"), after.figures.get(key)
            new = now.values.get("control") if now else None
            if old and new and figure.unit == "ns" and figure.work != "nothing":
                self.ratios.setdefault((figure.work, figure.workload), []).append(new.mid / old.mid)

    @cached_property
    def all(self) -> float:
        """The median over all of them; 1 where there are none."""
        return median([ratio for ratios in self.ratios.values() for ratio in ratios] or [1.0])

    def like(self, figure: Figure) -> float:
        """Return the median over those of the same pass and workload; over all where there are none."""
        ratios = self.ratios.get((figure.work, figure.workload))
        return median(ratios) if ratios else self.all


def crowded(sweep: Sequence[Costs]) -> list[Costs]:
    """Return those that were measured while somebody else used the machine, beside the middle one of the same Python.

    Of two it is the quieter. Of a sweep it is not the quietest: the fixed piece of Python takes some percent more or
    less from one release to the next, and the quietest of many is an extreme. And those of which many processes do not
    count: beside the others somebody may have used it a little less.
    """
    paces: dict[str, list[float]] = {}
    for costs in sweep:
        paces.setdefault(python(costs), []).append(costs.pace)
    return [costs for costs in sweep if many_out(costs) or costs.pace > (1 + CROWD) * median_low(paces[python(costs)])]


def many_out(costs: Costs) -> bool:
    """Say whether too many processes do not count."""
    out, counted = costs.environment["left_out"], costs.environment["processes"]
    return out >= MOST_OUT * (out + counted)


def python(costs: Costs) -> str:
    """Return the minor version of Python."""
    return ".".join(costs.environment["python"].split(".")[:2])


def not_compared(before: Costs, after: Costs) -> str:
    """Say why nothing is compared; empty where it is.

    Each figure, the plain call too, changes with Python. And who fills the caches of the machine makes what goes
    through much code slow, one hook by much more than another.
    """
    one, other = python(before), python(after)
    if one != other:
        return f"not compared: Python {one} and {other}"
    for costs in crowded([before, after]):
        if before.torch == after.torch:
            return f"not compared: somebody else used the machine while {Path(costs.where).name} was measured"
        return f"not compared: somebody else or torch itself filled the caches while torch {costs.torch} was measured"
    return ""
