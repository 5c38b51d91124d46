"""Faults of exceptions and of always_call: what a failing call leaves, hides or runs once too often."""

from typing import Any

from suites.selfcheck.faults.base import Call, fault

ALWAYS = ("torch.nn.Module.register_forward_hook(always_call)",)
GLOBAL_ALWAYS = (*ALWAYS, "torch.nn.modules.module.register_module_forward_hook(always_call)")


@fault("output", "ordering")
class ForwardSwallowed(Call):
    """What a forward hook raises is swallowed."""

    def ask(self, key: int, hook: Any) -> Any:
        try:
            return super().ask(key, hook)
        except Exception:  # noqa: BLE001 - that is the fault
            return None


@fault("input", "ordering")
class PreSwallowed(Call):
    """What a forward pre-hook raises is swallowed."""

    def before(self, key: int, hook: Any) -> None:
        try:
            super().before(key, hook)
        except Exception:  # noqa: BLE001 - that is the fault
            return


@fault("output", "input")
class ErrorsAreRuntimeErrors(Call):
    """Whatever a hook around forward raises leaves the call as RuntimeError."""

    def run(self) -> Any:
        try:
            return super().run()
        except Exception as error:
            raise RuntimeError(str(error)) from error


@fault("ordering", "output", subtle=True)
class HooksLostAfterFailure(Call):
    """After a call that failed the module has lost its forward hooks."""

    def rescue(self) -> None:
        super().rescue()
        self.own("_forward_hooks").clear()


@fault("input", "output", subtle=True)
class RaisingHookRemoved(Call):
    """A forward hook that raises is removed."""

    def ask(self, key: int, hook: Any) -> Any:
        try:
            return super().ask(key, hook)
        except Exception:
            self.own("_forward_hooks").pop(key, None)
            raise


@fault("output", subtle=True)
class RestAfterFailure(Call):
    """When a forward hook raises, the ones behind it are called before the error leaves the call."""

    def after(self, key: int, hook: Any) -> None:
        try:
            super().after(key, hook)
        except Exception:
            pairs = self.entries("_forward_hooks")
            for other, function in pairs[[one for one, _ in pairs].index(key) + 1 :]:
                super().after(other, function)
            raise


@fault("output", subtle=True)
class FailureForgets(Call):
    """A module whose forward hook raised skips its forward pre-hooks in the next call."""

    def rescue(self) -> None:
        super().rescue()
        self.module.__dict__["_failed"] = True

    def inner(self) -> Any:
        self.silent = self.module.__dict__.pop("_failed", False)
        return super().inner()

    def before(self, key: int, hook: Any) -> None:
        if not self.silent:
            super().before(key, hook)


# --- always_call -------------------------------------------------------------------------------


@fault("output.always", needs=ALWAYS)
class AlwaysNever(Call):
    """An always_call hook is not called when the call failed."""

    def rescue(self) -> None:
        return None


@fault("output.always", needs=ALWAYS, subtle=True)
class AlwaysTwice(Call):
    """After a failure the always_call hooks that have run already run once more."""

    def rescue(self) -> None:
        self.done.clear()
        super().rescue()


@fault("output.always", needs=GLOBAL_ALWAYS, subtle=True)
class AlwaysOwnOnly(Call):
    """After a failure the global always_call hooks are forgotten."""

    def rescue(self) -> None:
        self.done.update(self.everywhere("_forward_hooks"))
        super().rescue()


@fault("output.always", needs=GLOBAL_ALWAYS, subtle=True)
class AlwaysGlobalOnly(Call):
    """After a failure only the global always_call hooks run."""

    def rescue(self) -> None:
        self.done.update(self.own("_forward_hooks"))
        super().rescue()


@fault("output.always", needs=ALWAYS, subtle=True)
class AlwaysSeesNone(Call):
    """After a failure the always_call hooks are given None for the output, even when there is one."""

    def rescue(self) -> None:
        self.out = None
        super().rescue()


@fault("output.always", needs=ALWAYS)
class AllRunAlways(Call):
    """After a failure every forward hook that has not run is called, always_call or not."""

    def flagged(self, flag: str, key: int) -> bool:
        return flag == "_forward_hooks_always_called" or super().flagged(flag, key)

    def rescue(self) -> None:
        for key, hook in self.entries("_forward_hooks"):
            if key not in self.done:
                try:
                    self.replace_out(self.ask_late(key, hook))
                except Exception:  # noqa: BLE001 - as torch does
                    continue


