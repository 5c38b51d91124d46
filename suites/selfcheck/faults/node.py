"""Faults of the hooks of autograd nodes. The types of nodes cannot be changed, so `grad_fn` hands out a stand-in."""

from collections.abc import Callable
from contextlib import ExitStack
from typing import Any
from unittest import mock

import torch

from suites.selfcheck.faults.base import fault, silent, swap

PRE = ("torch._C._functions.AccumulateGrad.register_prehook",)
NEAR = "gradient.nodes"
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


@fault(NEAR)
def node_returns_nothing(stack: ExitStack) -> None:
    """What a hook of a node returns is ignored."""
    patch_node(stack, lambda register, hook: register(silent(hook)))


@fault(NEAR, subtle=True)
def node_tuples_swapped(stack: ExitStack) -> None:
    """A hook of a node is given the gradients of the outputs first."""
    patch_node(stack, lambda register, hook: register(lambda sent, given: hook(given, sent)))


@fault(NEAR, subtle=True)
def node_single_is_bare(stack: ExitStack) -> None:
    """A hook of a node is given a tensor for a tuple of one."""

    def bare(given: Any) -> Any:
        return given[0] if len(given) == 1 else given

    patch_node(stack, lambda register, hook: register(lambda sent, given: hook(sent, bare(given))))


@fault(NEAR, subtle=True)
def node_once(stack: ExitStack) -> None:
    """A hook of a node is called in the first pass only."""

    def register_once(register: Any, hook: Any) -> Any:
        calls: list[int] = []

        def once(*given: Any) -> Any:
            calls.append(1)
            return hook(*given) if len(calls) == 1 else None

        return register(once)

    patch_node(stack, register_once)


@fault(NEAR, needs=PRE)
def node_pre_returns_nothing(stack: ExitStack) -> None:
    """What a pre-hook of a node returns is ignored."""
    patch_node(stack, lambda register, hook: register(silent(hook)), "register_prehook")


@fault(NEAR, needs=PRE, subtle=True)
def node_pre_only_first(stack: ExitStack) -> None:
    """Of what a pre-hook of a node returns only the first gradient is taken."""

    def first(hook: Any, given: Any) -> Any:
        result = hook(given)
        return (result[0], *given[1:]) if isinstance(result, tuple) and len(result) == len(given) else result

    patch_node(stack, lambda register, hook: register(lambda given: first(hook, given)), "register_prehook")


@fault(NEAR, needs=PRE, subtle=True)
def node_pre_lists(stack: ExitStack) -> None:
    """A pre-hook of a node may return a list."""

    def as_tuple(result: Any) -> Any:
        return tuple(result) if isinstance(result, list) else result

    patch_node(stack, lambda register, hook: register(lambda given: as_tuple(hook(given))), "register_prehook")
