"""input.places.after_a_failure: After a call that a pre-hook made fail, the next call begins with its own input.

Prints what the hooks see, and on which torch that is expected.
Checked by suites/input/test_places.py of torch-hook-conformance.
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
x0 = t(1, requires_grad=True)
class Boom(Exception): pass
def fails(*given):
    note("fails", *given)
    raise Boom
try:
    fails_handle = m0.register_forward_pre_hook(fails)
except Exception as e: log.append(('raises', 'hook', type(e).__name__))
def h0(*given):
    note("h0", *given)
    return scale(given[1], 2)
try:
    h0_handle = m0.register_forward_pre_hook(h0)
except Exception as e: log.append(('raises', 'hook', type(e).__name__))
try:
    out = m0(x0)
    note("returns", out)
except Exception as e: log.append(('raises', 'forward', type(e).__name__))
if 'fails_handle' in globals(): fails_handle.remove()
try:
    out = m0(x0)
    note("returns", out)
except Exception as e: log.append(('raises', 'forward', type(e).__name__))
expected = {
    "torch 1.4 to 2.15": [
        ('fails', 'm0', (1,)),
        ('raises', 'forward', 'Boom'),
        ('h0', 'm0', (1,)),
        ('returns', 2),
    ],
}
for event in log: print(*event)
agrees = [torches for torches, events in expected.items() if events == log]
print("torch", torch.__version__, "does what is expected of", "; ".join(agrees) or "no torch")
raise SystemExit(not agrees)
