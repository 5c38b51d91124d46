"""input.replacement.removed: A pre-hook that is removed between calls no longer replaces anything; the others go on.

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
x0 = t(1, requires_grad=True)
def h0(*given):
    note("h0", *given)
    return scale(given[1], 2)
h0_handle = m0.register_forward_pre_hook(h0)
def h1(*given):
    note("h1", *given)
    return scale(given[1], 2)
h1_handle = m0.register_forward_pre_hook(h1)
def h2(*given):
    note("h2", *given)
    return scale(given[1], 2)
h2_handle = m0.register_forward_pre_hook(h2)
out = m0(x0)
note("returns", out)
h0_handle.remove()
out = m0(x0)
note("returns", out)
h1_handle.remove()
out = m0(x0)
note("returns", out)
h2_handle.remove()
out = m0(x0)
note("returns", out)
expected = {
    "torch 1.4 to 2.15": [
        ('h0', 'm0', (1,)),
        ('h1', 'm0', (2,)),
        ('h2', 'm0', (4,)),
        ('returns', 8),
        ('h1', 'm0', (1,)),
        ('h2', 'm0', (2,)),
        ('returns', 4),
        ('h2', 'm0', (1,)),
        ('returns', 2),
        ('returns', 1),
    ],
}
for event in log: print(*event)
agrees = [torches for torches, events in expected.items() if events == log]
print("torch", torch.__version__, "does what is expected of", "; ".join(agrees) or "no torch")
raise SystemExit(not agrees)
