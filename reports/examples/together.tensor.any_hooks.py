"""together.tensor.any_hooks: Every plan of the grammar with tensor hooks or retain_grad leaves the trace that the model predicts.

Prints what the hooks see, and on which torch that is expected.
Checked by suites/together/test_grammar.py of torch-hook-conformance.
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
m0 = M("m0", lambda m, x, y: x * y)
x0 = t(2)
x1_base = t(1, requires_grad=True)
x1 = x1_base * 2
def h0(*given):
    note("h0", *given)
    if 'h0_handle' in globals(): h0_handle.remove()
h0_handle = x1.register_hook(h0)
out = m0(x0, x1)
note("returns", out)
out.retain_grad()
def h1(*given):
    note("h1", *given)
h1_handle = out.register_hook(h1)
out.retain_grad()
torch.autograd.backward([out], [t(1)], retain_graph=True)
note("grads", {"x1.base": x1_base.grad, "m0>0": out.grad})
expected = {
    "torch 1.4 to 2.15": [
        ('returns', 4),
        ('h1', 1),
        ('h0', 2),
        ('grads', {'x1.base': 4, 'm0>0': 1}),
    ],
}
for event in log: print(*event)
agrees = [torches for torches, events in expected.items() if events == log]
print("torch", torch.__version__, "does what is expected of", "; ".join(agrees) or "no torch")
raise SystemExit(not agrees)
