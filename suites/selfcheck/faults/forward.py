"""Faults around forward: order, chaining, arguments, returns, which calls have hooks, and hooks that come and go."""

import contextlib
from typing import Any, ClassVar

import torch

from suites.selfcheck.faults.base import Call, Entries, fault, instead, part, rows, swap, while_set

WITH_KWARGS = "torch.nn.Module.register_forward_pre_hook(with_kwargs)"
PRE, POST = "_forward_pre_hooks", "_forward_hooks"


def first_only(value: Any, changed: Any) -> Any:
    """The tuple with only its first member changed."""
    if isinstance(value, tuple) and isinstance(changed, tuple) and len(value) == len(changed) > 1:
        return (changed[0], *value[1:])
    return changed


def of(store: str, order: Any) -> Any:
    """The hooks of one sort in another order, or others; those of all other sorts as they are."""
    return lambda call, right, asked: order(right(asked)) if asked == store else right(asked)


# --- order and calls ---------------------------------------------------------------------------


@instead(Call, "after", "ordering")
def MiddleForwardIgnored(call: Call, right: Any, key: int, hook: Any) -> None:
    """What a forward hook returns is ignored when it has a hook before it and one behind it."""
    keys, before = [one for one, _ in call.entries(POST)], call.out
    right(key, hook)
    if key in keys[1:-1]:
        call.out = before


@instead(Call, "after", "output", subtle=False)
def ForwardTwice(call: Call, right: Any, key: int, hook: Any) -> None:
    """Every forward hook is called twice."""
    right(key, hook)
    right(key, hook)


rows("ordering", "input", subtle=False)(
    ("PreNewestFirst", "Forward pre-hooks run newest first.", part(Call, entries=of(PRE, lambda found: found[::-1]))),
)
rows("ordering")(
    (
        "NinthForwardHook",
        "Of the forward hooks of a module, global ones included, only the first eight are called.",
        part(Call, entries=of(POST, lambda found: found[:8])),
    ),
    (
        "EvalRunsNoHooks",
        "In eval mode forward hooks and pre-hooks of a module are left out.",
        part(Call, entries=lambda call, right, store: right(store) if call.module.training else []),
    ),
)


@fault("output", subtle=True)
class OncePerPass(Call):
    """A shared module that is called again in the same forward does not call its forward hooks again."""

    active: ClassVar[list[list[Any]]] = []

    def run(self) -> Any:
        self.active.append(self.active[0] if self.active else [])
        try:
            return super().run()
        finally:
            self.active.pop()

    def entries(self, store: str) -> Entries:
        if store == POST and self.active:
            if self.module in self.active[0]:
                return []
            self.active[0].append(self.module)
        return super().entries(store)


# --- chaining and arguments --------------------------------------------------------------------


@instead(Call, "replace_both", "input.keywords", needs=WITH_KWARGS)
def KeywordsNotReplaced(call: Call, right: Any, result: Any) -> None:
    """Of what a pre-hook with_kwargs returns only the positional arguments count."""
    kwargs = call.kwargs
    right(result)
    call.kwargs = kwargs


@instead(Call, "ask", "input.many", needs=WITH_KWARGS)
def ThreeKeywords(call: Call, right: Any, key: int, hook: Any) -> Any:
    """A forward hook registered with_kwargs is given at most two keyword arguments."""
    return while_set(call, "kwargs", dict(list(call.kwargs.items())[:2]), right, key, hook)


@instead(Call, "replace_both", "input.keywords", needs=WITH_KWARGS)
def PairArgsTupled(call: Call, right: Any, result: Any) -> None:
    """The args of a pair that a pre-hook returns are made a tuple before the next hook is given them."""
    right(result)
    if isinstance(call.args, list):
        call.args = tuple(call.args)


@instead(Call, "replace_args", "input.keywords", needs=WITH_KWARGS)
def PlainLosesKeywords(call: Call, right: Any, result: Any) -> None:
    """After a pre-hook without with_kwargs the keyword arguments are those of the caller again."""
    right(result)
    call.kwargs = call.first_kwargs


rows("input.keywords", "output.keywords", needs=WITH_KWARGS)(
    (
        "StaleKeywords",
        "Forward hooks are given the keyword arguments from before the pre-hooks replaced them.",
        part(Call, ask=lambda call, right, *given: while_set(call, "kwargs", call.first_kwargs, right, *given)),
    ),
)


# --- what hooks return -------------------------------------------------------------------------


@instead(Call, "replace_out", "output.values")
def OutputKeepsDtype(call: Call, right: Any, result: Any) -> None:
    """What a forward hook returns is cast to the dtype of the output that it replaces."""
    both = isinstance(result, torch.Tensor) and isinstance(call.out, torch.Tensor)
    right(result.to(call.out.dtype) if both else result)


@instead(Call, "replace_out", "output.values")
def OutputKeepsShape(call: Call, right: Any, result: Any) -> None:
    """What a forward hook returns is dropped where its shape is not that of the output."""
    both = isinstance(result, torch.Tensor) and isinstance(call.out, torch.Tensor)
    right(None if both and result.shape != call.out.shape else result)


@instead(Call, "replace_args", "input.values")
def WholeNumbersStay(call: Call, right: Any, result: Any) -> None:
    """What a pre-hook returns is dropped where it holds a tensor of whole numbers."""
    given = result if isinstance(result, tuple) else (result,)
    whole = any(isinstance(one, torch.Tensor) and one.dtype == torch.int64 for one in given)
    right(None if whole else result)


@instead(Call, "replace_out", "output.replacement")
def FalsyOutputIgnored(call: Call, right: Any, result: Any) -> None:
    """A forward hook that returns something false, such as a zero, is taken to have returned None."""
    with_truth = isinstance(result, torch.Tensor) and result.numel() == 1
    right(None if with_truth and not result else result)


