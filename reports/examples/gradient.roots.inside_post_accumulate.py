"""gradient.roots.inside_post_accumulate: A post-accumulate hook may run a backward of its own, whose hooks may do the same.

Says which reading this torch has.
Checked by suites/gradient/test_roots.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace

if not hasattr(torch.Tensor, "register_post_accumulate_grad_hook"): raise SystemExit("torch " + torch.__version__ + " has no torch.Tensor.register_post_accumulate_grad_hook")


def leaf(value):
    """A float64 scalar that requires grad."""
    return torch.tensor(float(value), dtype=torch.float64, requires_grad=True)


def example(subject, factors):
    seen = []
    leaves = [leaf(1) for _ in factors]

    def at(level):
        def hook(x):
            seen.append((level, x.grad.item()))
            if level + 1 < len(leaves):
                with torch.enable_grad():
                    (factors[level + 1] * leaves[level + 1]).backward()

        return hook

    for level, x in enumerate(leaves):
        x.register_post_accumulate_grad_hook(at(level))
        x.register_post_accumulate_grad_hook(lambda x, level=level: seen.append((level, "after")))
    (factors[0] * leaves[0]).backward()
    run = factors if subject.value == "all" else factors[:1]
    assert seen == list(enumerate(run)) + [(level, "after") for level in reversed(range(len(run)))]
    assert [x.grad.item() for x in leaves[: len(run)]] == run


READINGS = {
    'allowed (every torch): A pass in a post-accumulate hook fills its leaves, and the outer pass ends well.': 'all',
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), factors=[2, 3])
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
