"""Faults of the hooks of autograd nodes, and of hooks of several tensors.

The types of nodes cannot be changed, so `grad_fn` hands out a stand-in.
"""

import threading
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from typing import Any
from unittest import mock

import torch
from torch.autograd import graph

from suites.selfcheck.faults.base import fault, rows, silent, swap
from suites.selfcheck.faults.tensor import first_calls, until_it_raises

PRE = "torch._C._functions.AccumulateGrad.register_prehook"
SEVERAL = "torch.autograd.graph.register_multi_grad_hook"
#: Registers a hook on a node: (the node's own method, the hook) -> a handle.
Register = Callable[[Callable[[Any], Any], Any], Any]


class Node:
    """A node of autograd, but for one method."""

    def __init__(self, node: Any, name: str, register: Register) -> None:
        self._node, self._name, self._register = node, name, register

    def __eq__(self, other: object) -> bool:
        return self._node is getattr(other, "_node", other)

    def __hash__(self) -> int:
        return hash(self._node)

    def __getattr__(self, name: str) -> Any:
        own = getattr(self._node, name)
        if name != self._name:
            return own
        # torch's own hooks on modules are hooks of nodes, too: they stay as they are.
        return lambda hook: own(hook) if of_torch(hook) else self._register(own, hook)


def of_torch(hook: Any) -> bool:
    return str(getattr(hook, "__module__", None) or type(hook).__module__).startswith("torch.")


def patch_node(stack: ExitStack, register: Register, name: str = "register_hook") -> None:
    """Have the nodes that tensors name register a hook in another way."""
    original: Any = torch.Tensor.__base__

    def grad_fn(self: Any) -> Any:
        node = original.grad_fn.__get__(self)
        return None if node is None else Node(node, name, register)

    stack.enter_context(mock.patch.object(torch.Tensor, "grad_fn", property(grad_fn), create=True))
    asks = getattr(torch._C, "_will_engine_execute_node", None)
    if asks is not None:  # hooks of several tensors ask it of these nodes
        swap(stack, torch._C, "_will_engine_execute_node", lambda node: asks(getattr(node, "_node", node)))


@fault(control=True)
def stand_in_nodes(stack: ExitStack) -> None:
    """Nothing is wrong: what is registered on nodes is called by another function."""
    patch_node(stack, lambda register, hook: register(lambda *given: hook(*given)))  # noqa: PLW0108 - not the hook itself


def copies(given: Any) -> Any:
    return [one.clone() if isinstance(one, torch.Tensor) else one for one in given]


def first_only(hook: Any, given: Any) -> Any:
    result = hook(given)
    return (result[0], *given[1:]) if isinstance(result, tuple) and len(result) == len(given) else result


rows("gradient.nodes", "gradient.switched", subtle=False)(
    (
        "node_returns_nothing",
        "What a hook of a node returns is ignored.",
        partial(patch_node, register=lambda register, hook: register(silent(hook))),
    ),
    (
        "node_raised_is_out",
        "A hook of a node that raised once is not called again.",
        partial(patch_node, register=lambda register, hook: register(until_it_raises(hook))),
    ),
)
rows("gradient.nodes", needs=PRE)(
    (
        "node_pre_returns_nothing",
        "What a pre-hook of a node returns is ignored.",
        partial(patch_node, register=lambda register, hook: register(silent(hook)), name="register_prehook"),
    ),
    (
        "node_pre_edit_lost",
        "A pre-hook of a node is given copies of several gradients.",
        partial(
            patch_node,
            register=lambda register, hook: register(
                lambda given: hook(tuple(copies(given)) if len(given) > 1 else given)
            ),
            name="register_prehook",
        ),
    ),
    (
        "node_pre_only_first",
        "Of what a pre-hook of a node returns only the first gradient is taken.",
        partial(
            patch_node, register=lambda register, hook: register(partial(first_only, hook)), name="register_prehook"
        ),
    ),
)


# --- hooks of several tensors ------------------------------------------------------------------


def patch_several(stack: ExitStack, made: Callable[[Any], Any], only: str = "") -> None:
    """Let `made(hook)` be what is registered for several tensors, in one mode `only` where that is said."""
    original: Any = graph.register_multi_grad_hook

    def register(tensors: Any, fn: Any, *, mode: str = "all") -> Any:
        call = made(fn) if only in ("", mode) else fn
        return original(tensors, call) if mode == "all" else original(tensors, call, mode=mode)

    swap(stack, graph, "register_multi_grad_hook", register)


def in_one_thread(hook: Any) -> Any:
    """The hook, but only in the thread that calls it first."""
    first: list[int] = []

    def call(given: Any) -> Any:
        first.append(threading.get_ident())
        return hook(given) if threading.get_ident() == first[0] else None

    return call


rows("several", "together.several", needs=SEVERAL, control=True)(
    (
        "passed_on",
        "Nothing is wrong: hooks of several tensors are called by another function.",
        partial(patch_several, made=lambda hook: lambda given: hook(given)),  # noqa: PLW0108 - not the hook itself
    ),
)
rows("several", "together.several", needs=SEVERAL)(
    (
        "several_reversed",
        "The gradients of several tensors are given in the reversed order.",
        partial(patch_several, made=lambda hook: lambda given: hook(given[::-1]), only="all"),
    ),
    (
        "several_once",
        "A hook of several tensors is called in the first pass only.",
        partial(patch_several, made=partial(first_calls, 1)),
    ),
    (
        "several_copies",
        "A hook of several tensors is given copies, so that an edit in place is lost.",
        partial(patch_several, made=lambda hook: lambda given: hook(copies(given)), only="all"),
    ),
    (
        "several_shares_threads",
        "Of passes that run at once in several threads only those of one thread call a hook of several tensors.",
        partial(patch_several, made=in_one_thread),
    ),
)
