"""output.calls.grad_mode: A hook around forward runs in the caller's grad mode, not in that of a decorated forward.

Says which reading this torch has.
Checked by suites/output/test_calls.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace


def example(subject, pres, caller, inner):
    modes, around = [], torch.enable_grad() if inner else torch.no_grad()

    class Decorated(torch.nn.Module):
        @around
        def forward(self, x):
            modes.append(torch.is_grad_enabled())
            return x

    module = Decorated()
    for pre in pres:
        register = module.register_forward_pre_hook if pre else module.register_forward_hook
        register(lambda *given: modes.append(torch.is_grad_enabled()))
    with torch.set_grad_enabled(caller):
        module(torch.ones(1))
        after = torch.is_grad_enabled()
    of_hooks = {"caller": caller, "forward": inner}[subject.value]
    assert (modes, after) == ([of_hooks] * sum(pres) + [inner] + [of_hooks] * (len(pres) - sum(pres)), caller)


READINGS = {
    "the caller's (every torch): A grad mode that is set around forward does not reach the hooks.": 'caller',
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), pres=[True, False], caller=True, inner=False)
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
