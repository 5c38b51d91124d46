"""Faults of the full and legacy backward hooks of modules."""

from collections.abc import Callable
from typing import Any

import torch

from suites.selfcheck.faults.base import Call, Full, fault, instead, part, rows, silent
from suites.selfcheck.faults.forward import first_only
from suites.selfcheck.faults.tensor import full_precision

FULL = "torch.nn.Module.register_full_backward_hook"
PRE = "torch.nn.Module.register_full_backward_pre_hook"
GLOBAL_FULL = (FULL, "torch.nn.modules.module.register_module_full_backward_hook")


# --- order and calls of full hooks -------------------------------------------------------------


@instead(Full, "call_pre_hooks", "backward", "ordering", needs=PRE, subtle=False)
def FullPreNewestFirst(full: Full, right: Any) -> None:
    """Full backward pre-hooks run newest first."""
    full.user_pre_hooks = full.user_pre_hooks[::-1]
    right()


def own_first(store: str, place: int) -> Callable[..., Any]:
    """Of the hooks of a call, at that place, those of the module come before the global ones."""

    def wrong(call: Call, right: Any) -> Any:
        found, shared = list(right()), list(call.everywhere(store).values())
        found[place] = sorted(found[place], key=lambda hook: hook in shared)
        return found

    return wrong


rows("backward", "ordering", needs=FULL, subtle=False)(
    (
        "FullNewestFirst",
        "Full backward hooks run newest first.",
        part(Full, __init__=lambda full, right, module, hooks, *pre: right(module, hooks[::-1], *pre)),
    ),
)
rows("backward", "ordering", needs=(*GLOBAL_FULL, PRE))(
    (
        "FullOwnBeforeGlobal",
        "A module's own full backward hooks run before the global ones.",
        part(Call, backward_hooks=own_first("_backward_hooks", 0)),
    ),
    (
        "FullPreOwnBeforeGlobal",
        "A module's own full backward pre-hooks run before the global ones.",
        part(Call, backward_hooks=own_first("_backward_pre_hooks", 2)),
    ),
)


@instead(Full, "call_hooks", "backward", needs=FULL)
def FullOnce(full: Full, right: Any, given: Any) -> Any:
    """Full backward hooks are called in the first backward through a call only."""
    if vars(full).get("called"):
        return given
    vars(full)["called"] = True
    return right(given)


class Late:
    """The full backward hooks of a module, looked up each time they are asked for."""

    def __init__(self, call: Call) -> None:
        self.call = call

    def __iter__(self) -> Any:
        return iter(Call.backward_hooks(self.call)[0])


@instead(Call, "wrapper", "backward", "ordering", needs=FULL)
def FullLive(call: Call, right: Any, *given: Any) -> Any:
    """The full backward hooks of a call are those there are when backward comes to it."""
    made = right(*given)
    if made is not None:
        made.user_hooks = Late(call)
    return made


@fault("backward", "ordering.nested", needs=FULL, subtle=True)
class FullOutermost(Call):
    """The full backward hooks of a module inside a module that has some too are not called."""

    depth = 0

    def wrapper(self, full: Any, pre: Any) -> Any:
        made = super().wrapper(full, pre) if not self.depth else None
        self.counts = made is not None
        FullOutermost.depth += self.counts
        return made

    def run(self) -> Any:
        try:
            return super().run()
        finally:
            FullOutermost.depth -= getattr(self, "counts", False)


# --- arguments of full hooks -------------------------------------------------------------------


@fault("backward", needs=PRE, subtle=True)
class StaleGradOutput(Full):
    """Full backward hooks are given grad_output from before the pre-hooks replaced it."""

    def call_pre_hooks(self) -> None:
        self.original = self.grad_outputs
        super().call_pre_hooks()

    def call_hooks(self, given: Any) -> Any:
        self.grad_outputs = self.original
        return super().call_hooks(given)


@instead(Full, "call_hooks", "backward", needs=FULL)
def KeptGradOutput(full: Full, right: Any, given: Any) -> Any:
    """In a second backward through a call full backward hooks are given grad_output of the first."""
    full.grad_outputs = vars(full).setdefault("seen", full.grad_outputs)
    return right(given)


@instead(Full, "call_hooks", "backward", needs=FULL)
def NonesLeftOut(full: Full, right: Any, given: Any) -> Any:
    """Gradients that are None are left out of the grad_output of full backward hooks."""
    full.grad_outputs = tuple(one for one in full.grad_outputs if one is not None)
    return right(given)


@instead(Full, "call_hooks", "backward.values", needs=FULL)
def EmptyIsNone(full: Full, right: Any, given: Any) -> Any:
    """A full backward hook is given None for the gradient of an input without elements."""
    for hook in full.user_hooks:
        shown = tuple(None if isinstance(one, torch.Tensor) and not one.numel() else one for one in given)
        result = hook(full.module, shown, full.grad_outputs)
        given = full.checked(result, given)
    return given


