"""backward.wrong.legacy_anything: A legacy hook that returns a list, or a tuple that is too long, ends backward() with an error.

Prints what the hooks see, and on which torch that is expected.
Checked by suites/backward/test_wrong.py of torch-hook-conformance.
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
m2 = M("m2", lambda m, x: m.weight * x, weight=2)
m0 = M("m0", lambda m, *xs, **kw: m2(*spread(m1(*xs, **kw)), **kw))
x0 = t(3, requires_grad=True)
def h0(*given):
    note("h0", *given)
    return list(given[1])
try:
    h0_handle = m2.register_backward_hook(h0)
except Exception as e: log.append(('raises', 'hook', type(e).__name__))
try:
    out = m0(x0)
    note("returns", out)
except Exception as e: log.append(('raises', 'forward', type(e).__name__))
failed = None
try: torch.autograd.backward([spread(out)[0]], [t(1)], retain_graph=True)
except Exception as e: failed = type(e).__name__
note("grads", {"x0": x0.grad, "m1.weight": m1.weight.grad, "m2.weight": m2.weight.grad})
if failed: log.append(('raises', 'backward', failed))
expected = {
    "torch 1.4, 1.7 to 2.15": [
        ('returns', 6),
        ('h0', 'm2', (3, 2), (1,)),
        ('grads', {'x0': None, 'm1.weight': None, 'm2.weight': None}),
        ('raises', 'backward', 'TypeError'),
    ],
    "torch 1.5 to 1.6": [
        ('returns', 6),
        ('h0', 'm2', (3, 2), (1,)),
        ('grads', {'x0': None, 'm1.weight': None, 'm2.weight': None}),
        ('raises', 'backward', 'RuntimeError'),
    ],
}
for event in log: print(*event)
agrees = [torches for torches, events in expected.items() if events == log]
print("torch", torch.__version__, "does what is expected of", "; ".join(agrees) or "no torch")
raise SystemExit(not agrees)
