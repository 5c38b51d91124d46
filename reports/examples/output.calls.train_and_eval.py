"""output.calls.train_and_eval: If a module is called its forward hooks run: in training and in eval, with or without gradients.

Says which reading this torch has.
Checked by suites/output/test_calls.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace


def example(subject, pres, states, inside):
    seen, child = [], torch.nn.Linear(1, 1)
    net = torch.nn.Sequential(child)
    module = child if inside else net
    for pre in pres:
        register = module.register_forward_pre_hook if pre else module.register_forward_hook
        register(lambda module, *given: seen.append((module.training, torch.is_grad_enabled())))
    for state in states:
        with torch.set_grad_enabled(state[1]):
            assert net.train(state[0])(torch.ones(1)).requires_grad == state[1]
    assert seen == [state for state in states if state in subject.value for _ in pres]


READINGS = {
    'always (every torch): Neither train() nor no_grad() decides whether the forward hooks of a called module run.': [(True, True), (True, False), (False, True), (False, False)],
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), pres=[False], states=[(False, True)], inside=False)
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
