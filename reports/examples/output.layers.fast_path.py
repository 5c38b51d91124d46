"""output.layers.fast_path: A hook on a part of TransformerEncoderLayer, out_proj excepted, runs also in eval under no_grad.

Says which reading this torch has.
Checked by suites/output/test_layers.py of torch-hook-conformance.
"""

import inspect
import torch
from types import SimpleNamespace


def encode(training = False, grad = False):
    """An encoder layer and a function that calls it; in evaluation under no_grad the fast path may be taken."""
    known = inspect.signature(torch.nn.TransformerEncoderLayer).parameters
    options = {"batch_first": True} if "batch_first" in known else {}
    layer = torch.nn.TransformerEncoderLayer(4, 2, 8, **options).train(training)

    def call():
        with torch.set_grad_enabled(grad):
            layer(torch.ones(1, 2, 4))

    return layer, call


OUT_PROJ = "self_attn.out_proj"


PARTS = ("self_attn", "dropout1", "norm1", "linear1", "dropout", "linear2", "dropout2", "norm2")


def example(subject, hooks, training, grad):
    ran, (layer, call) = [], encode(training, grad)
    parts = dict(layer.named_modules())
    for name, kind in hooks:
        register = getattr(parts[name], f"register_{kind}_hook")
        register(lambda *given, name=name, kind=kind: ran.append((name, kind)))
    call()
    called = [hook for hook in hooks if hook[0] != OUT_PROJ]
    due = sorted(called, key=lambda hook: (PARTS.index(hook[0]), hook[1] == "forward"))
    assert ran == [hook for hook in due if training or grad or hook[1] in subject.value]


READINGS = {
    'hooks run (torch !=1.12.*,!=1.13.*,!=2.0.*,!=2.1.*,!=2.2.*,!=2.3.*,!=2.4.*): Hooks on parts of TransformerEncoderLayer, out_proj excepted, run in every mode.': ('forward_pre', 'forward'),
    'hooks silent on the fast path (torch >=1.12,<2.5): Where TransformerEncoderLayer takes its fast path (eval, no_grad), hooks on its parts do not run.': (),
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), hooks=[('linear1', 'forward_pre'), ('linear1', 'forward')], training=False, grad=False)
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
