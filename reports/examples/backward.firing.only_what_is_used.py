"""backward.firing.only_what_is_used: The backward hook of a module whose output the loss does not use does not run.

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
m1 = M("m1", lambda m, x: m.weight * x, weight=2)
m2 = M("m2", lambda m, x: m.weight * x, weight=1)
m0 = M("m0", lambda m, *xs, **kw: spread(m1(*xs, **kw)) + spread(m2(*xs, **kw)))
x0 = t(3, requires_grad=True)
def m1_hook(*given):
    note("m1", *given)
    return scale(given[1], 0)
m1_hook_handle = m1.register_full_backward_hook(m1_hook)
def m2_hook(*given):
    note("m2", *given)
    return scale(given[1], 0)
m2_hook_handle = m2.register_full_backward_hook(m2_hook)
out = m0(x0)
note("returns", out)
torch.autograd.backward([spread(out)[0], spread(out)[1]], [t(3), t(2)], retain_graph=True)
note("grads", {"x0": x0.grad, "m1.weight": m1.weight.grad, "m2.weight": m2.weight.grad})
expected = {
    "torch 1.8 to 2.15": [
        ('returns', (6, 3)),
        ('m2', 'm2', (2,), (2,)),
        ('m1', 'm1', (6,), (3,)),
        ('grads', {'x0': 0, 'm1.weight': 9, 'm2.weight': 6}),
    ],
}
for event in log: print(*event)
agrees = [torches for torches, events in expected.items() if events == log]
print("torch", torch.__version__, "does what is expected of", "; ".join(agrees) or "no torch")
raise SystemExit(not agrees)
