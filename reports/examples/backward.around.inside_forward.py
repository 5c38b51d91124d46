"""backward.around.inside_forward: Hooks that forward puts on what it got and made run between the pre-hook and the full hook.

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
m1 = M("m1", lambda m, x: x)
m2 = M("m2", lambda m, x: m.weight * x, weight=1)
m0 = M("m0", lambda m, *xs, **kw: call(m2, *spread(call(m1, *xs, **kw)), **kw))
x0 = t(3, requires_grad=True)
def full(*given):
    note("full", *given)
full_handle = m0.register_full_backward_hook(full)
def pre(*given):
    note("pre", *given)
pre_handle = m0.register_full_backward_pre_hook(pre)
def caller_s_x(*given):
    note("caller's x", *given)
caller_s_x_handle = x0.register_hook(caller_s_x)
out = call(m0, x0)
note("returns", out)
def caller_s_y(*given):
    note("caller's y", *given)
caller_s_y_handle = at["m0>0"].register_hook(caller_s_y)
def forward_s_x(*given):
    note("forward's x", *given)
forward_s_x_handle = at["m1>0"].register_hook(forward_s_x)
def forward_s_y(*given):
    note("forward's y", *given)
forward_s_y_handle = at["m2>0"].register_hook(forward_s_y)
torch.autograd.backward([spread(out)[0]], [t(1)], retain_graph=True)
note("grads", {"x0": x0.grad, "m2.weight": m2.weight.grad})
expected = {
    "torch 2.0 to 2.15": [
        ('returns', 3),
        ("caller's y", 1),
        ('pre', 'm0', (1,)),
        ("forward's y", 1),
        ("forward's x", 1),
        ('full', 'm0', (1,), (1,)),
        ("caller's x", 1),
        ('grads', {'x0': 1, 'm2.weight': 3}),
    ],
}
for event in log: print(*event)
agrees = [torches for torches, events in expected.items() if events == log]
print("torch", torch.__version__, "does what is expected of", "; ".join(agrees) or "no torch")
raise SystemExit(not agrees)
