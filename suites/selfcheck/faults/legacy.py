"""Faults of the legacy backward hooks of modules."""

from typing import Any

from suites.selfcheck.faults.base import Call, fault, silent


@fault("backward", "ordering")
class LegacyNever(Call):
    """Legacy backward hooks are not called."""

    def attach(self, legacy: list[Any]) -> None:
        return None


@fault("backward", "ordering", subtle=True)
class LegacyNewestFirst(Call):
    """Legacy backward hooks run newest first."""

    def attach(self, legacy: list[Any]) -> None:
        super().attach(legacy[::-1])


@fault("backward", subtle=True)
class LegacyReturnsIgnored(Call):
    """What a legacy backward hook returns is ignored."""

    def attach(self, legacy: list[Any]) -> None:
        super().attach([silent(hook) for hook in legacy])


@fault("backward", subtle=True)
class LegacyOnLastOutput(Call):
    """Legacy backward hooks of a module with several outputs go on the node of the last one."""

    def attach(self, legacy: list[Any]) -> None:
        kept = self.out
        self.out = kept[-1] if isinstance(kept, tuple) else kept
        super().attach(legacy)
        self.out = kept


@fault("backward", "ordering", subtle=True)
class LegacyOwnOnly(Call):
    """Global legacy backward hooks are not called for a module that has some of its own."""

    def backward_hooks(self) -> Any:
        full, legacy, pre = super().backward_hooks()
        shared = list(self.everywhere("_backward_hooks").values())
        own = [hook for hook in legacy if hook not in shared]
        return full, own or legacy, pre
