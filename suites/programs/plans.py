"""Programs that are compared with another one: what of a program must be so that both give the same."""

from dataclasses import replace
from typing import Any

from hypothesis import strategies as st

from fixtures.draw.programs import QUIET, net_programs
from fixtures.programs.grammar import Attach, Block, CopyNet, Detach
from fixtures.programs.plan import NetProgram

#: The first torch whose full backward hooks and layers programs are built of.
NEEDED = "torch.nn.Module.register_full_backward_hook"
#: What takes the place of a module, or of the net: hooks that are registered in another way are not on it.
MOVES = ("CopyNet", "copy", "ReplaceBlock", "replace", "late")
#: Which of three hooks are registered with prepend=True.
FLAGS = ((False, True, False), (False, False, True), (True, True, True), (False, True, True))


def hooks_first(program: NetProgram, *steps: Any) -> NetProgram:
    """The same program with all hooks registered first, then these steps, and no hook removed."""
    rest = [step for step in program.steps if not isinstance(step, (Attach, Detach, *map(type, steps)))]
    return replace(program, steps=(*program.hooks, *steps, *rest))


def looking() -> Any:
    """Programs whose hooks only look, compared with the same without hooks. Full backward hooks make views."""
    sorts = ("forward", "tensor", "leaf", "optimizer", "state", "registration")
    return net_programs(sorts=sorts, acts=QUIET, against="without")


def removed() -> Any:
    """Programs whose hooks are removed as soon as they are registered, compared with the same without hooks."""
    return net_programs(acts=(), without=("late",), against="removed")


def in_forward() -> Any:
    """Programs with hooks around forward, compared with the same whose hooks are written into forward."""
    never = (*MOVES, "everywhere", "always_call", "forward", "Detach", "fails", "raises")
    return net_programs(sorts=("forward",), acts=("same", "thrice", "set", "pass"), without=never, against="forward")


def copied() -> Any:
    """Programs whose hooks are registered before a deep copy is made; the copy is gone on with."""
    drawn = net_programs(
        sorts=("forward", "backward"),
        acts=("same", "thrice", "pass", "raise"),
        without=("everywhere",),
        against="copied",
    )
    return drawn.map(lambda program: hooks_first(program, CopyNet()))


def everywhere() -> Any:
    """Programs with hooks on all modules, all of one kind: else those of all modules come before the others."""

    def changed(program: NetProgram) -> NetProgram:
        first = program.hooks[0]
        hooks = [replace(one, kind=first.kind, everywhere=True, each=False, with_kwargs=False) for one in program.hooks]
        hooks = [replace(one, prepend=False, always_call=False) for one in hooks]
        return replace(hooks_first(program), steps=(*hooks, *hooks_first(program).steps[len(hooks) :]))

    drawn = net_programs(
        sorts=("forward", "backward"), acts=("same", "thrice"), without=(*MOVES, "inside"), against="everywhere"
    )
    return drawn.map(changed)


def prepended() -> Any:
    """Programs with three hooks of a kind on one module, some with prepend=True."""
    acts = ("same", "thrice", "pass")
    drawn = net_programs(sorts=("forward", "backward"), acts=acts, without=(*MOVES, "everywhere"), against="order")
    return st.builds(in_order, drawn, st.sampled_from(FLAGS))


def in_order(program: NetProgram, flags: Any) -> NetProgram:
    """The program with three hooks that are like its first one."""
    first = replace(program.hooks[0], place=max(program.hooks[0].place, 0), other="")
    acts = [one.act for one in program.hooks if one.kind == first.kind] + ["look", "look"]
    hooks = [replace(first, label=f"h{at}", act=acts[at], prepend=flag) for at, flag in enumerate(flags)]
    return program.with_hooks(hooks)


def shown(against: str, *steps: Any) -> Any:
    """The program that the example of a clause shows: two layers, and these hooks and steps."""
    return {"program": NetProgram("vec", (Block("linear"), Block("tanh")), steps, against=against)}
