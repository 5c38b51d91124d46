"""gradient.inplace.own_version: A hook is given the gradient of the version of the tensor that it was registered on.

Prints what the hooks see, and on which torch that is expected.
Checked by suites/gradient/test_inplace.py of torch-hook-conformance.
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
x0 = t(1, requires_grad=True)
out = m0(x0)
note("returns", out)
def a(*given):
    note("a", *given)
a_handle = out.register_hook(a)
out.mul_(5)
def b(*given):
    note("b", *given)
b_handle = out.register_hook(b)
torch.autograd.backward([out], [t(2)], retain_graph=True)
note("grads", {"x0": x0.grad, "m0.weight": m0.weight.grad})
expected = {
    "torch 1.4 to 1.13": [
        ('returns', 3),
        ('a', 10),
        ('b', 10),
        ('grads', {'x0': 30, 'm0.weight': 10}),
    ],
    "torch 2.0 to 2.15": [
        ('returns', 3),
        ('b', 2),
        ('a', 10),
        ('grads', {'x0': 30, 'm0.weight': 10}),
    ],
}
for event in log: print(*event)
agrees = [torches for torches, events in expected.items() if events == log]
print("torch", torch.__version__, "does what is expected of", "; ".join(agrees) or "no torch")
raise SystemExit(not agrees)
