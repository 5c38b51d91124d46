"""gradient.replace.grad_mode_is_off: A tensor hook runs with grad mode off, unless the backward pass builds a graph.

Says which reading this torch has.
Checked by suites/gradient/test_replace.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace


def leaf(value):
    """A float64 scalar that requires grad."""
    return torch.tensor(float(value), dtype=torch.float64, requires_grad=True)


def example(subject, passes, hooks):
    seen, needs, tracked = [], [], []
    x = leaf(2)
    y = x * x
    tensors = {"x": x, "y": y, "z": y * x}

    def hook(grad, by):
        seen.append(torch.is_grad_enabled())
        # What is computed from the leaf in the hook has a graph when grad mode is on.
        needs.append((x * 2).requires_grad)
        tracked.append(grad.requires_grad)
        return None if by is None else grad * by

    for on, by in hooks:
        tensors[on].register_hook(lambda grad, by=by: hook(grad, by))
    for create_graph in passes:
        torch.autograd.backward([tensors["z"]], retain_graph=True, create_graph=create_graph)
        x.grad = None
    modes = [create_graph or subject.value for create_graph in passes for _ in hooks]
    assert (seen, needs) == (modes, modes)
    # The gradient of the root is what the pass began with; the others were computed.
    reached = sorted((on for on, _ in hooks), reverse=True)
    assert tracked == [create_graph and on != "z" for create_graph in passes for on in reached]


READINGS = {
    'off unless create_graph (every torch): Grad mode is off in every tensor hook of a pass without create_graph, and on with it.': False,
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), passes=[False, True], hooks=[('x', None)])
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
