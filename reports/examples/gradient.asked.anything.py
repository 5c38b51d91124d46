"""gradient.asked.anything: In every plan of the grammar, whatever is asked for, hooks and kept gradients follow the model.

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
m2 = M("m2", lambda m, x: (m.weight * x, m.other * x), weight=3, other=1)
m1 = M("m1", lambda m, *xs, **kw: call(m2, *xs, **kw))
m4 = M("m4", lambda m, x, y: x + y)
m3 = M("m3", lambda m, *xs, **kw: call(m4, *xs, **kw))
m0 = M("m0", lambda m, *xs, **kw: call(m3, *spread(call(m1, *xs, **kw)), **kw))
x0_base = t(-2, requires_grad=True)
x0 = x0_base * 2
kept = {}
def h0(*given):
    note("h0", *given)
    return scale(given[0], 2)
h0_handle = x0.register_hook(h0)
def h1(*given):
    note("h1", *given)
    return scale(given[0], 10)
h1_handle = x0.register_hook(h1)
def h2(*given):
    note("h2", *given)
    return scale(given[0], 3)
h2_handle = m2.other.register_hook(h2)
def h3(*given):
    note("h3", *given)
h3_handle = m2.weight.register_hook(h3)
out = call(m0, x0)
note("returns", out)
torch.autograd.backward([spread(out)[0]], [t(1)], retain_graph=True)
note("grads", {"x0.base": x0_base.grad, "m2.weight": m2.weight.grad, "m2.other": m2.other.grad, **{k: v.grad for k, v in kept.items()}})
out = call(m0, x0)
note("returns", out)
at["m2>0"].retain_grad()
kept["m2>0"] = at["m2>0"]
note("asked", *torch.autograd.grad([spread(out)[0]], [m2.weight, m2.other], [t(3)], retain_graph=True, allow_unused=True))
note("grads", {"x0.base": x0_base.grad, "m2.weight": m2.weight.grad, "m2.other": m2.other.grad, **{k: v.grad for k, v in kept.items()}})
expected = {
    "torch 1.4 to 1.13": [
        ('returns', -16),
        ('h2', -4),
        ('h3', -4),
        ('h0', 4),
        ('h1', 8),
        ('grads', {'x0.base': 160, 'm2.weight': -4, 'm2.other': -12}),
        ('returns', -16),
        ('asked', -12, -12),
        ('grads', {'x0.base': 160, 'm2.weight': -4, 'm2.other': -12, 'm2>0': 3}),
    ],
    "torch 2.0 to 2.15": [
        ('returns', -16),
        ('h2', -4),
        ('h3', -4),
        ('h0', 4),
        ('h1', 8),
        ('grads', {'x0.base': 160, 'm2.weight': -4, 'm2.other': -12}),
        ('returns', -16),
        ('h2', -12),
        ('h3', -12),
        ('asked', -12, -36),
        ('grads', {'x0.base': 160, 'm2.weight': -4, 'm2.other': -12, 'm2>0': 3}),
    ],
}
for event in log: print(*event)
agrees = [torches for torches, events in expected.items() if events == log]
print("torch", torch.__version__, "does what is expected of", "; ".join(agrees) or "no torch")
raise SystemExit(not agrees)
