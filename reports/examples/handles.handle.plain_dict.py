"""handles.handle.plain_dict: RemovableHandle(hooks) raises TypeError for a plain dict and accepts an OrderedDict.

Says which reading this torch has.
Checked by suites/handles/test_handle.py of torch-hook-conformance.
"""

import torch
from collections import OrderedDict
from types import SimpleNamespace


def example(subject):
    from torch.utils.hooks import RemovableHandle

    raised = []
    for kind in (dict, OrderedDict):
        hooks = kind()
        try:
            RemovableHandle(hooks)
            raised.append("none")
        except TypeError as error:
            raised.append(type(error).__name__)
    assert raised == subject.value


READINGS = {
    'not a plain dict (every torch): RemovableHandle needs a dict that can be referred to weakly.': ['TypeError', 'none'],
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
