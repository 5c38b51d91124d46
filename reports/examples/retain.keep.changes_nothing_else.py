"""retain.keep.changes_nothing_else: Where the tensor gets a gradient, retain_grad() changes no other gradient and no hook call.

Prints what the hooks see, and on which torch that is expected.
Checked by suites/retain/test_keep.py of torch-hook-conformance.
"""
import torch
log = []
def t(v, **kw): return torch.tensor(float(v), dtype=torch.float64, **kw)
def show(v):
    if isinstance(v, dict): return {k: show(u) for k, u in v.items()}
    if isinstance(v, (tuple, list)): return type(v)(map(show, v))
    return int(v) if isinstance(v, torch.Tensor) else getattr(v, "label", v)
def note(what, *seen): log.append((what, *show(seen)))
def scale(v, k):
    if isinstance(v, dict): return {n: scale(u, k) for n, u in v.items()}
    return type(v)(scale(u, k) for u in v) if isinstance(v, (tuple, list)) else v if v is None else v * k
class M(torch.nn.Module):
    def __init__(self, label, function, **values):
        super().__init__()
        self.label, self.function = label, function
        for name, value in values.items(): setattr(self, name, torch.nn.Parameter(t(value)))
    def forward(self, *xs, **kw): return self.function(self, *xs, **kw)
m0 = M("m0", lambda m, x: (m.weight * x, m.other * x), weight=-2, other=2)
x0_base = t(-2, requires_grad=True)
x0 = x0_base * 2
def h0(*given):
    note("h0", *given)
    return scale(given[0], -1)
h0_handle = x0.register_hook(h0)
out = m0(x0)
note("returns", out)
out[1].retain_grad()
def h1(*given):
    note("h1", *given)
    return scale(given[0], 0)
h1_handle = out[1].register_hook(h1)
torch.autograd.backward([out[1]], [t(3)], retain_graph=True)
note("grads", {"x0.base": x0_base.grad, "m0.weight": m0.weight.grad, "m0.other": m0.other.grad, "m0>1": out[1].grad})
expected = {
    "torch 1.4 to 1.13": [
        ('returns', (8, -8)),
        ('h1', 3),
        ('h0', 0),
        ('grads', {'x0.base': 0, 'm0.weight': None, 'm0.other': 0, 'm0>1': 3}),
    ],
    "torch 2.0 to 2.15": [
        ('returns', (8, -8)),
        ('h1', 3),
        ('h0', 0),
        ('grads', {'x0.base': 0, 'm0.weight': None, 'm0.other': 0, 'm0>1': 0}),
    ],
}
for event in log: print(*event)
agrees = [torches for torches, events in expected.items() if events == log]
print("torch", torch.__version__, "does what is expected of", "; ".join(agrees) or "no torch")
raise SystemExit(not agrees)
