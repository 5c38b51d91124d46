"""gradient.asked.backward_inner: backward(inputs=[y]) sets .grad of an inner tensor y to what its hooks leave, and that of no leaf.

Prints what the hooks see, and on which torch that is expected.
Checked by suites/gradient/test_inputs.py of torch-hook-conformance.
"""
import torch
import inspect
if not "inputs" in inspect.signature(torch.Tensor.backward).parameters: raise SystemExit("torch " + torch.__version__ + " has no torch.Tensor.backward(inputs)")
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
at = {}
def call(m, *xs, **kw):
    out = m(*xs, **kw)
    at.update({f"{m.label}>{i}": u for i, u in enumerate(spread(out))})
    return out
def find(n):
    if n not in at: raise LookupError(n)
    return at[n]
m1 = M("m1", lambda m, x: m.weight * x, weight=2)
m2 = M("m2", lambda m, x: m.weight * x, weight=5)
m0 = M("m0", lambda m, *xs, **kw: call(m2, *spread(call(m1, *xs, **kw)), **kw))
x0 = t(3, requires_grad=True)
kept = {}
try:
    out = call(m0, x0)
    note("returns", out)
except Exception as e: log.append(('raises', 'forward', type(e).__name__))
failed = None
try: torch.autograd.backward([spread(out)[0]], [t(1)], retain_graph=True, inputs=[find("m1>0")]); kept["m1>0"] = find("m1>0")
except Exception as e: failed = type(e).__name__
note("grads", {"x0": x0.grad, "m1.weight": m1.weight.grad, "m2.weight": m2.weight.grad, **{k: v.grad for k, v in kept.items()}})
if failed: log.append(('raises', 'backward', failed))
expected = {
    "torch 1.8 to 1.9": [
        ('returns', 30),
        ('grads', {'x0': None, 'm1.weight': None, 'm2.weight': None}),
        ('raises', 'backward', 'RuntimeError'),
    ],
    "torch 1.10 to 2.15": [
        ('returns', 30),
        ('grads', {'x0': None, 'm1.weight': None, 'm2.weight': None, 'm1>0': 5}),
    ],
}
for event in log: print(*event)
agrees = [torches for torches, events in expected.items() if events == log]
print("torch", torch.__version__, "does what is expected of", "; ".join(agrees) or "no torch")
raise SystemExit(not agrees)
