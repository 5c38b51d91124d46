"""output.always.error_stands: The first error leaves the call, whatever always_call hooks return or which Exception they raise.

Says which reading this torch has.
Checked by suites/output/test_failures.py of torch-hook-conformance.
"""

import inspect
import torch
import warnings
from types import SimpleNamespace

if not "always_call" in inspect.signature(torch.nn.Module.register_forward_hook).parameters: raise SystemExit("torch " + torch.__version__ + " has no torch.nn.Module.register_forward_hook(always_call)")


def example(subject, where, hooks):
    first, errors, seen, due = ValueError(where), [], [], []

    def fail(*given):
        raise first

    class Makes(torch.nn.Module):
        def forward(self, x):
            return fail() if where == "forward" else "made"

    module, output = Makes(), "made" if where == "hook" else None
    if where == "pre-hook":
        module.register_forward_pre_hook(fail)
    if where == "hook":
        module.register_forward_hook(fail)
    for number, (always, act) in enumerate(hooks):

        def hook(module, args, output, number=number, act=act):
            seen.append((number, args, output))
            if act == "raise":
                errors.append(LookupError(number))
                raise errors[-1]
            return number if act == "return" else None

        module.register_forward_hook(hook, always_call=always)
        if always:
            due.append((number, ("x",), output))
            output = number if act == "return" else output
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            left = module("x")
        except (ValueError, LookupError) as error:
            left = error
    assert left is subject.value(first, output, errors)
    assert seen == due


READINGS = {
    'the first (every torch): What always_call hooks return or raise after an error leaves that error as it is.': lambda first, output, errors: first,
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), where='forward', hooks=[(True, 'return'), (True, 'raise')])
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
