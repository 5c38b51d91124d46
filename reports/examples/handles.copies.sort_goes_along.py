"""handles.copies.sort_goes_along: A deep copy of a module with full backward hooks refuses legacy ones with RuntimeError.

Prints what the hooks see, and on which torch that is expected.
Checked by suites/handles/test_copies.py of torch-hook-conformance.
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
m1 = M("m1", lambda m, x: m.weight * x, weight=1)
m0 = M("m0", lambda m, *xs, **kw: m1(*xs, **kw))
x0 = t(1, requires_grad=True)
def h0(*given):
    note("h0", *given)
    return scale(given[1], 2)
try:
    h0_handle = m1.register_full_backward_hook(h0)
except Exception as e: log.append(('raises', 'hook', type(e).__name__))
import copy
originals = [*globals().get("originals", []), m0, m1]
[m0, m1] = copy.deepcopy([m0, m1])
def legacy0(*given):
    note("legacy0", *given)
try:
    legacy0_handle = m0.register_backward_hook(legacy0)
except Exception as e: log.append(('raises', 'hook', type(e).__name__))
def legacy1(*given):
    note("legacy1", *given)
try:
    legacy1_handle = m1.register_backward_hook(legacy1)
except Exception as e: log.append(('raises', 'hook', type(e).__name__))
try:
    out = m0(x0)
    note("returns", out)
except Exception as e: log.append(('raises', 'forward', type(e).__name__))
failed = None
try: torch.autograd.backward([spread(out)[0]], [t(1)], retain_graph=True)
except Exception as e: failed = type(e).__name__
note("grads", {"x0": x0.grad, "m1.weight": m1.weight.grad})
if failed: log.append(('raises', 'backward', failed))
expected = {
    "torch 1.8 to 2.15": [
        ('raises', 'hook', 'RuntimeError'),
        ('returns', 1),
        ('legacy0', 'm0', (1,), (1,)),
        ('h0', 'm1', (1,), (1,)),
        ('grads', {'x0': 2, 'm1.weight': 1}),
    ],
}
for event in log: print(*event)
agrees = [torches for torches, events in expected.items() if events == log]
print("torch", torch.__version__, "does what is expected of", "; ".join(agrees) or "no torch")
raise SystemExit(not agrees)
