"""Every public or private `register_*hook*` name of torch, mapped to the clauses about it or to a reason for none.

`SURFACE` is a list of (pattern, clause prefixes, reason): the first pattern that matches a dotted name decides; a name
that no pattern matches fails the self-check. Patterns are those of `fnmatch`.
"""

import inspect
import re
import sys
from typing import Any, Iterator, List, NamedTuple, Set, Tuple

from fixtures.families import EVERY_KIND, KINDS
from fixtures.state.kinds import KINDS as KINDS_OF_STATE
from fixtures.state.kinds import OF_OPTIMIZERS, REGISTRATION

NAME = re.compile(r"(un)?_?(un)?register_\w*hook\w*$")


class Entry(NamedTuple):
    """One line of the map: clause prefixes, or the reason why no clause speaks of the name."""

    pattern: str
    clauses: Tuple[str, ...] = ()
    reason: str = ""


PARALLEL = "hooks of distributed training that several processes share, or torch's own"
OTHER = "not a hook on a module, a tensor or a gradient"
OPTIMIZERS = [KINDS_OF_STATE[name] for name in OF_OPTIMIZERS]
PRIVATE = "private plumbing under a public name that has clauses"

#: Each with a pattern for its owner, and the clauses about it.
STATE = [
    (kind, "torch.optim.*" if kind in OPTIMIZERS else "*", "registration." if name in REGISTRATION else "state.")
    for name, kind in KINDS_OF_STATE.items()
]

SURFACE: List[Entry] = [
    Entry("torch.nn.parallel.*.register_comm_hook", ("modes.distributed.",)),
    # another subsystem
    Entry("torch._C._distributed_c10d.*", reason=PARALLEL),
    Entry("torch.distributed.*", reason=PARALLEL),
    Entry("torch.nn.parallel.*", reason=PARALLEL),
    Entry("torch._dynamo.*", reason=OTHER),
    Entry("torch._inductor.*", reason=OTHER),
    Entry("torch._functorch.*", reason=OTHER),
    Entry("torch.cuda.*", reason=OTHER),
    Entry("torch.xpu.*", reason=OTHER),
    Entry("torch.accelerator.*", reason=OTHER),
    Entry("torch.package.*", reason=OTHER),
    Entry("torch.fx.*", reason=OTHER),
    Entry("torch.ao.*", reason=OTHER),
    Entry("torch.quantization.*", reason=OTHER),
    Entry("torch.profiler.*", reason=OTHER),
    Entry("torch.utils.data.*", reason=OTHER),
    # the kinds that plans have
    *[
        Entry(f"{owner}.{name}", tuple(f"{chapter}." for chapter in kind.chapters))
        for kind in map(KINDS.__getitem__, EVERY_KIND)
        for name in filter(None, (kind.method, kind.everywhere))
        for owner in kind.surface
    ],
    # the kinds of saving, loading and registering
    *[Entry(f"{owner}.{kind.method}", (chapter,)) for kind, owner, chapter in STATE],
    # tensors and the graph
    Entry("torch.*Tensor._register_hook*", reason=PRIVATE),
    Entry("torch.autograd.*._register_hook*", reason=PRIVATE),
    Entry("torch.autograd.graph._register_logging*", reason=OTHER),
    Entry("torch._C.*", reason=PRIVATE),
]


def names() -> Set[str]:
    """Every hook-registering name in the torch modules that ``import torch`` loads, by where it is defined."""
    found = set()
    for module_name, module in list(sys.modules.items()):
        if module is not None and module_name.partition(".")[0] == "torch":
            found.update(_of_module(module_name, module))
    return found


def _of_module(module_name: str, module: Any) -> Iterator[str]:
    for name, value in list(vars(module).items()):
        if NAME.match(name) and callable(value):
            yield "{}.{}".format(getattr(value, "__module__", None) or module_name, name)
        if inspect.isclass(value) and str(value.__module__).partition(".")[0] == "torch":
            for inner in vars(value):
                if NAME.match(inner):
                    yield f"{value.__module__}.{value.__qualname__}.{inner}"
