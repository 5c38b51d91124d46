"""input.keywords.dict_is_a_copy: A with_kwargs pre-hook may edit the dict it is given: forward sees the edit, the caller does not.

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


def example(subject, mine, edits):
    module, seen, due, before = echo(), [], [dict(mine)], dict(mine)

    def hook(module, args, kwargs):
        seen.append(dict(kwargs))
        kwargs.update(edits[len(seen) - 1])

    for edit in edits:
        module.register_forward_pre_hook(hook, with_kwargs=True)
        due.append({**due[-1], **edit})
    seen.append(module(**mine)[1])
    assert (seen, mine) == (due, due[-1] if subject.value else before)


READINGS = {
    'a copy (every torch): Each call has a keyword dict of its own.': False,
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), mine={'a': 2}, edits=[{'a': 9}])
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
