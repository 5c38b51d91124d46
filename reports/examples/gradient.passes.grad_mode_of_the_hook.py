"""gradient.passes.grad_mode_of_the_hook: The grad mode that a hook sets holds for later hooks of its tensor, not for others, nor afterwards.

Says which reading this torch has.
Checked by suites/gradient/test_passes.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace


def leaf(value):
    """A float64 scalar that requires grad."""
    return torch.tensor(float(value), dtype=torch.float64, requires_grad=True)


def example(subject, passes, inner, at_leaf):
    seen, expected, after = [], [], []
    x = leaf(1)
    y = x * x

    def hook(sets):
        seen.append(torch.is_grad_enabled())
        if sets is not None:
            torch.set_grad_enabled(sets)

    for tensor, row in ((y, inner), (x, at_leaf)):
        for sets in row:
            tensor.register_hook(lambda grad, sets=sets: hook(sets))
    for create_graph, caller in passes:
        with torch.set_grad_enabled(caller):
            torch.autograd.backward([y], retain_graph=True, create_graph=create_graph)
            after.append(torch.is_grad_enabled())
        x.grad = None
        for row in (inner, at_leaf):
            mode = caller if subject.value == "caller" else create_graph
            for sets in row:
                expected.append(mode)
                mode = mode if sets is None or subject.value == "none" else sets
    assert seen == expected
    assert after == [caller for _, caller in passes]


READINGS = {
    "for later hooks (every torch): Each tensor's first hook has the mode of create_graph, not the caller's.": '',
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), passes=[(True, False)], inner=[None], at_leaf=[False, None])
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
