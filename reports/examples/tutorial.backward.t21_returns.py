"""tutorial.backward.t21_returns: What a legacy hook returns replaces the gradients it was given as grad_input.

Prints what the hooks see, and on which torch that is expected.
Checked by suites/tutorial/test_legacy.py of torch-hook-conformance.
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
m0 = M("m0", lambda m, x: m.weight * x, weight=2)
x0 = t(3, requires_grad=True)
def h0(*given):
    note("h0", *given)
    return scale(given[1], 10)
h0_handle = m0.register_backward_hook(h0)
out = m0(x0)
note("returns", out)
torch.autograd.backward([out], [t(1)], retain_graph=True)
note("grads", {"x0": x0.grad, "m0.weight": m0.weight.grad})
expected = {
    "torch 1.4 to 2.15": [
        ('returns', 6),
        ('h0', 'm0', (3, 2), (1,)),
        ('grads', {'x0': 20, 'm0.weight': 30}),
    ],
}
for event in log: print(*event)
agrees = [torches for torches, events in expected.items() if events == log]
print("torch", torch.__version__, "does what is expected of", "; ".join(agrees) or "no torch")
raise SystemExit(not agrees)
