"""gradient.errors.ends_the_chain: After a tensor hook raised, the later hooks of its tensor are not called.

Prints what the hooks see, and on which torch that is expected.
Checked by suites/gradient/test_errors.py of torch-hook-conformance.
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
m0 = M("m0", lambda m, x: m.weight * x, weight=1)
x0 = t(3, requires_grad=True)
try:
    out = m0(x0)
    note("returns", out)
except Exception as e: log.append(('raises', 'forward', type(e).__name__))
class Boom(Exception): pass
def h0(*given):
    note("h0", *given)
    raise Boom
try:
    h0_handle = x0.register_hook(h0)
except Exception as e: log.append(('raises', 'hook', type(e).__name__))
failed = None
try: torch.autograd.backward([out], [t(1)], retain_graph=True)
except Exception as e: failed = type(e).__name__
note("grads", {"x0": x0.grad, "m0.weight": m0.weight.grad})
if failed: log.append(('raises', 'backward', failed))
expected = {
    "torch 1.4, 1.7 to 2.15": [
        ('returns', 3),
        ('h0', 1),
        ('grads', {'x0': None, 'm0.weight': 3}),
        ('raises', 'backward', 'Boom'),
    ],
    "torch 1.5 to 1.6": [
        ('returns', 3),
        ('h0', 1),
        ('grads', {'x0': None, 'm0.weight': 3}),
        ('raises', 'backward', 'RuntimeError'),
    ],
}
for event in log: print(*event)
agrees = [torches for torches, events in expected.items() if events == log]
print("torch", torch.__version__, "does what is expected of", "; ".join(agrees) or "no torch")
raise SystemExit(not agrees)
