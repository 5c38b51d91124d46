"""What costs more, or less, than before: on one machine, and only where the measurement is sure."""

from __future__ import annotations

from collections.abc import Iterator
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
    #: How many times as long all figures together take now: the clock, the neighbours of the machine, Python.
    common: float = 1.0

    @property
    def old(self) -> Estimate:
        """What the hook added before, as it would be if all had changed alike."""
        old = self.before.values["added"]
        if self.before.unit != "ns":
            return old
        return Estimate(old.low * self.common, old.mid * self.common, old.high * self.common)

    @property
    def new(self) -> Estimate:
        """What it adds now."""
        return self.after.values["added"]

    @property
    def ratio(self) -> float:
        """How many times as much a hook adds now, compared with all the others."""
        return self.new.mid / self.old.mid


def check_comparable(before: Costs, after: Costs, *, sweep: bool = False) -> None:
    """Raise BadInput unless both were measured on one machine, and recorded ones in one sweep."""
    if before.machine != after.machine:
        fault = f"was measured on {shown(after.machine)}, but {before.where} on {shown(before.machine)}"
        raise BadInput(after.where, "", fault, "times are compared only within one machine: measure both there")
    if sweep and before.sweep != after.sweep:
        fault = f"belongs to the sweep of {after.sweep}, but {before.where} to that of {before.sweep}"
        raise BadInput(after.where, "", fault, "record both from one sweep")


def changes(before: Costs, after: Costs, margin: float = MARGIN) -> list[Change]:
    """Return the figures that changed: the intervals part and the ratio lies beyond the margin."""
    return sorted(_changes(before, after, margin), key=lambda change: (-abs(change.ratio - 1), change.after.key))


def _changes(before: Costs, after: Costs, margin: float) -> Iterator[Change]:
    together = common(before, after)
    for key in comparable(before, after):
        change = Change(before.figures[key], after.figures[key], together)
        if parted(change) and max(change.ratio, 1 / change.ratio) > 1 + margin:
            yield change


def common(before: Costs, after: Costs) -> float:
    """Return the median ratio of all figures that are compared: what changed them all is no change of a hook."""
    pairs = [(before.figures[key], after.figures[key]) for key in comparable(before, after)]
    ratios = [new.values["added"].mid / old.values["added"].mid for old, new in pairs if old.unit == "ns"]
    return median([ratio for ratio in ratios if ratio > 0] or [1.0])


def comparable(before: Costs, after: Costs) -> list[Key]:
    """Return the figures that stand above the noise on both sides."""
    return [
        key
        for key in sorted(before.figures)
        if key[0] in COMPARED and key in after.figures and not (before.figures[key].absent or after.figures[key].absent)
        if not (before.below_noise(before.figures[key]) or after.below_noise(after.figures[key]))
    ]


def same_python(before: Costs, after: Costs) -> bool:
    """Say whether a plain Python call is the same on both sides."""
    one, other = (costs.environment["python"].split(".")[:2] for costs in (before, after))
    return one == other


def parted(change: Change) -> bool:
    """Say whether the intervals of what the hook adds have nothing in common."""
    return change.old.apart(change.new) and change.old.mid > 0 and change.new.mid > 0
