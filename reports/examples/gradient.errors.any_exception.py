"""gradient.errors.any_exception: What a tensor hook raises, KeyboardInterrupt too, leaves backward() with its own type.

Says which reading this torch has.
Checked by suites/gradient/test_errors.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace


def leaf(value):
    """A float64 scalar that requires grad."""
    return torch.tensor(float(value), dtype=torch.float64, requires_grad=True)


def outcome(action, errors = (RuntimeError, TypeError)):
    """The name of the error that `action` raises, of those that may be, or "accepted"."""
    try:
        action()
    except errors as error:
        return type(error).__name__
    return "accepted"


def example(subject, kind, before, anomaly, inner):
    import warnings

    calls = []

    def fails(grad):
        raise kind("a hook may raise")

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with torch.autograd.set_detect_anomaly(anomaly):
            x = leaf(1)
            y = 2 * x
            for hook in (*[calls.append] * before, fails, calls.append):
                (y if inner else x).register_hook(hook)
            result = outcome(y.backward, (kind, RuntimeError))
    assert (result, len(calls), x.grad) == (subject.value or kind.__name__, before, None)


READINGS = {
    'own type (every torch): Whatever a tensor hook raises keeps its type, also under detect_anomaly.': '',
    'RuntimeError instead (torch >=1.5,<1.7, a declared deviation): What a hook raises, KeyboardInterrupt too, leaves backward() as RuntimeError.': 'RuntimeError',
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), kind=KeyboardInterrupt, before=0, anomaly=False, inner=False)
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
