"""backward.given.kwargs_left_out: Keyword inputs have no entry in grad_input.

Says which reading this torch has.
Checked by suites/backward/test_given_entries.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace

if not hasattr(torch.nn.Module, "register_full_backward_hook"): raise SystemExit("torch " + torch.__version__ + " has no torch.nn.Module.register_full_backward_hook")


def show(grads):
    return [None if grad is None else grad.item() for grad in grads]


def example(subject, ins, named, hooks):
    class Sum(torch.nn.Module):
        def forward(self, *xs, **more):
            return sum(by * x for by, x in zip([*ins, *(by for by, _ in named)], [*xs, *more.values()]))

    module, calls = Sum(), []
    for _ in range(hooks):
        module.register_full_backward_hook(lambda module, grad_input, _: calls.append(show(grad_input)))
    xs = [torch.ones((), requires_grad=True) for _ in ins]
    more = [torch.ones((), requires_grad=grad) for _, grad in named]
    module(*xs, **{f"k{number}": one for number, one in enumerate(more)}).backward()
    assert calls == [[*ins, *(by for by, _ in named)] if subject.value else ins] * hooks
    # They get their gradients all the same.
    assert show(x.grad for x in more) == [by if grad else None for by, grad in named]


READINGS = {
    'left out (every torch): A full hook is given the gradients of positional inputs alone.': False,
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), ins=[1], named=[(2, True)], hooks=1)
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