@instead(Full, "at_input", "backward.given", needs=FULL)
def UnusedMatrixGetsNone(full: Full, right: Any, grads: Any) -> Any:
    """A matrix that the outputs do not depend on gets None from a full backward hook, not zeros."""
    unused = [one is not None and one.dim() == 2 and not one.any() for one in grads]
    made = right(grads)
    return None if made is None else tuple(None if lost else one for lost, one in zip(unused, made, strict=True))


# --- what full hooks return --------------------------------------------------------------------


def ignored(full: Full, right: Any, given: Any) -> Any:
    right(given)
    return given


def kept_where(lost: Callable[[Any], bool]) -> Callable[..., Any]:
    """What a hook returns, less the tensors that are lost: what was given stays there."""

    def wrong(full: Full, right: Any, result: Any, given: Any) -> Any:
        made = right(result, given)
        if made is given or type(made) is not tuple:
            return made
        gone = [isinstance(one, torch.Tensor) and lost(one) for one in made]
        return (
            tuple(old if out else new for out, new, old in zip(gone, made, given, strict=True)) if any(gone) else made
        )

    return wrong


rows("backward", needs=FULL, subtle=False)(
    ("FullReturnsIgnored", "What a full backward hook returns is ignored.", part(Full, call_hooks=ignored)),
)
rows("backward", needs=FULL)(
    (
        "FirstGradReplaced",
        "Of the gradients of several inputs a full backward hook replaces only the first.",
        part(Full, checked=lambda full, right, result, given: first_only(given, right(result, given))),
    ),
    (
        "AnyNumber",
        "The number of gradients that a full backward hook returns is not checked.",
        part(
            Full,
            checked=lambda full, right, result, given: given if result is None or len(result) != len(given) else result,
        ),
    ),
    (
        "FullDetached",
        "The gradients that full backward hooks are given have no graph, so that a second derivative is lost.",
        part(
            Full,
            call_hooks=lambda full, right, given: right(tuple(one if one is None else one.detach() for one in given)),
        ),
    ),
    (
        "HalfStays",
        "What a full backward hook returns in half precision is dropped.",
        part(Full, checked=kept_where(lambda one: not full_precision(one))),
    ),
    (
        "ColumnsStay",
        "What a full backward hook returns is dropped where it is not contiguous.",
        part(Full, checked=kept_where(lambda one: not one.is_contiguous())),
    ),
)


@instead(Full, "call_hooks", "backward", needs=FULL)
def FullUnchained(full: Full, right: Any, given: Any) -> Any:
    """Each full backward hook is given the gradients as computed; what the last one returns counts."""
    latest = given
    for hook in full.user_hooks:
        result = hook(full.module, given, full.grad_outputs)
        if result is not None:
            latest = full.checked(result, given)
    return latest


@instead(Full, "call_pre_hooks", "backward", needs=PRE)
def FullPreUnchained(full: Full, right: Any) -> None:
    """Each full backward pre-hook is given the gradients as computed; what the last one returns counts."""
    latest = given = full.grad_outputs
    for hook in full.user_pre_hooks:
        latest = full.checked(hook(full.module, given), latest)
    full.grad_outputs = latest


@instead(Full, "without_input", "backward", needs=FULL)
def ReturnWithoutInput(full: Full, right: Any) -> None:
    """A full backward hook of a module whose inputs need no gradient may return one; it is ignored."""
    for hook in full.user_hooks:
        hook(full.module, (None,) * full.n_inputs, full.grad_outputs)
    full.grad_outputs = None


@instead(Full, "call_hooks", "backward", needs=FULL)
def FullSwallowed(full: Full, right: Any, given: Any) -> Any:
    """What a full backward hook raises is swallowed."""
    try:
        return right(given)
    except Exception:  # noqa: BLE001 - that is the fault
        return given


@instead(Full, "call_pre_hooks", "backward", needs=PRE)
def FailedPreForgets(full: Full, right: Any) -> None:
    """Of a pass in which a full backward pre-hook raises, or returns too many gradients, nothing is left."""
    try:
        right()
    except Exception:
        full.grad_outputs = None
        raise


# --- legacy hooks ------------------------------------------------------------------------------


rows("backward", "ordering", subtle=False)(
    ("LegacyNever", "Legacy backward hooks are not called.", part(Call, attach=lambda call, right, legacy: None)),
)
rows("backward", "ordering")(
    (
        "LegacyReturnsIgnored",
        "What a legacy backward hook returns is ignored.",
        part(Call, attach=lambda call, right, legacy: right([silent(hook) for hook in legacy])),
    ),
    (
        "LegacyCut",
        "At most eight legacy backward hooks are attached to the output of a call.",
        part(Call, attach=lambda call, right, legacy: right(legacy[:8])),
    ),
)


@instead(Call, "backward_hooks", "backward", "ordering")
def LegacyOwnOnly(call: Call, right: Any) -> Any:
    """Global legacy backward hooks are not called for a module that has some of its own."""
    full, legacy, pre = right()
    shared = list(call.everywhere("_backward_hooks").values())
    own = [hook for hook in legacy if hook not in shared]
    return full, own or legacy, pre
