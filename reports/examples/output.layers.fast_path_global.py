"""output.layers.fast_path_global: A global hook does not keep TransformerEncoderLayer from its fast path: no part is called.

Says which reading this torch has.
Checked by suites/output/test_layers.py of torch-hook-conformance.
"""

import inspect
import torch
from types import SimpleNamespace

if not hasattr(torch.nn.modules.module, "register_module_forward_hook"): raise SystemExit("torch " + torch.__version__ + " has no torch.nn.modules.module.register_module_forward_hook")


def encode():
    """An encoder layer in evaluation and a function that calls it under no_grad, where the fast path may be taken."""
    known = inspect.signature(torch.nn.TransformerEncoderLayer).parameters
    options = {"batch_first": True} if "batch_first" in known else {}
    layer = torch.nn.TransformerEncoderLayer(4, 2, 8, **options).eval()

    def call():
        with torch.no_grad():
            layer(torch.ones(1, 2, 4))

    return layer, call


PARTS = ("self_attn", "dropout1", "norm1", "linear1", "dropout", "linear2", "dropout2", "norm2")


def example(subject, kinds):
    from torch.nn.modules import module

    seen, (layer, call) = [], encode()
    handles = [
        getattr(module, f"register_module_{kind}_hook")(lambda one, *given, number=number: seen.append((number, one)))
        for number, kind in enumerate(kinds)
    ]
    call()
    for handle in handles:
        handle.remove()
    for number in range(len(kinds)):
        called = [module for one, module in seen if one == number]
        assert layer in called
        assert [getattr(layer, name) in called for name in PARTS] == [subject.value] * len(PARTS)


READINGS = {
    'passed by (torch >=1.12): Only the layer itself is seen.': False,
    'no fast path (torch <1.12): Every part is called.': True,
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), kinds=['forward'])
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
