"""handles.handle.later_modules: A global forward hook runs for modules built after its registration too.

Says which reading this torch has.
Checked by suites/handles/test_modules.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace

if not hasattr(torch.nn.modules.module, "register_module_forward_hook"): raise SystemExit("torch " + torch.__version__ + " has no torch.nn.modules.module.register_module_forward_hook")


def example(subject, does):
    from torch.nn.modules.module import register_module_forward_hook

    seen, handles, modules = [], [], [torch.nn.Identity()]
    expected, live, built = [], [], [0]
    try:
        for moment, what in enumerate(does):
            if what == "add":
                handles.append(
                    register_module_forward_hook(
                        lambda module, args, output, moment=moment: seen.append((moment, output))
                    )
                )
                live.append(moment)
            elif what == "build":
                modules.append(torch.nn.Identity())
                built.append(moment)
            elif what == "remove" and handles:
                handles.pop(0).remove()
                live.pop(0)
            elif what == "call":
                for number, module in enumerate(modules):
                    module(number)
                    expected += [(at, number) for at in live if subject.value or built[number] < at]
    finally:
        for handle in handles:
            handle.remove()
    assert seen == expected


READINGS = {
    'too (every torch): Global forward hooks are looked up at each call, whenever the module was built.': True,
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), does=['add', 'build', 'call'])
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
