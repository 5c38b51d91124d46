"""backward.around.parameters_first: When a full hook runs, the module's parameters have had their hooks and their gradient.

Prints what the hooks see, and on which torch that is expected.
Checked by suites/backward/test_around.py of torch-hook-conformance.
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
m0 = M("m0", lambda m, x: m.weight * x, weight=2)
x0 = t(3, requires_grad=True)
def full(*given):
    note("full", *given)
full_handle = m0.register_full_backward_hook(full)
def pre(*given):
    note("pre", *given)
    return scale(given[1], 0)
pre_handle = m0.register_full_backward_pre_hook(pre)
def input(*given):
    note("input", *given)
    return scale(given[0], 0)
input_handle = x0.register_hook(input)
def weight(*given):
    note("weight", *given)
    return scale(given[0], 0)
weight_handle = m0.weight.register_hook(weight)
out = m0(x0)
note("returns", out)
def output(*given):
    note("output", *given)
    return scale(given[0], 0)
output_handle = out.register_hook(output)
torch.autograd.backward([out], [t(2)], retain_graph=True)
note("grads", {"x0": x0.grad, "m0.weight": m0.weight.grad})
expected = {
    "torch 2.0 to 2.15": [
        ('returns', 6),
        ('output', 2),
        ('pre', 'm0', (0,)),
        ('weight', 0),
        ('full', 'm0', (0,), (0,)),
        ('input', 0),
        ('grads', {'x0': 0, 'm0.weight': 0}),
    ],
}
for event in log: print(*event)
agrees = [torches for torches, events in expected.items() if events == log]
print("torch", torch.__version__, "does what is expected of", "; ".join(agrees) or "no torch")
raise SystemExit(not agrees)
