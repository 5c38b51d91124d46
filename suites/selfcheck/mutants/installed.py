"""Mutants of the installed torch's own Python: what calls and registers hooks, and removes them.

A clause must reject each in a quick search, as it must each fault in `suites/selfcheck/faults/`.
"""

import functools
import json
import re
import sys
import types
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from torch import _tensor as torch_tensor
from torch.autograd import graph as torch_graph
from torch.nn.modules import module as torch_module
from torch.optim import Optimizer
from torch.utils import hooks as torch_hooks

from fixtures.clause.clause import Clause
from suites.selfcheck.faults.base import Fault
from suites.selfcheck.faults.hunt import RECORDED, Hunter
from suites.selfcheck.mutants.excused import TORCH
from suites.selfcheck.mutants.mutate import Hung, Line, Mutant, at_most, functions, lines_of, mutants

#: `torch.optim.optimizer` is no name of torch.optim any more.
MODULES = (torch_hooks, torch_module, torch_tensor, sys.modules[Optimizer.__module__], torch_graph)
ABOUT = re.compile("hook|_call_impl|_MultiHandle|allow_?mutation|_get_grad_fn|save_on_cpu", re.IGNORECASE)
PICKLING = "it pickles: few clauses speak of that, and none of what becomes of ids"
#: Functions about hooks that are not changed -> why.
LEFT_OUT = {
    "_has_any_global_hook": "only torch.compile asks it",
    "Optimizer.profile_hook_step": "it wraps each class of optimizers once; faults/optimizer.py has its faults",
    "_register_logging_hooks_on_whole_graph": "it only logs",
    "Node.__subclasshook__": "it answers isinstance()",
    "Module._maybe_warn_non_full_backward_hook": "it only warns, and clauses speak of few of its warnings",
    "RemovableHandle.__getstate__": PICKLING,
    "RemovableHandle.__setstate__": PICKLING,
    "_WrappedHook.__getstate__": PICKLING,
    "_WrappedHook.__setstate__": PICKLING,
}
#: Mutants that end the process in the first clause that plays: a run reports a crash, and so cannot be tried here.
CRASHING = ("torch._tensor.Tensor.register_hook: left out: self._backward_hooks = OrderedDict()",)
#: Processor seconds for the search of one clause, which takes one or two.
PATIENCE = 30.0
RECORD = Path(__file__).with_name("killed.json")
#: mutant of torch -> a clause that rejects it in a quick search, tried first.
KILLED: dict[str, str] = json.loads(RECORD.read_text("utf-8")) if RECORD.exists() else {}
RECORDED.update(KILLED)


def about_hooks() -> Iterator[types.FunctionType]:
    """The functions of torch that are about hooks."""
    for module in MODULES:
        yield from (one for one in functions(module) if ABOUT.search(f"{module.__name__}.{one.__qualname__}"))


@functools.cache
def all_mutants() -> dict[str, Mutant]:
    made = mutants(one for one in about_hooks() if one.__qualname__ not in LEFT_OUT)
    return {one.name: one for one in made if one.name not in CRASHING}


class PatientHunter(Hunter):
    """One that takes a clause for failed that does not come to an end."""

    def fails(self, clause: Clause) -> bool:
        try:
            with at_most(PATIENCE):
                return super().fails(clause)
        except Hung as error:
            self.failure = error
            return True

    @functools.cached_property
    def executed(self) -> dict[str, set[Line]]:
        """The lines of torch that are about hooks and that the search of each clause executes."""
        files = frozenset(one.file for one in all_mutants().values())
        return {one.id: lines_of(lambda one=one: self.fails(one), files) for one in self.clauses}

    def reaching(self, mutant: Mutant) -> "PatientHunter":
        """One of the clauses that execute what is changed: the others cannot see it."""
        other = PatientHunter(self.examples, self.number)
        lines = {(mutant.file, line) for line in mutant.lines}
        other.clauses = [one for one in self.clauses if lines & self.executed[one.id]]
        return other


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
