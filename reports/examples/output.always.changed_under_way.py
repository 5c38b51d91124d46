"""output.always.changed_under_way: After a failure an always_call hook, not the last, that changes the hooks causes RuntimeError.

Prints what the hooks see, and on which torch that is expected.
Checked by suites/output/test_always.py of torch-hook-conformance.
"""
import torch
import inspect
if not "always_call" in inspect.signature(torch.nn.Module.register_forward_hook).parameters: raise SystemExit("torch " + torch.__version__ + " has no torch.nn.Module.register_forward_hook(always_call)")
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
m0 = M("m0", lambda m, x: m.weight * x, weight=1)
x0 = t(1, requires_grad=True)
class Boom(Exception): pass
def pre(*given):
    note("pre", *given)
    raise Boom
try:
    pre_handle = m0.register_forward_pre_hook(pre)
except Exception as e: log.append(('raises', 'hook', type(e).__name__))
def changes(*given):
    note("changes", *given)
    if 'changes_handle' in globals(): changes_handle.remove()
try:
    changes_handle = m0.register_forward_hook(changes, always_call=True)
except Exception as e: log.append(('raises', 'hook', type(e).__name__))
def h0(*given):
    note("h0", *given)
try:
    h0_handle = m0.register_forward_hook(h0, always_call=True)
except Exception as e: log.append(('raises', 'hook', type(e).__name__))
try:
    out = m0(x0)
    note("returns", out)
except Exception as e: log.append(('raises', 'forward', type(e).__name__))
expected = {
    "torch 2.1 to 2.15": [
        ('pre', 'm0', (1,)),
        ('changes', 'm0', (1,), None),
        ('raises', 'forward', 'RuntimeError'),
    ],
}
for event in log: print(*event)
agrees = [torches for torches, events in expected.items() if events == log]
print("torch", torch.__version__, "does what is expected of", "; ".join(agrees) or "no torch")
raise SystemExit(not agrees)
