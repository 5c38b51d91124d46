"""The calls that register a hook, each with what then calls the hook."""

from functools import partial
from typing import Any, Callable, Dict, Sequence, Tuple

from fixtures.stages.make import make
from suites.hooking import echo
from suites.tensors import leaf

#: Those whose result torch does not look at.
UNSEEN = ("several", "step_post", "save_pre", "load_pre", "optimizer_save_pre", "optimizer_load_post")
#: Those whose result takes the place of a gradient, or may not be there.
OF_GRADIENTS = ("legacy", "full", "full_pre", "leaf", "tensor", "node", "accumulated")


def ways() -> Dict[str, Tuple[Any, Callable[[], Any]]]:
    """name -> (what registers a hook, or None where torch lacks it; what calls the hook)."""
    import torch

    m, x = make.Linear(1, 1), leaf(2)
    y, optimizer = 3 * x, torch.optim.SGD(m.parameters(), lr=1.0)
    load = partial(m.load_state_dict, m.state_dict())
    load_optimizer = partial(optimizer.load_state_dict, optimizer.state_dict())
    rows = torch.ones_like(m.weight).requires_grad_()
    graph = getattr(torch.autograd, "graph", None)
    several = getattr(graph, "register_multi_grad_hook", None)
    any_module, passes = echo(), lambda: m(rows).sum().backward()
    there: Dict[str, Tuple[Any, str, Callable[[], Any]]] = {
        "forward_pre": (any_module, "register_forward_pre_hook", any_module),
        "forward": (any_module, "register_forward_hook", any_module),
        "legacy": (m, "register_backward_hook", passes),
        "full": (m, "register_full_backward_hook", passes),
        "full_pre": (m, "register_full_backward_pre_hook", passes),
        "leaf": (x, "register_hook", y.backward),
        "tensor": (y, "register_hook", y.backward),
        "node": (y.grad_fn, "register_hook", y.backward),
        "accumulated": (x, "register_post_accumulate_grad_hook", y.backward),
        "step_pre": (optimizer, "register_step_pre_hook", optimizer.step),
        "step_post": (optimizer, "register_step_post_hook", optimizer.step),
        "save_pre": (m, "register_state_dict_pre_hook", m.state_dict),
        "save_post": (m, "register_state_dict_post_hook", m.state_dict),
        "load_pre": (m, "register_load_state_dict_pre_hook", load),
        "load_post": (m, "register_load_state_dict_post_hook", load),
        "optimizer_save_pre": (optimizer, "register_state_dict_pre_hook", optimizer.state_dict),
        "optimizer_save_post": (optimizer, "register_state_dict_post_hook", optimizer.state_dict),
        "optimizer_load_pre": (
            optimizer,
            "register_load_state_dict_pre_hook",
            load_optimizer,
        ),
        "optimizer_load_post": (
            optimizer,
            "register_load_state_dict_post_hook",
            load_optimizer,
        ),
    }
    found = {name: (getattr(owner, method, None), event) for name, (owner, method, event) in there.items()}
    return {**found, "several": (several and partial(several, (x, y)), y.backward)}


def ends(hook: Any, names: Sequence[str] = ()) -> Dict[str, str]:
    """For each way to register that torch has: "goes on", the error where it is called, or "refused"."""
    found = {}
    for name in names or ways():
        register, event = ways()[name]
        if register is None:
            continue
        found[name] = "refused"
        register(hook)
        try:
            event()
            found[name] = "goes on"
        except (TypeError, RuntimeError, AssertionError) as error:
            found[name] = type(error).__name__
    return found
