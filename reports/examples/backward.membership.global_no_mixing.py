"""backward.membership.global_no_mixing: Global hooks, too, are full or legacy; each module makes its own choice apart from that.

Prints what the hooks see, and on which torch that is expected.
Checked by suites/backward/test_membership_global.py of torch-hook-conformance.
"""
import torch
if not hasattr(torch.nn.Module, "register_full_backward_hook"): raise SystemExit("torch " + torch.__version__ + " has no torch.nn.Module.register_full_backward_hook")
if not hasattr(torch.nn.modules.module, "register_module_full_backward_hook"): raise SystemExit("torch " + torch.__version__ + " has no torch.nn.modules.module.register_module_full_backward_hook")
from torch.nn.modules import module as everywhere
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
m0 = M("m0", lambda m, x: m.weight * x, weight=3)
x0 = t(2, requires_grad=True)
def h0(*given):
    note("h0", *given)
try:
    h0_handle = everywhere.register_module_full_backward_hook(h0)
except Exception as e: log.append(('raises', 'hook', type(e).__name__))
def h1(*given):
    note("h1", *given)
try:
    h1_handle = everywhere.register_module_backward_hook(h1)
except Exception as e: log.append(('raises', 'hook', type(e).__name__))
def h2(*given):
    note("h2", *given)
try:
    h2_handle = m0.register_backward_hook(h2)
except Exception as e: log.append(('raises', 'hook', type(e).__name__))
try:
    out = m0(x0)
    note("returns", out)
except Exception as e: log.append(('raises', 'forward', type(e).__name__))
failed = None
try: torch.autograd.backward([out], [t(1)], retain_graph=True)
except Exception as e: failed = type(e).__name__
note("grads", {"x0": x0.grad, "m0.weight": m0.weight.grad})
if failed: log.append(('raises', 'backward', failed))
expected = {
    "torch 1.8 to 2.15": [
        ('raises', 'hook', 'RuntimeError'),
        ('returns', 6),
        ('h2', 'm0', (1,), (1,)),
        ('h0', 'm0', (3,), (1,)),
        ('grads', {'x0': 3, 'm0.weight': 2}),
    ],
}
for event in log: print(*event)
agrees = [torches for torches, events in expected.items() if events == log]
print("torch", torch.__version__, "does what is expected of", "; ".join(agrees) or "no torch")
raise SystemExit(not agrees)
