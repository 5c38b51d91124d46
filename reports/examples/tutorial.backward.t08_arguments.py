"""tutorial.backward.t08_arguments: For y = x1*x2*W a full backward hook gets (x1.grad, x2.grad) and (y.grad,), and nothing about W.

Says which reading this torch has.
Checked by suites/tutorial/test_backward.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace

if not hasattr(torch.nn.Module, "register_full_backward_hook"): raise SystemExit("torch " + torch.__version__ + " has no torch.nn.Module.register_full_backward_hook")


def example(subject, xs, weight, grad, hooks):
    def scalar(value):
        return torch.tensor(float(value), requires_grad=True)

    class Product(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.W = torch.nn.Parameter(scalar(weight))

        def forward(self, *given):
            y = self.W
            for x in given:
                y = y * x
            return y

    product, seen, inputs = Product(), [], [scalar(x) for x in xs]
    for _ in range(hooks):
        product.register_full_backward_hook(
            lambda module, *grads: seen.append([[one.item() for one in side] for side in grads])
        )
    y = product(*inputs)
    y.retain_grad()
    y.backward(torch.tensor(float(grad)))
    assert y.grad.item() == grad
    of_weight = [product.W.grad.item()] if subject.value else []
    assert seen == [[[x.grad.item() for x in inputs] + of_weight, [grad]]] * hooks
    # Each gradient is the product of all the others: times its own factor they are all alike.
    assert {x.grad.item() * value for x, value in zip(inputs, xs)} == {y.item() * grad}


READINGS = {
    'true (every torch): A full backward hook gets the gradients of inputs and outputs, none of parameters.': False,
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), xs=[2, 3], weight=5, grad=1, hooks=1)
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
