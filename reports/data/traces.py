"""The two traces of a deviation, line by line: what a clause expects next to what was observed."""

from __future__ import annotations

from fixtures.play.trace import aligned
from fixtures.play.trace import side_by_side as columns
from reports.data.strict import one_line

__all__ = ["aligned", "side_by_side"]


def side_by_side(expected: list[str], observed: list[str]) -> list[str]:
    """Return both traces as the columns of a text, each line with its sign in front."""
    return columns([one_line(line) for line in expected], [one_line(line) for line in observed]).split("\n")
