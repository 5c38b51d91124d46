"""Every kind of hook: where it is registered, and the pass that calls it.

A kind on a module, or on a leaf, is registered once and called in every pass. A kind on what a pass makes (a tensor
that is no leaf, a node of the graph) is registered anew in each pass, and its cost includes that, as its user pays it.
Such a pass has a twin that does the same, line by line, without the hook: that is its control.
"""

from typing import Any, Callable, Dict, NamedTuple, Tuple

import torch
from torch.nn.modules import module as torch_module
from torch.optim import optimizer as optimizers

from fixtures.stages.stage import Torch
from suites.timing.workloads import Pass

Hook = Callable[..., Any]
Undo = Callable[[], Any]
MODULE = "torch.nn.Module.register_"
GRAPH = "torch.autograd.graph."
OPTIM = "torch.optim"
OPTIMIZER = OPTIM + ".Optimizer.register_"
EVERYWHERE = "torch.nn.modules.module."
GLOBAL = EVERYWHERE + "register_module_"
LIB = Torch()


def observe(*args: Any) -> None:
    """The hook that is timed: it does nothing."""


def keep(*args: Any) -> Any:
    """The hook that is timed where one must return what it was given."""
    return args[0]


class Kind(NamedTuple):
    """One kind of hook. It has `attach`, or else a pass of its own and the twin of that without the hook."""

    name: str
    says: str
    work: str  # one of the works of Pass
    needs: Tuple[str, ...] = ()
    attach: Any = None  # (pass, hook) -> what removes it
    own_pass: Any = None  # (pass, hook) -> None
    twin: Any = None  # (pass, hook) -> None
    hook: Hook = observe
    calls_python: bool = True
    on_leaves: bool = False


def on_module(method: str, **options: bool) -> Callable[[Pass, Hook], Undo]:
    """A hook on the module itself."""

    def attach(one: Pass, hook: Hook) -> Undo:
        return getattr(one.module, "register_" + method)(hook, **options).remove

    return attach


def on_all(name: str, says: str, work: str, method: str) -> Kind:
    """A hook on every module there is. Torch keeps a flag after the last one is gone: `LIB.reset` forgets it."""
    needs = (GLOBAL + method,)
    return Kind(
        name, says, work, needs, lambda one, hook: getattr(torch_module, "register_module_" + method)(hook).remove
    )


def on_optimizer(method: str) -> Callable[[Pass, Hook], Undo]:
    """A hook on the optimizer."""
    return lambda one, hook: getattr(one.optimizer, method)(hook).remove


def on_optimizers(method: str) -> Callable[[Pass, Hook], Undo]:
    """A hook on every optimizer there is."""
    return lambda one, hook: getattr(optimizers, method)(hook).remove


def on_registration(sort: str) -> Kind:
    """A hook on every parameter, buffer or module that any module registers."""
    method = f"register_module_{sort}_registration_hook"
    return Kind(
        sort + "_registration", sort + " registration hook", "register_" + sort, (EVERYWHERE + method,),
        lambda one, hook: getattr(torch_module, method)(hook).remove,
    )  # fmt: skip


def on_leaf(method: str) -> Callable[[Pass, Hook], Undo]:
    """A hook on a leaf."""
    return lambda one, hook: getattr(one.leaf, method)(hook).remove


def on_both_leaves(mode: str) -> Callable[[Pass, Hook], Undo]:
    """A hook on the gradients of two leaves together."""

    def attach(one: Pass, hook: Hook) -> Undo:
        options = {} if mode == "all" else {"mode": mode}
        return torch.autograd.graph.register_multi_grad_hook((one.leaf, one.other), hook, **options).remove

    return attach


def hidden_twin(one: Pass, hook: Hook) -> None:
    hidden = one.leaf * one.other
    one.module(hidden).backward(one.grad)


def tensor_pass(one: Pass, hook: Hook) -> None:
    hidden = one.leaf * one.other
    hidden.register_hook(hook)
    one.module(hidden).backward(one.grad)


