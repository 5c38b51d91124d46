"""output.replacement.tensor_hook_inside: A tensor hook that a forward hook puts on its output runs after full pre-hooks, before full hooks.

Says which reading this torch has.
Checked by suites/output/test_replacement.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace

if not hasattr(torch.nn.Module, "register_full_backward_hook"): raise SystemExit("torch " + torch.__version__ + " has no torch.nn.Module.register_full_backward_hook")


def leaf(value):
    """A float64 scalar that requires grad."""
    return torch.tensor(float(value), dtype=torch.float64, requires_grad=True)


def item(tensor):
    """The value of a tensor as plain data; None stays None."""
    return None if tensor is None else tensor.tolist()


def example(subject, factors, kinds, grad):
    ran, module, x = [], torch.nn.Identity(), leaf(1)
    for number, kind in enumerate(kinds):
        getattr(module, f"register_{kind}_hook")(lambda *given, number=number: ran.append((kinds[number], number)))
    for factor in factors:

        def replace(module, args, output, factor=factor):
            output.register_hook(lambda grad: ran.append(("tensor", item(grad))))
            return output * factor

        module.register_forward_hook(replace)
    module(x).backward(torch.tensor(float(grad), dtype=x.dtype))
    inside, here = [], grad
    for factor in reversed(factors):
        here *= factor
        inside.append(("tensor", here))
    pres = [(kind, number) for number, kind in enumerate(kinds) if kind == "full_backward_pre"]
    fulls = [(kind, number) for number, kind in enumerate(kinds) if kind == "full_backward"]
    assert ran == subject.value(pres, inside, fulls)


READINGS = {
    'inside (every torch): A tensor hook set by a forward hook is called between the full pre-hooks and full hooks of the module.': lambda pres, inside, fulls: pres + inside + fulls,
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), factors=[2], kinds=['full_backward'], grad=3)
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
