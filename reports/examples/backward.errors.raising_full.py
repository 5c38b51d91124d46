"""backward.errors.raising_full: When a full hook raises, what ran before keeps its gradients; nothing behind the hook gets one.

Prints what the hooks see, and on which torch that is expected.
Checked by suites/backward/test_errors.py of torch-hook-conformance.
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
def spread(v):
    if isinstance(v, dict): return spread(tuple(v.values()))
    return sum(map(spread, v), ()) if isinstance(v, tuple) else (v,)
m1 = M("m1", lambda m, x: m.weight * x, weight=1)
m2 = M("m2", lambda m, x: m.weight * x, weight=1)
m0 = M("m0", lambda m, *xs, **kw: m2(*spread(m1(*xs, **kw)), **kw))
x0 = t(3, requires_grad=True)
class Boom(Exception): pass
def h0(*given):
    note("h0", *given)
    raise Boom
try:
    h0_handle = m1.register_full_backward_hook(h0)
except Exception as e: log.append(('raises', 'hook', type(e).__name__))
try:
    out = m0(x0)
    note("returns", out)
except Exception as e: log.append(('raises', 'forward', type(e).__name__))
failed = None
try: torch.autograd.backward([spread(out)[0]], [t(1)], retain_graph=True)
except Exception as e: failed = type(e).__name__
note("grads", {"x0": x0.grad, "m1.weight": m1.weight.grad, "m2.weight": m2.weight.grad})
if failed: log.append(('raises', 'backward', failed))
expected = {
    "torch 1.8 to 2.15": [
        ('returns', 3),
        ('h0', 'm1', (1,), (1,)),
        ('grads', {'x0': None, 'm1.weight': 3, 'm2.weight': 3}),
        ('raises', 'backward', 'Boom'),
    ],
}
for event in log: print(*event)
agrees = [torches for torches, events in expected.items() if events == log]
print("torch", torch.__version__, "does what is expected of", "; ".join(agrees) or "no torch")
raise SystemExit(not agrees)
