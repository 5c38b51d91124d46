"""Traces with one thing changed, and a clause's test alone: what its own assertions reject.

The test is played on the model under one reading, and `Subject.holds` compares nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import singledispatch
from itertools import combinations
from typing import Any

from hypothesis.errors import UnsatisfiedAssumption

from fixtures.clause.clause import Clause, Reading
from fixtures.judge.subject import Playable, Subject
from fixtures.model.contract import with_facts
from fixtures.model.module import expect
from fixtures.play.objects import Seen, seen
from fixtures.play.trace import OTHERS, Event, Trace
from suites.selfcheck.mutants.clauses import CONTRACT, VERSION

#: What makes changed traces of the trace of a plan.
Change = Callable[[Trace, Playable], Iterator[Trace]]

# --- a trace with one thing changed ---


def with_events(trace: Trace, first: int, last: int, *events: Event) -> Trace:
    """The trace with other events in place of those from `first` up to `last`, which stays."""
    return Trace((*trace[:first], *events, *trace[last:]))


def is_call(event: Event) -> bool:
    return event.what not in OTHERS


def lost(trace: Trace, plan: Playable) -> Iterator[Trace]:
    """A call of a hook is missing."""
    return (with_events(trace, at, at + 1) for at, event in enumerate(trace) if is_call(event))


def doubled(trace: Trace, plan: Playable) -> Iterator[Trace]:
    """A call of a hook is there twice."""
    return (with_events(trace, at, at, event) for at, event in enumerate(trace) if is_call(event))


def swapped(trace: Trace, plan: Playable) -> Iterator[Trace]:
    """A call of a hook has changed places with another event, near or far."""
    for first, last in combinations(range(len(trace)), 2):
        one, other = trace[first], trace[last]
        if one != other and (is_call(one) or is_call(other)):
            yield with_events(trace, first, last + 1, other, *trace[first + 1 : last], one)


def added(trace: Trace, plan: Playable) -> Iterator[Trace]:
    """A hook of the plan is called once more, at the beginning, in the middle or at the end."""
    given = [event.seen for event in trace if is_call(event)] or [("m0", 1)]
    for label in sorted(set(re.findall(r"label='([^']+)'", repr(plan)))):
        for place in sorted({0, len(trace) // 2, len(trace)}):
            yield with_events(trace, place, place, Event(label, given[0]))


def other_value(trace: Trace, plan: Playable) -> Iterator[Trace]:
    """Something else was given, returned or left."""
    for at, event in enumerate(trace):
        for given in others(event.seen):
            yield with_events(trace, at, at + 1, event._replace(seen=given))


def no_error(trace: Trace, plan: Playable) -> Iterator[Trace]:
    """What was raised was not."""
    return (with_events(trace, at, at + 1) for at, event in enumerate(trace) if event.what in ("raises", "refused"))


@singledispatch
def others(value: Any) -> Iterator[Any]:
    """The same value with one thing changed."""
    yield 7


@others.register(bool)
def _(value: bool) -> Iterator[Any]:
    yield not value


@others.register(int)
@others.register(float)
def _(value: float) -> Iterator[Any]:
    yield from (value + 1, None)


@others.register(str)
def _(value: str) -> Iterator[Any]:
    yield f"not {value}"


@others.register(Seen)
def _(value: Seen) -> Iterator[Any]:
    numbers, shape, dtype, strides, name = value.numbers, value.shape, value.dtype, value.strides, value.name
    yield from (seen(other, shape, dtype, strides, name) for other in others(numbers))
    yield seen(numbers, (*shape, 2), dtype, strides, name)
    yield seen(numbers, shape, f"not {dtype}", strides, name)
    yield seen(numbers, shape, dtype, (9,), name)
    yield seen(numbers, shape, dtype, strides, f"not {name}")


@others.register(dict)
def _(value: dict[Any, Any]) -> Iterator[Any]:
    for key in value:
        yield from ({**value, key: other} for other in others(value[key]))
        yield {name: value[name] for name in value if name != key}


@others.register(tuple)
@others.register(list)
def _(value: Any) -> Iterator[Any]:
    make = getattr(value, "_make", type(value))  # of a namedtuple
    for at, item in enumerate(value):
        yield from (make([*value[:at], other, *value[at + 1 :]]) for other in others(item))
    if value and make is type(value):
        yield make(value[:-1])
        yield make([*value, value[-1]])
        yield list(value) if isinstance(value, tuple) else tuple(value)


ANY: tuple[Change, ...] = (lost, doubled, swapped, added, other_value, no_error)


# --- a clause's test alone ---


@dataclass(frozen=True)
class Uncompared(Subject):
    """A subject whose `holds` hands out the trace of its stage as it is."""

    def holds(self, plan: Playable) -> Trace:
        return self.play(plan)


class Alone:
    """A clause's test under one reading."""

    def __init__(self, clause: Clause, reading: Reading) -> None:
        self.clause, self.traces = clause, {}
        self.facts = with_facts(CONTRACT, dict(reading.facts))
        self.subject = Uncompared("model", "cpu", VERSION, CONTRACT, reading, self.trace)

    def trace(self, plan: Playable) -> Trace:
        """What the model leaves. Raises TooLarge for a plan that is set aside."""
        if plan not in self.traces:
            self.traces[plan] = expect(plan, self.facts)
        return self.traces[plan]

    def accepts(self, plan: Playable, trace: Trace) -> bool:
        """Whether no assertion fails where the plan leaves this trace."""
        subject = replace(self.subject, stage=lambda played: trace if played == plan else self.trace(played))
        try:
            self.clause.test()(subject=subject, **{self.clause.played: plan})
        except AssertionError:
            return False
        except UnsatisfiedAssumption:
            pass
        except Exception:  # noqa: BLE001 - what stumbles over a changed trace has not judged it
            return trace != self.trace(plan)
        return True
