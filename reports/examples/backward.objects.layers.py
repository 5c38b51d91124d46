"""backward.objects.layers: LSTM states and Embedding indices have None; a loss on an LSTM state alone leaves the hook silent.

Says which reading this torch has.
Checked by suites/backward/test_objects.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace

if not hasattr(torch.nn.Module, "register_full_backward_hook"): raise SystemExit("torch " + torch.__version__ + " has no torch.nn.Module.register_full_backward_hook")


def example(subject):
    calls = []

    def hook(module, grad_input, grad_output):
        calls.append([len(grad_input), len(grad_output), grad_output[-1] is None])

    lstm, x = torch.nn.LSTM(2, 3), torch.ones(4, 1, 2, requires_grad=True)
    lstm.register_full_backward_hook(hook)
    lstm(x)[0].sum().backward()
    (first,), x.grad = calls, None
    try:
        lstm(x)[1][0].sum().backward()
        state = "silent" if len(calls) == 1 and x.grad is not None else "called"
    except RuntimeError as error:
        state = type(error).__name__
    embedding, found = torch.nn.Embedding(4, 2, sparse=True), []
    embedding.register_full_backward_hook(lambda module, grad_input, grad_output: found.append(grad_input))
    embedding(torch.tensor([1, 2])).sum().backward()
    assert (embedding.weight.grad.is_sparse, set(found) <= {(None,)}) == (True, True)
    assert [first, state, len(found)] == subject.value


READINGS = {
    'silent (torch >=1.13): A loss on the state of an LSTM with a full hook gives the input its gradient.': [[1, 2, True], 'silent', 1],
    'refused (torch >=1.9,<1.13): A loss on the state alone of an LSTM with a full hook raises RuntimeError.': [[1, 2, True], 'RuntimeError', 1],
    'silent Embedding (torch <1.9): An Embedding never calls its full hook; a loss on an LSTM state raises RuntimeError.': [[1, 2, True], 'RuntimeError', 0],
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded))
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
