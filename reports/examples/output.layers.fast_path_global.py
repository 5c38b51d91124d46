"""output.layers.fast_path_global: On its fast path (eval, no_grad) TransformerEncoderLayer calls no part, so global hooks see none.

Says which reading this torch has.
Checked by suites/output/test_layers.py of torch-hook-conformance.
"""

import inspect
import torch
from types import SimpleNamespace

if not hasattr(torch.nn.modules.module, "register_module_forward_hook"): raise SystemExit("torch " + torch.__version__ + " has no torch.nn.modules.module.register_module_forward_hook")


def encode(training = False, grad = False):
    """An encoder layer and a function that calls it; in evaluation under no_grad the fast path may be taken."""
    known = inspect.signature(torch.nn.TransformerEncoderLayer).parameters
    options = {"batch_first": True} if "batch_first" in known else {}
    layer = torch.nn.TransformerEncoderLayer(4, 2, 8, **options).train(training)

    def call():
        with torch.set_grad_enabled(grad):
            layer(torch.ones(1, 2, 4))

    return layer, call


PARTS = ("self_attn", "dropout1", "norm1", "linear1", "dropout", "linear2", "dropout2", "norm2")


def example(subject, kinds, training, grad):
    from torch.nn.modules import module

    seen, (layer, call) = [], encode(training, grad)
    handles = [
        getattr(module, f"register_module_{kind}_hook")(lambda one, *given, number=number: seen.append((number, one)))
        for number, kind in enumerate(kinds)
    ]
    call()
    for handle in handles:
        handle.remove()
    due = [subject.value or training or grad] * len(PARTS)
    for number in range(len(kinds)):
        called = [module for one, module in seen if one == number]
        assert layer in called
        assert [getattr(layer, name) in called for name in PARTS] == due


READINGS = {
    'no part seen (torch >=1.12): On the fast path of TransformerEncoderLayer global hooks see the layer and none of its parts.': False,
    'every part seen (torch <1.12): TransformerEncoderLayer has no fast path: global hooks see each of its parts in every mode.': True,
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), kinds=['forward'], training=False, grad=False)
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
