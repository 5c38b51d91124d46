"""gradient.membership.removes_itself: A tensor hook that removes itself while it runs is called that once, its neighbours as ever.

Prints what the hooks see, and on which torch that is expected.
Checked by suites/gradient/test_membership.py of torch-hook-conformance.
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
m0 = M("m0", lambda m, x: m.weight * x, weight=3)
x0 = t(2, requires_grad=True)
out = m0(x0)
note("returns", out)
def h0(*given):
    note("h0", *given)
    if 'h0_handle' in globals(): h0_handle.remove()
h0_handle = x0.register_hook(h0)
def h1(*given):
    note("h1", *given)
h1_handle = x0.register_hook(h1)
def h2(*given):
    note("h2", *given)
h2_handle = x0.register_hook(h2)
torch.autograd.backward([out], [t(1)], retain_graph=True)
note("grads", {"x0": x0.grad, "m0.weight": m0.weight.grad})
torch.autograd.backward([out], [t(1)], retain_graph=True)
note("grads", {"x0": x0.grad, "m0.weight": m0.weight.grad})
expected = {
    "torch 1.4 to 2.15": [
        ('returns', 6),
        ('h0', 3),
        ('h1', 3),
        ('h2', 3),
        ('grads', {'x0': 3, 'm0.weight': 2}),
        ('h1', 3),
        ('h2', 3),
        ('grads', {'x0': 6, 'm0.weight': 4}),
    ],
}
for event in log: print(*event)
agrees = [torches for torches, events in expected.items() if events == log]
print("torch", torch.__version__, "does what is expected of", "; ".join(agrees) or "no torch")
raise SystemExit(not agrees)