def retain_pass(one: Pass, hook: Hook) -> None:
    hidden = one.leaf * one.other
    hidden.retain_grad()
    one.module(hidden).backward(one.grad)


def out_twin(one: Pass, hook: Hook) -> None:
    out = one.module(one.leaf * one.other)
    out.backward(one.grad)


def node_pass(one: Pass, hook: Hook) -> None:
    out = one.module(one.leaf * one.other)
    out.grad_fn.register_hook(hook)
    out.backward(one.grad)


def node_pre_pass(one: Pass, hook: Hook) -> None:
    out = one.module(one.leaf * one.other)
    out.grad_fn.register_prehook(hook)
    out.backward(one.grad)


def saved_pass(one: Pass, hook: Hook) -> None:
    with torch.autograd.graph.saved_tensors_hooks(hook, hook):
        out = one.module(one.leaf * one.other)
    out.backward(one.grad)


def off_pass(one: Pass, hook: Hook) -> None:
    with torch.autograd.graph.disable_saved_tensors_hooks("off"):
        out = one.module(one.leaf * one.other)
    out.backward(one.grad)


def on_cpu_pass(one: Pass, hook: Hook) -> None:
    with torch.autograd.graph.save_on_cpu():
        out = one.module(one.leaf * one.other)
    out.backward(one.grad)


def saved_one_pass(one: Pass, hook: Hook) -> None:
    hidden = one.leaf * one.other
    hidden.grad_fn._raw_saved_self.register_hooks(hook, hook)  # type: ignore[union-attr]
    one.module(hidden).backward(one.grad)


