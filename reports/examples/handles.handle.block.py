"""handles.handle.block: A with block on a handle gives the handle, removes the hook even on an error, and lets it out.

Says which reading this torch has.
Checked by suites/handles/test_handle.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace


def example(subject, kind, place, calls):
    seen, module, raised = [], torch.nn.Identity(), "none"
    handles = [
        module.register_forward_hook(lambda module, args, output, number=number: seen.append((number, output)))
        for number in range(3)
    ]
    inside = None
    try:
        with handles[place] as inside:
            for _ in range(calls):
                module("x")
            if kind is not None:
                raise kind
    except (KeyError, ValueError, StopIteration, KeyboardInterrupt, GeneratorExit) as error:
        raised = type(error).__name__
    module("y")
    expected = "none" if kind is None or not subject.value else kind.__name__
    within = [(number, "x") for _ in range(calls) for number in range(3)]
    assert (inside is handles[place], raised) == (True, expected)
    assert seen == within + [(number, "y") for number in range(3) if number != place]


READINGS = {
    'lets it out (every torch): An error leaves a with block on a handle as it came, and the hook is removed.': True,
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), kind=KeyError, place=0, calls=1)
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
