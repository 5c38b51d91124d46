"""gradient.asked.other_leaf: autograd.grad calls no hook of a leaf it is not asked for, and none of a tensor it need not reach.

Prints what the hooks see, and on which torch that is expected.
Checked by suites/gradient/test_asked.py of torch-hook-conformance.
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
m0 = M("m0", lambda m, x: (m.weight * x, m.other * x), weight=2, other=3)
x0 = t(1, requires_grad=True)
def weight(*given):
    note("weight", *given)
    return scale(given[0], 2)
weight_handle = m0.weight.register_hook(weight)
def other(*given):
    note("other", *given)
    return scale(given[0], 2)
other_handle = m0.other.register_hook(other)
out = m0(x0)
note("returns", out)
note("asked", *torch.autograd.grad([out[0], out[1]], [m0.other], [t(1), t(2)], retain_graph=True, allow_unused=True))
note("grads", {"x0": x0.grad, "m0.weight": m0.weight.grad, "m0.other": m0.other.grad})
expected = {
    "torch 1.4 to 1.13": [
        ('returns', (2, 3)),
        ('asked', 2),
        ('grads', {'x0': None, 'm0.weight': None, 'm0.other': None}),
    ],
    "torch 2.0 to 2.15": [
        ('returns', (2, 3)),
        ('other', 2),
        ('asked', 4),
        ('grads', {'x0': None, 'm0.weight': None, 'm0.other': None}),
    ],
}
for event in log: print(*event)
agrees = [torches for torches, events in expected.items() if events == log]
print("torch", torch.__version__, "does what is expected of", "; ".join(agrees) or "no torch")
raise SystemExit(not agrees)
