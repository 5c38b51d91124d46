"""output.layers.fast_path: In TransformerEncoderLayer a hook on any part keeps the fast path away, so that the hooks run.

Says which reading this torch has.
Checked by suites/output/test_layers.py of torch-hook-conformance.
"""

import inspect
import torch
from types import SimpleNamespace


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


def example(subject, hooks):
    ran, (layer, call) = [], encode()
    for name, kind in hooks:
        part = getattr(layer, name)
        register = part.register_forward_pre_hook if kind == "pre" else part.register_forward_hook
        register(lambda *given, name=name, kind=kind: ran.append((name, kind)))
    call()
    due = sorted(hooks, key=lambda hook: (PARTS.index(hook[0]), hook[1] == "post"))
    assert ran == [hook for hook in due if hook[1] in subject.value]


READINGS = {
    'kept away (torch !=1.12.*,!=1.13.*,!=2.0.*,!=2.1.*,!=2.2.*,!=2.3.*,!=2.4.*): Before 1.12 there was no fast path.': ('pre', 'post'),
    'passed by (torch >=1.12,<2.5): The fast path calls no part: the hooks are silent.': (),
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), hooks=[('linear1', 'pre'), ('linear1', 'post')])
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