@fault("output.always", needs=ALWAYS, subtle=True)
class AlwaysUnchained(Call):
    """After a failure an always_call hook does not see what the one before it returned."""

    def rescue(self) -> None:
        self.keep = True
        super().rescue()

    def replace_out(self, result: Any) -> None:
        if not getattr(self, "keep", False):
            super().replace_out(result)


@fault("output.always", needs=ALWAYS, subtle=True)
class AlwaysErrorLeaves(Call):
    """What an always_call hook raises after a failure takes the place of the first error."""

    def rescue(self) -> None:
        for store in (self.everywhere, self.own):
            for key, hook in store("_forward_hooks").items():
                if self.flagged("_forward_hooks_always_called", key) and key not in self.done:
                    self.replace_out(self.ask_late(key, hook))


@fault("output.always", needs=ALWAYS, subtle=True)
class AlwaysSaves(Call):
    """What an always_call hook returns after a failure becomes the result of the call: the error is gone."""

    def run(self) -> Any:
        try:
            return super().run()
        except Exception:
            if self.saved is None:
                raise
            return self.saved

    saved: Any = None

    def rescue(self) -> None:
        self.saving = True
        super().rescue()

    def replace_out(self, result: Any) -> None:
        super().replace_out(result)
        if getattr(self, "saving", False) and result is not None:
            self.saved = result


@fault("output.always", needs=ALWAYS, subtle=True)
class AlwaysSavesEarly(AlwaysSaves):
    """A value that an always_call hook returns replaces the error if the call had no output yet."""

    early = False

    def rescue(self) -> None:
        self.early = self.out is None
        super().rescue()

    def replace_out(self, result: Any) -> None:
        super().replace_out(result)
        self.saved = self.saved if self.early else None


@fault("output.always", needs=ALWAYS, subtle=True)
class AlwaysUnchainedEarly(AlwaysUnchained):
    """What an always_call hook returns is not given to the next if the call had no output yet."""

    def rescue(self) -> None:
        if self.out is None:
            super().rescue()
        else:
            Call.rescue(self)


@fault("output.always", needs=ALWAYS, subtle=True)
class AlwaysStaleArgs(Call):
    """After a failure the always_call hooks are given the arguments from before the pre-hooks."""

    def rescue(self) -> None:
        self.args = self.first_args
        super().rescue()


@fault("output.always", needs=ALWAYS, subtle=True)
class AlwaysWithoutKeywords(Call):
    """After a failure an always_call hook with_kwargs is not given the keyword arguments."""

    def ask_late(self, key: int, hook: Any) -> Any:
        self.kwargs = {}
        return super().ask_late(key, hook)


@fault("output.always", needs=ALWAYS, subtle=True)
class AlwaysOnlyFirst(Call):
    """After a failure only the first always_call hook runs."""

    def ask_late(self, key: int, hook: Any) -> Any:
        if getattr(self, "asked", False):
            return None
        self.asked = True
        return super().ask_late(key, hook)


@fault("output.always", needs=ALWAYS, subtle=True)
class AlwaysEndsAtError(Call):
    """After a failure an always_call hook that raises keeps the ones behind it from running."""

    def ask_late(self, key: int, hook: Any) -> Any:
        if getattr(self, "broken", False):
            return None
        try:
            return super().ask_late(key, hook)
        except Exception:
            self.broken = True
            raise


@fault("output.always", needs=ALWAYS, subtle=True)
class AlwaysOnlyForward(Call):
    """The always_call hooks do not run when a pre-hook, not forward or a later hook, raised."""

    def before(self, key: int, hook: Any) -> None:
        try:
            super().before(key, hook)
        except Exception:
            self.early = True
            raise

    def rescue(self) -> None:
        if not getattr(self, "early", False):
            super().rescue()


@fault("output.always", needs=ALWAYS, subtle=True)
class AlwaysFirst(Call):
    """always_call hooks run before the other forward hooks of the module."""

    def entries(self, store: str) -> Any:
        found = super().entries(store)
        if store != "_forward_hooks":
            return found
        return sorted(found, key=lambda pair: not self.flagged("_forward_hooks_always_called", pair[0]))
