"""gradient.crash.removes_itself_and_replaces: A hook that removes itself may still replace the gradient in that call, its last.

Prints what the hooks see, and on which torch that is expected.
On torch 1.4 to 1.9 it ends the process: a declared deviation.
Checked by suites/gradient/test_crash.py of torch-hook-conformance.
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
m0 = M("m0", lambda m, x: m.weight * x, weight=1)
x0 = t(2, requires_grad=True)
out = m0(x0)
note("returns", out)
def h0(*given):
    note("h0", *given)
    if 'h0_handle' in globals(): h0_handle.remove()
    return scale(given[0], 2)
h0_handle = out.register_hook(h0)
def h1(*given):
    note("h1", *given)
    return scale(given[0], 2)
h1_handle = out.register_hook(h1)
def h2(*given):
    note("h2", *given)
    return scale(given[0], 2)
h2_handle = out.register_hook(h2)
torch.autograd.backward([out], [t(1)], retain_graph=True)
note("grads", {"x0": x0.grad, "m0.weight": m0.weight.grad})
torch.autograd.backward([out], [t(1)], retain_graph=True)
note("grads", {"x0": x0.grad, "m0.weight": m0.weight.grad})
expected = {
    "torch 1.10 to 2.15": [
        ('returns', 2),
        ('h0', 1),
        ('h1', 2),
        ('h2', 4),
        ('grads', {'x0': 8, 'm0.weight': 16}),
        ('h1', 1),
        ('h2', 2),
        ('grads', {'x0': 12, 'm0.weight': 24}),
    ],
}
for event in log: print(*event)
agrees = [torches for torches, events in expected.items() if events == log]
print("torch", torch.__version__, "does what is expected of", "; ".join(agrees) or "no torch")
raise SystemExit(not agrees)
