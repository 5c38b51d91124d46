"""retain.modules.undefined: Under a full hook, an output that keeps its gradient and gets none has its .grad as it was.

Prints what the hooks see, and on which torch that is expected.
Checked by suites/retain/test_modules.py of torch-hook-conformance.
"""
import torch
if not hasattr(torch.nn.Module, "register_full_backward_hook"): raise SystemExit("torch " + torch.__version__ + " has no torch.nn.Module.register_full_backward_hook")
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
x0 = t(1, requires_grad=True)
x1 = t(2, requires_grad=True)
kept = {}
def h0(*given):
    note("h0", *given)
try:
    h0_handle = m0.register_full_backward_hook(h0)
except Exception as e: log.append(('raises', 'hook', type(e).__name__))
try:
    out = m0(x0, x1)
    note("returns", out)
except Exception as e: log.append(('raises', 'forward', type(e).__name__))
try:
    out[1].retain_grad()
    kept["m0>1"] = out[1]
except Exception as e: log.append(('raises', 'retain', type(e).__name__))
failed = None
try: torch.autograd.backward([out[0]], [t(1)], retain_graph=True)
except Exception as e: failed = type(e).__name__
note("grads", {"x0": x0.grad, "x1": x1.grad, **{k: v.grad for k, v in kept.items()}})
if failed: log.append(('raises', 'backward', failed))
expected = {
    "torch 2.0 to 2.15": [
        ('returns', (1, 2)),
        ('h0', 'm0', (1, 0), (1, None)),
        ('grads', {'x0': 1, 'x1': 0, 'm0>1': None}),
    ],
    "torch 1.8 to 1.9, a declared deviation": [
        ('returns', (1, 2)),
        ('grads', {'x0': None, 'x1': None, 'm0>1': None}),
        ('raises', 'backward', 'AttributeError'),
    ],
    "torch 1.10 to 1.13, a declared deviation": [
        ('returns', (1, 2)),
        ('grads', {'x0': None, 'x1': None, 'm0>1': None}),
        ('raises', 'backward', 'RuntimeError'),
    ],
}
for event in log: print(*event)
agrees = [torches for torches, events in expected.items() if events == log]
print("torch", torch.__version__, "does what is expected of", "; ".join(agrees) or "no torch")
raise SystemExit(not agrees)
