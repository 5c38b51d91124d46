"""backward.legacy.not_callable: A legacy hook that cannot be called is accepted at registration.

Says which reading this torch has.
Checked by suites/backward/test_legacy_calls.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace


def example(subject):
    module, seen = torch.nn.Linear(2, 2), []
    try:
        module.register_backward_hook(3)
        seen.append("registered")
        out = module(torch.ones(1, 2, requires_grad=True))
        seen.append("called")
        out.sum().backward()
        seen.append("done")
    except (TypeError, RuntimeError) as error:
        seen.append(type(error).__name__)
    assert seen == subject.value


READINGS = {
    'until backward (torch >=1.13): A legacy hook that cannot be called raises TypeError in backward().': ['registered', 'called', 'TypeError'],
    'until forward (torch <1.13): A legacy hook that cannot be called raises TypeError in the forward.': ['registered', 'TypeError'],
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded))
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
