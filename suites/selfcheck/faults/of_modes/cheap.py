"""Faults that the cheap modes show."""

from __future__ import annotations

import contextlib
import copy
import functools
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import torch
from torch.utils import checkpoint as cp
from torch.utils.hooks import BackwardHook

from suites.selfcheck.faults.base import swap
from suites.selfcheck.faults.of_modes.registry import FAULTS, fault

# --- parallel: torch.nn.DataParallel ------------------------------------------------------------


def parallel(stack: ExitStack, forward: Callable[..., Any]) -> None:
    swap(stack, torch.nn.DataParallel, "forward", forward)


@fault("parallel")
def no_hooks_of_the_network(stack: ExitStack) -> None:
    parallel(stack, lambda self, *xs, **kwargs: self.module.forward(*xs, **kwargs))


@fault("parallel")
def keywords_are_lost(stack: ExitStack) -> None:
    parallel(stack, lambda self, *xs, **kwargs: self.module(*xs))


@fault("parallel")
def called_twice(stack: ExitStack) -> None:
    parallel(stack, lambda self, *xs, **kwargs: (self.module(*xs, **kwargs), self.module(*xs, **kwargs))[1])


@fault("parallel")
def inputs_are_cut_off(stack: ExitStack) -> None:
    def forward(self: Any, *xs: Any, **kwargs: Any) -> Any:
        return self.module(*(x.detach() if isinstance(x, torch.Tensor) else x for x in xs), **kwargs)

    parallel(stack, forward)


@fault("parallel")
def an_output_is_a_copy(stack: ExitStack) -> None:
    def forward(self: Any, *xs: Any, **kwargs: Any) -> Any:
        out = self.module(*xs, **kwargs)
        return out.clone() if isinstance(out, torch.Tensor) else out

    parallel(stack, forward)


# --- inference: torch.inference_mode ------------------------------------------------------------


@fault("inference")
def does_nothing(stack: ExitStack) -> None:
    swap(stack, torch, "inference_mode", contextlib.nullcontext)


@fault("inference")
def is_no_grad(stack: ExitStack) -> None:
    swap(stack, torch, "inference_mode", torch.no_grad)


@fault("inference")
def is_left_at_once(stack: ExitStack) -> None:
    """What is made inside is a usual tensor, with a graph behind it where an input had one."""

    @contextlib.contextmanager
    def entered() -> Iterator[None]:
        with torch.inference_mode():
            pass
        yield

    stack.enter_context(contextlib.ExitStack())
    swap(stack, torch, "inference_mode", entered)


# --- checkpoint ---------------------------------------------------------------------------------


@fault("checkpoint")
def kept_after_all(stack: ExitStack) -> None:
    swap(stack, cp, "checkpoint", lambda fn, *xs, use_reentrant, **kwargs: fn(*xs, **kwargs))


@fault("checkpoint")
def to_the_end(stack: ExitStack) -> None:
    stack.enter_context(cp.set_checkpoint_early_stop(False))


@fault("checkpoint")
def nothing_is_compared(stack: ExitStack) -> None:
    swap(stack, cp._CheckpointFrame, "check_recomputed_tensors_match", lambda self, gid: None)


@fault("checkpoint")
def inputs_may_change(stack: ExitStack) -> None:
    swap(stack, cp._CheckpointFrame, "save_inputs", lambda self, *xs: setattr(self, "saved_args", list(xs)))
    swap(stack, cp._CheckpointFrame, "get_inputs", lambda self: self.saved_args)


@fault("checkpoint")
def again_on_copies(stack: ExitStack) -> None:
    original = cp._CheckpointFrame.get_inputs

    def inputs(self: Any) -> Any:
        return [one.clone() if isinstance(one, torch.Tensor) else one for one in original(self)]

    swap(stack, cp._CheckpointFrame, "get_inputs", inputs)


# --- reentrant ----------------------------------------------------------------------------------


