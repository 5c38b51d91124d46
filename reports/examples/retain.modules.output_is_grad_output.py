"""retain.modules.output_is_grad_output: Without backward pre-hooks, an output's kept gradient is the grad_output of its full hooks.

Prints what the hooks see, and on which torch that is expected.
Checked by suites/retain/test_modules.py of torch-hook-conformance.
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
m0 = M("m0", lambda m, x: (m.weight * x, m.other * x), weight=1, other=1)
x0 = t(1, requires_grad=True)
def f0(*given):
    note("f0", *given)
f0_handle = m0.register_full_backward_hook(f0)
out = m0(x0)
note("returns", out)
def h0(*given):
    note("h0", *given)
    return scale(given[0], 2)
h0_handle = out[0].register_hook(h0)
out[0].retain_grad()
def h1(*given):
    note("h1", *given)
    return scale(given[0], 3)
h1_handle = out[0].register_hook(h1)
out[1].retain_grad()
def h2(*given):
    note("h2", *given)
    return scale(given[0], 2)
h2_handle = out[1].register_hook(h2)
torch.autograd.backward([out[0], out[1]], [t(1), t(1)], retain_graph=True)
note("grads", {"x0": x0.grad, "m0.weight": m0.weight.grad, "m0.other": m0.other.grad, "m0>0": out[0].grad, "m0>1": out[1].grad})
expected = {
    "torch 1.8 to 1.9": [
        ('returns', (1, 1)),
        ('h0', 1),
        ('h1', 2),
        ('h2', 1),
        ('f0', 'm0', (8,), (6, 2)),
        ('grads', {'x0': 8, 'm0.weight': 6, 'm0.other': 2, 'm0>0': 2, 'm0>1': 1}),
    ],
    "torch 1.10 to 1.13": [
        ('returns', (1, 1)),
        ('h0', 1),
        ('h1', 2),
        ('h2', 1),
        ('f0', 'm0', (8,), (6, 2)),
        ('grads', {'x0': 8, 'm0.weight': 6, 'm0.other': 2, 'm0>0': 6, 'm0>1': 1}),
    ],
    "torch 2.0 to 2.15": [
        ('returns', (1, 1)),
        ('h0', 1),
        ('h1', 2),
        ('h2', 1),
        ('f0', 'm0', (8,), (6, 2)),
        ('grads', {'x0': 8, 'm0.weight': 6, 'm0.other': 2, 'm0>0': 6, 'm0>1': 2}),
    ],
}
for event in log: print(*event)
agrees = [torches for torches, events in expected.items() if events == log]
print("torch", torch.__version__, "does what is expected of", "; ".join(agrees) or "no torch")
raise SystemExit(not agrees)
