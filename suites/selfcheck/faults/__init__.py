"""Faults on real torch: small reversible patches, each of which makes the running torch wrong in one way.

`FAULTS` maps names to faults, controls included: a control changes how torch is written and nothing that it does.
"""

from suites.selfcheck.faults import (
    backward,
    blind,
    blind_backward,
    built,
    callbacks,
    calls,
    changes,
    edits,
    failure,
    forward,
    functions,
    gradient,
    leftovers,
    legacy,
    lifecycle,
    many,
    node,
    optimizer,
    places,
    registration,
    retain,
    saved,
    several,
    state,
    state_optimizer,
    structures,
    switched,
    tensor,
    values,
)
from suites.selfcheck.faults.base import FAULTS, Fault

TOPICS = (
    *(forward, calls, failure, lifecycle, leftovers, changes),
    *(backward, places, legacy, tensor, gradient, retain, node, values, edits),
    *(many, functions, structures, switched, blind, blind_backward, saved, several, optimizer),
    *(state, state_optimizer, registration, built, callbacks),
)

__all__ = ["FAULTS", "TOPICS", "Fault"]
