"""handles.removal.anywhere: Every plan of the grammar that removes hooks at any time leaves the trace that the model predicts.

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
m2 = M("m2", lambda m, x: (m.weight * x, m.other * x), weight=1, other=2)
m3 = M("m3", lambda m, x, y: x * y)
m1 = M("m1", lambda m, *xs, **kw: m3(*spread(m2(*xs, **kw)), **kw))
m0 = M("m0", lambda m, *xs, **kw: m1(*xs, **kw))
x0_base = t(-1, requires_grad=True)
x0 = x0_base * 2
def h0(*given):
    note("h0", *given)
h0_handle = m0.register_backward_hook(h0)
def h1(*given):
    note("h1", *given)
    if 'h0_handle' in globals(): h0_handle.remove()
    return scale(given[1], 2)
h1_handle = m0.register_backward_hook(h1)
def h2(*given):
    note("h2", *given)
    if 'h1_handle' in globals(): h1_handle.remove()
h2_handle = m0.register_backward_hook(h2)
def h3(*given):
    note("h3", *given)
    if 'h0_handle' in globals(): h0_handle.remove()
h3_handle = m0.register_backward_hook(h3)
out = m0(x0)
note("returns", out)
torch.autograd.backward([spread(out)[0]], [t(2)], retain_graph=True)
note("grads", {"x0.base": x0_base.grad, "m2.weight": m2.weight.grad, "m2.other": m2.other.grad})
expected = {
    "torch 1.4 to 2.15": [
        ('returns', 8),
        ('h0', 'm0', (-8, -4), (2,)),
        ('h1', 'm0', (-8, -4), (2,)),
        ('h2', 'm0', (-16, -8), (2,)),
        ('h3', 'm0', (-16, -8), (2,)),
        ('grads', {'x0.base': -64, 'm2.weight': 32, 'm2.other': 16}),
    ],
}
for event in log: print(*event)
agrees = [torches for torches, events in expected.items() if events == log]
print("torch", torch.__version__, "does what is expected of", "; ".join(agrees) or "no torch")
raise SystemExit(not agrees)
