"""tutorial.tensor.t25_never_edit_in_place: Editing a gradient in place in a tensor hook is wrong: others that hold the same gradient see it.

Says which reading this torch has.
Checked by suites/tutorial/test_tensor.py of torch-hook-conformance.
"""

import torch
from math import prod
from types import SimpleNamespace


def leaf(value):
    """A float64 scalar that requires grad."""
    return torch.tensor(float(value), dtype=torch.float64, requires_grad=True)


def example(subject, on, first, edits):
    x, y = leaf(1), leaf(1)
    z, gradient = x + y, leaf(first).detach()
    z.retain_grad()
    for by in edits:
        (x if on == "x" else y).register_hook(lambda grad, by=by: grad.mul_(by) and None)
    z.backward(gradient)
    edited = first * prod(edits)
    others = edited if subject.value else first
    expected = {"x": edited, "y": others} if on == "x" else {"x": first, "y": edited}
    seen = {"x": x.grad, "y": y.grad, "z": z.grad, "gradient": gradient}
    assert {name: tensor.item() for name, tensor in seen.items()} == dict(expected, z=first, gradient=others)


READINGS = {
    "true (every torch): An edit of a gradient in place in a hook also changes other tensors' gradients.": True,
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), on='x', first=3, edits=[10])
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
