"""output.always.silenced_is_warned: Each Exception that an always_call hook raises after a failure becomes one UserWarning.

Says which reading this torch has.
Checked by suites/output/test_failures.py of torch-hook-conformance.
"""

import inspect
import torch
import warnings
from types import SimpleNamespace

if not "always_call" in inspect.signature(torch.nn.Module.register_forward_hook).parameters: raise SystemExit("torch " + torch.__version__ + " has no torch.nn.Module.register_forward_hook(always_call)")


def example(subject, where, fails):
    def fail(*given):
        raise ValueError(where)

    module, ran, raised = torch.nn.Identity(), [], "none"
    if where == "forward":
        module.forward = fail
    elif where == "pre-hook":
        module.register_forward_pre_hook(fail)
    else:
        module.register_forward_hook(fail)

    def also(module, args, output):
        ran.append(len(ran))
        if fails[ran[-1]]:
            raise LookupError(args)

    for _ in fails:
        module.register_forward_hook(also, always_call=True)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            module(1)
        except (ValueError, LookupError) as error:
            raised = type(error).__name__
    assert [warning.category for warning in caught] == [UserWarning] * sum(fails) * subject.value
    assert all(str(warning.message).startswith("module forward hook with ``always_call=True``") for warning in caught)
    assert (ran, raised) == (list(range(len(fails))), "ValueError")


READINGS = {
    'warned (every torch): What always_call hooks raise after a failure is turned into warnings.': 1,
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), where='forward', fails=[True])
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
