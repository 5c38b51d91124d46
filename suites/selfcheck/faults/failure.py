"""Faults of exceptions and of always_call: what a failing call leaves, hides or runs once too often."""

from typing import Any

from suites.selfcheck.faults.base import Call, fault, instead, part, rows

ALWAYS = ("torch.nn.Module.register_forward_hook(always_call)",)
GLOBAL_ALWAYS = (*ALWAYS, "torch.nn.modules.module.register_module_forward_hook(always_call)")
HOOKS = "_forward_hooks"
NEAR = "output.always"


@instead(Call, "ask", "output", "ordering", subtle=False)
def ForwardSwallowed(call: Call, right: Any, key: int, hook: Any) -> Any:
    """What a forward hook raises is swallowed."""
    try:
        return right(key, hook)
    except Exception:  # noqa: BLE001 - that is the fault
        return None


@instead(Call, "rescue", "output", "ordering")
def HooksLostAfterFailure(call: Call, right: Any) -> None:
    """After a call that failed the module has lost its forward hooks."""
    right()
    call.own(HOOKS).clear()


# --- always_call -------------------------------------------------------------------------------


@instead(Call, "rescue", NEAR, needs=ALWAYS)
def AlwaysTwice(call: Call, right: Any) -> None:
    """After a failure the always_call hooks that have run already run once more."""
    call.done.clear()
    right()


def without(where: str) -> Any:
    """After a failure the hooks of the module, or the global ones, count as done."""

    def wrong(call: Call, right: Any) -> None:
        call.done.update(getattr(call, where)(HOOKS))
        right()

    return wrong


@instead(Call, "rescue", NEAR, needs=ALWAYS)
def AlwaysSeesNone(call: Call, right: Any) -> None:
    """After a failure the always_call hooks are given None for the output, even when there is one."""
    call.out = None
    right()


@instead(Call, "rescue", NEAR, needs=ALWAYS)
def AlwaysErrorLeaves(call: Call, right: Any) -> None:
    """What an always_call hook raises after a failure takes the place of the first error."""
    for store in (call.everywhere, call.own):
        for key, hook in store(HOOKS).items():
            if call.flagged("_forward_hooks_always_called", key) and key not in call.done:
                call.replace_out(call.ask_late(key, hook))


@instead(Call, "ask_late", NEAR, needs=ALWAYS)
def AlwaysWithoutKeywords(call: Call, right: Any, key: int, hook: Any) -> Any:
    """After a failure an always_call hook with_kwargs is not given the keyword arguments."""
    call.kwargs = {}
    return right(key, hook)


@instead(Call, "ask_late", NEAR, needs=ALWAYS)
def AlwaysOnlyFirst(call: Call, right: Any, key: int, hook: Any) -> Any:
    """After a failure only the first always_call hook runs."""
    if vars(call).setdefault("asked", key) == key:
        return right(key, hook)
    return None


@instead(Call, "ask_late", NEAR, needs=ALWAYS)
def AlwaysEndsAtError(call: Call, right: Any, key: int, hook: Any) -> Any:
    """After a failure an always_call hook that raises keeps the ones behind it from running."""
    if vars(call).get("broken"):
        return None
    try:
        return right(key, hook)
    except Exception:
        vars(call)["broken"] = True
        raise


def noting(call: Call, right: Any, key: int, hook: Any) -> None:
    try:
        right(key, hook)
    except Exception:
        vars(call)["early"] = True
        raise


rows(NEAR, needs=GLOBAL_ALWAYS)(
    (
        "AlwaysOwnOnly",
        "After a failure the global always_call hooks are forgotten.",
        part(Call, rescue=without("everywhere")),
    ),
    (
        "AlwaysGlobalOnly",
        "After a failure only the global always_call hooks run.",
        part(Call, rescue=without("own")),
    ),
)
rows(NEAR, needs=ALWAYS)(
    (
        "AlwaysOnlyForward",
        "The always_call hooks do not run when a pre-hook, not forward or a later hook, raised.",
        part(Call, before=noting, rescue=lambda call, right: None if vars(call).get("early") else right()),
    ),
)


@fault(NEAR, needs=ALWAYS, subtle=True)
class AlwaysUnchained(Call):
    """After a failure an always_call hook does not see what the one before it returned."""

    keep = False

    def rescue(self) -> None:
        self.keep = True
        super().rescue()

    def replace_out(self, result: Any) -> None:
        if not self.keep:
            super().replace_out(result)


@fault(NEAR, needs=ALWAYS, subtle=True)
class AlwaysUnchainedEarly(AlwaysUnchained):
    """What an always_call hook returns is not given to the next if the call had no output yet."""

    def rescue(self) -> None:
        if self.out is None:
            super().rescue()
        else:
            Call.rescue(self)


@fault(NEAR, needs=ALWAYS, subtle=True)
class AlwaysSaves(Call):
    """What an always_call hook returns after a failure becomes the result of the call: the error is gone."""

    saving = False
    saved: Any = None

    def run(self) -> Any:
        try:
            return super().run()
        except Exception:
            if self.saved is None:
                raise
            return self.saved

    def rescue(self) -> None:
        self.saving = True
        super().rescue()

    def replace_out(self, result: Any) -> None:
        super().replace_out(result)
        if self.saving and result is not None:
            self.saved = result


@fault(NEAR, needs=ALWAYS, subtle=True)
class AlwaysSavesEarly(AlwaysSaves):
    """A value that an always_call hook returns replaces the error if the call had no output yet."""

    early = False

    def rescue(self) -> None:
        self.early = self.out is None
        super().rescue()

    def replace_out(self, result: Any) -> None:
        super().replace_out(result)
        self.saved = self.saved if self.early else None
