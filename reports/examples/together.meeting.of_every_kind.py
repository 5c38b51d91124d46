"""together.meeting.of_every_kind: Every plan of the grammar with any hooks on one module or its tensors leaves the trace of the model.

Prints what the hooks see, and on which torch that is expected.
Checked by suites/together/test_meeting.py of torch-hook-conformance.
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
def edit(v, k):
    for u in spread(v): u.mul_(k)
at = {}
def call(m, *xs, **kw):
    out = m(*xs, **kw)
    at.update({f"{m.label}>{i}": u for i, u in enumerate(spread(out))})
    return out
def find(n):
    if n not in at: raise LookupError(n)
    return at[n]
m0 = M("m0", by(lambda m, x, y: (m.weight * x, y * x)), weight=2)
x0 = t(-2)
x1_base = t(1, requires_grad=True)
x1 = x1_base * 2
kept = {}
def h0a(*given):
    note("h0a", *given)
    return scale(given[1], -1)
def h0(*given):
    note("h0", *given)
    globals()['h0a_handle'] = m0.register_forward_pre_hook(h0a)
try:
    h0_handle = m0.register_forward_pre_hook(h0)
except Exception as e: log.append(('raises', 'hook', type(e).__name__))
def h1(*given):
    note("h1", *given)
    edit(given[1], 2)
try:
    h1_handle = m0.register_forward_pre_hook(h1)
except Exception as e: log.append(('raises', 'hook', type(e).__name__))
def h2a(*given):
    note("h2a", *given)
    return scale(given[1], -1)
def h2(*given):
    note("h2", *given)
    globals()['h2a_handle'] = m0.register_forward_pre_hook(h2a)
try:
    h2_handle = m0.register_forward_pre_hook(h2)
except Exception as e: log.append(('raises', 'hook', type(e).__name__))
def h3(*given):
    note("h3", *given)
    edit(given[1], -1)
try:
    h3_handle = m0.register_forward_pre_hook(h3)
except Exception as e: log.append(('raises', 'hook', type(e).__name__))
import copy
originals = [*globals().get("originals", []), m0]
[m0] = copy.deepcopy([m0])
out = None
try:
    out = call(m0, x0, x1, by=t(3))
    note("returns", out)
except Exception as e: log.append(('raises', 'forward', type(e).__name__))
if "m0>0" not in at: log.append(('refused', 'retain', 'm0>0'))
else:
    try:
        find("m0>0").retain_grad()
        kept["m0>0"] = find("m0>0")
    except Exception as e: log.append(('raises', 'retain', type(e).__name__))
if out is None: log.append(('refused', 'backward', 'no output'))
else:
    failed = None
    try: torch.autograd.backward([spread(out)[1]], [t(1)])
    except Exception as e: failed = type(e).__name__
    note("grads", {"x1.base": x1_base.grad, "m0.weight": m0.weight.grad, **{k: v.grad for k, v in kept.items()}})
    if failed: log.append(('raises', 'backward', failed))
def h4(*given):
    note("h4", *given)
try:
    h4_handle = m0.register_forward_pre_hook(h4)
except Exception as e: log.append(('raises', 'hook', type(e).__name__))
if out is None: log.append(('refused', 'backward', 'no output'))
else:
    failed = None
    try: torch.autograd.backward([spread(out)[0], spread(out)[1]], [t(1), t(1)], retain_graph=True)
    except Exception as e: failed = type(e).__name__
    note("grads", {"x1.base": x1_base.grad, "m0.weight": m0.weight.grad, **{k: v.grad for k, v in kept.items()}})
    if failed: log.append(('raises', 'backward', failed))
for leaf in [x1_base, m0.weight, *kept.values()]: leaf.grad = None
if 'h0_handle' in globals(): h0_handle.remove()
if out is None: log.append(('refused', 'ask', 'no tensor'))
else:
    failed = None
    try: note("asked", *torch.autograd.grad([spread(out)[0], spread(out)[1]], [m0.weight], [t(1), t(1)], retain_graph=True, allow_unused=True))
    except Exception as e: failed = type(e).__name__
    note("grads", {"x1.base": x1_base.grad, "m0.weight": m0.weight.grad, **{k: v.grad for k, v in kept.items()}})
    if failed: log.append(('raises', 'ask', failed))
expected = {
    "torch 1.4 to 1.9": [
        ('h0', 'm0', (-2, 2)),
        ('raises', 'forward', 'RuntimeError'),
        ('refused', 'retain', 'm0>0'),
        ('refused', 'backward', 'no output'),
        ('refused', 'backward', 'no output'),
        ('refused', 'ask', 'no tensor'),
    ],
    "torch 1.10 to 2.15": [
        ('h0', 'm0', (-2, 2)),
        ('h1', 'm0', (-2, 2)),
        ('h2', 'm0', (-4, 4)),
        ('h3', 'm0', (-4, 4)),
        ('returns', (24, -48)),
        ('grads', {'x1.base': -48, 'm0.weight': None, 'm0>0': None}),
        ('grads', {'x1.base': -48, 'm0.weight': None, 'm0>0': None}),
        ('raises', 'backward', 'RuntimeError'),
        ('asked', 12),
        ('grads', {'x1.base': None, 'm0.weight': None, 'm0>0': 1}),
    ],
}
for event in log: print(*event)
agrees = [torches for torches, events in expected.items() if events == log]
print("torch", torch.__version__, "does what is expected of", "; ".join(agrees) or "no torch")
raise SystemExit(not agrees)
