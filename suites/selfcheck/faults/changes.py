"""Faults of a call during which hooks come and go."""

from typing import Any

import torch

from suites.selfcheck.faults.base import Call, Entries, fault


@fault("ordering.changes", "handles", subtle=True)
class RemovalAtOnce(Call):
    """A forward hook that another one removes in the middle of a call is left out of that call."""

    def after(self, key: int, hook: Any) -> None:
        if any(key == one for one, _ in self.entries("_forward_hooks")):
            super().after(key, hook)


@fault("ordering.changes", "handles", subtle=True)
class PreRemovalAtOnce(Call):
    """A forward pre-hook that another one removes in the middle of a call is left out of that call."""

    def before(self, key: int, hook: Any) -> None:
        if any(key == one for one, _ in self.entries("_forward_pre_hooks")):
            super().before(key, hook)


@fault("ordering.changes", "handles", subtle=True)
class ForwardTakenAtStart(Call):
    """The forward hooks of a call are those from before its pre-hooks ran."""

    def inner(self) -> Any:
        self.taken = super().entries("_forward_hooks")
        return super().inner()

    def entries(self, store: str) -> Entries:
        return self.taken if store == "_forward_hooks" and hasattr(self, "taken") else super().entries(store)


@fault("ordering.changes", "handles", "backward", subtle=True)
class BackwardTakenAtEnd(Call):
    """The legacy backward hooks of a call are those there are when forward is over."""

    def attach(self, legacy: list[Any]) -> None:
        super().attach(self.backward_hooks()[1])


@fault("ordering.changes", "handles", subtle=True)
class NewHooksAtOnce(Call):
    """A forward hook that another one registers in the middle of a call runs in that call."""

    def inner(self) -> Any:
        self.known = {key for key, _ in self.entries("_forward_hooks")}
        return super().inner()

    def attach(self, legacy: list[Any]) -> None:
        for key, hook in self.entries("_forward_hooks"):
            if key not in self.known and isinstance(self.out, torch.Tensor):
                self.after(key, hook)
        super().attach(legacy)
