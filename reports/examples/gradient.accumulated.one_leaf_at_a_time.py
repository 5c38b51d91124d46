"""gradient.accumulated.one_leaf_at_a_time: A leaf's hooks run and its .grad is set before the next leaf's turn, not at the end of the pass.

Prints what the hooks see, and on which torch that is expected.
Checked by suites/gradient/test_accumulated.py of torch-hook-conformance.
"""
import torch
if not hasattr(torch.Tensor, "register_post_accumulate_grad_hook"): raise SystemExit("torch " + torch.__version__ + " has no torch.Tensor.register_post_accumulate_grad_hook")
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
m0 = M("m0", lambda m, x: m.weight * x + m.bias, weight=2, bias=5)
x0 = t(3, requires_grad=True)
def w1(*given):
    note("w1", given[0].grad)
w1_handle = m0.weight.register_post_accumulate_grad_hook(w1)
def b1(*given):
    note("b1", given[0].grad)
b1_handle = m0.bias.register_post_accumulate_grad_hook(b1)
def w0(*given):
    note("w0", *given)
w0_handle = m0.weight.register_hook(w0)
def b0(*given):
    note("b0", *given)
b0_handle = m0.bias.register_hook(b0)
out = m0(x0)
note("returns", out)
torch.autograd.backward([out], [t(1)], retain_graph=True)
note("grads", {"x0": x0.grad, "m0.weight": m0.weight.grad, "m0.bias": m0.bias.grad})
expected = {
    "torch 2.1 to 2.15": [
        ('returns', 11),
        ('b0', 1),
        ('b1', 1),
        ('w0', 3),
        ('w1', 3),
        ('grads', {'x0': 2, 'm0.weight': 3, 'm0.bias': 1}),
    ],
}
for event in log: print(*event)
agrees = [torches for torches, events in expected.items() if events == log]
print("torch", torch.__version__, "does what is expected of", "; ".join(agrees) or "no torch")
raise SystemExit(not agrees)
