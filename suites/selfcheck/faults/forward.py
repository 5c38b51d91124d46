"""Faults around forward: order, chaining, arguments and what hooks return."""

from typing import Any, ClassVar

import torch

from suites.selfcheck.faults.base import Call, Entries, fault

OPTIONS = ("torch.nn.Module.register_forward_hook(with_kwargs)",)
GLOBAL = ("torch.nn.modules.module.register_module_forward_hook",)


def first_only(value: Any, changed: Any) -> Any:
    """The tuple with only its first member changed."""
    if isinstance(value, tuple) and isinstance(changed, tuple) and len(value) == len(changed) > 1:
        return (changed[0], *value[1:])
    return changed


# --- order and calls ---------------------------------------------------------------------------


@fault("ordering", "input")
class PreNewestFirst(Call):
    """Forward pre-hooks run newest first."""

    def entries(self, store: str) -> Entries:
        found = super().entries(store)
        return found[::-1] if store == "_forward_pre_hooks" else found


@fault("ordering", "output")
class ForwardNewestFirst(Call):
    """Forward hooks run newest first."""

    def entries(self, store: str) -> Entries:
        found = super().entries(store)
        return found[::-1] if store == "_forward_hooks" else found


@fault("ordering", needs=GLOBAL, subtle=True)
class PreOwnBeforeGlobal(Call):
    """A module's own forward pre-hooks run before the global ones."""

    def entries(self, store: str) -> Entries:
        if store != "_forward_pre_hooks":
            return super().entries(store)
        return [*self.own(store).items(), *self.everywhere(store).items()]


@fault("ordering", needs=GLOBAL, subtle=True)
class ForwardOwnBeforeGlobal(Call):
    """A module's own forward hooks run before the global ones."""

    def entries(self, store: str) -> Entries:
        if store != "_forward_hooks":
            return super().entries(store)
        return [*self.own(store).items(), *self.everywhere(store).items()]


@fault("ordering")
class OnlyFirstForward(Call):
    """Of several forward hooks only the first is called."""

    def entries(self, store: str) -> Entries:
        return super().entries(store)[: 1 if store == "_forward_hooks" else None]


@fault("ordering")
class OnlyLastPre(Call):
    """Of several forward pre-hooks only the last is called."""

    def entries(self, store: str) -> Entries:
        return super().entries(store)[-1 if store == "_forward_pre_hooks" else 0 :]


@fault("ordering", subtle=True)
class AtMostTwo(Call):
    """A third hook around forward, and any after it, is not called."""

    def entries(self, store: str) -> Entries:
        return super().entries(store)[:2]


@fault("ordering", subtle=True)
class MiddleForwardIgnored(Call):
    """What a forward hook returns is ignored when it has a hook before it and one behind it."""

    def after(self, key: int, hook: Any) -> None:
        keys = [one for one, _ in self.entries("_forward_hooks")]
        before = self.out
        super().after(key, hook)
        if key in keys[1:-1]:
            self.out = before


@fault("output")
class ForwardTwice(Call):
    """Every forward hook is called twice."""

    def after(self, key: int, hook: Any) -> None:
        super().after(key, hook)
        super().after(key, hook)


@fault("input")
class PreAfterForward(Call):
    """Forward pre-hooks are called after forward."""

    def forward(self) -> Any:
        out = super().forward()
        for key, hook in super().entries("_forward_pre_hooks"):
            self.before(key, hook)
        return out

    def entries(self, store: str) -> Entries:
        return [] if store == "_forward_pre_hooks" else super().entries(store)


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
        if store == "_forward_hooks" and self.active:
            if self.module in self.active[0]:
                return []
            self.active[0].append(self.module)
        return super().entries(store)


@fault("ordering.nested", "tutorial", subtle=True)
class DepthOne(Call):
    """Forward hooks are not called for modules two or more containers deep."""

    depth = 0

    def run(self) -> Any:
        DepthOne.depth += 1
        try:
            return super().run()
        finally:
            DepthOne.depth -= 1

    def entries(self, store: str) -> Entries:
        return [] if store == "_forward_hooks" and self.depth > 2 else super().entries(store)


@fault("ordering", needs=GLOBAL, subtle=True)
class GlobalNeedsOwn(Call):
    """Global forward hooks run only for modules that have a hook of their own."""

    def everywhere(self, store: str) -> dict[int, Any]:
        return super().everywhere(store) if any(self.own(one) for one in self.STORES) else {}


@fault("ordering", needs=GLOBAL, subtle=True)
class GlobalOnlyWithoutOwn(Call):
    """Global forward hooks are left out for modules that have forward hooks of their own."""

    def entries(self, store: str) -> Entries:
        own = [*self.own(store).items()]
        return own if own and store == "_forward_hooks" else super().entries(store)


@fault("ordering.nested", needs=GLOBAL, subtle=True)
class GlobalOutermost(Call):
    """Global forward hooks run for the outermost module only."""

    depth = 0

    def run(self) -> Any:
        GlobalOutermost.depth += 1
        try:
            return super().run()
        finally:
            GlobalOutermost.depth -= 1

    def everywhere(self, store: str) -> dict[int, Any]:
        return super().everywhere(store) if self.depth == 1 else {}


# --- chaining and arguments --------------------------------------------------------------------


