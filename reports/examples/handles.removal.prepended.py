"""handles.removal.prepended: The handle of a prepended hook removes that hook alone, wherever it is in the order.

Prints what the hooks see, and on which torch that is expected.
Checked by suites/handles/test_removal.py of torch-hook-conformance.
"""
import torch
import inspect
if not "prepend" in inspect.signature(torch.nn.Module.register_forward_hook).parameters: raise SystemExit("torch " + torch.__version__ + " has no torch.nn.Module.register_forward_hook(prepend)")
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
m1 = M("m1", lambda m, x: m.weight * x, weight=1)
m0 = M("m0", lambda m, *xs, **kw: m1(*xs, **kw))
x0 = t(1, requires_grad=True)
def h0(*given):
    note("h0", *given)
    return scale(given[1], 0)
h0_handle = m0.register_full_backward_hook(h0, prepend=True)
def h1(*given):
    note("h1", *given)
    return scale(given[1], 0)
h1_handle = m0.register_full_backward_hook(h1, prepend=True)
h0_handle.remove()
out = m0(x0)
note("returns", out)
torch.autograd.backward([spread(out)[0]], [t(3)], retain_graph=True)
note("grads", {"x0": x0.grad, "m1.weight": m1.weight.grad})
expected = {
    "torch 2.0 to 2.15": [
        ('returns', 1),
        ('h1', 'm0', (3,), (3,)),
        ('grads', {'x0': 0, 'm1.weight': 3}),
    ],
}
for event in log: print(*event)
agrees = [torches for torches, events in expected.items() if events == log]
print("torch", torch.__version__, "does what is expected of", "; ".join(agrees) or "no torch")
raise SystemExit(not agrees)
