"""Faults on real torch: small reversible patches, each of which makes the running torch wrong in one way.

`FAULTS` maps names to faults, controls included: a control changes how torch is written and nothing that it does.
What a plan of the whole grammar shows is not written here: `mutants/circumstances.py` makes them by the thousand.
A few of them stay, for `triaged.py` to be scored on: the first of each kind of hook, for which `test_families.py` asks,
and one of each other sort: of order, values, structures, many hooks, functions, handles, modes and failure.
"""

from suites.selfcheck.faults import (
    backward,
    blind,
    built,
    callbacks,
    failure,
    forward,
    lifecycle,
    node,
    optimizer,
    registration,
    retain,
    saved,
    state,
    state_optimizer,
    structures,
    tensor,
)
from suites.selfcheck.faults.base import FAULTS, Fault

TOPICS = (
    *(forward, failure, lifecycle, structures, backward, tensor, retain, node, blind),
    *(saved, optimizer, state, state_optimizer, registration, built, callbacks),
)

__all__ = ["FAULTS", "TOPICS", "Fault"]
