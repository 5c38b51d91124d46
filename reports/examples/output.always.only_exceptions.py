"""output.always.only_exceptions: An always_call hook does not run for KeyboardInterrupt, SystemExit or GeneratorExit.

Says which reading this torch has.
Checked by suites/output/test_failures.py of torch-hook-conformance.
"""

import inspect
import torch
from types import SimpleNamespace

if not "always_call" in inspect.signature(torch.nn.Module.register_forward_hook).parameters: raise SystemExit("torch " + torch.__version__ + " has no torch.nn.Module.register_forward_hook(always_call)")


def example(subject, errors, where, always):
    def fail(error):
        raise error

    class Fails(torch.nn.Module):
        def forward(self, error):
            return fail(error) if where == "forward" else error

    ran, module = [], Fails()
    if where == "pre-hook":
        module.register_forward_pre_hook(lambda module, args: fail(*args))
    if where == "hook":
        module.register_forward_hook(lambda module, args, output: fail(*args))
    for number, flag in enumerate(always):
        module.register_forward_hook(lambda module, args, output, number=number: ran.append(number), always_call=flag)
    for error in errors:
        ran.clear()
        try:
            module(error)
        except error:
            due = [number for number, flag in enumerate(always) if flag and issubclass(error, subject.value)]
            assert ran == due
        else:
            raise AssertionError("the error did not leave the call")


READINGS = {
    'exceptions (every torch): An always_call hook runs only for errors that derive from Exception.': Exception,
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), errors=[KeyboardInterrupt], where='forward', always=[True])
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
