"""tutorial.backward.t18_first_tensor: register_backward_hook() hooks the node of the first tensor that is found in the output.

Says which reading this torch has.
Checked by suites/tutorial/test_legacy.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace


def example(subject):
    shapes = {
        "tuple": lambda first, second: (first, second),
        "list in tuple": lambda first, second: ([first], second),
        "dict": lambda first, second: {"b": first, "a": second},
        "number in tuple": lambda first, second: (1, first, second),
        "number in dict": lambda first, second: {"c": 1, "b": first, "a": second},
        "tuple in dict": lambda first, second: {"b": (first, second)},
    }

    class Twins(torch.nn.Module):
        def __init__(self, shape):
            super().__init__()
            self.shape = shape

        def forward(self, x):
            self.made = {"first": x * 2, "second": x * 3}
            return self.shape(**self.made)

    hooked = {}
    for name, shape in shapes.items():
        twins, nodes = Twins(shape), []

        def hook(module, grad_input, grad_output, nodes = nodes):
            nodes.append({1.0: "first", 10.0: "second"}[grad_output[0].item()])

        twins.register_backward_hook(hook)
        try:
            twins(torch.tensor(1.0, requires_grad=True))
            (twins.made["first"] + 10 * twins.made["second"]).backward()
        except (TypeError, StopIteration) as error:
            nodes.append(type(error).__name__)
        hooked[name] = nodes
    assert hooked == subject.value


READINGS = {
    'false (every torch): A legacy hook goes to index 0 of a tuple or list, to the first tensor of a dict; else the call raises.': {'tuple': ['first'], 'list in tuple': ['first'], 'dict': ['first'], 'number in tuple': ['TypeError'], 'number in dict': ['first'], 'tuple in dict': ['StopIteration']},
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
