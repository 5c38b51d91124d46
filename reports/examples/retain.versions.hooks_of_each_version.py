"""retain.versions.hooks_of_each_version: After an in-place change the kept gradient has what hooks of the new version left, not of the old.

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
def scale(v, k):
    if isinstance(v, dict): return {n: scale(u, k) for n, u in v.items()}
    return type(v)(scale(u, k) for u in v) if isinstance(v, (tuple, list)) else v if v is None else v * k
class M(torch.nn.Module):
    def __init__(self, label, function, **values):
        super().__init__()
        self.label, self.function = label, function
        for name, value in values.items(): setattr(self, name, torch.nn.Parameter(t(value)))
    def forward(self, *xs, **kw): return self.function(self, *xs, **kw)
m0 = M("m0", lambda m, x: m.weight * x, weight=3)
x0 = t(1, requires_grad=True)
out = m0(x0)
note("returns", out)
def h0(*given):
    note("h0", *given)
    return scale(given[0], 7)
h0_handle = out.register_hook(h0)
out.retain_grad()
out.mul_(5)
def h1(*given):
    note("h1", *given)
    return scale(given[0], 3)
h1_handle = out.register_hook(h1)
torch.autograd.backward([out], [t(2)], retain_graph=True)
note("grads", {"x0": x0.grad, "m0.weight": m0.weight.grad, "m0>0": out.grad})
expected = {
    "torch 1.4 to 1.9": [
        ('returns', 3),
        ('h0', 10),
        ('h1', 70),
        ('grads', {'x0': 630, 'm0.weight': 210, 'm0>0': 70}),
    ],
    "torch 1.10 to 1.12": [
        ('returns', 3),
        ('h0', 10),
        ('h1', 70),
        ('grads', {'x0': 630, 'm0.weight': 210, 'm0>0': 210}),
    ],
    "torch 1.13": [
        ('returns', 3),
        ('h0', 10),
        ('h1', 70),
        ('grads', {'x0': 630, 'm0.weight': 210, 'm0>0': 2}),
    ],
    "torch 2.0 to 2.15": [
        ('returns', 3),
        ('h1', 2),
        ('h0', 30),
        ('grads', {'x0': 630, 'm0.weight': 210, 'm0>0': 6}),
    ],
}
for event in log: print(*event)
agrees = [torches for torches, events in expected.items() if events == log]
print("torch", torch.__version__, "does what is expected of", "; ".join(agrees) or "no torch")
raise SystemExit(not agrees)
