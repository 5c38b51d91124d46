"""backward.around.parameters_first: Where an input needs a gradient, a parameter used once has its own before the full hook runs.

Prints what the hooks see, and on which torch that is expected.
Checked by suites/backward/test_around.py of torch-hook-conformance.
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
at = {}
def call(m, *xs, **kw):
    out = m(*xs, **kw)
    at.update({f"{m.label}>{i}": u for i, u in enumerate(spread(out))})
    return out
m1 = M("m1", lambda m, x: m.weight * x, weight=1)
m0 = M("m0", lambda m, *xs, **kw: call(m1, *xs, **kw))
x0 = t(2, requires_grad=True)
def full(*given):
    note("full", *given)
full_handle = m1.register_full_backward_hook(full)
def input(*given):
    note("input", *given)
    return scale(given[0], 2)
input_handle = x0.register_hook(input)
def weight(*given):
    note("weight", *given)
    return scale(given[0], 2)
weight_handle = m1.weight.register_hook(weight)
out = call(m0, x0)
note("returns", out)
def output(*given):
    note("output", *given)
    return scale(given[0], 2)
output_handle = at["m0>0"].register_hook(output)
torch.autograd.backward([spread(out)[0]], [t(1)], retain_graph=True)
note("grads", {"x0": x0.grad, "m1.weight": m1.weight.grad})
expected = {
    "torch 1.8 to 2.15": [
        ('returns', 2),
        ('output', 1),
        ('weight', 4),
        ('full', 'm1', (2,), (2,)),
        ('input', 2),
        ('grads', {'x0': 4, 'm1.weight': 8}),
    ],
}
for event in log: print(*event)
agrees = [torches for torches, events in expected.items() if events == log]
print("torch", torch.__version__, "does what is expected of", "; ".join(agrees) or "no torch")
raise SystemExit(not agrees)
