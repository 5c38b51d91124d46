"""together.forward.any_hooks: Every plan of the grammar with forward hooks and pre-hooks leaves the trace that the model predicts.

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
class M(torch.nn.Module):
    def __init__(self, label, function, **values):
        super().__init__()
        self.label, self.function = label, function
        for name, value in values.items(): setattr(self, name, torch.nn.Parameter(t(value)))
    def forward(self, *xs, **kw): return self.function(self, *xs, **kw)
m0 = M("m0", lambda m, x: {"y": m.weight * x}, weight=-1)
x0_base = t(1, requires_grad=True)
x0 = x0_base * 2
def h0(*given):
    note("h0", *given)
try:
    h0_handle = m0.register_forward_pre_hook(h0)
except Exception as e: log.append(('raises', 'hook', type(e).__name__))
def h1(*given):
    note("h1", *given)
try:
    h1_handle = m0.register_forward_hook(h1)
except Exception as e: log.append(('raises', 'hook', type(e).__name__))
try:
    out = m0(x0)
    note("returns", out)
except Exception as e: log.append(('raises', 'forward', type(e).__name__))
if 'h0_handle' in globals(): h0_handle.__exit__(None, None, None)
failed = None
try: torch.autograd.backward([out["y"]], [t(-1)])
except Exception as e: failed = type(e).__name__
note("grads", {"x0.base": x0_base.grad, "m0.weight": m0.weight.grad})
if failed: log.append(('raises', 'backward', failed))
if 'h1_handle' in globals(): h1_handle.remove()
failed = None
try: torch.autograd.backward([out["y"]], [t(1)])
except Exception as e: failed = type(e).__name__
note("grads", {"x0.base": x0_base.grad, "m0.weight": m0.weight.grad})
if failed: log.append(('raises', 'backward', failed))
for leaf in [x0_base, m0.weight]: leaf.grad = None
try:
    out = m0(x0)
    note("returns", out)
except Exception as e: log.append(('raises', 'forward', type(e).__name__))
if 'h1_handle' in globals(): h1_handle.__exit__(None, None, None)
failed = None
try: torch.autograd.backward([out["y"]], [t(1)], retain_graph=True)
except Exception as e: failed = type(e).__name__
note("grads", {"x0.base": x0_base.grad, "m0.weight": m0.weight.grad})
if failed: log.append(('raises', 'backward', failed))
expected = {
    "torch 1.4 to 2.15": [
        ('h0', 'm0', (2,)),
        ('h1', 'm0', (2,), {'y': -2}),
        ('returns', {'y': -2}),
        ('grads', {'x0.base': 2, 'm0.weight': -2}),
        ('grads', {'x0.base': 2, 'm0.weight': -2}),
        ('raises', 'backward', 'RuntimeError'),
        ('returns', {'y': -2}),
        ('grads', {'x0.base': None, 'm0.weight': 2}),
        ('raises', 'backward', 'RuntimeError'),
    ],
}
for event in log: print(*event)
agrees = [torches for torches, events in expected.items() if events == log]
print("torch", torch.__version__, "does what is expected of", "; ".join(agrees) or "no torch")
raise SystemExit(not agrees)
