"""retain.keep.once_is_enough: Calling retain_grad() again on the same tensor changes nothing.

Prints what the hooks see, and on which torch that is expected.
Checked by suites/retain/test_keep.py of torch-hook-conformance.
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
m0 = M("m0", lambda m, x: x)
x0 = t(1, requires_grad=True)
def h0(*given):
    note("h0", *given)
h0_handle = x0.register_hook(h0)
out = m0(x0)
note("returns", out)
out.retain_grad()
def h1(*given):
    note("h1", *given)
h1_handle = out.register_hook(h1)
def h2(*given):
    note("h2", *given)
h2_handle = out.register_hook(h2)
torch.autograd.backward([out], [t(3)], retain_graph=True)
note("grads", {"x0": x0.grad, "m0>0": out.grad})
expected = {
    "torch 1.4 to 2.15": [
        ('returns', 1),
        ('h0', 3),
        ('h1', 3),
        ('h2', 3),
        ('grads', {'x0': 3, 'm0>0': 3}),
    ],
}
for event in log: print(*event)
agrees = [torches for torches, events in expected.items() if events == log]
print("torch", torch.__version__, "does what is expected of", "; ".join(agrees) or "no torch")
raise SystemExit(not agrees)
