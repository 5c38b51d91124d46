"""ordering.changes.forward_removed: A forward hook may remove forward hooks of its module, itself too: the call still runs them all.

Prints what the hooks see, and on which torch that is expected.
Checked by suites/ordering/test_changes.py of torch-hook-conformance.
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
def spread(v):
    if isinstance(v, dict): return spread(tuple(v.values()))
    return sum(map(spread, v), ()) if isinstance(v, tuple) else (v,)
m0 = M("m0", lambda m, x: m.weight * x, weight=2)
x0 = t(1, requires_grad=True)
def h0(*given):
    note("h0", *given)
    if 'h1_handle' in globals(): h1_handle.remove()
try:
    h0_handle = m0.register_forward_hook(h0)
except Exception as e: log.append(('raises', 'hook', type(e).__name__))
def h1(*given):
    note("h1", *given)
try:
    h1_handle = m0.register_forward_hook(h1)
except Exception as e: log.append(('raises', 'hook', type(e).__name__))
out = None
try:
    out = m0(x0)
    note("returns", out)
except Exception as e: log.append(('raises', 'forward', type(e).__name__))
if out is None: log.append(('refused', 'backward', 'no output'))
else:
    failed = None
    try: torch.autograd.backward([spread(out)[0]], [t(1)], retain_graph=True)
    except Exception as e: failed = type(e).__name__
    note("grads", {"x0": x0.grad, "m0.weight": m0.weight.grad})
    if failed: log.append(('raises', 'backward', failed))
expected = {
    "torch 1.4 to 1.9": [
        ('h0', 'm0', (1,), 2),
        ('raises', 'forward', 'RuntimeError'),
        ('refused', 'backward', 'no output'),
    ],
    "torch 1.10 to 2.15": [
        ('h0', 'm0', (1,), 2),
        ('h1', 'm0', (1,), 2),
        ('returns', 2),
        ('grads', {'x0': 2, 'm0.weight': 1}),
    ],
}
for event in log: print(*event)
agrees = [torches for torches, events in expected.items() if events == log]
print("torch", torch.__version__, "does what is expected of", "; ".join(agrees) or "no torch")
raise SystemExit(not agrees)
