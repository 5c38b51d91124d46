"""gradient.asked.together_with_a_leaf: Asked for an inner tensor and a leaf it is made from, autograd.grad returns the former's unhooked.

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
def spread(v):
    if isinstance(v, dict): return spread(tuple(v.values()))
    return sum(map(spread, v), ()) if isinstance(v, tuple) else (v,)
at = {}
def call(m, *xs, **kw):
    out = m(*xs, **kw)
    at.update({f"{m.label}>{i}": u for i, u in enumerate(spread(out))})
    return out
m1 = M("m1", lambda m, x: m.weight * x, weight=2)
m2 = M("m2", lambda m, x: m.weight * x, weight=5)
m0 = M("m0", lambda m, *xs, **kw: call(m2, *spread(call(m1, *xs, **kw)), **kw))
x0 = t(2, requires_grad=True)
out = call(m0, x0)
note("returns", out)
def h0(*given):
    note("h0", *given)
    return scale(given[0], -1)
h0_handle = at["m1>0"].register_hook(h0)
note("asked", *torch.autograd.grad([spread(out)[0]], [m1.weight, at["m1>0"]], [t(1)], retain_graph=True, allow_unused=True))
note("grads", {"x0": x0.grad, "m1.weight": m1.weight.grad, "m2.weight": m2.weight.grad})
expected = {
    "torch 1.4 to 2.15": [
        ('returns', 20),
        ('h0', 5),
        ('asked', -10, 5),
        ('grads', {'x0': None, 'm1.weight': None, 'm2.weight': None}),
    ],
}
for event in log: print(*event)
agrees = [torches for torches, events in expected.items() if events == log]
print("torch", torch.__version__, "does what is expected of", "; ".join(agrees) or "no torch")
raise SystemExit(not agrees)
