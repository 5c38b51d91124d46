"""gradient.replace.none_keeps: A tensor hook that returns None changes no gradient anywhere.

Prints what the hooks see, and on which torch that is expected.
Checked by suites/gradient/test_replace.py of torch-hook-conformance.
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
at = {}
def call(m, *xs, **kw):
    out = m(*xs, **kw)
    at.update({f"{m.label}>{i}": u for i, u in enumerate(spread(out))})
    return out
m2 = M("m2", lambda m, x: (m.weight * x, m.other * x), weight=2, other=-2)
m1 = M("m1", lambda m, *xs, **kw: call(m2, *xs, **kw))
m3 = M("m3", lambda m, x, y: (m.weight * x, y * x), weight=2)
m4 = M("m4", lambda m, x, y: x + y)
m0 = M("m0", lambda m, *xs, **kw: call(m4, *spread(call(m3, *spread(call(m1, *xs, **kw)), **kw)), **kw))
x0 = t(1, requires_grad=True)
def h0(*given):
    note("h0", *given)
h0_handle = x0.register_hook(h0)
def h1(*given):
    note("h1", *given)
h1_handle = x0.register_hook(h1)
out = call(m0, x0)
note("returns", out)
def h2(*given):
    note("h2", *given)
h2_handle = at["m2>0"].register_hook(h2)
torch.autograd.backward([spread(out)[0]], [t(2)], retain_graph=True)
note("grads", {"x0": x0.grad, "m2.weight": m2.weight.grad, "m2.other": m2.other.grad, "m3.weight": m3.weight.grad})
expected = {
    "torch 1.4 to 2.15": [
        ('returns', 0),
        ('h2', 0),
        ('h0', -8),
        ('h1', -8),
        ('grads', {'x0': -8, 'm2.weight': 0, 'm2.other': 4, 'm3.weight': 4}),
    ],
}
for event in log: print(*event)
agrees = [torches for torches, events in expected.items() if events == log]
print("torch", torch.__version__, "does what is expected of", "; ".join(agrees) or "no torch")
raise SystemExit(not agrees)
