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
    (args, kwargs), seen, module = caller, [], echo()
    due = [(args, dict(kwargs))]

    def hook(module, args, kwargs):
        seen.append((args, dict(kwargs)))
        return returned[len(seen) - 1]

    for pair in returned:
        module.register_forward_pre_hook(hook, with_kwargs=True)
        due.append(due[-1] if pair is None else (pair[0], subject.value(due[-1][1], pair[1])))
    assert [module(*args, **kwargs)] == due[-1:]
    assert seen == due[:-1]


READINGS = {
    'both (every torch): Neither args nor kwargs of before are left.': lambda old, new: new,
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
