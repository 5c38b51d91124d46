"""input.keywords.forward_hook_sees_them: A forward hook with with_kwargs=True is given the keyword arguments that the pre-hooks left.

Says which reading this torch has.
Checked by suites/input/test_keywords.py of torch-hook-conformance.
"""

import inspect
import torch
from types import SimpleNamespace

if not "with_kwargs" in inspect.signature(torch.nn.Module.register_forward_pre_hook).parameters: raise SystemExit("torch " + torch.__version__ + " has no torch.nn.Module.register_forward_pre_hook(with_kwargs)")
if not "with_kwargs" in inspect.signature(torch.nn.Module.register_forward_hook).parameters: raise SystemExit("torch " + torch.__version__ + " has no torch.nn.Module.register_forward_hook(with_kwargs)")


def echo():
    """A module that returns its arguments, as (args, kwargs)."""
    class Echo(torch.nn.Module):
        def forward(self, *args, **kwargs):
            return args, kwargs

    return Echo()


def example(subject, caller, returned, flags):
    seen, module = [], echo()
    for flag in flags:
        module.register_forward_hook(lambda module, *given: seen.append(given[:-1]), with_kwargs=flag)
    for pair in returned:
        module.register_forward_pre_hook(lambda module, args, kwargs, pair=pair: pair, with_kwargs=True)
    out = module(*caller[0], **caller[1])
    left = {"forward": out, "caller": caller}[subject.value]
    assert out == ([caller] + [pair for pair in returned if pair is not None])[-1]
    assert seen == [left if flag else left[:1] for flag in flags]


READINGS = {
    'replaced (every torch): A forward hook sees the kwargs that forward was given, not those that the caller gave.': 'forward',
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), caller=((1,), {'a': 2}), returned=[((5,), {'a': 7})], flags=[True])
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
