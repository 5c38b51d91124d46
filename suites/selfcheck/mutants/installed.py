"""Mutants of the installed torch's own Python: what calls and registers hooks of modules and tensors, and removes them.

A clause must reject each in a quick search, as it must each fault in `suites/selfcheck/faults/`.
"""

import functools
import json
import re
import types
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from torch import _tensor as torch_tensor
from torch.nn.modules import module as torch_module
from torch.utils import hooks as torch_hooks

from fixtures.judge.clause import Clause
from suites.selfcheck.faults.base import Fault
from suites.selfcheck.faults.hunt import RECORDED, Hunter
from suites.selfcheck.mutants.excused import TORCH
from suites.selfcheck.mutants.mutate import Hung, Mutant, at_most, functions, mutants

ABOUT = re.compile("hook|_call_impl", re.IGNORECASE)
STATE = "state dicts are not covered: docs/words.md says so"
REGISTERING = "registering modules and parameters is not covered: docs/words.md says so"
PICKLING = "it pickles: few clauses speak of that, and none of what becomes of ids"
#: Functions about hooks that are not changed -> why.
LEFT_OUT = {
    "_has_any_global_hook": "only torch.compile asks it",
    "Module._maybe_warn_non_full_backward_hook": "it only warns, and clauses speak of few of its warnings",
    "register_module_buffer_registration_hook": REGISTERING,
    "register_module_module_registration_hook": REGISTERING,
    "register_module_parameter_registration_hook": REGISTERING,
    "Module._register_state_dict_hook": STATE,
    "Module.register_state_dict_post_hook": STATE,
    "Module.register_state_dict_pre_hook": STATE,
    "Module._register_load_state_dict_pre_hook": STATE,
    "Module.register_load_state_dict_pre_hook": STATE,
    "Module.register_load_state_dict_post_hook": STATE,
    "RemovableHandle.__getstate__": PICKLING,
    "RemovableHandle.__setstate__": PICKLING,
    "_WrappedHook.__getstate__": PICKLING,
    "_WrappedHook.__setstate__": PICKLING,
}
#: Processor seconds for the search of one clause, which takes one or two.
PATIENCE = 30.0
RECORD = Path(__file__).with_name("killed.json")
#: mutant of torch -> a clause that rejects it in a quick search, tried first.
KILLED: dict[str, str] = json.loads(RECORD.read_text("utf-8")) if RECORD.exists() else {}
RECORDED.update(KILLED)


def about_hooks() -> Iterator[types.FunctionType]:
    """The functions of torch that are about hooks."""
    for module in (torch_hooks, torch_module, torch_tensor):
        yield from (one for one in functions(module) if ABOUT.search(f"{module.__name__}.{one.__qualname__}"))


@functools.cache
def all_mutants() -> dict[str, Mutant]:
    return {one.name: one for one in mutants(one for one in about_hooks() if one.__qualname__ not in LEFT_OUT)}


class PatientHunter(Hunter):
    """One that takes a clause for failed that does not come to an end."""

    def fails(self, clause: Clause) -> bool:
        try:
            with at_most(PATIENCE):
                return super().fails(clause)
        except Hung as error:
            self.failure = error
            return True


def fault_of(mutant: Mutant, near: tuple[str, ...] = ()) -> Fault:
    """The mutant as the Hunter knows faults; `near` are clauses that are tried early."""
    return Fault(mutant.name, f"torch is changed: {mutant.name}.", mutant.enter, near=near)


def record() -> int:
    """Write which clause rejects each mutant of torch, and name those that none rejects; excused ones are not tried."""
    hunter, missed = PatientHunter(), 0
    for name, mutant in all_mutants().items():
        if name in TORCH:
            continue
        # What rejects another mutant of the function is likely to reject this one, then what rejects most.
        same = [clause for other, clause in KILLED.items() if other.partition(":")[0] == name.partition(":")[0]]
        near = (*reversed(same), *(clause for clause, _ in Counter(KILLED.values()).most_common()))
        catch = hunter.hunt(fault_of(mutant, tuple(dict.fromkeys(near))))
        KILLED.pop(name, None)
        if catch:
            KILLED[name] = catch.clauses[0]
        missed += not catch
        print(f"{catch.seconds:6.2f} s  {name}  {catch.clauses[0] if catch else 'no clause rejects it'}", flush=True)
        kept = {one: KILLED[one] for one in all_mutants() if one in KILLED}  # each time, for a run may be stopped
        RECORD.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return int(missed > 0)