def function(stack: ExitStack, forward: Any = None, backward: Any = None) -> None:
    """Have the forward or the backward of the node made otherwise, of torch's own."""
    for name, changed in (("forward", forward), ("backward", backward)):
        if changed is not None:
            original = getattr(cp.CheckpointFunction, name)
            swap(stack, cp.CheckpointFunction, name, staticmethod(functools.partial(changed, original)))


@fault("reentrant")
def not_a_node(stack: ExitStack) -> None:
    swap(stack, cp, "checkpoint", lambda fn, *xs, use_reentrant: fn(*xs))


@fault("reentrant")
def any_pass_is_taken(stack: ExitStack) -> None:
    swap(stack, torch.autograd, "_is_checkpoint_valid", lambda: True)


@fault("reentrant")
def gradients_come_reversed(stack: ExitStack) -> None:
    def backward(original: Any, ctx: Any, *grads: Any) -> Any:
        first, second, *found = original(ctx, *grads)
        return (first, second, *reversed(found))

    function(stack, backward=backward)


@fault("reentrant")
def the_pass_calls_it_twice(stack: ExitStack) -> None:
    def backward(original: Any, ctx: Any, *grads: Any) -> Any:
        run = ctx.run_function
        ctx.run_function = lambda *xs: (run(*xs), run(*xs))[1]
        try:
            return original(ctx, *grads)
        finally:
            ctx.run_function = run

    function(stack, backward=backward)


@fault("reentrant")
def inputs_lose_their_gradients(stack: ExitStack) -> None:
    """Those that need none are given one, too: what a hook of theirs would see is no longer None."""
    original = cp.detach_variable
    swap(stack, cp, "detach_variable", lambda inputs: tuple(_asking(one) for one in original(inputs)))


def _asking(one: Any) -> Any:
    floating = isinstance(one, torch.Tensor) and one.is_floating_point()
    return one.requires_grad_(not one.requires_grad) if floating else one


# --- copy ---------------------------------------------------------------------------------------


def copies(stack: ExitStack, change: Callable[[Any], None]) -> None:
    """Have each copied module changed."""
    original = copy.deepcopy

    def made(value: Any, memo: Any = None) -> Any:
        found = original(value, memo)
        if memo is None and isinstance(value, (list, dict)):
            for module in found.values() if isinstance(found, dict) else found:
                change(module)
        return found

    swap(stack, copy, "deepcopy", made)


@fault("copy", "deepcopied")
def the_option_with_kwargs_is_lost(stack: ExitStack) -> None:
    copies(stack, lambda module: module._forward_hooks_with_kwargs.clear())


@fault("copy", "deepcopied")
def the_option_always_call_is_lost(stack: ExitStack) -> None:
    copies(stack, lambda module: module._forward_hooks_always_called.clear())


@fault("copy", "deepcopied")
def full_backward_hooks_are_lost(stack: ExitStack) -> None:
    copies(stack, lambda module: module._backward_hooks.clear())


@fault("copy", "pickled")
def a_parameter_that_is_read_needs_no_gradient(stack: ExitStack) -> None:
    def reduced(self: Any, protocol: int) -> Any:
        return torch.nn.Parameter, (self.data, False)

    swap(stack, torch.nn.Parameter, "__reduce_ex__", reduced)


@fault("copy", "deepcopied")
def the_order_of_pre_hooks_turns(stack: ExitStack) -> None:
    def turned(module: Any) -> None:
        entries = list(module._forward_pre_hooks.items())
        module._forward_pre_hooks.clear()
        module._forward_pre_hooks.update(reversed(entries))

    copies(stack, turned)


# --- contexts -----------------------------------------------------------------------------------


@fault("contexts", "functional")
def functional_call_skips_hooks(stack: ExitStack) -> None:
    swap(stack, torch.func, "functional_call", lambda module, own, args, kwargs: module.forward(*args, **kwargs))


@fault("contexts", "offload")
def offloaded_tensors_come_back_as_zeros(stack: ExitStack) -> None:
    class Zeros(torch.autograd.graph.saved_tensors_hooks):
        def __init__(self) -> None:
            super().__init__(lambda tensor: tensor.detach(), torch.zeros_like)

    swap(stack, torch.autograd.graph, "save_on_cpu", Zeros)


