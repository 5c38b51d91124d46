"""Faults on real torch: small reversible patches, each of which makes the running torch wrong in one way.

`FAULTS` maps names to faults, controls included: a control changes how torch is written and nothing that it does.
What plans of the whole grammar show is not written here: `mutants/circumstances.py` makes such faults by the thousand.
Of those the first of each kind of hook stays, for which `test_families.py` asks, and one of each other sort (order,
values, structures, many hooks, functions, handles, modes, failure), on which `triaged.py` is scored; and those that
less than one plan in 900 shows. `caught.json` names a clause that caught each fault.
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
