"""retain.modules.input_after_full_hook: What full backward hooks of a module return is in the gradient kept for its input.

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
m0 = M("m0", lambda m, x: m.weight * x, weight=1)
x0_base = t(1, requires_grad=True)
x0 = x0_base * 2
def h0(*given):
    note("h0", *given)
    return scale(given[1], 2)
h0_handle = m0.register_full_backward_hook(h0)
out = m0(x0)
note("returns", out)
x0.retain_grad()
torch.autograd.backward([out], [t(1)], retain_graph=True)
note("grads", {"x0.base": x0_base.grad, "m0.weight": m0.weight.grad, "x0": x0.grad})
expected = {
    "torch 1.8 to 2.15": [
        ('returns', 2),
        ('h0', 'm0', (1,), (1,)),
        ('grads', {'x0.base': 4, 'm0.weight': 2, 'x0': 2}),
    ],
}
for event in log: print(*event)
agrees = [torches for torches, events in expected.items() if events == log]
print("torch", torch.__version__, "does what is expected of", "; ".join(agrees) or "no torch")
raise SystemExit(not agrees)
