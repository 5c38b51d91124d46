"""handles.copies.older_state: A module state without the options' dicts works; without _forward_hooks calls raise AttributeError.

Says which reading this torch has.
Checked by suites/handles/test_pickled.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace


def example(subject, missing, kinds):
    older, seen = torch.nn.Identity.__new__(torch.nn.Identity), []
    older.__setstate__({name: value for name, value in vars(torch.nn.Identity()).items() if name not in missing})
    lost = "_forward_hooks" in missing
    for number, kind in enumerate(kinds):
        if not (lost and kind == "forward"):
            getattr(older, f"register_{kind}_hook")(lambda *given, number=number: seen.append(number))
    try:
        older("x")
        raised = "none"
    except AttributeError as error:
        raised = type(error).__name__
    assert raised == (subject.value if lost else "none")
    order = sorted(range(len(kinds)), key=lambda number: kinds[number] == "forward")
    assert lost or seen == order


READINGS = {
    'AttributeError (torch !=1.6.*,!=1.7.*): A call of a module whose state lacked _forward_hooks raises AttributeError.': 'AttributeError',
    'ModuleAttributeError (torch >=1.6,<1.8): A call of a module whose state lacked _forward_hooks raises ModuleAttributeError, an AttributeError.': 'ModuleAttributeError',
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), missing=['_forward_hooks'], kinds=[])
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
