"""tutorial.backward.t09_retained_output: After output.retain_grad() output.grad is grad_output[0] of a full hook, if there is no pre-hook.

Says which reading this torch has.
Checked by suites/tutorial/test_backward.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace

if not hasattr(torch.nn.Module, "register_full_backward_hook"): raise SystemExit("torch " + torch.__version__ + " has no torch.nn.Module.register_full_backward_hook")


def example(subject, hooks, retained_first, grad):
    class Double(torch.nn.Module):
        def forward(self, x):
            return x * 2

    double, seen = Double(), []
    double.register_full_backward_hook(lambda module, grad_input, grad_output: seen.append(grad_output[0].item()))
    output = double(torch.tensor(2.0, requires_grad=True))
    if retained_first:
        output.retain_grad()
    left = grad
    for by in hooks:
        output.register_hook(lambda grad, by=by: grad * by)
        left *= by
    if not retained_first:
        output.retain_grad()
    output.backward(torch.tensor(float(grad)))
    assert (output.grad.item(), seen) == (left if subject.value or not retained_first else grad, [left])


READINGS = {
    'true (torch >=2.0): output.grad and grad_output[0] are both what the tensor hooks of the output left.': True,
    'false (torch <2.0): A tensor hook put on the output after retain_grad() makes output.grad differ from grad_output[0].': False,
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), hooks=[10], retained_first=True, grad=3)
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
