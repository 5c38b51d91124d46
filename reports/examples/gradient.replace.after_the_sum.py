"""gradient.replace.after_the_sum: A replacement is made once from the sum of all uses, not once for each of them.

Says which reading this torch has.
Checked by suites/gradient/test_replace.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace


def leaf(value):
    """A float64 scalar that requires grad."""
    return torch.tensor(float(value), dtype=torch.float64, requires_grad=True)


def example(subject, parts, roots, inner):
    seen = []
    x = leaf(1)
    hooked = 1 * x if inner else x
    hooked.register_hook(lambda grad: seen.append(grad.item()) or grad + 100)
    used = [by * hooked for by in parts]
    # All parts in one root, or the first in a root of its own.
    ends = used[: roots - 1] + ([sum(used[roots - 1 :])] if used[roots - 1 :] else [])
    torch.autograd.backward(ends)
    given_gradients = [sum(parts)] if subject.value == "once" else parts
    assert (seen, x.grad.item()) == (given_gradients, sum(grad + 100 for grad in given_gradients))


READINGS = {
    'once (every torch): A hook is called once with the sum of all uses; what it adds is added once.': 'once',
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), parts=[2, 3], roots=1, inner=False)
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
