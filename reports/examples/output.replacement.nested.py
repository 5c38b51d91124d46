"""output.replacement.nested: A container goes on with what its child's forward hooks left; its own hooks replace its result.

Prints what the hooks see, and on which torch that is expected.
Checked by suites/output/test_replacement.py of torch-hook-conformance.
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
m1 = M("m1", lambda m, x: x)
m2 = M("m2", lambda m, x: x)
m0 = M("m0", lambda m, *xs, **kw: m2(*spread(m1(*xs, **kw)), **kw))
x0 = t(1, requires_grad=True)
def at_m0(*given):
    note("at_m0", *given)
    return scale(given[-1], 2)
at_m0_handle = m0.register_forward_hook(at_m0)
def at_m1(*given):
    note("at_m1", *given)
    return scale(given[-1], 2)
at_m1_handle = m1.register_forward_hook(at_m1)
def at_m2(*given):
    note("at_m2", *given)
    return scale(given[-1], 2)
at_m2_handle = m2.register_forward_hook(at_m2)
out = m0(x0)
note("returns", out)
torch.autograd.backward([spread(out)[0]], [t(1)], retain_graph=True)
note("grads", {"x0": x0.grad})
expected = {
    "torch 1.4 to 2.15": [
        ('at_m1', 'm1', (1,), 1),
        ('at_m2', 'm2', (2,), 2),
        ('at_m0', 'm0', (1,), 4),
        ('returns', 8),
        ('grads', {'x0': 8}),
    ],
}
for event in log: print(*event)
agrees = [torches for torches, events in expected.items() if events == log]
print("torch", torch.__version__, "does what is expected of", "; ".join(agrees) or "no torch")
raise SystemExit(not agrees)
