"""output.keywords.one_dict: All with_kwargs forward hooks of a call share one dict: what one puts in, the next one finds.

Says which reading this torch has.
Checked by suites/output/test_keywords.py of torch-hook-conformance.
"""

import inspect
import torch
from types import SimpleNamespace

if not "with_kwargs" in inspect.signature(torch.nn.Module.register_forward_hook).parameters: raise SystemExit("torch " + torch.__version__ + " has no torch.nn.Module.register_forward_hook(with_kwargs)")


def example(subject, kwargs, edits):
    class Quiet(torch.nn.Module):
        def forward(self, **kwargs):
            return None

    def change(kwargs, edit):
        for name, value in edit.items():
            if value is None:
                kwargs.pop(name, None)
            else:
                kwargs[name] = value

    seen, module, given_to, due = [], Quiet(), dict(kwargs), []
    for edit in edits:
        if edit is None:
            module.register_forward_hook(lambda module, args, output: seen.append(args))
            due.append(())
            continue

        def hook(module, args, kwargs, output, edit=edit):
            seen.append(dict(kwargs))
            change(kwargs, edit)

        module.register_forward_hook(hook, with_kwargs=True)
        due.append(dict(given_to))
        if subject.value:
            change(given_to, edit)
    before = dict(kwargs)
    module(**kwargs)
    assert (seen, kwargs) == (due, before)


READINGS = {
    'shared (every torch): The with_kwargs forward hooks of a call are all given the dict of the call.': True,
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), kwargs={'a': 2}, edits=[{'b': 1}, {}])
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
