"""gradient.inplace.leaf_is_refused: A hooked leaf refuses an in-place change; a change under no_grad leaves its hooks in place.

Prints what the hooks see, and on which torch that is expected.
Checked by suites/gradient/test_inplace.py of torch-hook-conformance.
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
def edit(v, k):
    for u in spread(v): u.mul_(k)
m0 = M("m0", lambda m, x: x)
x0 = t(3, requires_grad=True)
def h0(*given):
    note("h0", *given)
try:
    h0_handle = x0.register_hook(h0)
except Exception as e: log.append(('raises', 'hook', type(e).__name__))
try:
    x0.mul_(0)
except Exception as e: log.append(('raises', 'edit', type(e).__name__))
try:
    out = m0(x0)
    note("returns", out)
except Exception as e: log.append(('raises', 'forward', type(e).__name__))
failed = None
try: torch.autograd.backward([out], [t(2)], retain_graph=True)
except Exception as e: failed = type(e).__name__
note("grads", {"x0": x0.grad})
if failed: log.append(('raises', 'backward', failed))
def h1(*given):
    note("h1", *given)
    edit(given[1], 0)
try:
    h1_handle = m0.register_forward_pre_hook(h1)
except Exception as e: log.append(('raises', 'hook', type(e).__name__))
try:
    with torch.no_grad(): out = m0(x0)
    note("returns", out)
except Exception as e: log.append(('raises', 'forward', type(e).__name__))
if 'h1_handle' in globals(): h1_handle.remove()
try:
    out = m0(x0)
    note("returns", out)
except Exception as e: log.append(('raises', 'forward', type(e).__name__))
failed = None
try: torch.autograd.backward([out], [t(2)], retain_graph=True)
except Exception as e: failed = type(e).__name__
note("grads", {"x0": x0.grad})
if failed: log.append(('raises', 'backward', failed))
expected = {
    "torch 1.4 to 2.15": [
        ('raises', 'edit', 'RuntimeError'),
        ('returns', 3),
        ('h0', 2),
        ('grads', {'x0': 2}),
        ('h1', 'm0', (3,)),
        ('returns', 0),
        ('returns', 0),
        ('h0', 2),
        ('grads', {'x0': 4}),
    ],
}
for event in log: print(*event)
agrees = [torches for torches, events in expected.items() if events == log]
print("torch", torch.__version__, "does what is expected of", "; ".join(agrees) or "no torch")
raise SystemExit(not agrees)