@fault("output")
class ForwardUnchained(Call):
    """Every forward hook is given what forward returned; what the last one returns counts."""

    def forward(self) -> Any:
        self.made = super().forward()
        return self.made

    def ask(self, key: int, hook: Any) -> Any:
        latest, self.out = self.out, self.made
        try:
            return super().ask(key, hook)
        finally:
            self.out = latest


@fault("input")
class PreUnchained(Call):
    """Every forward pre-hook is given the arguments of the call, not what the one before it left."""

    def before(self, key: int, hook: Any) -> None:
        latest, self.args = self.args, self.first_args
        super().before(key, hook)
        if self.args is self.first_args:
            self.args = latest


@fault("input", "output", subtle=True)
class StaleArgs(Call):
    """Forward hooks are given the arguments from before the pre-hooks replaced them."""

    def ask(self, key: int, hook: Any) -> Any:
        latest, self.args = self.args, self.first_args
        try:
            return super().ask(key, hook)
        finally:
            self.args = latest


@fault("input.keywords", "output.keywords", needs=OPTIONS, subtle=True)
class StaleKeywords(Call):
    """Forward hooks are given the keyword arguments from before the pre-hooks replaced them."""

    def ask(self, key: int, hook: Any) -> Any:
        latest, self.kwargs = self.kwargs, self.first_kwargs
        try:
            return super().ask(key, hook)
        finally:
            self.kwargs = latest


@fault("output.keywords", needs=OPTIONS)
class KeywordsMissing(Call):
    """Forward hooks registered with_kwargs are given an empty dict."""

    def ask(self, key: int, hook: Any) -> Any:
        latest, self.kwargs = self.kwargs, {}
        try:
            return super().ask(key, hook)
        finally:
            self.kwargs = latest


@fault("input.keywords", needs=OPTIONS, subtle=True)
class KeywordsNotReplaced(Call):
    """Of what a pre-hook with_kwargs returns only the positional arguments count."""

    def replace_both(self, result: Any) -> None:
        kwargs = self.kwargs
        super().replace_both(result)
        self.kwargs = kwargs


@fault("input.keywords", needs=OPTIONS, subtle=True)
class OnlyKeywordsReplaced(Call):
    """Of what a pre-hook with_kwargs returns only the keyword arguments count."""

    def replace_both(self, result: Any) -> None:
        args = self.args
        super().replace_both(result)
        self.args = args


@fault("output", subtle=True)
class DetachedOutput(Call):
    """Forward hooks are given a detached output, so that what they return is cut off the graph."""

    def ask(self, key: int, hook: Any) -> Any:
        latest, self.out = self.out, self.out.detach() if isinstance(self.out, torch.Tensor) else self.out
        try:
            return super().ask(key, hook)
        finally:
            self.out = latest


@fault("input", "tutorial")
class ListOfArgs(Call):
    """Forward hooks are given the arguments as a list."""

    def ask(self, key: int, hook: Any) -> Any:
        latest: Any = self.args
        self.args = list(latest)  # type: ignore[assignment]
        try:
            return super().ask(key, hook)
        finally:
            self.args = latest


@fault("output", subtle=True)
class FirstOutputGiven(Call):
    """Forward hooks of a module with several outputs are given the first one only."""

    def ask(self, key: int, hook: Any) -> Any:
        latest, self.out = self.out, self.out[0] if isinstance(self.out, tuple) else self.out
        try:
            return super().ask(key, hook)
        finally:
            self.out = latest


# --- what hooks return -------------------------------------------------------------------------


@fault("output")
class ForwardReturnsIgnored(Call):
    """What a forward hook returns is ignored."""

    def replace_out(self, result: Any) -> None:
        return None


@fault("input")
class PreReturnsIgnored(Call):
    """What a forward pre-hook returns is ignored."""

    def replace_args(self, result: Any) -> None:
        return None


@fault("input.returns", subtle=True)
class BareIgnored(Call):
    """A forward pre-hook that returns a tensor instead of a tuple is ignored."""

    def replace_args(self, result: Any) -> None:
        super().replace_args(result if isinstance(result, tuple) else None)


@fault("input", subtle=True)
class FirstArgReplaced(Call):
    """Of several arguments a pre-hook replaces only the first."""

    def replace_args(self, result: Any) -> None:
        super().replace_args(first_only(self.args, result))


@fault("output", subtle=True)
class FirstOutputReplaced(Call):
    """Of several outputs a forward hook replaces only the first."""

    def replace_out(self, result: Any) -> None:
        super().replace_out(first_only(self.out, result))


@fault("output.replacement", subtle=True)
class FalsyOutputIgnored(Call):
    """A forward hook that returns something false, such as a zero, is taken to have returned None."""

    def replace_out(self, result: Any) -> None:
        with_truth = isinstance(result, torch.Tensor) and result.numel() == 1
        super().replace_out(None if with_truth and not result else result)


@fault("input.returns", subtle=True)
class ListIsTuple(Call):
    """A list that a forward pre-hook returns is taken for the tuple of arguments."""

    def replace_args(self, result: Any) -> None:
        super().replace_args(tuple(result) if isinstance(result, list) else result)


@fault("output.replacement", subtle=True)
class TupleOfOneUnpacked(Call):
    """A forward hook that returns a tuple of one tensor replaces the output by that tensor."""

    def replace_out(self, result: Any) -> None:
        super().replace_out(result[0] if isinstance(result, tuple) and len(result) == 1 else result)
