"""What changed between two torches that were counted with one build of Python, one libc and one valgrind."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from reports.costs.counts import BUILD, HOOK, Costs, Figure
from reports.data.strict import BadInput

#: The least change that is reported, as a share of what the hook added before.
LEAST = 0.02
FEWEST_SEEDS = 3
PULL = "https://github.com/pytorch/pytorch/pull/"
FORWARD = ("forward", "forward_pre", "global_forward", "global_forward_pre")
FULL = ("full_backward", "full_backward_pre", "global_full_backward", "global_full_backward_pre")
#: The pull request of torch that made a change, as found in the sources of both releases: (release, kind) -> number.
PULLS = {
    (release, kind): number
    for release, number, kinds in (
        ("1.9", 52576, FORWARD),  # a call without hooks takes a shorter way, which it leaves when there is a hook
        ("2.0", 89389, FORWARD),
        ("2.0", 89860, FULL[::2]),
        ("2.1", 104278, ("forward", "forward_kwargs", "global_forward")),
        ("2.3", 121413, FULL),  # a deprecated attribute of autograd.Function is looked for at each access to the class
        ("2.4", 122817, FULL),
        ("2.5", 133239, (*FORWARD, "forward_kwargs", "forward_pre_kwargs", "forward_always")),  # an import in each call
        ("2.14", 190694, FULL),
    )
    for kind in kinds
}


@dataclass(frozen=True)
class CostChange:
    """One figure on both torches."""

    before: Figure
    after: Figure

    @property
    def ratio(self) -> float | None:
        """How many times as much the hook adds; nothing where it added nothing before."""
        return self.after.added / self.before.added if self.before.added > 0 else None

    @property
    def percent(self) -> str:
        """The change such as "−14.5 %"."""
        return "from nothing" if self.ratio is None else f"{100 * (self.ratio - 1):+.1f} %".replace("-", "−")

    @property
    def sides(self) -> tuple[str, str]:
        """What the hook added before, and what it adds now."""
        return f"{self.before.added:,.0f}", f"{self.after.added:,.0f}"

    @property
    def beyond_noise(self) -> bool:
        """Whether no count of one torch is among those of the other, and the medians differ by more than the floor.

        What varies from seed to seed is the layout of memory. The floor is for what five seeds may not have met: half a
        percent of the pass where a backward is part of it, or of a step, 160 instructions on a leaf, 50 on a forward,
        3 % of a registration.
        """
        old, new = self.before, self.after
        separate = old.highest < new.lowest or new.highest < old.lowest
        floor = {"both": 0.005 * old.bare, "step": 0.005 * old.bare, "nothing": 0.03 * old.added, "leaf": 160.0}.get(
            old.work, 50.0
        )
        return separate and abs(new.added - old.added) > floor

    @property
    def reported(self) -> bool:
        """Whether this is a change at all."""
        return self.beyond_noise and abs(self.after.added - self.before.added) > LEAST * abs(self.before.added)


def why_not(before: Costs, after: Costs) -> str:
    """Return why two torches are not compared; nothing where they are."""
    for name in BUILD:
        old, new = before.build[name], after.build[name]
        if old != new:
            plain = before.python, after.python
            if name == "python" and plain[0] != plain[1]:
                old, new = plain
            return f"they were counted with different builds, {name} {old} and {new}"
    return too_little(before) or too_little(after)


def too_little(costs: Costs) -> str:
    """Return why the counts of a torch are neither compared nor recorded; nothing where they are."""
    if costs.seeds < FEWEST_SEEDS:
        return f"torch {costs.torch} has too few hash seeds: {costs.seeds}, where {FEWEST_SEEDS} are needed"
    whys = [figure.why for figure in costs.figures.values()]
    return "" if not all(whys) else f"nothing was counted on torch {costs.torch}: {whys[0]}"


def check(before: Costs, after: Costs) -> None:
    """Raise BadInput where two torches cannot be compared."""
    why = why_not(before, after)
    if why:
        raise BadInput(after.where, "", f"is not compared with {before.where}: {why}", "count both in one environment")


def both(before: Costs, after: Costs) -> Iterator[CostChange]:
    """Yield every figure that was counted on both."""
    for key, new in after.figures.items():
        old = before.figures.get(key)
        if old and not (old.why or new.why):
            yield CostChange(old, new)


def changes(before: Costs, after: Costs) -> list[CostChange]:
    """Return what costs more or less on the second: one hook first, and of these the largest change."""
    found = [each for each in both(before, after) if each.reported]
    return sorted(found, key=lambda each: (each.after.figure != HOOK, -abs((each.ratio or 0) - 1)))
