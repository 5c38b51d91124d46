"""backward.membership.around: Where the input needs a gradient, nested modules run pre-hooks outside in and full hooks inside out.

Prints what the hooks see, and on which torch that is expected.
Checked by suites/backward/test_membership.py of torch-hook-conformance.
"""
import torch
if not hasattr(torch.nn.Module, "register_full_backward_pre_hook"): raise SystemExit("torch " + torch.__version__ + " has no torch.nn.Module.register_full_backward_pre_hook")
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
m2 = M("m2", lambda m, x: m.weight * x + m.bias, weight=1, bias=1)
m1 = M("m1", lambda m, *xs, **kw: m2(*xs, **kw))
m0 = M("m0", lambda m, *xs, **kw: m1(*xs, **kw))
x0 = t(2, requires_grad=True)
def full_m0(*given):
    note("full m0", *given)
    return scale(given[1], 0)
full_m0_handle = m0.register_full_backward_hook(full_m0)
def full_m1(*given):
    note("full m1", *given)
    return scale(given[1], 0)
full_m1_handle = m1.register_full_backward_hook(full_m1)
def full_m2(*given):
    note("full m2", *given)
    return scale(given[1], 0)
full_m2_handle = m2.register_full_backward_hook(full_m2)
def pre_m0(*given):
    note("pre m0", *given)
    return scale(given[1], 0)
pre_m0_handle = m0.register_full_backward_pre_hook(pre_m0)
def pre_m1(*given):
    note("pre m1", *given)
    return scale(given[1], 0)
pre_m1_handle = m1.register_full_backward_pre_hook(pre_m1)
def pre_m2(*given):
    note("pre m2", *given)
    return scale(given[1], 0)
pre_m2_handle = m2.register_full_backward_pre_hook(pre_m2)
out = m0(x0)
note("returns", out)
torch.autograd.backward([spread(out)[0]], [t(1)], retain_graph=True)
note("grads", {"x0": x0.grad, "m2.weight": m2.weight.grad, "m2.bias": m2.bias.grad})
expected = {
    "torch 2.0 to 2.15": [
        ('returns', 3),
        ('pre m0', 'm0', (1,)),
        ('pre m1', 'm1', (0,)),
        ('pre m2', 'm2', (0,)),
        ('full m2', 'm2', (0,), (0,)),
        ('full m1', 'm1', (0,), (0,)),
        ('full m0', 'm0', (0,), (0,)),
        ('grads', {'x0': 0, 'm2.weight': 0, 'm2.bias': 0}),
    ],
}
for event in log: print(*event)
agrees = [torches for torches, events in expected.items() if events == log]
print("torch", torch.__version__, "does what is expected of", "; ".join(agrees) or "no torch")
raise SystemExit(not agrees)
