"""handles.copies.anywhere: Every plan of the grammar that goes on with deep copies leaves the trace that the model predicts.

Prints what the hooks see, and on which torch that is expected.
Checked by suites/handles/test_copies.py of torch-hook-conformance.
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
m0 = M("m0", lambda m, x: x)
x0 = t(3, requires_grad=True)
def h0(*given):
    note("h0", *given)
    return scale(given[0], 2)
h0_handle = x0.register_hook(h0)
def h1(*given):
    note("h1", *given)
h1_handle = m0.register_backward_hook(h1)
import copy
originals = [*globals().get("originals", []), m0]
[m0] = copy.deepcopy([m0])
out = m0(x0)
note("returns", out)
def h2(*given):
    note("h2", *given)
    return scale(given[0], 10)
h2_handle = out.register_hook(h2)
def h3(*given):
    note("h3", *given)
h3_handle = out.register_hook(h3)
torch.autograd.backward([out], [t(3)], retain_graph=True)
note("grads", {"x0": x0.grad})
expected = {
    "torch 1.4 to 2.15": [
        ('returns', 3),
        ('h0', 3),
        ('h2', 6),
        ('h3', 60),
        ('grads', {'x0': 60}),
    ],
}
for event in log: print(*event)
agrees = [torches for torches, events in expected.items() if events == log]
print("torch", torch.__version__, "does what is expected of", "; ".join(agrees) or "no torch")
raise SystemExit(not agrees)