ALL = (
    Kind("forward_pre", "forward pre-hook", "forward", (), on_module("forward_pre_hook")),
    Kind("forward", "forward hook", "forward", (), on_module("forward_hook")),
    Kind("forward_pre_kwargs", "forward pre-hook with keywords", "forward", (MODULE + "forward_pre_hook(with_kwargs)",),
         on_module("forward_pre_hook", with_kwargs=True)),
    Kind("forward_kwargs", "forward hook with keywords", "forward", (MODULE + "forward_hook(with_kwargs)",),
         on_module("forward_hook", with_kwargs=True)),
    Kind("forward_always", "forward hook that is always called", "forward", (MODULE + "forward_hook(always_call)",),
         on_module("forward_hook", always_call=True)),
    on_all("global_forward_pre", "global forward pre-hook", "forward", "forward_pre_hook"),
    on_all("global_forward", "global forward hook", "forward", "forward_hook"),
    Kind("full_backward", "full backward hook", "both", (MODULE + "full_backward_hook",),
         on_module("full_backward_hook")),
    Kind("full_backward_pre", "full backward pre-hook", "both", (MODULE + "full_backward_pre_hook",),
         on_module("full_backward_pre_hook")),
    Kind("legacy_backward", "legacy backward hook", "both", (), on_module("backward_hook")),
    on_all("global_full_backward", "global full backward hook", "both", "full_backward_hook"),
    on_all("global_full_backward_pre", "global full backward pre-hook", "both", "full_backward_pre_hook"),
    on_all("global_legacy_backward", "global legacy backward hook", "both", "backward_hook"),
    Kind("leaf", "tensor hook on a leaf", "leaf", (), on_leaf("register_hook"), on_leaves=True),
    Kind("tensor", "tensor hook on a non-leaf (registered in each pass)", "both",
         own_pass=tensor_pass, twin=hidden_twin),
    Kind("retain_grad", "retain_grad() in each pass", "both",
         own_pass=retain_pass, twin=hidden_twin, calls_python=False),
    Kind("post_accumulate", "post-accumulate hook", "leaf", ("torch.Tensor.register_post_accumulate_grad_hook",),
         on_leaf("register_post_accumulate_grad_hook"), on_leaves=True),
    Kind("node", "hook on a node of the graph (registered in each pass)", "both", own_pass=node_pass, twin=out_twin),
    Kind("node_pre", "pre-hook on a node of the graph (registered in each pass)", "both",
         ("torch._C._FunctionBase.register_prehook",), own_pass=node_pre_pass, twin=out_twin),
    Kind("multi_grad", "multi-grad hook on two leaves", "both", (GRAPH + "register_multi_grad_hook",),
         on_both_leaves("all"), on_leaves=True),
    Kind("multi_grad_any", "multi-grad hook on two leaves, mode any", "both",
         (GRAPH + "register_multi_grad_hook(mode)",), on_both_leaves("any"), on_leaves=True),
    Kind("saved_tensors", "saved-tensor hooks around each forward", "both", (GRAPH + "saved_tensors_hooks",),
         own_pass=saved_pass, twin=out_twin, hook=keep),
    Kind("saved_off", "saved-tensor hooks disabled around each forward", "both",
         (GRAPH + "disable_saved_tensors_hooks",), own_pass=off_pass, twin=out_twin, calls_python=False),
    Kind("save_on_cpu", "save_on_cpu around each forward", "both", (GRAPH + "save_on_cpu",),
         own_pass=on_cpu_pass, twin=out_twin, calls_python=False),
    Kind("saved_one", "hooks of one saved tensor (registered in each pass)", "both",
         ("torch._C._autograd.SavedTensor.register_hooks",), own_pass=saved_one_pass, twin=hidden_twin, hook=keep),
    Kind("step_pre", "step pre-hook of an optimizer", "step", (OPTIMIZER + "step_pre_hook",),
         on_optimizer("register_step_pre_hook")),
    Kind("step_post", "step post-hook of an optimizer", "step", (OPTIMIZER + "step_post_hook",),
         on_optimizer("register_step_post_hook")),
    Kind("global_step_pre", "global step pre-hook", "step", (OPTIM + ".optimizer.register_optimizer_step_pre_hook",),
         on_optimizers("register_optimizer_step_pre_hook")),
    Kind("global_step_post", "global step post-hook", "step", (OPTIM + ".optimizer.register_optimizer_step_post_hook",),
         on_optimizers("register_optimizer_step_post_hook")),
    Kind("state_dict_pre", "state_dict pre-hook", "state_dict", (MODULE + "state_dict_pre_hook",),
         on_module("state_dict_pre_hook")),
    Kind("state_dict_post", "state_dict post-hook", "state_dict", (MODULE + "state_dict_post_hook",),
         on_module("state_dict_post_hook")),
    Kind("load_pre", "load_state_dict pre-hook", "load", (MODULE + "load_state_dict_pre_hook",),
         on_module("load_state_dict_pre_hook")),
    Kind("load_post", "load_state_dict post-hook", "load", (MODULE + "load_state_dict_post_hook",),
         on_module("load_state_dict_post_hook")),
    Kind("optimizer_state_dict_pre", "state_dict pre-hook of an optimizer", "optimizer_state_dict",
         (OPTIMIZER + "state_dict_pre_hook",), on_optimizer("register_state_dict_pre_hook")),
    Kind("optimizer_state_dict_post", "state_dict post-hook of an optimizer", "optimizer_state_dict",
         (OPTIMIZER + "state_dict_post_hook",), on_optimizer("register_state_dict_post_hook")),
    Kind("optimizer_load_pre", "load_state_dict pre-hook of an optimizer", "optimizer_load",
         (OPTIMIZER + "load_state_dict_pre_hook",), on_optimizer("register_load_state_dict_pre_hook")),
    Kind("optimizer_load_post", "load_state_dict post-hook of an optimizer", "optimizer_load",
         (OPTIMIZER + "load_state_dict_post_hook",), on_optimizer("register_load_state_dict_post_hook")),
    on_registration("parameter"),
    on_registration("buffer"),
    on_registration("module"),
)  # fmt: skip
KINDS: Dict[str, Kind] = {kind.name: kind for kind in ALL}
#: The kinds that are often registered many times over on one module or leaf.
COUNTED = ("forward_pre", "forward", "full_backward", "full_backward_pre", "leaf", "post_accumulate")
#: The kinds that stay where they are registered until someone removes them.
REGISTERED = tuple(kind.name for kind in ALL if kind.attach is not None)
