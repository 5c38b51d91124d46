"""tutorial.backward.t26_use_tensor_hooks: No hook on a module can be trusted with the gradient of its input: only tensor hooks can.

Says which reading this torch has.
Checked by suites/tutorial/test_backward.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace


def example(subject, factors, x, grad):
    class Steps(torch.nn.Module):
        def forward(self, x):
            for factor in factors:
                x = x * factor + 1
            return x

    trusted = []
    for name in dir(Steps):
        if name.startswith("register_") and name.endswith("backward_hook"):
            steps, by_module, by_tensor = Steps(), [], []
            tensor = torch.tensor(float(x), requires_grad=True)
            tensor.register_hook(lambda grad, seen=by_tensor: seen.append(grad.item()))
            getattr(steps, name)(
                lambda module, grad_input, grad_output, seen=by_module: seen.append(grad_input[0].item())
            )
            steps(tensor).backward(torch.tensor(float(grad)))
            assert by_tensor == [tensor.grad.item()]
            if by_module == by_tensor:
                trusted.append(name)
    assert trusted == subject.value


READINGS = {
    'true (torch <1.8): The only backward hook of a module gets the gradients of its last operation.': [],
    'false (torch >=1.8): A full backward hook of a module gets the same gradient of the input as a hook on the input.': ['register_full_backward_hook'],
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), factors=[3], x=2, grad=1)
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
