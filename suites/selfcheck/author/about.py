"""What hook APIs a clause is about, and whether its plans register them."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from hypothesis import given, settings

from fixtures.clause.about import GRAD, about, apis, used
from fixtures.clause.clause import Clause
from fixtures.draw.only import ONLY_DRAWS
from fixtures.families import KINDS
from fixtures.model.contract import contract_for, installed_version
from fixtures.plan.grammar import Plan
from fixtures.plan.program import Program
from fixtures.state.kinds import KINDS as STATE_KINDS
from reports.data.clause import need

MANY = 2000
#: Clauses that speak of no hook API, and of what instead.
WITHOUT = {
    "backward.inplace.without_hook": "a module that has no hook",
    "handles.handle.plain_dict": "the class of the handle itself",
    "modes.checkpoint.unfrozen": "a gradient that is silently wrong without any hook",
    "modes.checkpoint.unfrozen_no_stop": "the same where it raises",
    "modes.checkpoint.reentrant_detaches": "what becomes of a parameter without any hook",
    "modes.checkpoint.reentrant_no_leaf": "the same where an input needs a gradient",
}
#: What else is written behind about=: asking for gradients, the dicts that a module keeps hooks in, contexts, DDP.
FURTHER = {GRAD, "_forward_hooks", "_forward_pre_hooks", "queue_callback", "node_creation_hook"}
FURTHER |= {"allow_mutation_on_saved_tensors", "register_comm_hook"}
REGISTERED = frozenset(apis(KINDS, everywhere=True)) | {kind.api for kind in STATE_KINDS.values()} | {GRAD}


def names(one: Clause) -> frozenset[str]:
    return frozenset(need(each)[0] for each in about(one))


def said_already(one: Clause) -> bool:
    """Whether about= says what witness=, needs=, source= or ABOUT at the top of the file say already."""
    before = one.about
    object.__setattr__(one, "about", None)
    try:
        return before is not None and about(one) == sorted(before)
    finally:
        object.__setattr__(one, "about", before)


def not_drawn(one: Clause) -> frozenset[str]:
    """The APIs that a clause is about and that no plan of it registers, of those that the torch here has."""
    contract = contract_for(installed_version())
    there = [name for name, kind in KINDS.items() if not kind.door or getattr(contract, kind.door)]
    lacking = frozenset(apis(KINDS, everywhere=True)) - frozenset(apis(there, everywhere=True))
    wanted = names(one) & REGISTERED - {GRAD} - lacking
    return wanted - drawn(one, wanted)


def faults_of_about(one: Clause) -> list[str]:
    """What is wrong with the APIs that a clause is about."""
    faults = []
    if not about(one) and one.id not in WITHOUT:
        faults.append("name a hook API in about=, needs= or source=, or say in WITHOUT why there is none")
    if unknown := sorted(names(one) - REGISTERED - FURTHER):
        faults.append(f"about= or needs= has names that nobody knows: {', '.join(unknown)}")
    if said_already(one):
        faults.append("leave about= out: witness=, needs=, source= or ABOUT says it already")
    return faults


class Enough(Exception):
    """All that was wanted has been drawn."""


def drawn(one: Clause, wanted: frozenset[str]) -> set[str]:
    """The APIs that the plans of a clause use, until all that are wanted were seen; its test is not run."""
    function: Any = one.function
    found: set[str] = set()

    # A test of its own: Hypothesis takes settings only once for each, and a clause is asked about more than once.
    @settings(ONLY_DRAWS, max_examples=MANY, derandomize=True, report_multiple_bugs=False)
    @given(**function.hypothesis._given_kwargs)
    def note(**arguments: Any) -> None:
        found.update(*(used(each) for each in arguments.values() if isinstance(each, (Plan, Program))))
        if wanted <= found:
            raise Enough

    with suppress(Enough):
        note()
    return found
