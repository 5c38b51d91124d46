"""tutorial.calling.t30_three_kinds: The call of a module knows forward pre-hooks, forward hooks and backward hooks of its own, no more.

Says which reading this torch has.
Checked by suites/tutorial/test_calling.py of torch-hook-conformance.
"""

import inspect
import re
import torch
from types import SimpleNamespace


def example(subject):
    from torch.nn.modules import module

    class Times(torch.nn.Module):
        def forward(self, x, by):
            return x * by

    def heard(owner, name, **options):
        """What a hook that is registered so is given, in one call of a module and its backward."""
        times, seen = Times(), []
        with getattr(owner or times, name)(lambda *given: seen.append(given), **options):
            times(torch.tensor(3.0, requires_grad=True), by=2).backward()
        if hasattr(module, "_global_is_full_backward_hook"):  # it outlives the hook, and refuses the other kind
            module._global_is_full_backward_hook = None
        return seen

    kind = re.compile(r"register_(module_)?(full_)?(forward|backward)(_pre)?_hook")
    own = sorted(name for name in dir(torch.nn.Module) if kind.fullmatch(name) and heard(None, name))
    everywhere = sorted(name for name in dir(module) if kind.fullmatch(name) and heard(module, name))
    parameters = inspect.signature(torch.nn.Module.register_forward_pre_hook).parameters
    options = {name: True for name in parameters if name == "with_kwargs"}
    keywords = [given[2:] for given in heard(None, "register_forward_pre_hook", **options)] == [({"by": 2},)]
    assert (own, everywhere, keywords) == subject.value


READINGS = {
    'true (torch <1.6): The call of a module knows three kinds of hook, all its own.': (['register_backward_hook', 'register_forward_hook', 'register_forward_pre_hook'], [], False),
    'false since 1.6 (torch >=1.6,<1.8): The call of a module also runs global hooks, of the same three kinds.': (['register_backward_hook', 'register_forward_hook', 'register_forward_pre_hook'], ['register_module_backward_hook', 'register_module_forward_hook', 'register_module_forward_pre_hook'], False),
    'false since 1.8 (torch >=1.8,<2.0): The call of a module also runs full backward hooks, and global hooks of each kind.': (['register_backward_hook', 'register_forward_hook', 'register_forward_pre_hook', 'register_full_backward_hook'], ['register_module_backward_hook', 'register_module_forward_hook', 'register_module_forward_pre_hook', 'register_module_full_backward_hook'], False),
    'false (torch >=2.0): The call of a module also runs full backward hooks and pre-hooks, and global hooks of each kind.': (['register_backward_hook', 'register_forward_hook', 'register_forward_pre_hook', 'register_full_backward_hook', 'register_full_backward_pre_hook'], ['register_module_backward_hook', 'register_module_forward_hook', 'register_module_forward_pre_hook', 'register_module_full_backward_hook', 'register_module_full_backward_pre_hook'], True),
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
