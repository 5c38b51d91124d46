"""backward.firing.summed: A full hook or pre-hook of a module whose output is used twice runs once, given the sum of both.

Prints what the hooks see, and on which torch that is expected.
Checked by suites/backward/test_firing.py of torch-hook-conformance.
"""
import torch
if not hasattr(torch.nn.Module, "register_full_backward_hook"): raise SystemExit("torch " + torch.__version__ + " has no torch.nn.Module.register_full_backward_hook")
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
m4 = M("m4", lambda m, x: m.weight * x, weight=1)
m1 = M("m1", lambda m, x: m.weight * x, weight=1)
m2 = M("m2", lambda m, x: m.weight * x, weight=1)
m0 = M("m0", lambda m, *xs, **kw: spread(m1(*xs, **kw)) + spread(m2(*xs, **kw)))
m3 = M("m3", lambda m, *xs, **kw: m0(*spread(m4(*xs, **kw)), **kw))
x0 = t(3, requires_grad=True)
def h0(*given):
    note("h0", *given)
h0_handle = m4.register_full_backward_hook(h0)
out = m3(x0)
note("returns", out)
torch.autograd.backward([spread(out)[0], spread(out)[1]], [t(1), t(1)], retain_graph=True)
note("grads", {"x0": x0.grad, "m4.weight": m4.weight.grad, "m1.weight": m1.weight.grad, "m2.weight": m2.weight.grad})
expected = {
    "torch 1.8 to 2.15": [
        ('returns', (3, 3)),
        ('h0', 'm4', (2,), (2,)),
        ('grads', {'x0': 2, 'm4.weight': 6, 'm1.weight': 3, 'm2.weight': 3}),
    ],
}
for event in log: print(*event)
agrees = [torches for torches, events in expected.items() if events == log]
print("torch", torch.__version__, "does what is expected of", "; ".join(agrees) or "no torch")
raise SystemExit(not agrees)
