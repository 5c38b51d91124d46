"""input.returns.full_hook_wraps: With a full backward hook, in grad mode, forward gets a new tensor for an input with grad.

Says which reading this torch has.
Checked by suites/input/test_returns.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace

if not hasattr(torch.nn.Module, "register_full_backward_hook"): raise SystemExit("torch " + torch.__version__ + " has no torch.nn.Module.register_full_backward_hook")


def example(subject, kinds, grads):
    xs, seen = [torch.ones(1, requires_grad=grad) for grad in grads], []

    def look(name, args):
        seen.append((name, [one is x for one, x, grad in zip(args, xs, grads) if grad]))

    class Sum(torch.nn.Module):
        def forward(self, *args):
            look("forward", args)
            return sum(args)

    module = Sum()
    for kind in kinds:
        if kind == "full":
            module.register_full_backward_hook(lambda module, grad_input, grad_output: None)
        elif kind == "pre":
            module.register_forward_pre_hook(lambda module, args: look("pre", args))
        else:
            module.register_forward_hook(lambda module, args, output: look("post", args))
    module(*xs)
    names = ["pre"] * kinds.count("pre") + ["forward"] + ["post"] * kinds.count("post")
    assert seen == [(name, [name in subject.value or "full" not in kinds] * sum(grads)) for name in names]


READINGS = {
    "a new one (every torch): With a full backward hook pre-hooks see the caller's tensor; forward and forward hooks a new one.": ('pre',),
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), kinds=['full', 'post'], grads=[True])
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
