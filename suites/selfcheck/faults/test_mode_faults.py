"""Real torch with a fault in the machinery of a mode: one of the first plans of `together` shows it."""

from __future__ import annotations

import contextlib
import copy
import functools
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest
import torch
from torch._dynamo import config as dynamo
from torch.utils import checkpoint as cp

from fixtures.clause.clause import CLAUSES
from fixtures.graph.errors import TooLarge
from fixtures.judge.corpus import corpus
from fixtures.model.contract import contract_for, installed_version
from fixtures.model.module import expect
from fixtures.plan.grammar import Plan
from fixtures.stages.modes import MODES
from suites.selfcheck.all_clauses import drawn, import_suites
from suites.selfcheck.faults.base import swap

import_suites()
CONTRACT = contract_for(installed_version())
CLAUSES_ASKED = sorted(name for name in CLAUSES if name.startswith("together."))
EACH, FEW = 15, 2
FAULTS: dict[str, tuple[str, Callable[[ExitStack], None]]] = {}


def fault(mode: str) -> Callable[[Any], Any]:
    """Register a fault of a mode: a function that enters its patches."""

    def register(enter: Any) -> Any:
        FAULTS[enter.__name__] = mode, enter
        return enter

    return register


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


@fault("copy")
def the_option_with_kwargs_is_lost(stack: ExitStack) -> None:
    copies(stack, lambda module: module._forward_hooks_with_kwargs.clear())


@fault("copy")
def the_option_always_call_is_lost(stack: ExitStack) -> None:
    copies(stack, lambda module: module._forward_hooks_always_called.clear())


@fault("copy")
def full_backward_hooks_are_lost(stack: ExitStack) -> None:
    copies(stack, lambda module: module._backward_hooks.clear())


@fault("copy")
def the_order_of_pre_hooks_turns(stack: ExitStack) -> None:
    def turned(module: Any) -> None:
        entries = list(module._forward_pre_hooks.items())
        module._forward_pre_hooks.clear()
        module._forward_pre_hooks.update(reversed(entries))

    copies(stack, turned)


# --- contexts -----------------------------------------------------------------------------------


@fault("contexts")
def functional_call_skips_hooks(stack: ExitStack) -> None:
    swap(stack, torch.func, "functional_call", lambda module, own, args, kwargs: module.forward(*args, **kwargs))


@fault("contexts")
def offloaded_tensors_come_back_as_zeros(stack: ExitStack) -> None:
    class Zeros(torch.autograd.graph.saved_tensors_hooks):
        def __init__(self) -> None:
            super().__init__(lambda tensor: tensor.detach(), torch.zeros_like)

    swap(stack, torch.autograd.graph, "save_on_cpu", Zeros)


@fault("contexts")
def a_pass_makes_no_graph(stack: ExitStack) -> None:
    original: Any = torch.autograd.backward

    def backward(*args: Any, create_graph: bool = False, **more: Any) -> Any:
        return original(*args, create_graph=False, **more)

    swap(stack, torch.autograd, "backward", backward)


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
def an_input_has_no_tangent(stack: ExitStack) -> None:
    swap(stack, torch.autograd.forward_ad, "make_dual", lambda one, tangent: one.view_as(one))


# --- modes of torch.compile ---------------------------------------------------------------------


@fault("compiled")
def nothing_is_compiled(stack: ExitStack) -> None:
    swap(stack, torch, "compile", lambda module, backend: module)


@fault("compiled")
def hooks_are_guarded(stack: ExitStack) -> None:
    """A hook that a module gets later compiles the call anew."""
    stack.enter_context(dynamo.patch(skip_nnmodule_hook_guards=False))


@fault("compiled")
def the_wrapper_has_no_hooks(stack: ExitStack) -> None:
    called = torch._dynamo.eval_frame.OptimizedModule
    swap(stack, called, "__call__", lambda self, *xs, **kwargs: self.forward(*xs, **kwargs))


@fault("compiled")
def the_network_has_no_hooks(stack: ExitStack) -> None:
    original: Any = torch.compile
    swap(stack, torch, "compile", lambda module, backend: original(module.forward, backend=backend))


@fault("late")
def late_hooks_are_guarded(stack: ExitStack) -> None:
    hooks_are_guarded(stack)


@fault("late")
def a_late_hook_of_the_network_is_ignored(stack: ExitStack) -> None:
    the_network_has_no_hooks(stack)


@fault("aot")
def no_backward_is_traced(stack: ExitStack) -> None:
    original: Any = torch.compile
    swap(stack, torch, "compile", lambda module, backend: original(module, backend="eager"))


@fault("in_place")
def the_network_is_not_compiled(stack: ExitStack) -> None:
    swap(stack, torch.nn.Module, "compile", lambda self, backend: None)


# ------------------------------------------------------------------------------------------------


def asked(mode: Any, name: str) -> Iterable[Any]:
    """The plans of a clause that a mode is asked: the first, or where a play costs much a part of its corpus."""
    if not mode.costly:
        return drawn(name, EACH)
    return corpus(CLAUSES[name], mode.keeps)[1:FEW] if CLAUSES[name].plays else []


@functools.cache
def plans(mode: str) -> list[tuple[Plan, Any]]:
    """The witnesses of a mode, and plans of each whole-grammar clause that it keeps, with what its model says."""
    chosen, lib = MODES[mode](), MODES[mode]().lib(installed_version())
    found = []
    witnesses = [rule.witness for rule in chosen.rules_of(installed_version())] if chosen.costly else []
    for plan in (*witnesses, *(plan for name in CLAUSES_ASKED for plan in asked(chosen, name))):
        if isinstance(plan, Plan) and chosen.keeps(plan):
            with contextlib.suppress(TooLarge):
                found.append((plan, expect(plan, CONTRACT, lib)))
    return found


def differing(mode: str) -> Iterator[Plan]:
    chosen = MODES[mode]()
    return (plan for plan, expected in plans(mode) if chosen.play(plan) != expected)


@pytest.mark.parametrize("mode", sorted({mode for mode, _ in FAULTS.values()}))
def test_torch_itself_does_what_the_model_says(mode: str) -> None:
    assert list(differing(mode)) == []


@pytest.mark.parametrize("name", FAULTS)
def test_a_plan_rejects_it(name: str) -> None:
    mode, enter = FAULTS[name]
    with ExitStack() as stack:
        enter(stack)
        assert next(differing(mode), None) is not None, f"no plan of {len(plans(mode))} sees it in the mode {mode}"
