"""Whether a clause asserts its sentence: its test alone rejects traces that are changed in what the sentence says.

That torch's trace is the model's proves the model, not the words: with the opposite sentence it would be equal, too.
"""

from __future__ import annotations

import re
from contextlib import suppress
from functools import cache
from itertools import islice
from typing import NamedTuple

from fixtures.clause.clause import Clause, Reading
from fixtures.graph.errors import TooLarge
from fixtures.judge.subject import Playable
from fixtures.play.trace import Trace
from suites.selfcheck.all_clauses import plans_of
from suites.selfcheck.core.changed_traces import (
    ANY,
    Alone,
    Change,
    added,
    doubled,
    lost,
    no_error,
    other_value,
    swapped,
)

#: Plans of each clause, and changed traces of one kind that are tried of each plan.
PLANS, MOST = 15, 300
#: What begins a sentence and is its condition.
CONDITION = re.compile(r"^(?:If|Where|When|After|Once|In a call (?:that|whose)) .*?, ")


class Words(NamedTuple):
    """What a sentence with such words speaks of, and what of it may be changed in a trace that its test rejects."""

    words: str
    changes: tuple[Change, ...]


_CALLED = r"(?:runs?|calls|(?:is|are) called"
SPEAKS_OF = {
    "order": Words(
        r"\b(?:of (?:their )?registration|in the same order|in order|in turn)\b"
        rf"|\b{_CALLED}|fills|packs)\b[^,;]*"
        r"\b(?:before|after|behind|then|inside out|outside in|(?:first|last)(?=[,.;]))",
        (swapped,),
    ),
    "what is not called or does nothing": Words(
        r"\b(?:never|nothing|no longer|no more|ignored|not called|not run|not call|(?:calls|runs|called) no)\b",
        (added, other_value),
    ),
    "once": Words(rf"\b{_CALLED})\b[^;]*\bonce\b", (doubled,)),
    "what is called": Words(
        r"(?<!not )\b(?:runs?|(?:is|are) (?:still |also )?called|calls(?= (?:all|a|an|each|its|the)\b))\b(?! no)",
        (lost,),
    ),
    "values": Words(
        r"\b(?:(?:is|are) given|gets?|gives?|replaces?|finds)\b"
        r"|\b(?:adds|changes|passes|sets|uses|keeps) [^,;]*(?:\.grad|gradients?)\b",
        (other_value,),
    ),
    "an error": Words(r"\braises\b|\brefuses?\b|Error\b", (no_error,)),
}
#: clause -> what its words only seem to speak of, and why.
EXCEPT = {
    "backward.around.parameters_first": ("values", "when .grad is set, not to what"),
    "backward.around.parameters_last": ("values", "when gradients come, not which"),
    "backward.structures.unseen_inputs": ("values", "when the gradient comes, not which"),
    "gradient.errors.grad_untouched": ("an error", "where one is raised"),
    "retain.keep.adds_up": ("what is called", "how often, of passes"),
}


def spoken_of(says: str) -> dict[str, Words]:
    """What a sentence speaks of, as far as its words tell."""
    said = CONDITION.sub("", says)
    return {what: each for what, each in SPEAKS_OF.items() if re.search(each.words, said)} or {
        "anything": Words("", ANY)
    }


def unasserted(clause: Clause, reading: Reading) -> set[str]:
    """What a reading speaks of and the test accepts changed. Raises ValueError where the test fails on the model."""
    alone = Alone(clause, reading)
    played: list[tuple[Playable, Trace]] = []
    for plan in plans_of(clause, PLANS):
        with suppress(TooLarge):
            played.append((plan, alone.trace(plan)))
    for plan, trace in played:
        if not alone.accepts(plan, trace):
            raise ValueError(
                f"{clause.id}, reading {reading.name!r}: what it asserts is false on the model of {plan!r}"
            )

    @cache
    def rejected(change: Change) -> bool:
        changed = ((plan, other) for plan, trace in played for other in islice(change(trace, plan), MOST))
        return any(not alone.accepts(plan, other) for plan, other in changed)

    said = [reading.says, *[clause.says] * reading.says_the_same]
    return {what for says in said for what, each in spoken_of(says).items() if not any(map(rejected, each.changes))}


def reported(clause: Clause) -> set[tuple[str, str]]:
    """A clause with what its test lets pass, under any reading that is true of some torch."""
    return {(clause.id, what) for one in clause.readings if not one.wrong for what in unasserted(clause, one)}
