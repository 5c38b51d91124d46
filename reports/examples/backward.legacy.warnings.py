"""backward.legacy.warnings: A call with a legacy hook warns of deprecation where the hook cannot see the module as a whole.

Says which reading this torch has.
Checked by suites/backward/test_legacy_calls.py of torch-hook-conformance.
"""

import torch
import warnings
from types import SimpleNamespace


def example(subject):
    class Module(torch.nn.Module):
        def __init__(self, function):
            super().__init__()
            self.function = function

        def forward(self, *args):
            return self.function(*args)

    def category(module, *args):
        module.register_backward_hook(lambda *arguments: None)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            module(*args)
        (name,) = {one.category.__name__ for one in caught} or {None}
        return name

    leaf = torch.ones(2, requires_grad=True)
    inner = leaf * 1
    assert [
        category(Module(lambda x: x * 2), inner),
        category(Module(lambda x: {"y": x.exp()}), inner),
        category(torch.nn.ReLU(), leaf),
        category(torch.nn.Linear(2, 2), inner),
        category(Module(lambda x: x.exp().exp()), inner),
        category(Module(lambda x, number: x.exp()), inner, 3),
        category(Module(lambda x: (x.exp(), x.sin())), inner),
        category(torch.nn.ReLU(), inner),
    ] == subject.value


READINGS = {
    'FutureWarning (torch >=2.4): A call with a legacy hook that misses a part of its module gives a FutureWarning.': ['FutureWarning', 'FutureWarning', 'FutureWarning', 'FutureWarning', 'FutureWarning', 'FutureWarning', 'FutureWarning', None],
    'UserWarning (torch >=1.8,<2.4): A call with a legacy hook that misses a part of its module gives a UserWarning.': ['UserWarning', 'UserWarning', 'UserWarning', 'UserWarning', 'UserWarning', 'UserWarning', 'UserWarning', None],
    'no warning (torch <1.8): A call with a legacy hook gives no warning, whatever the hook cannot see.': [None, None, None, None, None, None, None, None],
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
