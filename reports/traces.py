"""The two traces of a deviation, line by line: what a clause expects beside what was observed."""

from __future__ import annotations

from difflib import SequenceMatcher

from reports.strict import one_line

WIDEST_ALIGNMENT = 400
WIDEST_LINE = 60  # a longer line pushes the one beside it to the right
Aligned = tuple[str, str | None, str | None]


def aligned(expected: list[str], observed: list[str]) -> list[Aligned]:
    """Return both traces side by side: "=" for equal lines, "≠" changed, "-" only expected, "+" only observed."""
    if max(len(expected), len(observed)) > WIDEST_ALIGNMENT:
        return _paired(expected, observed)  # the exact alignment would take minutes on a hostile trace
    lines: list[Aligned] = []
    for tag, low, high, start, stop in SequenceMatcher(None, expected, observed, autojunk=False).get_opcodes():
        if tag == "equal":
            lines += [("=", left, left) for left in expected[low:high]]
        else:
            lines += _paired(expected[low:high], observed[start:stop])
    return lines


def _paired(left: list[str], right: list[str]) -> list[Aligned]:
    lines: list[Aligned] = []
    for place in range(max(len(left), len(right))):
        one = left[place] if place < len(left) else None
        two = right[place] if place < len(right) else None
        sign = "=" if one == two else "+" if one is None else "-" if two is None else "≠"
        lines.append((sign, one, two))
    return lines


def side_by_side(expected: list[str], observed: list[str]) -> list[str]:
    """Return both traces as the columns of a text, each line with its sign in front."""
    rows = [(sign, one_line(left or ""), one_line(right or "")) for sign, left, right in aligned(expected, observed)]
    width = min(WIDEST_LINE, max(len(left) for _, left, _ in [("", "expected", ""), *rows]))
    told = [(" ", "expected", "observed"), *((" " if sign == "=" else sign, *row) for sign, *row in rows)]
    return [f"{sign} {left:<{width}}  {right}".rstrip() for sign, left, right in told]
