"""together.meeting.failing: Every plan of the grammar in which a hook around forward raises leaves the trace of the model.

Prints what the hooks see, and on which torch that is expected.
Checked by suites/together/test_meeting.py of torch-hook-conformance.
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
m0 = M("m0", lambda m, x: (m.weight * x, m.other * x), weight=3, other=3)
x0 = t(1, requires_grad=True)
def h0(*given):
    note("h0", *given)
    if 'h1_handle' in globals(): h1_handle.remove()
try:
    h0_handle = m0.register_forward_hook(h0)
except Exception as e: log.append(('raises', 'hook', type(e).__name__))
def h1(*given):
    note("h1", *given)
    if 'h0_handle' in globals(): h0_handle.remove()
    return scale(given[-1], 3)
try:
    h1_handle = m0.register_forward_hook(h1)
except Exception as e: log.append(('raises', 'hook', type(e).__name__))
class Boom(Exception): pass
def h2(*given):
    note("h2", *given)
    raise Boom
try:
    h2_handle = m0.register_forward_pre_hook(h2)
except Exception as e: log.append(('raises', 'hook', type(e).__name__))
def h3(*given):
    note("h3", *given)
try:
    h3_handle = m0.register_forward_hook(h3)
except Exception as e: log.append(('raises', 'hook', type(e).__name__))
try:
    out = m0(x0)
    note("returns", out)
except Exception as e: log.append(('raises', 'forward', type(e).__name__))
if 'h1_handle' in globals(): h1_handle.remove()
try:
    out = m0(x0)
    note("returns", out)
except Exception as e: log.append(('raises', 'forward', type(e).__name__))
if 'h2_handle' in globals(): h2_handle.__exit__(None, None, None)
for leaf in [x0, m0.weight, m0.other]: leaf.grad = None
if 'h0_handle' in globals(): h0_handle.__exit__(None, None, None)
expected = {
    "torch 1.4 to 2.15": [
        ('h2', 'm0', (1,)),
        ('raises', 'forward', 'Boom'),
        ('h2', 'm0', (1,)),
        ('raises', 'forward', 'Boom'),
    ],
}
for event in log: print(*event)
agrees = [torches for torches, events in expected.items() if events == log]
print("torch", torch.__version__, "does what is expected of", "; ".join(agrees) or "no torch")
raise SystemExit(not agrees)
