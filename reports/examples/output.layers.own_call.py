"""output.layers.own_call: Hooks run in Module.__call__: a replaced forward keeps them, a replaced __call__ must pass on to it.

Says which reading this torch has.
Checked by suites/output/test_layers.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace


def hook_up(module, pres, ran, name):
    """Have hooks on a module put (name, number) into `ran`; return that in the order in which they are due."""
    for number, pre in enumerate(pres):
        register = module.register_forward_pre_hook if pre else module.register_forward_hook
        register(lambda *given, number=number: ran.append((name, number)))
    return [(name, number) for wanted in (True, False) for number, pre in enumerate(pres) if pre == wanted]


def example(subject, owns, ways, pres, calls):
    def module_with(own):
        class Own(torch.nn.Identity):
            pass

        class PassesOn(Own):
            def __call__(self, x):
                return super().__call__(x) if own == "super" else self.forward(x)

        if "class" in ways:
            Own.forward = lambda self, x: x + "c"
        module = Own() if own == "no" else PassesOn()
        if "instance" in ways:
            module.forward = lambda x: x + "i"
        return module

    expected = "xi" if "instance" in ways else "xc" if "class" in ways else "x"
    for own in owns:
        ran, module = [], module_with(own)
        due = hook_up(module, pres, ran, "h")
        assert [module("x") for _ in range(calls)] == [expected] * calls
        assert ran == (due * calls if {own, *ways} - {"no"} <= set(subject.value) else [])


READINGS = {
    'hooks are in __call__ (every torch): Module.__call__ runs the hooks, of any forward and of every class that passes on to it.': ('super', 'instance', 'class'),
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), owns=['call', 'super'], ways=[], pres=[False], calls=1)
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
