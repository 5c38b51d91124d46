"""backward.around.parameters_last: Where no input needs a gradient, pre-hook and full hook run before the parameters get theirs.

Prints what the hooks see, and on which torch that is expected.
Checked by suites/backward/test_around.py of torch-hook-conformance.
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
m0 = M("m0", lambda m, x: m.weight * x, weight=2)
x0 = t(3)
def full(*given):
    note("full", *given)
full_handle = m0.register_full_backward_hook(full)
def weight(*given):
    note("weight", *given)
weight_handle = m0.weight.register_hook(weight)
out = m0(x0)
note("returns", out)
torch.autograd.backward([out], [t(1)], retain_graph=True)
note("grads", {"m0.weight": m0.weight.grad})
expected = {
    "torch 1.8": [
        ('returns', 6),
        ('weight', 3),
        ('grads', {'m0.weight': 3}),
    ],
    "torch 1.9 to 2.15": [
        ('returns', 6),
        ('full', 'm0', (None,), (1,)),
        ('weight', 3),
        ('grads', {'m0.weight': 3}),
    ],
}
for event in log: print(*event)
agrees = [torches for torches, events in expected.items() if events == log]
print("torch", torch.__version__, "does what is expected of", "; ".join(agrees) or "no torch")
raise SystemExit(not agrees)
