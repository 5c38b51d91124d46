"""output.places.forward_raises: If forward raises, no forward hook of the module or its parents without always_call runs.

Prints what the hooks see, and on which torch that is expected.
Checked by suites/output/test_places.py of torch-hook-conformance.
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
def spread(v):
    if isinstance(v, dict): return spread(tuple(v.values()))
    return sum(map(spread, v), ()) if isinstance(v, tuple) else (v,)
m1 = M("m1", lambda m, x: m.weight * x, weight=1)
m2 = M("m2", lambda m, x: m.weight * x, weight=1)
m0 = M("m0", lambda m, *xs, **kw: m2(*spread(m1(*xs, **kw)), **kw))
x0 = t(1, requires_grad=True)
def h0(*given):
    note("h0", *given)
try:
    h0_handle = m0.register_forward_hook(h0)
except Exception as e: log.append(('raises', 'hook', type(e).__name__))
class Boom(Exception): pass
def fails(*given):
    note("fails", *given)
    raise Boom
try:
    fails_handle = m2.register_forward_pre_hook(fails)
except Exception as e: log.append(('raises', 'hook', type(e).__name__))
try:
    out = m0(x0)
    note("returns", out)
except Exception as e: log.append(('raises', 'forward', type(e).__name__))
expected = {
    "torch 1.4 to 2.15": [
        ('fails', 'm2', (1,)),
        ('raises', 'forward', 'Boom'),
    ],
}
for event in log: print(*event)
agrees = [torches for torches, events in expected.items() if events == log]
print("torch", torch.__version__, "does what is expected of", "; ".join(agrees) or "no torch")
raise SystemExit(not agrees)
