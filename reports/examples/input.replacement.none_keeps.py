"""input.replacement.none_keeps: A forward pre-hook that returns None replaces nothing.

Prints what the hooks see, and on which torch that is expected.
Checked by suites/input/test_replacement.py of torch-hook-conformance.
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
x0_base = t(1, requires_grad=True)
x0 = x0_base * 2
def h0(*given):
    note("h0", *given)
h0_handle = m0.register_forward_pre_hook(h0)
out = m0(x0)
note("returns", out)
torch.autograd.backward([out], [t(1)], retain_graph=True)
note("grads", {"x0.base": x0_base.grad})
expected = {
    "torch 1.4 to 2.15": [
        ('h0', 'm0', (2,)),
        ('returns', 2),
        ('grads', {'x0.base': 2}),
    ],
}
for event in log: print(*event)
agrees = [torches for torches, events in expected.items() if events == log]
print("torch", torch.__version__, "does what is expected of", "; ".join(agrees) or "no torch")
raise SystemExit(not agrees)
