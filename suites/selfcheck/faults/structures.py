"""Faults of what is taken for the inputs and outputs of a module: lists, dicts, objects, None, keywords, subclasses."""

import dataclasses
from typing import Any

import torch
from torch.autograd import forward_ad

from suites.selfcheck.faults.base import Call, Full, fault, instead, part, rows

FULL = "torch.nn.Module.register_full_backward_hook"
PRE = "torch.nn.Module.register_full_backward_pre_hook"
KEYWORDS = "torch.nn.Module.register_forward_pre_hook(with_kwargs)"
BACKWARD = ("backward.structures", "backward.inplace", "backward.given", "backward.modes")


def copied(value: Any) -> Any:
    """The same without a view of anything: what may be changed in place."""
    return value.clone() if isinstance(value, torch.Tensor) and value.requires_grad else value


# --- hooks around forward ----------------------------------------------------------------------

rows("input.structures")(
    (
        "ListIsSpread",
        "A list that a forward pre-hook returns is spread over the arguments, as a tuple is.",
        part(
            Call, replace_args=lambda call, right, result: right(tuple(result) if isinstance(result, list) else result)
        ),
    ),
    (
        "NamedArgumentsPlain",
        "A named tuple that a forward pre-hook returns reaches the next hook as a plain tuple.",
        part(
            Call, replace_args=lambda call, right, result: right(tuple(result) if isinstance(result, tuple) else result)
        ),
    ),
)


@instead(Call, "before", "input.structures")
def NoneHidden(call: Call, right: Any, key: int, hook: Any) -> None:
    """Forward pre-hooks are not given the arguments that are None."""
    whole, call.args = call.args, tuple(arg for arg in call.args if arg is not None)
    shown = call.args
    right(key, hook)
    if call.args is shown:
        call.args = whole


@instead(Call, "before", "input.structures", needs=KEYWORDS)
def KeywordsSorted(call: Call, right: Any, key: int, hook: Any) -> None:
    """Forward pre-hooks with with_kwargs=True are given the keywords in the order of their names."""
    call.kwargs = dict(sorted(call.kwargs.items()))
    right(key, hook)


@instead(Call, "after", "output.structures")
def EmptiedLists(call: Call, right: Any, key: int, hook: Any) -> None:
    """Forward hooks are given a list without the constants that forward returned in it."""
    if isinstance(call.out, list):
        call.out = [one for one in call.out if not isinstance(one, float)]
    right(key, hook)


@instead(Call, "inner", "gradient.structures")
def ListsOfViews(call: Call, right: Any) -> Any:
    """The tensors in a list that a module with hooks returns are views of those that it made."""
    out = right()
    if isinstance(out, list):
        out[:] = [one.view_as(one) if isinstance(one, torch.Tensor) else one for one in out]
    return out


@instead(Call, "after", "handles")
def ObjectEndsHook(call: Call, right: Any, key: int, hook: Any) -> None:
    """A forward hook that was given an object of a class of its own is gone after the call."""
    gone = dataclasses.is_dataclass(call.out)
    right(key, hook)
    if gone:
        call.own("_forward_hooks").pop(key, None)


# --- full backward hooks: inputs ---------------------------------------------------------------


@fault("backward.given", needs=FULL, subtle=True)
class KeywordsCount(Call):
    """Keyword tensors that need a gradient have entries in the grad_input of full backward hooks."""

    def wrapper(self, full: Any, pre: Any) -> Any:
        made = super().wrapper(full, pre)
        named = self.kwargs.values()
        if made is not None and any(isinstance(one, torch.Tensor) and one.requires_grad for one in named):
            wrap = made.setup_input_hook

            def both(args: Any) -> Any:
                wrapped = wrap((*args, *named))
                self.kwargs = dict(zip(self.kwargs, wrapped[len(args) :], strict=True))
                return wrapped[: len(args)]

            made.setup_input_hook = both
        return made


@instead(Full, "setup_input_hook", *BACKWARD, needs=FULL)
def TwiceIsOnce(full: Full, right: Any, args: Any) -> Any:
    """A module with full backward hooks that is given a tensor twice is given the same view of it at both places."""
    wrapped = right(args)
    places = [next(place for place, other in enumerate(args) if other is one) for one in args]
    return tuple(wrapped[place] for place in places)


