"""handles.removal.as_if_never_registered: Hooks around forward, full backward pre-hooks and tensor hooks removed before it have no effect.

Prints what the hooks see, and on which torch that is expected.
Checked by suites/handles/test_removal.py of torch-hook-conformance.
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
m1 = M("m1", lambda m, x: m.weight * x + m.bias, weight=1, bias=2)
m2 = M("m2", lambda m, x: m.weight * x, weight=2)
m3 = M("m3", lambda m, x: m.weight * x, weight=3)
m0 = M("m0", lambda m, *xs, **kw: m3(*spread(m2(*spread(m1(*xs, **kw)), **kw)), **kw))
x0 = t(2, requires_grad=True)
def h0(*given):
    note("h0", *given)
    return scale(given[1], 3)
h0_handle = m2.register_forward_pre_hook(h0)
h0_handle.remove()
def h1(*given):
    note("h1", *given)
h1_handle = m0.register_forward_hook(h1)
out = m0(x0)
note("returns", out)
torch.autograd.backward([spread(out)[0]], [t(1)], retain_graph=True)
note("grads", {"x0": x0.grad, "m1.weight": m1.weight.grad, "m1.bias": m1.bias.grad, "m2.weight": m2.weight.grad, "m3.weight": m3.weight.grad})
expected = {
    "torch 1.4 to 2.15": [
        ('h1', 'm0', (2,), 24),
        ('returns', 24),
        ('grads', {'x0': 6, 'm1.weight': 12, 'm1.bias': 6, 'm2.weight': 12, 'm3.weight': 8}),
    ],
}
for event in log: print(*event)
agrees = [torches for torches, events in expected.items() if events == log]
print("torch", torch.__version__, "does what is expected of", "; ".join(agrees) or "no torch")
raise SystemExit(not agrees)
