"""Two programs of real layers that hooks must not make different, or must make the same."""

from typing import Any

from fixtures.clause.rows import Row, each
from fixtures.judge.subject import Subject
from fixtures.programs.grammar import Attach, CopyNet, TrainStep, Update
from fixtures.programs.plan import NetProgram
from suites.names import AS_IS, FORWARD_HOOK, HANDLE, NOTE
from suites.programs.plans import NEEDED, copied, everywhere, in_forward, looking, prepended, removed, shown

AROUND_FORWARD = ("register_forward_hook", "register_forward_pre_hook")
BOTH = (*AROUND_FORWARD, "register_full_backward_hook", "register_full_backward_pre_hook")


@each(
    Row(
        "programs.same.looking",
        "Hooks that only look leave outputs, gradients, parameters and random state as they are.",
        AS_IS,
        where=("no full backward (pre-)hooks", "no TransformerEncoderLayer in eval()"),
        asked="does registering a hook change my results training gives other numbers with hooks",
        about=(*AROUND_FORWARD, "register_hook"),
        needs=NEEDED,
        programs=looking,
        witness=shown("without", Attach("forward", "h0", 4), Attach("gradient", "h1"), TrainStep(), Update()),
    ),
    Row(
        "programs.same.removed",
        "After remove() of its handle next calls, and their passes, go as if there were no hook any more.",
        HANDLE,
        where=("what it did stays", "no copy made before, no legacy hooks"),
        asked="is a hook really gone after handle.remove() does something stay behind",
        about=BOTH,
        needs=NEEDED,
        programs=removed,
        witness=shown("removed", Attach("forward", "h0", 4, "thrice"), TrainStep(), Update()),
    ),
    Row(
        "programs.same.in_forward",
        "A forward hook does what its code would at the end of forward; a pre-hook, at the start.",
        f'{FORWARD_HOOK} "The hook can modify the output"',
        where=("no decorator, with, rebinding of arguments", "nobody calls forward"),
        asked="is a forward hook the same as writing the code into forward when is it called in nn.Sequential",
        about=AROUND_FORWARD,
        needs=NEEDED,
        programs=in_forward,
        witness=shown("forward", Attach("forward", "h0", 4, "thrice"), TrainStep()),
    ),
    Row(
        "programs.same.copied",
        "The module hooks on a deep copy of a net do what the same hooks do that are registered on the copy.",
        HANDLE,
        where=("hooks are functions without a state", "no GraphModule"),
        asked="do hooks survive copy.deepcopy of a model ema",
        about=BOTH,
        needs=NEEDED,
        programs=copied,
        witness=shown("copied", Attach("forward", "h0", 4, "thrice"), CopyNet(), TrainStep()),
    ),
    Row(
        "programs.same.everywhere",
        "For a net's modules a global hook does what it does registered on each.",
        f"{NOTE}",
        where=("no other hooks; it calls no layer", "no lazy layer, TransformerEncoderLayer in eval()"),
        asked="register_module_forward_hook global hook is the same as a hook on every module",
        about=("register_module_forward_hook", "register_module_full_backward_hook"),
        needs=(NEEDED, "torch.nn.modules.module.register_module_full_backward_hook"),
        programs=everywhere,
        witness=shown("everywhere", Attach("forward", "h0", everywhere=True), TrainStep()),
    ),
    Row(
        "programs.same.prepended",
        "A hook with prepend=True does what it does when it is registered before the others of its kind.",
        f'{FORWARD_HOOK} "If ``True``, the provided ``hook`` will be fired before all existing"',
        asked="what does prepend=True do order of hooks on the same module",
        about=BOTH,
        needs=(NEEDED, "torch.nn.Module.register_forward_hook(prepend)"),
        programs=prepended,
        witness=shown(
            "order", Attach("forward", "h0", 4, "thrice"), Attach("forward", "h1", 4, prepend=True), TrainStep()
        ),
    ),
    program=lambda row: row.programs(),
)
def the_same(subject: Subject, program: NetProgram, *, row: Any) -> None:
    assert subject.holds(program).calls() == ["same"]
