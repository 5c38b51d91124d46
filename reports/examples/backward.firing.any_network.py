"""backward.firing.any_network: In every drawn network each call of a module runs its full hooks: shared, nested, used in part.

Prints what the hooks see, and on which torch that is expected.
Checked by suites/backward/test_firing.py of torch-hook-conformance.
"""
import torch
if not hasattr(torch.nn.Module, "register_full_backward_hook"): raise SystemExit("torch " + torch.__version__ + " has no torch.nn.Module.register_full_backward_hook")
from torch.nn.modules import module as everywhere
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
def spread(v):
    if isinstance(v, dict): return spread(tuple(v.values()))
    return sum(map(spread, v), ()) if isinstance(v, tuple) else (v,)
m1 = M("m1", lambda m, x, y: x + y)
m0 = M("m0", lambda m, *xs, **kw: m1(*xs, **kw))
x0 = t(-2)
x1 = t(3, requires_grad=True)
def h0(*given):
    note("h0", *given)
try:
    h0_handle = m1.register_full_backward_hook(h0)
except Exception as e: log.append(('raises', 'hook', type(e).__name__))
def h1(*given):
    note("h1", *given)
    return scale(given[1], 2)
try:
    h1_handle = everywhere.register_module_full_backward_hook(h1)
except Exception as e: log.append(('raises', 'hook', type(e).__name__))
def h2(*given):
    note("h2", *given)
try:
    h2_handle = m0.register_full_backward_hook(h2)
except Exception as e: log.append(('raises', 'hook', type(e).__name__))
def h3(*given):
    note("h3", *given)
    return scale(given[1], 10)
try:
    h3_handle = everywhere.register_module_full_backward_hook(h3)
except Exception as e: log.append(('raises', 'hook', type(e).__name__))
out = None
try:
    out = m0(x0, x1)
    note("returns", out)
except Exception as e: log.append(('raises', 'forward', type(e).__name__))
if 'h2_handle' in globals(): h2_handle.__exit__(None, None, None)
if out is None: log.append(('refused', 'backward', 'no output'))
else:
    failed = None
    try: torch.autograd.backward([spread(out)[0]], [t(-2)], retain_graph=True)
    except Exception as e: failed = type(e).__name__
    note("grads", {"x1": x1.grad})
    if failed: log.append(('raises', 'backward', failed))
expected = {
    "torch 1.8": [
        ('raises', 'forward', 'AttributeError'),
        ('refused', 'backward', 'no output'),
    ],
    "torch 1.9 to 2.15": [
        ('returns', 1),
        ('h1', 'm1', (0, -2), (-2,)),
        ('h3', 'm1', (0, -4), (-2,)),
        ('h0', 'm1', (0, -40), (-2,)),
        ('h1', 'm0', (0, -40), (-2,)),
        ('h3', 'm0', (0, -80), (-2,)),
        ('h2', 'm0', (0, -800), (-2,)),
        ('grads', {'x1': -800}),
    ],
}
for event in log: print(*event)
agrees = [torches for torches, events in expected.items() if events == log]
print("torch", torch.__version__, "does what is expected of", "; ".join(agrees) or "no torch")
raise SystemExit(not agrees)
