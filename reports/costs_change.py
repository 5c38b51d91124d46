"""What costs more, or less, than before: on one machine, and only where the measurement is sure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from reports.costs import Costs, Figure, Key
from reports.costs_common import common
from reports.costs_stats import Estimate, estimate
from reports.strict import BadInput, shown

#: The least difference that is reported: 3 %.
MARGIN = 0.03
#: How many times as many plain calls a fixed piece of Python may take in one run than in another: 2 % more.
CROWD = 0.02
#: How surely the intervals hold that must part: dozens of figures are compared, and chance has as many.
SURE = 0.995
#: The least part of the work that a difference must be: so much a hook moves the work beside it by where it lies.
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

        What it adds must have changed beside all works without hooks, and beside those of its own pass: a release may
        make one of them slower. Where all of them changed, its nanoseconds must have changed the same way as they are:
        else it could be the works alone. It must have gone that way before it was set right by the other hooks too.
        Where there is no ratio, the intervals must lie farther apart than the noise.
        """
        old, new = self.added
        beyond = [(self.old, new)]
        if self.before.unit == "ns":
            beyond += [(old.times(clock * self.machine), new) for clock in (self.own, self.beside)]
        apart = list(beyond)
        if self.before.unit == "ns" and far(self.works, margin):
            apart.append((old, new))
        up = all(one.high < other.low for one, other in apart)
        down = all(other.high < one.low for one, other in apart)
        if self.ratio is None:
            return (up or down) and self.old.gap(new) > self.noise
        seen = self.ratio * self.machine  # not beside the others: they may have changed, and this one not
        told = (up and seen > 1) or (down and seen < 1)
        return told and all(self.beyond(one, other, margin) for one, other in beyond)

    def beyond(self, old: Estimate, new: Estimate, margin: float) -> bool:
        """Say whether the two differ by more than the margin, and by more than a hook moves the work beside it."""
        control = None if self.after.work == "nothing" else self.after.values.get("control")
        least = LEAST * control.mid if control else 0.0
        return old.mid > 0 and far(new.mid / old.mid, margin + self.unsure) and abs(new.mid - old.mid) > least

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


def changes(before: Costs, after: Costs, margin: float = MARGIN) -> list[Change]:
    """Return the figures that changed, the greatest change first."""
    return sorted((each for each in compared(before, after) if each.sure(margin)), key=lambda each: each.rank)


def compared(before: Costs, after: Costs) -> list[Change]:
    """Return each figure that is above the noise on one side at least; none of two different Pythons."""
    if not_compared(before, after):
        return []
    found = [
        compare(before, after, key)
        for key in sorted(before.figures)
        if key[0] in COMPARED and before.figures[key].values and key in after.figures and after.figures[key].values
    ]
    return [change for change in found if not all(change.below)]


def compare(before: Costs, after: Costs, key: Key) -> Change:
    """Return one figure of both sides, which must have measured it."""
    old, new = before.figures[key], after.figures[key]
    works = unhooked(before, after)
    below = before.below_noise(old), after.below_noise(new)
    noise = max(before.noise(old) * works, after.noise(new))
    own = unhooked(before, after, old)
    if not (old.each and new.each) or any(below):
        return Change(old, new, works, own, below=below, noise=noise)
    together = common(before, after, key, works)
    if together is None:
        alone = estimate(old.each, confidence=SURE), estimate(new.each, confidence=SURE)
        return Change(old, new, works, own, sides=alone, noise=noise)
    one, other = (estimate(each, confidence=SURE) for each in together.without((old, new)))
    return Change(old, new, works, own, together.machine, together.unsure, (one, other), below, noise)


def unhooked(before: Costs, after: Costs, like: Figure | None = None) -> float:
    """Return how many times as long the works without hooks take now: the median over all figures that have one.

    With `like`, of those alone that have the pass and the workload of that figure, where there are any.
    """
    ratios = [
        after.figures[key].values["control"].mid / figure.values["control"].mid
        for key, figure in before.figures.items()
        if figure.unit == "ns" and figure.work != "nothing" and "control" in figure.values
        if key in after.figures and "control" in after.figures[key].values
        if like is None or (figure.work, figure.workload) == (like.work, like.workload)
    ]
    return median(ratios) if ratios else unhooked(before, after) if like else 1.0


def crowded(sweep: Sequence[Costs]) -> list[Costs]:
    """Return those that were measured while somebody else used the machine, beside the quietest of the same Python."""
    quietest: dict[str, float] = {}
    for costs in sweep:
        quietest[python(costs)] = min(costs.pace, quietest.get(python(costs), costs.pace))
    return [costs for costs in sweep if far(costs.pace / quietest[python(costs)], CROWD)]


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
    told = crowded([before, after])
    return f"not compared: somebody else used the machine while torch {told[0].torch} was measured" if told else ""
