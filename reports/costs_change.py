"""What costs more, or less, than before: on one machine, and only where the measurement is sure."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median

from reports.costs import Costs, Figure, Key
from reports.costs_stats import Estimate
from reports.strict import BadInput, shown

#: The least difference that is reported: 3 %.
MARGIN = 0.03
#: The figures that are compared; the others are made of these.
COMPARED = ("call", "modules", "register", "memory")


@dataclass(frozen=True)
class Change:
    """One figure of two runs."""

    before: Figure
    after: Figure
    #: How many times as long the works without hooks take now: the machine, its clock, and torch without hooks.
    works: float = 1.0
    #: Which of the two is below the noise of its run.
    below: tuple[bool, bool] = (False, False)
    #: What the same work beside itself seems to add, at most, in the noisier of the two runs.
    noise: float = 0.0

    @property
    def old(self) -> Estimate:
        """What the hook added before, as it would be had it changed as the works without hooks did."""
        old = self.before.values["added"]
        return old.times(self.works) if self.before.unit == "ns" else old

    @property
    def new(self) -> Estimate:
        """What it adds now."""
        return self.after.values["added"]

    @property
    def ratio(self) -> float | None:
        """How many times as much a hook adds now, beside the works without hooks; None for no two amounts."""
        amounts = not any(self.below) and self.old.mid > 0 and self.new.mid > 0
        return self.new.mid / self.old.mid if amounts else None

    def sure(self, margin: float = MARGIN) -> bool:
        """Say whether the hook changed, whatever is held to be its unit.

        What it adds must have changed beside all works without hooks, and beside its own: a release may make one of
        them slower. Where all of them changed, its nanoseconds must have changed the same way as they are: else it
        could be the works alone. A figure without such a work beside it has the first only. Where there is no ratio,
        the intervals must lie farther apart than the noise.
        """
        beyond = [(self.old, self.new)]
        if "share" in self.before.values and "share" in self.after.values:
            beyond.append((self.before.values["share"], self.after.values["share"]))
        apart = list(beyond)
        if self.before.unit == "ns" and far(self.works, margin):
            apart.append((self.before.values["added"], self.new))
        up = all(old.high < new.low for old, new in apart)
        down = all(new.high < old.low for old, new in apart)
        if self.ratio is None:
            return (up or down) and self.old.gap(self.new) > self.noise
        return (up or down) and all(old.mid > 0 and far(new.mid / old.mid, margin) for old, new in beyond)

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
    works = unhooked(before, after)
    found = [
        compare(before, after, key, works)
        for key in sorted(before.figures)
        if key[0] in COMPARED and before.figures[key].values and key in after.figures and after.figures[key].values
    ]
    return [change for change in found if not all(change.below)]


def compare(before: Costs, after: Costs, key: Key, works: float) -> Change:
    """Return one figure of both sides, which must have measured it."""
    old, new = before.figures[key], after.figures[key]
    noise = max(before.noise(old) * works, after.noise(new))
    return Change(old, new, works, (before.below_noise(old), after.below_noise(new)), noise)


def unhooked(before: Costs, after: Costs) -> float:
    """Return how many times as long the works without hooks take now: the median over all figures that have one."""
    ratios = [
        after.figures[key].values["control"].mid / figure.values["control"].mid
        for key, figure in before.figures.items()
        if figure.unit == "ns" and figure.work != "nothing" and "control" in figure.values
        if key in after.figures and "control" in after.figures[key].values
    ]
    return median(ratios or [1.0])


def not_compared(before: Costs, after: Costs) -> str:
    """Say why nothing is compared: each figure, the plain call too, changes with Python. Empty where it is."""
    one, other = (".".join(costs.environment["python"].split(".")[:2]) for costs in (before, after))
    return f"not compared: Python {one} and {other}" if one != other else ""
