"""gradient.accumulated.given_the_leaf: The argument of a post-accumulate hook is the leaf itself, not the gradient.

Says which reading this torch has.
Checked by suites/gradient/test_steps.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace

if not hasattr(torch.Tensor, "register_post_accumulate_grad_hook"): raise SystemExit("torch " + torch.__version__ + " has no torch.Tensor.register_post_accumulate_grad_hook")


def leaf(value):
    """A float64 scalar that requires grad."""
    return torch.tensor(float(value), dtype=torch.float64, requires_grad=True)


def example(subject, on, passes):
    leaves = [leaf(value) for value in (1, 2, 3)]
    seen = [[] for _ in on]
    for place, own in zip(on, seen):
        leaves[place].register_post_accumulate_grad_hook(lambda *given, own=own: own.append(given))
    for _ in range(passes):
        (leaves[0] * leaves[1] * leaves[2]).backward()
    found = [[len(given) == 1 and given[0] is leaves[place] for given in own] for place, own in zip(on, seen)]
    assert found == [[subject.value] * passes for _ in on]


READINGS = {
    'the leaf (every torch): `argument is x` holds in each post-accumulate hook of a leaf x.': True,
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), on=[0], passes=1)
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
