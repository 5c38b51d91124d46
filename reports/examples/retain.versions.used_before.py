"""retain.versions.used_before: Uses of a tensor before its in-place change do not count in the gradient that it keeps.

Prints what the hooks see, and on which torch that is expected.
Checked by suites/retain/test_versions.py of torch-hook-conformance.
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
def edit(v, k):
    for u in spread(v): u.mul_(k)
m1 = M("m1", lambda m, x, y: x + y)
m2 = M("m2", lambda m, x, y: x + y)
m0 = M("m0", lambda m, *xs, **kw: spread(m1(*xs, **kw)) + spread(m2(*xs, **kw)))
x0_base = t(1, requires_grad=True)
x0 = x0_base * 2
x1_base = t(1, requires_grad=True)
x1 = x1_base * 2
def h0(*given):
    note("h0", *given)
    edit(given[1], 5)
h0_handle = m2.register_forward_pre_hook(h0)
x0.retain_grad()
out = m0(x0, x1)
note("returns", out)
torch.autograd.backward([spread(out)[0], spread(out)[1]], [t(100), t(2)], retain_graph=True)
note("grads", {"x0.base": x0_base.grad, "x1.base": x1_base.grad, "x0": x0.grad})
expected = {
    "torch 1.4 to 1.12": [
        ('h0', 'm2', (2, 2)),
        ('returns', (4, 20)),
        ('grads', {'x0.base': 220, 'x1.base': 220, 'x0': 110}),
    ],
    "torch 1.13 to 2.15": [
        ('h0', 'm2', (2, 2)),
        ('returns', (4, 20)),
        ('grads', {'x0.base': 220, 'x1.base': 220, 'x0': 2}),
    ],
}
for event in log: print(*event)
agrees = [torches for torches, events in expected.items() if events == log]
print("torch", torch.__version__, "does what is expected of", "; ".join(agrees) or "no torch")
raise SystemExit(not agrees)
