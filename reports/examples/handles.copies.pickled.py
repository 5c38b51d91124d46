"""handles.copies.pickled: Pickling a module takes along forward hooks that pickle can find by name; with a lambda it fails.

Says which reading this torch has.
Checked by suites/handles/test_pickled.py of torch-hook-conformance.
"""

import pickle
import torch
from types import SimpleNamespace


def double(module, args, output):
    """A hook that pickle finds by its name."""
    return output * 2


def tail(module, args, output):
    """Another one."""
    return output + "."


def example(subject, hooks):
    known = {"double": double, "tail": tail, "lambda": lambda module, args, output: output}
    module, linear, text = torch.nn.Identity(), torch.nn.Linear(1, 1, bias=False), "x"
    for name in hooks:
        for one in (module, linear):
            one.register_forward_hook(known[name])
        text = {"double": text * 2, "tail": text + ".", "lambda": text}[name]
    try:
        seen = pickle.loads(pickle.dumps(module))("x")
    except (pickle.PicklingError, AttributeError):
        seen = "fails"
    expected = "x" if not subject.value else "fails" if "lambda" in hooks else text
    assert (module("x"), seen, list(linear.state_dict())) == (text, expected, ["weight"])


READINGS = {
    'taken along (every torch): Unpickled forward hooks run in their order; a state dict holds no hooks.': True,
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), hooks=['double'])
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