@fault("contexts", "create_graph")
def a_pass_makes_no_graph(stack: ExitStack) -> None:
    original: Any = torch.autograd.backward

    def backward(*args: Any, create_graph: bool = False, **more: Any) -> Any:
        return original(*args, create_graph=False, **more)

    swap(stack, torch.autograd, "backward", backward)


@fault("contexts", "thread")
def another_thread_calls_no_hooks(stack: ExitStack) -> None:
    here, original = threading.get_ident(), torch.nn.Module._call_impl

    def call(self: Any, *xs: Any, **kwargs: Any) -> Any:
        return (original if threading.get_ident() == here else type(self).forward)(self, *xs, **kwargs)

    swap(stack, torch.nn.Module, "_call_impl", call)


@fault("contexts", "autocast")
def autocast_casts_float64(stack: ExitStack) -> None:
    original: Any = torch.nn.Module._call_impl

    def call(self: Any, *xs: Any, **kwargs: Any) -> Any:
        found = original(self, *xs, **kwargs)
        cast = torch.is_autocast_enabled("cpu") and isinstance(found, torch.Tensor)
        return found.to(torch.bfloat16) if cast else found

    swap(stack, torch.nn.Module, "_call_impl", call)


@fault("contexts", "anomaly")
def detect_anomaly_loses_full_backward_hooks(stack: ExitStack) -> None:
    original: Any = BackwardHook.setup_output_hook

    def setup(self: Any, args: Any) -> Any:
        return args if torch.is_anomaly_enabled() else original(self, args)

    swap(stack, BackwardHook, "setup_output_hook", setup)


@fault("contexts", "one_thread")
def a_pass_in_one_thread_ignores_its_inputs(stack: ExitStack) -> None:
    original: Any = torch.autograd.backward

    def backward(*args: Any, **more: Any) -> Any:
        if not torch._C._is_multithreading_enabled():
            more.pop("inputs", None)
        return original(*args, **more)

    swap(stack, torch.autograd, "backward", backward)


def careless(stack: ExitStack, owner: Any, name: str) -> None:
    """Have a `with` block switch nothing back where an error leaves it."""
    original = getattr(owner, name)

    @contextlib.contextmanager
    def entered(*args: Any, **kwargs: Any) -> Iterator[None]:
        block = original(*args, **kwargs)
        block.__enter__()
        yield
        block.__exit__(None, None, None)

    swap(stack, owner, name, entered)


for block, owner, attribute in (
    ("autocast", torch, "autocast"),
    ("anomaly", torch.autograd, "detect_anomaly"),
    ("offload", torch.autograd.graph, "save_on_cpu"),
    ("one_thread", torch.autograd, "set_multithreading_enabled"),
):
    FAULTS[f"an_error_leaves_{block}"] = "contexts", block, functools.partial(careless, owner=owner, name=attribute)


# --- functional and dual ------------------------------------------------------------------------


@fault("functional")
def the_own_parameters_are_used(stack: ExitStack) -> None:
    swap(stack, torch.func, "functional_call", lambda module, given, args, kwargs: module(*args, **kwargs))


@fault("functional")
def an_error_leaves_the_parameters(stack: ExitStack) -> None:
    original: Any = torch.func.functional_call

    def call(module: Any, given: Any, args: Any, kwargs: Any) -> Any:
        try:
            return original(module, given, args, kwargs)
        except Exception:
            for name in given:
                path, _, last = name.rpartition(".")
                module.get_submodule(path)._parameters[last] = given[name]
            raise

    swap(stack, torch.func, "functional_call", call)


@fault("dual")
def an_error_leaves_the_level(stack: ExitStack) -> None:
    careless(stack, torch.autograd.forward_ad, "dual_level")


@fault("dual")
def an_input_has_no_tangent(stack: ExitStack) -> None:
    swap(stack, torch.autograd.forward_ad, "make_dual", lambda one, tangent: one.view_as(one))
