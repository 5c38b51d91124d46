"""output.calls.forward_runs_none: module.forward() skips the module's hooks, and global ones for it; modules it calls run theirs.

Says which reading this torch has.
Checked by suites/output/test_calls.py of torch-hook-conformance.
"""

import torch
import warnings
from types import SimpleNamespace


def example(subject, hooks, last, ways):
    from torch.nn.modules import module as torch_module

    inner, ran, handles = torch.nn.Tanh(), [], []
    outer = torch.nn.Sequential(inner)
    names = {outer: "outer", inner: "inner"}
    for number, (place, kind) in enumerate(hooks):
        register = f"register_{{}}{last if kind == 'last' else kind}_hook"
        owner = {"outer": outer, "inner": inner, "*": torch_module}[place]
        function = getattr(owner, register.format("module_" if place == "*" else ""))
        handles.append(function(lambda module, *given, number=number: ran.append((number, names[module]))))
    seen = []
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for way in ways:
                ran.clear()
                (outer if way == "call" else outer.forward)(torch.ones((), requires_grad=True)).backward()
                seen.append(sorted(ran))
    finally:
        for handle in handles:
            handle.remove()
    for way, found in zip(ways, seen):
        called = ("outer", "inner") if way == "call" else subject.value
        assert found == [
            (number, name) for number, (place, _) in enumerate(hooks) for name in sorted(called) if place in (name, "*")
        ]


READINGS = {
    'its own hooks (every torch): Hooks belong to the call of a module: forward() alone runs none of its own, and no global one for it.': ('inner',),
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), hooks=[('outer', 'forward'), ('inner', 'forward')], last='backward', ways=['forward'])
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
