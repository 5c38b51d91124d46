"""ordering.between.global_before_prepended: A hook that a module prepends still runs after the global hooks of its kind.

Prints what the hooks see, and on which torch that is expected.
Checked by suites/ordering/test_between.py of torch-hook-conformance.
"""
import torch
import inspect
if not "prepend" in inspect.signature(torch.nn.Module.register_forward_hook).parameters: raise SystemExit("torch " + torch.__version__ + " has no torch.nn.Module.register_forward_hook(prepend)")
from torch.nn.modules import module as everywhere
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
m0 = M("m0", lambda m, x: m.weight * x + m.bias, weight=3, bias=3)
x0 = t(2, requires_grad=True)
def h0(*given):
    note("h0", *given)
    return scale(given[-1], -1)
h0_handle = everywhere.register_module_forward_hook(h0)
def h1(*given):
    note("h1", *given)
    return scale(given[-1], 3)
h1_handle = everywhere.register_module_forward_hook(h1)
def h2(*given):
    note("h2", *given)
h2_handle = everywhere.register_module_forward_pre_hook(h2)
out = m0(x0)
note("returns", out)
torch.autograd.backward([out], [t(3)], retain_graph=True)
note("grads", {"x0": x0.grad, "m0.weight": m0.weight.grad, "m0.bias": m0.bias.grad})
expected = {
    "torch 2.0 to 2.15": [
        ('h2', 'm0', (2,)),
        ('h0', 'm0', (2,), 9),
        ('h1', 'm0', (2,), -9),
        ('returns', -27),
        ('grads', {'x0': -27, 'm0.weight': -18, 'm0.bias': -9}),
    ],
}
for event in log: print(*event)
agrees = [torches for torches, events in expected.items() if events == log]
print("torch", torch.__version__, "does what is expected of", "; ".join(agrees) or "no torch")
raise SystemExit(not agrees)
