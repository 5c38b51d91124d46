"""gradient.asked.backward_nothing: backward(inputs=[]) raises RuntimeError before any hook is called.

Says which reading this torch has.
Checked by suites/gradient/test_inputs.py of torch-hook-conformance.
"""

import inspect
import torch
from types import SimpleNamespace

if not "inputs" in inspect.signature(torch.Tensor.backward).parameters: raise SystemExit("torch " + torch.__version__ + " has no torch.Tensor.backward(inputs)")


def leaf(value):
    """A float64 scalar that requires grad."""
    return torch.tensor(float(value), dtype=torch.float64, requires_grad=True)


def outcome(action, errors = (RuntimeError, TypeError)):
    """The name of the error that `action` raises, of those that may be, or "accepted"."""
    try:
        action()
    except errors as error:
        return type(error).__name__
    return "accepted"


def example(subject, on, before):
    seen = []
    x = leaf(1)
    y = 2 * x
    tensors = (x, y, 3 * y)
    for place in on:
        tensors[place].register_hook(lambda grad, place=place: seen.append(place))
    hooks = sorted(on, reverse=True)
    if before:
        tensors[-1].backward(retain_graph=True)
    result = outcome(lambda: tensors[-1].backward(inputs=[]))
    # The pass that failed changes nothing for the next one.
    again = outcome(tensors[-1].backward)
    passes = 1 + before if subject.value == "RuntimeError" else 2 + before
    assert (result, again, seen, x.grad.item()) == (subject.value, "accepted", hooks * passes, 6 * passes)


READINGS = {
    'raises (every torch): backward(inputs=[]) raises RuntimeError, calls no hook and leaves the graph as it was.': 'RuntimeError',
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), on=[0], before=False)
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
