"""handles.inside.forward_by_forward: A forward hook may register another on its module: the new one runs from the next call on.

Prints what the hooks see, and on which torch that is expected.
Checked by suites/handles/test_inside.py of torch-hook-conformance.
"""
import torch
log = []
def t(v, **kw): return torch.tensor(float(v), dtype=torch.float64, **kw)
def show(v):
    if isinstance(v, dict): return {k: show(u) for k, u in v.items()}
    if isinstance(v, (tuple, list)): return type(v)(map(show, v))
    return int(v) if isinstance(v, torch.Tensor) else getattr(v, "label", v)
def note(what, *seen): log.append((what, *show(seen)))
class M(torch.nn.Module):
    def __init__(self, label, function, **values):
        super().__init__()
        self.label, self.function = label, function
        for name, value in values.items(): setattr(self, name, torch.nn.Parameter(t(value)))
    def forward(self, *xs, **kw): return self.function(self, *xs, **kw)
m0 = M("m0", lambda m, x: m.weight * x, weight=2)
x0 = t(1, requires_grad=True)
def new(*given):
    note("new", *given)
def adds(*given):
    note("adds", *given)
    globals()['new_handle'] = m0.register_forward_hook(new)
try:
    adds_handle = m0.register_forward_hook(adds)
except Exception as e: log.append(('raises', 'hook', type(e).__name__))
def h0(*given):
    note("h0", *given)
try:
    h0_handle = m0.register_forward_hook(h0)
except Exception as e: log.append(('raises', 'hook', type(e).__name__))
try:
    out = m0(x0)
    note("returns", out)
except Exception as e: log.append(('raises', 'forward', type(e).__name__))
expected = {
    "torch 1.4 to 1.9": [
        ('adds', 'm0', (1,), 2),
        ('raises', 'forward', 'RuntimeError'),
    ],
    "torch 1.10 to 2.15": [
        ('adds', 'm0', (1,), 2),
        ('h0', 'm0', (1,), 2),
        ('returns', 2),
    ],
}
for event in log: print(*event)
agrees = [torches for torches, events in expected.items() if events == log]
print("torch", torch.__version__, "does what is expected of", "; ".join(agrees) or "no torch")
raise SystemExit(not agrees)
