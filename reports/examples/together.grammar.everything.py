"""together.grammar.everything: Every plan of the grammar leaves the trace that the model predicts.

Prints what the hooks see, and on which torch that is expected.
Checked by suites/together/test_grammar.py of torch-hook-conformance.
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
def by(f): return lambda m, *xs, by=None: f(m, *xs) if by is None else scale(f(m, *xs), by)
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
m2 = M("m2", by(lambda m, x: m.weight * x), weight=1)
m1 = M("m1", lambda m, *xs, **kw: call(m2, *xs, **kw))
m4 = M("m4", by(lambda m, x: (m.weight * x, m.other * x)), weight=1, other=-2)
m5 = M("m5", by(lambda m, x, y: x * y))
m6 = M("m6", lambda m, x, by=None: x)
m3 = M("m3", lambda m, *xs, **kw: call(m6, *spread(call(m5, *spread(call(m4, *xs, **kw)), **kw)), **kw))
m0 = M("m0", lambda m, *xs, **kw: spread(call(m1, *xs, **kw)) + spread(call(m3, *xs, **kw)))
x0 = t(2, requires_grad=True)
kept = {}
try:
    with torch.no_grad(): out = call(m0, x0, by=t(2))
    note("returns", out)
except Exception as e: log.append(('raises', 'forward', type(e).__name__))
def h0(*given):
    note("h0", *given)
try:
    h0_handle = find("m4>0").register_hook(h0)
except Exception as e: log.append(('raises', 'hook', type(e).__name__))
try:
    find("m4>1").mul_(2)
except Exception as e: log.append(('raises', 'edit', type(e).__name__))
try:
    find("m1>0").retain_grad()
    kept["m1>0"] = find("m1>0")
except Exception as e: log.append(('raises', 'retain', type(e).__name__))
failed = None
try: torch.autograd.backward([spread(out)[0], spread(out)[1]], [t(1), t(3)], retain_graph=True)
except Exception as e: failed = type(e).__name__
note("grads", {"x0": x0.grad, "m2.weight": m2.weight.grad, "m4.weight": m4.weight.grad, "m4.other": m4.other.grad, **{k: v.grad for k, v in kept.items()}})
if failed: log.append(('raises', 'backward', failed))
expected = {
    "torch 1.4": [
        ('returns', (4, -64)),
        ('raises', 'hook', 'RuntimeError'),
        ('grads', {'x0': None, 'm2.weight': None, 'm4.weight': None, 'm4.other': None, 'm1>0': None}),
        ('raises', 'backward', 'RuntimeError'),
    ],
    "torch 1.5 to 2.15": [
        ('returns', (4, -64)),
        ('raises', 'hook', 'RuntimeError'),
        ('raises', 'retain', 'RuntimeError'),
        ('grads', {'x0': None, 'm2.weight': None, 'm4.weight': None, 'm4.other': None}),
        ('raises', 'backward', 'RuntimeError'),
    ],
}
for event in log: print(*event)
agrees = [torches for torches, events in expected.items() if events == log]
print("torch", torch.__version__, "does what is expected of", "; ".join(agrees) or "no torch")
raise SystemExit(not agrees)
