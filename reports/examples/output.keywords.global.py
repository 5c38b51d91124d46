"""output.keywords.global: In a call that succeeds a global forward hook with with_kwargs=True is given the keywords.

Prints what the hooks see, and on which torch that is expected.
Checked by suites/output/test_keywords.py of torch-hook-conformance.
"""
import torch
import inspect
if not "with_kwargs" in inspect.signature(torch.nn.modules.module.register_module_forward_hook).parameters: raise SystemExit("torch " + torch.__version__ + " has no torch.nn.modules.module.register_module_forward_hook(with_kwargs)")
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
def by(f): return lambda m, *xs, by=None: f(m, *xs) if by is None else scale(f(m, *xs), by)
m0 = M("m0", by(lambda m, x: m.weight * x), weight=2)
x0 = t(2, requires_grad=True)
def h0(*given):
    note("h0", *given)
    return scale(given[-1], -1)
h0_handle = everywhere.register_module_forward_hook(h0, with_kwargs=True)
out = m0(x0, by=t(2))
note("returns", out)
expected = {
    "torch 2.6 to 2.15": [
        ('h0', 'm0', (2,), {'by': 2}, 8),
        ('returns', -8),
    ],
}
for event in log: print(*event)
agrees = [torches for torches, events in expected.items() if events == log]
print("torch", torch.__version__, "does what is expected of", "; ".join(agrees) or "no torch")
raise SystemExit(not agrees)
