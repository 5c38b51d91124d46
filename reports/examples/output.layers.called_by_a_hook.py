"""output.layers.called_by_a_hook: A forward hook may call its module's forward; calling the module runs the hook again, and so on.

Says which reading this torch has.
Checked by suites/output/test_layers.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace


def example(subject, most, by_forward, pres):
    class Marks(torch.nn.Module):
        def forward(self, x):
            return x + "f"

    ran, module = [], Marks()

    def hook(module, args, output):
        if ran.count("hook") == most:
            return None
        ran.append("hook")
        return (module.forward if by_forward else module)(output)

    for _ in range(pres):
        module.register_forward_pre_hook(lambda module, args: ran.append("pre"))
    module.register_forward_hook(hook)
    try:
        ran.append(module("x"))
    except RecursionError as error:
        assert (most, by_forward, subject.value) == (10**6, False, True)
        ran = [type(error).__name__]
    times = min(most, 1) if by_forward or not subject.value else most
    through = ["pre"] * pres + ["hook"]
    if by_forward:
        due = through[: pres + times] + ["x" + "f" * (times + 1)]
    elif times == 10**6:
        due = ["RecursionError"]
    else:
        due = through * times + ["pre"] * pres + ["x" + "f" * (times + 1)]
    assert ran == due


READINGS = {
    'again and again (every torch): A hook that calls its module recurses until it stops or Python raises RecursionError.': True,
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), most=2, by_forward=False, pres=0)
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
