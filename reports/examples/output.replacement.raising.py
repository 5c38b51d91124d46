"""output.replacement.raising: What a forward hook raises leaves the call; no later hook without always_call runs.

Prints what the hooks see, and on which torch that is expected.
Checked by suites/output/test_replacement.py of torch-hook-conformance.
"""
import torch
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
m2 = M("m2", lambda m, x: x)
m0 = M("m0", lambda m, *xs, **kw: m2(*spread(m1(*xs, **kw)), **kw))
x0 = t(1, requires_grad=True)
def sibling(*given):
    note("sibling", *given)
try:
    sibling_handle = m2.register_forward_hook(sibling)
except Exception as e: log.append(('raises', 'hook', type(e).__name__))
def parent(*given):
    note("parent", *given)
try:
    parent_handle = m0.register_forward_hook(parent)
except Exception as e: log.append(('raises', 'hook', type(e).__name__))
class Boom(Exception): pass
def h0(*given):
    note("h0", *given)
    raise Boom
try:
    h0_handle = m1.register_forward_hook(h0)
except Exception as e: log.append(('raises', 'hook', type(e).__name__))
def h1(*given):
    note("h1", *given)
    return scale(given[-1], 2)
try:
    h1_handle = m1.register_forward_hook(h1)
except Exception as e: log.append(('raises', 'hook', type(e).__name__))
out = None
try:
    out = m0(x0)
    note("returns", out)
except Exception as e: log.append(('raises', 'forward', type(e).__name__))
if out is None: log.append(('refused', 'backward', 'no output'))
else:
    failed = None
    try: torch.autograd.backward([spread(out)[0]], [t(1)], retain_graph=True)
    except Exception as e: failed = type(e).__name__
    note("grads", {"x0": x0.grad, "m1.weight": m1.weight.grad})
    if failed: log.append(('raises', 'backward', failed))
expected = {
    "torch 1.4 to 2.15": [
        ('h0', 'm1', (1,), 1),
        ('raises', 'forward', 'Boom'),
        ('refused', 'backward', 'no output'),
    ],
}
for event in log: print(*event)
agrees = [torches for torches, events in expected.items() if events == log]
print("torch", torch.__version__, "does what is expected of", "; ".join(agrees) or "no torch")
raise SystemExit(not agrees)
