"""input.keywords.pair_replaces_both: A pair (args, kwargs) that a with_kwargs pre-hook returns replaces both for all that follows.

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


def example(subject, caller, returned):
    (args, kwargs), seen, due, module = caller, [], [], echo()

    def hook(module, args, kwargs):
        seen.append((args, dict(kwargs)))
        return returned[len(seen) - 1]

    for pair in returned:
        if pair == "plain":
            module.register_forward_pre_hook(lambda module, args: seen.append(args))
            due.append(args)
            continue
        module.register_forward_pre_hook(hook, with_kwargs=True)
        due.append((args, kwargs))
        if pair is not None:
            args, kwargs = pair[0], subject.value(kwargs, pair[1])
    assert module(*caller[0], **caller[1]) == (args, kwargs)
    assert seen == due


READINGS = {
    'both (every torch): Of the args and kwargs from before the pair nothing is left.': lambda old, new: new,
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), caller=((1,), {'a': 2}), returned=[((5, 6), {'b': 7})])
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
