"""Which test is visited when: in rounds, so that a figure is not of one second of the machine alone."""

from typing import Any, Dict, List, Sequence

from fixtures.modes import missing
from suites.timing.arms import TIMES, Time
from suites.timing.kinds import KINDS

MOST_VISITS = max(time.visits for time in TIMES.values())


def in_rounds(items: Sequence[Any]) -> List[Any]:
    """Go round the tests that want most visits, so often as they want, then round the next; what has no time is first.

    What a large work leaves behind in the heap would make the small ones slow for a while.
    """
    visits = [item for item in items if visit_of(item) < time_of(item).visits]
    return sorted(visits, key=lambda item: (bool(time_of(item).weight), -time_of(item).visits, visit_of(item)))


def share_of(item: Any) -> float:
    """The share of the measuring time that one visit gets."""
    time = time_of(item)
    return time.weight / time.visits


def params_of(item: Any) -> Dict[str, Any]:
    return item.callspec.params if hasattr(item, "callspec") else {}


def visit_of(item: Any) -> int:
    """The number of a visit, from 0."""
    return params_of(item).get("visit", 0)


def time_of(item: Any) -> Time:
    """The time of a test: none where this torch lacks the kind of hook that it is of."""
    params = params_of(item)
    kind = params.get("kind") or KINDS.get(params.get("name"))
    mark = item.get_closest_marker("time")
    return Time(*mark.args) if mark and not (kind and missing(kind.needs)) else Time(0.0, 1)
