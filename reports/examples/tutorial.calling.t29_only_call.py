"""tutorial.calling.t29_only_call: module(x) runs the hooks of a module; module.forward(x) only those of the modules that it calls.

Says which reading this torch has.
Checked by suites/tutorial/test_calling.py of torch-hook-conformance.
"""

import contextlib
import torch
from types import SimpleNamespace


def example(subject, hooks, backward, ways):
    from torch.nn.modules import module

    class Double(torch.nn.Module):
        def forward(self, x):
            return x * 2

    outer, seen = torch.nn.Sequential(Double(), Double()), []
    names = {outer: "outer", outer[0]: "inner", outer[1]: "other"}
    with contextlib.ExitStack() as stack:
        for number, (on, kind) in enumerate(hooks):
            name = f"register_{'module_' if on == '*' else ''}{backward if kind == 'backward' else kind}_hook"
            owner = {"outer": outer, "inner": outer[0], "*": module}[on]
            register = getattr(owner, name)
            stack.enter_context(register(lambda own, *_, number=number: seen.append((number, names[own]))))
        for way in ways:
            seen.clear()
            run = outer if way == "module(x)" else outer.forward
            run(torch.tensor(3.0, requires_grad=True)).backward()
            called = ["outer", "inner", "other"] if way in subject.value else ["inner", "other"]
            assert sorted(seen) == sorted(
                (number, name) for number, (on, _) in enumerate(hooks) for name in called if on in ("*", name)
            )


READINGS = {
    'true (every torch): module.forward(x) runs no hook of that module, and global hooks only for the modules that it calls.': ('module(x)',),
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), hooks=[('outer', 'forward')], backward='backward', ways=['module.forward(x)'])
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
