"""input.keywords.args_are_spread: The args of a pair that a with_kwargs pre-hook returns may be any iterable, and are spread.

Says which reading this torch has.
Checked by suites/input/test_keywords.py of torch-hook-conformance.
"""

import inspect
import torch
from types import SimpleNamespace

if not "with_kwargs" in inspect.signature(torch.nn.Module.register_forward_pre_hook).parameters: raise SystemExit("torch " + torch.__version__ + " has no torch.nn.Module.register_forward_pre_hook(with_kwargs)")


def echo():
    """A module that returns its arguments, as (args, kwargs)."""
    class Echo(torch.nn.Module):
        def forward(self, *args, **kwargs):
            return args, kwargs

    return Echo()


def example(subject, items, shape, kwargs):
    made = {"tuple": tuple(items), "list": items, "text": "".join(items), "dict": dict.fromkeys(items), "number": 7}
    made["generator"] = (one for one in items)
    made["tensor"] = torch.tensor([[ord(one), 0] for one in items]).reshape(len(items), 2)
    module = echo()
    module.register_forward_pre_hook(lambda module, args, old: (made[shape], kwargs), with_kwargs=True)
    later = []
    module.register_forward_pre_hook(lambda module, args: later.append(args))
    module.register_forward_hook(lambda module, args, output: later.append(args))
    try:
        args, seen = module(0)
        seen = ([chr(one[0]) if shape == "tensor" else one for one in args], seen)
    except TypeError as error:
        seen = type(error).__name__
    assert seen == ((items, kwargs) if shape != "number" and isinstance(made[shape], subject.value) else "TypeError")
    # The hooks behind it are given the object itself, no tuple of it.
    assert len(later) == (1 if shape == "number" else 2)
    assert all(args is made[shape] for args in later)


READINGS = {
    'spread (every torch): The args of a returned pair are iterated: a text gives letters, a tensor rows, a number TypeError.': object,
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), items=['a'], shape='list', kwargs={})
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
