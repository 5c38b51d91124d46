"""backward.firing.global_pre: A global full backward pre-hook runs for every module, containers before their children.

Prints what the hooks see, and on which torch that is expected.
Checked by suites/backward/test_firing_global.py of torch-hook-conformance.
"""
import torch
if not hasattr(torch.nn.modules.module, "register_module_full_backward_pre_hook"): raise SystemExit("torch " + torch.__version__ + " has no torch.nn.modules.module.register_module_full_backward_pre_hook")
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
m1 = M("m1", lambda m, x: m.weight * x, weight=3)
m2 = M("m2", lambda m, x: m.weight * x, weight=1)
m0 = M("m0", lambda m, *xs, **kw: m2(*spread(m1(*xs, **kw)), **kw))
x0 = t(3, requires_grad=True)
def own(*given):
    note("own", *given)
own_handle = m2.register_full_backward_pre_hook(own)
def all(*given):
    note("all", *given)
    return scale(given[1], 10)
all_handle = everywhere.register_module_full_backward_pre_hook(all)
out = m0(x0)
note("returns", out)
torch.autograd.backward([spread(out)[0]], [t(1)], retain_graph=True)
note("grads", {"x0": x0.grad, "m1.weight": m1.weight.grad, "m2.weight": m2.weight.grad})
expected = {
    "torch 2.0 to 2.15": [
        ('returns', 9),
        ('all', 'm0', (1,)),
        ('all', 'm2', (10,)),
        ('own', 'm2', (100,)),
        ('all', 'm1', (100,)),
        ('grads', {'x0': 3000, 'm1.weight': 3000, 'm2.weight': 900}),
    ],
}
for event in log: print(*event)
agrees = [torches for torches, events in expected.items() if events == log]
print("torch", torch.__version__, "does what is expected of", "; ".join(agrees) or "no torch")
raise SystemExit(not agrees)
