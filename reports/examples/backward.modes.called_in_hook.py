"""backward.modes.called_in_hook: A full hook may call its module: grad mode there is off without create_graph, and nothing recurs.

Says which reading this torch has.
Checked by suites/backward/test_modes.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace

if not hasattr(torch.nn.Module, "register_full_backward_hook"): raise SystemExit("torch " + torch.__version__ + " has no torch.nn.Module.register_full_backward_hook")


def example(subject, times, create_graph):
    calls = []
    module, x = torch.nn.Tanh(), torch.ones((), requires_grad=True)

    def hook_of(count):
        return lambda module, *grads: calls.extend(module(x).requires_grad for _ in range(count))

    for count in times:
        module.register_full_backward_hook(hook_of(count))
    seen = calls
    try:
        torch.autograd.grad(module(x), x, create_graph=create_graph)
    except (AttributeError, RuntimeError) as error:
        seen = type(error).__name__
    assert seen == ([create_graph] * sum(times) if subject.value == "plain" or create_graph else subject.value)


READINGS = {
    'plain (torch >=1.10): In a full hook, without create_graph, the output of its module needs no gradient.': 'plain',
    'RuntimeError (torch >=1.9,<1.10): A full hook that calls its module without create_graph gets RuntimeError.': 'RuntimeError',
    'AttributeError (torch <1.9): A full hook that calls its module without create_graph gets AttributeError.': 'AttributeError',
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), times=[1], create_graph=False)
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
