"""together.meeting.tensor: Every plan of the grammar with many hooks on tensors of one module leaves the trace of the model.

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
class M(torch.nn.Module):
    def __init__(self, label, function, **values):
        super().__init__()
        self.label, self.function = label, function
        for name, value in values.items(): setattr(self, name, torch.nn.Parameter(t(value)))
    def forward(self, *xs, **kw): return self.function(self, *xs, **kw)
m0 = M("m0", lambda m, x, y: (x, y))
x0 = t(3)
x1_base = t(-1, requires_grad=True)
x1 = x1_base * 2
kept = {}
class Boom(Exception): pass
def h0(*given):
    note("h0", *given)
    raise Boom
try:
    h0_handle = x1.register_hook(h0)
except Exception as e: log.append(('raises', 'hook', type(e).__name__))
def h1(*given):
    note("h1", *given)
    return 3
try:
    h1_handle = x1.register_hook(h1)
except Exception as e: log.append(('raises', 'hook', type(e).__name__))
def h2(*given):
    note("h2", *given)
    return 3
try:
    h2_handle = x1.register_hook(h2)
except Exception as e: log.append(('raises', 'hook', type(e).__name__))
def h3(*given):
    note("h3", *given)
    return 3
try:
    h3_handle = x1.register_hook(h3)
except Exception as e: log.append(('raises', 'hook', type(e).__name__))
try:
    out = m0(x0, x1)
    note("returns", out)
except Exception as e: log.append(('raises', 'forward', type(e).__name__))
try:
    out[0].retain_grad()
    kept["m0>0"] = out[0]
except Exception as e: log.append(('raises', 'retain', type(e).__name__))
if 'h0_handle' in globals(): h0_handle.remove()
failed = None
try: torch.autograd.backward([out[0]], [t(1)], retain_graph=True)
except Exception as e: failed = type(e).__name__
note("grads", {"x1.base": x1_base.grad, **{k: v.grad for k, v in kept.items()}})
if failed: log.append(('raises', 'backward', failed))
def h4(*given):
    note("h4", *given)
    if 'h3_handle' in globals(): h3_handle.remove()
try:
    h4_handle = x1.register_hook(h4)
except Exception as e: log.append(('raises', 'hook', type(e).__name__))
try:
    out = m0(x0, x1)
    note("returns", out)
except Exception as e: log.append(('raises', 'forward', type(e).__name__))
try:
    out[0].retain_grad()
    kept["m0>0"] = out[0]
except Exception as e: log.append(('raises', 'retain', type(e).__name__))
def h5(*given):
    note("h5", *given)
    if 'h1_handle' in globals(): h1_handle.remove()
try:
    h5_handle = out[0].register_hook(h5)
except Exception as e: log.append(('raises', 'hook', type(e).__name__))
failed = None
try: torch.autograd.backward([out[1]], [t(1)], retain_graph=True)
except Exception as e: failed = type(e).__name__
note("grads", {"x1.base": x1_base.grad, **{k: v.grad for k, v in kept.items()}})
if failed: log.append(('raises', 'backward', failed))
expected = {
    "torch 1.4": [
        ('returns', (3, -2)),
        ('grads', {'x1.base': None, 'm0>0': None}),
        ('raises', 'backward', 'RuntimeError'),
        ('returns', (3, -2)),
        ('raises', 'hook', 'RuntimeError'),
        ('h1', 1),
        ('grads', {'x1.base': None, 'm0>0': None}),
        ('raises', 'backward', 'TypeError'),
    ],
    "torch 1.5 to 1.6": [
        ('returns', (3, -2)),
        ('raises', 'retain', 'RuntimeError'),
        ('grads', {'x1.base': None}),
        ('raises', 'backward', 'RuntimeError'),
        ('returns', (3, -2)),
        ('raises', 'retain', 'RuntimeError'),
        ('raises', 'hook', 'RuntimeError'),
        ('h1', 1),
        ('grads', {'x1.base': None}),
        ('raises', 'backward', 'RuntimeError'),
    ],
    "torch 1.7 to 2.15": [
        ('returns', (3, -2)),
        ('raises', 'retain', 'RuntimeError'),
        ('grads', {'x1.base': None}),
        ('raises', 'backward', 'RuntimeError'),
        ('returns', (3, -2)),
        ('raises', 'retain', 'RuntimeError'),
        ('raises', 'hook', 'RuntimeError'),
        ('h1', 1),
        ('grads', {'x1.base': None}),
        ('raises', 'backward', 'TypeError'),
    ],
}
for event in log: print(*event)
agrees = [torches for torches, events in expected.items() if events == log]
print("torch", torch.__version__, "does what is expected of", "; ".join(agrees) or "no torch")
raise SystemExit(not agrees)
