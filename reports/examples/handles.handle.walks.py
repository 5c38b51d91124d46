"""handles.handle.walks: apply, train, to, zero_grad, load_state_dict and repr call no hook around forward and drop none.

Says which reading this torch has.
Checked by suites/handles/test_modules.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace


WALKS = {
    "apply": lambda module: module.apply(lambda inner: inner),
    "train": lambda module: module.train(),
    "eval": lambda module: module.eval(),
    "to": lambda module: module.to("cpu"),
    "double": lambda module: module.double(),
    "zero_grad": lambda module: module.zero_grad(),
    "load": lambda module: module.load_state_dict(module.state_dict()),
    "requires_grad_": lambda module: module.requires_grad_(False),
    "repr": repr,
}


def example(subject, walks, hooks):
    seen = []
    modules = [torch.nn.Sequential(torch.nn.Linear(1, 1))]
    modules.append(modules[0][0])
    for number, (kind, place) in enumerate(hooks):
        getattr(modules[place], f"register_{kind}_hook")(lambda *given, number=number: seen.append(number))
    for name in walks:
        WALKS[name](modules[0])
    before = len(seen)
    modules[0].double()(torch.ones(1, dtype=torch.float64))
    turns = [("forward_pre", 0), ("forward_pre", 1), ("forward", 1), ("forward", 0)]
    order = [number for turn in turns for number, hook in enumerate(hooks) if hook == turn]
    assert (before, seen) == (len(hooks) * len(walks) if subject.value else 0, order)


READINGS = {
    'neither (every torch): Hooks around forward are called by calls of the module alone.': False,
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), walks=['apply'], hooks=[('forward', 0)])
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
