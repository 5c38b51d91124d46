"""backward.membership.under_no_grad: A hooked module can be called under no_grad: the hooks do not run, and nothing is raised.

Says which reading this torch has.
Checked by suites/backward/test_membership.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace

if not hasattr(torch.nn.Module, "register_full_backward_hook"): raise SystemExit("torch " + torch.__version__ + " has no torch.nn.Module.register_full_backward_hook")


def example(subject, hooks):
    module, x, ran = torch.nn.Tanh(), torch.ones((), requires_grad=True), []
    for number in range(hooks):
        module.register_full_backward_hook(lambda *given, number=number: ran.append(number))
    with torch.no_grad():
        try:
            seen = ("done", module(x).requires_grad)
        except (RuntimeError, AttributeError) as error:
            seen = (type(error).__name__, None)
    module(x).backward()
    assert (seen, ran) == (subject.value, list(range(hooks)))


READINGS = {
    'nothing (every torch): Under no_grad a hooked module returns an output that needs no gradient.': ('done', False),
    'AttributeError (torch <1.9, a declared deviation): Under no_grad the forward of a module with a full hook raises AttributeError.': ('AttributeError', None),
    'RuntimeError (torch >=1.9,<1.10, a declared deviation): Under no_grad the forward of a module with a full hook raises RuntimeError.': ('RuntimeError', None),
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), hooks=1)
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