rows("input.returns")(
    (
        "BareIgnored",
        "A forward pre-hook that returns a tensor instead of a tuple is ignored.",
        part(Call, replace_args=lambda call, right, result: right(result if isinstance(result, tuple) else None)),
    ),
    (
        "ListIsTuple",
        "A list that a forward pre-hook returns is taken for the tuple of arguments.",
        part(
            Call, replace_args=lambda call, right, result: right(tuple(result) if isinstance(result, list) else result)
        ),
    ),
)


@fault("output.replacement", needs="torch.nn.Module.register_full_backward_pre_hook", subtle=True)
class OutputWrappedEarly(Call):
    """The node that calls full pre-hooks is put on the output before forward hooks see it."""

    made: Any = None

    def wrapper(self, full: list[Any], pre: list[Any]) -> Any:
        self.made = super().wrapper(full, pre)
        return self.made

    def forward(self) -> Any:
        out = super().forward()
        if self.made is not None:
            out = self.made.setup_output_hook(out)
            self.made.setup_output_hook = lambda result: result
        return out


# --- which calls have hooks --------------------------------------------------------------------


@fault("output.calls")
class ForwardRunsHooks(Call):
    """A direct call of Sequential.forward() runs the hooks of the container."""

    active: ClassVar[list[Any]] = []
    direct = False

    @classmethod
    def enter(cls, stack: contextlib.ExitStack) -> None:
        super().enter(stack)
        before = torch.nn.Sequential.forward

        def forward(module: Any, *args: Any) -> Any:
            if module in cls.active:
                return before(module, *args)
            made = cls(module, args, {})
            made.direct = True
            return made.run()

        swap(stack, torch.nn.Sequential, "forward", forward)

    def run(self) -> Any:
        self.active.append(self.module)
        try:
            return super().run()
        finally:
            self.active.pop()


@fault("output.calls", subtle=True)
class ForwardRunsGlobals(ForwardRunsHooks):
    """A direct call of Sequential.forward() runs the global hooks for the container, not its own."""

    def own(self, store: str) -> dict[int, Any]:
        return {} if self.direct else super().own(store)


@fault("output.calls", "output.layers")
def SequentialForwards(stack: contextlib.ExitStack) -> None:
    """Sequential calls forward() of its children, so that their hooks do not run."""

    def forward(module: Any, x: Any) -> Any:
        for child in module:
            x = child.forward(x)
        return x

    swap(stack, torch.nn.Sequential, "forward", forward)


@fault("output.layers")
def FastPathDeaf(stack: contextlib.ExitStack) -> None:
    """TransformerEncoderLayer takes its fast path although a part has a hook."""
    swap(stack, torch.nn.TransformerEncoderLayer, "modules", lambda module: iter(()))


@instead(Call, "run", "output.layers")
def OwnCallSilent(call: Call, right: Any) -> Any:
    """A class with its own __call__ runs no hooks, even when it passes on to Module.__call__."""
    own = "__call__" in {name for one in type(call.module).__mro__[:-2] for name in vars(one)}
    return call.forward() if own else right()


@instead(Call, "entries", "input.returns")
def LazyConvLate(call: Call, right: Any, store: str) -> Entries:
    """A lazy convolution makes its weights after the other pre-hooks of the call."""
    found = right(store)
    return found[1:] + found[:1] if store == PRE and type(call.module).__name__.startswith("LazyConv") else found


# --- a call during which hooks come and go -----------------------------------------------------


def if_there(store: str) -> Any:
    def wrong(call: Call, right: Any, key: int, hook: Any) -> None:
        if any(key == one for one, _ in call.entries(store)):
            right(key, hook)

    return wrong


rows("ordering.changes", "handles")(
    (
        "RemovalAtOnce",
        "A forward hook that another one removes in the middle of a call is left out of that call.",
        part(Call, after=if_there(POST)),
    ),
    (
        "PreRemovalAtOnce",
        "A forward pre-hook that another one removes in the middle of a call is left out of that call.",
        part(Call, before=if_there(PRE)),
    ),
    (
        "BackwardTakenAtEnd",
        "The legacy backward hooks of a call are those there are when forward is over.",
        part(Call, attach=lambda call, right, legacy: right(call.backward_hooks()[1])),
    ),
)


@fault("ordering.changes", "handles", subtle=True)
class ForwardTakenAtStart(Call):
    """The forward hooks of a call are those from before its pre-hooks ran."""

    def inner(self) -> Any:
        self.taken = super().entries(POST)
        return super().inner()

    def entries(self, store: str) -> Entries:
        return self.taken if store == POST and hasattr(self, "taken") else super().entries(store)


@fault("ordering.changes", "handles", subtle=True)
class NewHooksAtOnce(Call):
    """A forward hook that another one registers in the middle of a call runs in that call."""

    def inner(self) -> Any:
        self.known = {key for key, _ in self.entries(POST)}
        return super().inner()

    def attach(self, legacy: list[Any]) -> None:
        for key, hook in self.entries(POST):
            if key not in self.known and isinstance(self.out, torch.Tensor):
                self.after(key, hook)
        super().attach(legacy)


@fault("ordering.changes", "handles", subtle=True)
class GlobalTakenOutermost(Call):
    """The global forward hooks of all calls are those there were when the outermost of them began."""

    depth, taken = 0, []

    def run(self) -> Any:
        cls = type(self)
        if not cls.depth:
            cls.taken = list(self.everywhere(POST).items())
        cls.depth += 1
        try:
            return super().run()
        finally:
            cls.depth -= 1

    def entries(self, store: str) -> Entries:
        return [*self.taken, *self.own(store).items()] if store == POST else super().entries(store)
