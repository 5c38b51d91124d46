"""output.places.siblings: A replaced output is that module's alone: the output of a module next to it stays.

Prints what the hooks see, and on which torch that is expected.
Checked by suites/output/test_places.py of torch-hook-conformance.
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
def spread(v):
    if isinstance(v, dict): return spread(tuple(v.values()))
    return sum(map(spread, v), ()) if isinstance(v, tuple) else (v,)
m1 = M("m1", lambda m, x: m.weight * x, weight=1)
m2 = M("m2", lambda m, x: m.weight * x, weight=1)
m0 = M("m0", lambda m, *xs, **kw: spread(m1(*xs, **kw)) + spread(m2(*xs, **kw)))
x0 = t(1, requires_grad=True)
def h0(*given):
    note("h0", *given)
    return scale(given[-1], 2)
h0_handle = m1.register_forward_hook(h0)
out = m0(x0)
note("returns", out)
torch.autograd.backward([spread(out)[0], spread(out)[1]], [t(1), t(2)], retain_graph=True)
note("grads", {"x0": x0.grad, "m1.weight": m1.weight.grad, "m2.weight": m2.weight.grad})
expected = {
    "torch 1.4 to 2.15": [
        ('h0', 'm1', (1,), 1),
        ('returns', (2, 1)),
        ('grads', {'x0': 4, 'm1.weight': 2, 'm2.weight': 2}),
    ],
}
for event in log: print(*event)
agrees = [torches for torches, events in expected.items() if events == log]
print("torch", torch.__version__, "does what is expected of", "; ".join(agrees) or "no torch")
raise SystemExit(not agrees)
