"""output.layers.attention: A call of MultiheadAttention runs its own hooks and never those of its out_proj.

Says which reading this torch has.
Checked by suites/output/test_layers.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace


def hook_up(module, pres, ran, name):
    """Have hooks on a module put (name, number) into `ran`; return that in the order in which they are due."""
    for number, pre in enumerate(pres):
        register = module.register_forward_pre_hook if pre else module.register_forward_hook
        register(lambda *given, number=number: ran.append((name, number)))
    return [(name, number) for wanted in (True, False) for number, pre in enumerate(pres) if pre == wanted]


def example(subject, heads, size, training, own, inner):
    attention, ran, x = torch.nn.MultiheadAttention(2 * heads, heads).train(training), [], torch.ones(*size, 2 * heads)
    around = hook_up(attention, own, ran, "attention")
    inside = hook_up(attention.out_proj, inner, ran, "projection")
    attention(x, x, x)
    assert ran == around[: sum(own)] + (inside if subject.value else []) + around[sum(own) :]


READINGS = {
    'passed by (every torch): MultiheadAttention uses the weight of out_proj and does not call it.': False,
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), heads=1, size=(1, 1), training=True, own=[False], inner=[False])
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
