"""backward.objects.list_chain: When a full hook returns a list, the next one is given that list.

Says which reading this torch has.
Checked by suites/backward/test_objects_returned.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace

if not hasattr(torch.nn.Module, "register_full_backward_hook"): raise SystemExit("torch " + torch.__version__ + " has no torch.nn.Module.register_full_backward_hook")


def example(subject, returned, count):
    class Sum(torch.nn.Module):
        def forward(self, *xs):
            return sum(xs) * 2

    module, seen, due = Sum(), [], ["tuple"]
    for name in returned:

        def hook(module, grad_input, grad_output, name = name):
            seen.append((type(grad_input).__name__, [grad.item() for grad in grad_input]))
            tripled = [grad * 3 for grad in grad_input]
            return {"list": tripled, "tuple": tuple(tripled), None: None}[name]

        module.register_full_backward_hook(hook)
        due.append({"list": subject.value, "tuple": "tuple", None: due[-1]}[name])
    xs = [torch.ones((), requires_grad=True) for _ in range(count)]
    module(*xs).backward()
    times = [3 ** sum(name is not None for name in returned[:number]) for number in range(len(returned) + 1)]
    assert seen == [(kind, [2.0 * by] * count) for kind, by in zip(due, times[:-1])]
    assert [x.grad.item() for x in xs] == [2 * times[-1]] * count


READINGS = {
    'list (torch >=1.13): A list from a full hook stays a list for the next one.': 'list',
    'tuple (torch <1.13): When a full hook returns a list, the next one is given a tuple.': 'tuple',
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), returned=['list', None], count=1)
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
