"""handles.handle.same_function: A function registered several times is called as often; each handle removes one registration.

Says which reading this torch has.
Checked by suites/handles/test_handle.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace


def shout(module, args, output):
    """A hook that pickle finds by its name."""
    return output + "!"


def whisper(module, args, output):
    """Another one."""
    return output + "?"


def example(subject, which, removed):
    module = torch.nn.Identity()
    handles = [module.register_forward_hook((shout, whisper)[function]) for function in which]
    left = list(enumerate(which))
    for place in [None, *removed]:
        if place is not None and place < len(handles):
            handles[place].remove()
            left = [one for one in left if one[0] != place]
        called = [function for _, function in left]
        called = called if subject.value else sorted(set(called))
        assert module("x") == "x" + "".join("!?"[function] for function in called)


READINGS = {
    'several hooks (every torch): A hook is a registration, not a function.': True,
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), which=[0, 0], removed=[])
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