@fault(*BACKWARD, needs=FULL, subtle=True)
class ConstantsHandedOn(Full):
    """The grad_input of full backward hooks has constants in their place, not None."""

    def setup_input_hook(self, args: Any) -> Any:
        self.constants = [one if isinstance(one, float) else None for one in args]
        return super().setup_input_hook(args)

    def call_hooks(self, given: Any) -> Any:
        shown = tuple(old if new is None else new for new, old in zip(given, self.constants, strict=True))
        made = super().call_hooks(shown)
        return given if made is shown else made


@instead(Full, "setup_input_hook", *BACKWARD, needs=FULL)
def ContainersAtOutput(full: Full, right: Any, args: Any) -> Any:
    """With a list or a dict among the inputs full backward hooks run at the output, whatever else is there."""
    wrapped = right(args)
    if any(isinstance(one, (list, dict)) for one in args):
        full.input_tensors_index = None
    return wrapped


@instead(Full, "setup_input_hook", *BACKWARD, needs=FULL)
def SparsePassed(full: Full, right: Any, args: Any) -> Any:
    """Sparse inputs are given to a module with full backward hooks as they are."""
    if any(isinstance(one, torch.Tensor) and one.is_sparse for one in args):
        full.n_inputs = len(args)
        return args
    return right(args)


@instead(Full, "setup_input_hook", *BACKWARD, needs=FULL)
def InputCopied(full: Full, right: Any, args: Any) -> Any:
    """A module with full backward hooks is given a copy of its inputs, which it may change in place."""
    return tuple(copied(one) for one in right(args))


@instead(Full, "setup_input_hook", *BACKWARD, needs=PRE)
def PreInputCopied(full: Full, right: Any, args: Any) -> Any:
    """A module with full backward pre-hooks alone is given a copy of its inputs, which it may change in place."""
    wrapped = right(args)
    return wrapped if full.user_hooks else tuple(copied(one) for one in wrapped)


# --- full backward hooks: outputs --------------------------------------------------------------


@instead(Full, "setup_output_hook", *BACKWARD, needs=FULL)
def NamedOutputPlain(full: Full, right: Any, args: Any) -> Any:
    """A named tuple becomes a plain one behind a full backward hook."""
    made = right(args)
    return tuple(made) if isinstance(made, tuple) else made


@instead(Full, "setup_output_hook", *BACKWARD, needs=FULL)
def LaterOutputsCopied(full: Full, right: Any, args: Any) -> Any:
    """Of several outputs of a module with full backward hooks all but the first are copies."""
    made = right(args)
    return (made[0], *map(copied, made[1:])) if type(made) is tuple and made else made


@instead(Full, "setup_output_hook", *BACKWARD, needs=FULL)
def OutputCopiedWithoutInput(full: Full, right: Any, args: Any) -> Any:
    """Where no input needs a gradient, the output of a module with full backward hooks is a copy."""
    made = right(args)
    return made if full.input_tensors_index is not None else copied(made)


@instead(Full, "setup_output_hook", *BACKWARD, needs=FULL)
def SubclassPassed(full: Full, right: Any, args: Any) -> Any:
    """An output of a class of its own is returned as it is, and full backward hooks do not run for it."""
    outs = args if isinstance(args, tuple) else (args,)
    special = any(isinstance(one, torch.Tensor) and type(one) is not torch.Tensor for one in outs)
    return args if special else right(args)


@instead(Full, "call_pre_hooks", *BACKWARD, needs=PRE)
def PreNoneKeeps(full: Full, right: Any) -> None:
    """None that a full backward pre-hook returns for one of several outputs leaves its gradient as it is."""
    before = full.grad_outputs
    right()
    pairs = zip(full.grad_outputs, before, strict=True)
    full.grad_outputs = tuple(old if new is None else new for new, old in pairs)


rows(*BACKWARD, needs=FULL)(
    (
        "DualUnhooked",
        "Under forward-mode differentiation full backward hooks are left out.",
        part(Call, wrapper=lambda call, right, *given: right(*given) if forward_ad._current_level < 0 else None),
    ),
)
