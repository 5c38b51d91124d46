"""Faults of calls: a direct forward, an own __call__, layers with ways of their own, what is kept between hooks."""

import contextlib
from typing import Any, ClassVar

import torch

from suites.selfcheck.faults.base import Call, Entries, fault, swap


@fault("output.calls")
class ForwardRunsHooks(Call):
    """A direct call of Sequential.forward() runs the hooks of the container."""

    active: ClassVar[list[Any]] = []

    @classmethod
    def enter(cls, stack: contextlib.ExitStack) -> None:
        super().enter(stack)
        before = torch.nn.Sequential.forward

        def forward(module: Any, *args: Any) -> Any:
            return before(module, *args) if module in cls.active else cls(module, args, {}).run()

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

    @classmethod
    def enter(cls, stack: contextlib.ExitStack) -> None:
        super().enter(stack)
        inside = torch.nn.Sequential.forward

        def forward(module: Any, *args: Any) -> Any:
            if module in cls.active:
                return inside(module, *args)
            made = cls(module, args, {})
            made.direct = True
            return made.run()

        swap(stack, torch.nn.Sequential, "forward", forward)

    direct = False

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


@fault("output.layers", subtle=True)
class OwnCallSilent(Call):
    """A class with its own __call__ runs no hooks, even when it passes on to Module.__call__."""

    def run(self) -> Any:
        own = "__call__" in {name for one in type(self.module).__mro__[:-2] for name in vars(one)}
        return self.forward() if own else super().run()


@fault("output.layers")
def FastPathDeaf(stack: contextlib.ExitStack) -> None:
    """TransformerEncoderLayer takes its fast path although a part has a hook."""
    swap(stack, torch.nn.TransformerEncoderLayer, "modules", lambda module: iter(()))


@fault("input.returns", subtle=True)
class LazyConvLate(Call):
    """A lazy convolution makes its weights after the other pre-hooks of the call."""

    def entries(self, store: str) -> Entries:
        found = super().entries(store)
        late = store == "_forward_pre_hooks" and type(self.module).__name__.startswith("LazyConv")
        return found[1:] + found[:1] if late else found


@fault("input.keywords", needs="torch.nn.Module.register_forward_pre_hook(with_kwargs)", subtle=True)
class PairArgsTupled(Call):
    """The args of a pair that a pre-hook returns are made a tuple before the next hook is given them."""

    def replace_both(self, result: Any) -> None:
        super().replace_both(result)
        if isinstance(self.args, list):
            self.args = tuple(self.args)


@fault("input.keywords", needs="torch.nn.Module.register_forward_pre_hook(with_kwargs)", subtle=True)
class PlainLosesKeywords(Call):
    """After a pre-hook without with_kwargs the keyword arguments are those of the caller again."""

    def replace_args(self, result: Any) -> None:
        super().replace_args(result)
        self.kwargs = self.first_kwargs


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
