"""tutorial.forward.t06_collects_inputs: A pre-hook on an adder can collect all inputs in order, and they are the caller's own objects.

Says which reading this torch has.
Checked by suites/tutorial/test_pre.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace


def example(subject, inputs, pres, watched):
    class Adder(torch.nn.Module):
        def forward(self, *given):
            return sum(given)

    adder, seen = Adder(), []
    # The backward hook of this torch: the full one, or the only one there is.
    register = getattr(adder, "register_full_backward_hook", adder.register_backward_hook)
    for _ in range(pres if watched else 0):
        register(lambda module, grad_input, grad_output: None)
    for _ in range(pres):
        adder.register_forward_pre_hook(lambda module, given: seen.append(given))
    xs = tuple(torch.tensor(float(value), requires_grad=True) for value in inputs)
    assert adder(*xs).item() == sum(inputs)
    own = subject.value or not watched
    assert [[one is x for one, x in zip(given, xs)] for given in seen] == [[own] * len(xs)] * pres


READINGS = {
    "true (every torch): A pre-hook is given the caller's own tensors in order, also where there is a backward hook.": True,
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), inputs=[2, 3], pres=1, watched=True)
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
