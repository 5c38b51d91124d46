"""gradient.errors.no_rollback: Gradients that were accumulated before a hook raised stay: nothing is rolled back.

Prints what the hooks see, and on which torch that is expected.
Checked by suites/gradient/test_errors.py of torch-hook-conformance.
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
x0 = t(3, requires_grad=True)
x1 = t(-1, requires_grad=True)
def h0(*given):
    note("h0", *given)
try:
    h0_handle = x1.register_hook(h0)
except Exception as e: log.append(('raises', 'hook', type(e).__name__))
class Boom(Exception): pass
def h1(*given):
    note("h1", *given)
    raise Boom
try:
    h1_handle = x1.register_hook(h1)
except Exception as e: log.append(('raises', 'hook', type(e).__name__))
def h2(*given):
    note("h2", *given)
try:
    h2_handle = x1.register_hook(h2)
except Exception as e: log.append(('raises', 'hook', type(e).__name__))
try:
    out = m0(x0, x1)
    note("returns", out)
except Exception as e: log.append(('raises', 'forward', type(e).__name__))
def h3(*given):
    note("h3", *given)
try:
    h3_handle = out.register_hook(h3)
except Exception as e: log.append(('raises', 'hook', type(e).__name__))
failed = None
try: torch.autograd.backward([out], [t(3)])
except Exception as e: failed = type(e).__name__
note("grads", {"x0": x0.grad, "x1": x1.grad})
if failed: log.append(('raises', 'backward', failed))
expected = {
    "torch 1.4, 1.7 to 2.15": [
        ('returns', -3),
        ('h3', 3),
        ('h0', 9),
        ('h1', 9),
        ('grads', {'x0': -3, 'x1': None}),
        ('raises', 'backward', 'Boom'),
    ],
    "torch 1.5 to 1.6": [
        ('returns', -3),
        ('h3', 3),
        ('h0', 9),
        ('h1', 9),
        ('grads', {'x0': -3, 'x1': None}),
        ('raises', 'backward', 'RuntimeError'),
    ],
}
for event in log: print(*event)
agrees = [torches for torches, events in expected.items() if events == log]
print("torch", torch.__version__, "does what is expected of", "; ".join(agrees) or "no torch")
raise SystemExit(not agrees)
