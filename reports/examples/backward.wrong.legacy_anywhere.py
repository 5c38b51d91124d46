"""backward.wrong.legacy_anywhere: In every drawn network a wrong value from a legacy hook ends the pass as it does in one module.

Prints what the hooks see, and on which torch that is expected.
Checked by suites/backward/test_wrong.py of torch-hook-conformance.
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
m0 = M("m0", lambda m, x, y: x + y)
x0 = t(3, requires_grad=True)
x1_base = t(2, requires_grad=True)
x1 = x1_base * 2
def h0(*given):
    note("h0", *given)
    return scale(given[1], 0)
h0_handle = m0.register_backward_hook(h0)
out = m0(x0, x1)
note("returns", out)
torch.autograd.backward([out], [t(3)])
note("grads", {"x0": x0.grad, "x1.base": x1_base.grad})
expected = {
    "torch 1.4 to 2.15": [
        ('returns', 7),
        ('h0', 'm0', (3, 3), (3,)),
        ('grads', {'x0': 0, 'x1.base': 0}),
    ],
}
for event in log: print(*event)
agrees = [torches for torches, events in expected.items() if events == log]
print("torch", torch.__version__, "does what is expected of", "; ".join(agrees) or "no torch")
raise SystemExit(not agrees)
