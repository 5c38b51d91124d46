"""Which uses of hooks a mode of execution concerns: by its rules, and by clauses that speak of it and play no plan.

Words are those of `fixtures/clause/matters_if.py`, and those of CASES. The self-check demands that each rule is here
for each API that a measured clause shows it of, and each clause about compiled and checkpointed modules.
"""

from __future__ import annotations

COMPILE = ("compiled", "late", "in_place", "aot", "inductor")
WRAPPED = tuple(mode for mode in COMPILE if mode != "in_place")
CHECKPOINT, REENTRANT = ("checkpoint",), ("reentrant",)
#: What code does not show of a program in a mode: "where ...".
CASES = {
    "late": "the hook is registered after the first compiled call",
    "backend": 'the backend is another one than "eager"',
    "autocast": "it runs in autocast",
    "between": "the hook is registered between the forward and the backward pass",
    "compiled_autograd": "compiled autograd is on",
    "counts": "the hook counts on its module",
    "disabled": "torch.compiler.disable is used on the hook or the module",
    "early": "another layer of the checkpoint comes after the module",
    "error": "an error leaves the checkpoint",
    "frozen": "a parameter is frozen or thawed",
    "fullgraph": "fullgraph=True is given",
    "func_grad": "torch.func.grad is compiled",
    "gradients": "the hook asks for gradients",
    "handle": "a handle from before the copy removes the hook",
    "input": "it is about an input of the network",
    "itself": "the pack hook returns its argument",
    "keeps": "the hook appends to a list",
    "hook_kept": "the tensor is what a forward hook kept, and is hooked after the call",
    "kept_edited": "a tensor that the hook keeps is changed in place later",
    "lambda": "pickle does not find the hook by name",
    "last": "the module computes the output of the checkpoint",
    "option": "the options that code does not show name it",
    "pair": "the hook undoes what a forward pre-hook did",
    "parameter": "the tensor is a parameter of the network",
    "removed": "the hook is removed after compiled calls",
    "replaced": "the hook takes the place of one that differs in a default argument only",
    "returns_none": "the hook returns nothing",
    "saved_around": "there are hooks of saved tensors around the checkpoint",
    "segments": "it is run by checkpoint_sequential",
    "shared": "the parameter is used in several checkpoints",
    "stack": "a backward hook pops what a forward hook pushed",
    "stop_iteration": "it is a StopIteration",
    "stored": "the hook stores the output on the module",
    "threads": "the forward runs in several threads",
    "trained": "train() or eval() is called between compiled calls",
    "unused": "an output of the network is not used",
}
#: The cases that a mode is: there they hold.
IS = {"late": ("late",), "aot": ("backend",), "inductor": ("backend",)}
#: Words of `matters_if=` that hold in a mode.
HOLD = {**dict.fromkeys(COMPILE, "?compiled"), "checkpoint": "?checkpoint", "reentrant": "?checkpoint"}
HOLD["inference"] = "?no_grad"

MODULE = "forward_pre|forward|full_backward_pre|full_backward|backward"
OF_TENSORS = "tensor|retain_grad|post_accumulate|node|node_pre|multi_all|multi_any"
OF_SAVED = "saved|saved_one|saved_off|save_on_cpu"
OF_GRADIENTS = f"{OF_TENSORS}|full_backward_pre|full_backward|backward"
#: MODE.RULE, or the name of a rule in all modes that have no own row -> what a use must be; none: it is about no hook.
CONCERNS: dict[str, tuple[str, ...]] = {
    "contexts.threads": (f"{OF_TENSORS}|{OF_SAVED}|forward_pre|forward|backward|full_backward ?threads",),
    "contexts.offload": (OF_SAVED, f"{OF_TENSORS}|forward_pre|forward ?edited_after"),
    "contexts.create_graph": ("post_accumulate|tensor|step_pre|step_post ?create_graph",),
    "copy.parameters": (f"{OF_TENSORS}|step_pre|step_post|{MODULE} ?parameter",),
    "copy.handles": (f"{MODULE} own ?handle",),
    "inference.unrecorded": (f"{OF_GRADIENTS}|{OF_SAVED}", "forward_pre|forward|step_pre|step_post ?gradients"),
    "inference.edit": ("forward_pre|forward ?kept_edited",),
    "checkpoint.again": (
        "forward_pre|forward|saved_one",
        f"{OF_TENSORS}|backward|full_backward|full_backward_pre|saved|saved_off|save_on_cpu ?registers_inside",
    ),
    "stops": ("forward ?pair",),
    "dummy": ("saved",),
    "deaf": ("tensor ?saved_around",),
    "generator": (f"{MODULE} raises ?stop_iteration",),
    "reentrant.again": (f"forward_pre|forward|{OF_GRADIENTS}|{OF_SAVED}", "step_pre|step_post ?gradients"),
    "others": (f"forward_pre|forward|{OF_GRADIENTS}", "step_pre|step_post|saved|saved_one ?gradients"),
    "shared": (),
    "views": (f"{OF_GRADIENTS}|forward_pre|forward|step_pre|step_post ?input",),
    "jvp": ("full_backward|full_backward_pre",),
    "expanded": (),
    "wrapper": (f"{MODULE} everywhere",),
    "frame": (f"{MODULE} own ?late",),
    "everywhere": (f"{MODULE} everywhere ?late",),
    "training": (f"{MODULE} own ?late ?trained",),
    "training_inside": (f"{MODULE} own ?late ?trained",),
    "copies": (f"{MODULE} own ?late ?copied",),
    "parameters": (f"{MODULE} own ?late ?frozen",),
    "aot.parameters": (f"{OF_GRADIENTS} ?switched_on",),
    "inductor.parameters": (f"{OF_GRADIENTS} ?switched_on",),
    "thawed": ("tensor ?switched_on",),
    "node": (f"{OF_GRADIENTS}|step_pre|step_post ?unused",),
}
GROUPS = {"compile": COMPILE, "wrapped": WRAPPED, "checkpoints": CHECKPOINT + REENTRANT}
Rows = dict[str, tuple[tuple[str, ...], str]]


def _rows(table: str) -> Rows:
    """Return clause -> the modes that it is about, and words besides its APIs; from modes | start | ends | words."""
    rows = [[each.strip() for each in line.split("|", 3)] for line in table.strip().splitlines()]
    return {
        f"{start}.{name}": (GROUPS.get(modes, (modes,)), words)
        for modes, start, some, words in rows
        for name in some.split()
    }


#: Clauses that say what a mode does otherwise, where their sentence is so.
WHERE_SO = _rows("""
checkpoint | modes.checkpoint | always_call early_stop | ?last
checkpoint | modes.checkpoint | early_layers | ?early
checkpoint | modes.checkpoint | kept_for_ever | ?itself
checkpoint | modes.checkpoint | late | ?between
checkpoint | modes.checkpoint | segments | ?segments
reentrant | modes.checkpoint | late_reentrant | ?between
reentrant | modes.checkpoint | reentrant_no_input | ?inputs_need_no_grad
reentrant | modes.checkpoint | reentrant_shared | ?shared
reentrant | modes.checkpoint | reentrant_tensor | ?registers_inside
checkpoints | backward.pairing | stack_checkpoint | ?stack
checkpoint | saved.off | checkpoint |
reentrant | several.inside | reentrant_checkpoint | ?parameter
copy | built.used | deepcopy | ?stored
copy | handles.copies | pickled | ?lambda
contexts | modes.autocast | forward full tensor | ?autocast
contexts | modes.autocast | forward_returns full_pre_returns full_returns pre_double | returns ?autocast
contexts | saved.context | thread | ?threads
functional | modes.func | own_parameter | ?parameter
compile | modes.compile | aot_global aot_legacy aot_saved | ?backend
compile | modes.compile | aot_inner aot_retain | ?backend ?hook_kept
compile | modes.compile | aot_unreached | ?backend ?unused
compile | modes.compile | autograd_legacy autograd_none autograd_undefined | ?compiled_autograd
compile | modes.compile | disabled_compiled | ?disabled
compile | modes.compile | disabled_fullgraph | ?disabled ?fullgraph
compile | modes.compile | fullgraph | ?fullgraph
compile | modes.compile | instance repeated |
compile | modes.compile | instance_layer repeated_layer | ?linear
compile | modes.compile | late_layer | ?late ?linear
compile | modes.compile | raises | raises ?fullgraph
wrapped | modes.compile | deepcopy pickled | ?wrapper ?copied
wrapped | modes.compile | global | ?returns_none
wrapped | modes.compile | global_late | ?late
wrapped | modes.compile | late_sequential | ?late ?sequential
wrapped | modes.compile | state_dict wrapper wrapper_backward | ?wrapper
wrapped | modes.compile | wrapper_mixing | ?wrapper ?hooked_again
in_place | modes.compile | in_place_late | ?late
compile | modes.errors | compiled_grad | ?func_grad
""")
#: Those that say that a mode is as eager, where their sentence is not so.
WHERE_NOT = _rows("""
checkpoint | modes.checkpoint | autocast | ?autocast
inference | backward.modes | inference |
compile | modes.compile | autograd_accumulated autograd_retain | ?compiled_autograd
compile | modes.compile | counts | ?counts
compile | modes.compile | default_argument | ?replaced
compile | modes.compile | keeps | ?keeps
compile | modes.compile | prepended saved_compiling sequential step_hooks |
compile | modes.compile | removed | ?removed
compile | modes.compile | second_hook | ?late
compile | modes.compile | thawed | ?backend
""")
#: Those that are otherwise than eager whichever of their sentences is so.
EVER = _rows("""
checkpoint | backward.pairing | stack_early_stop | ?stack
checkpoint | modes.checkpoint | error_held | ?error
compile | modes.compile | checkpoint_named_tuple checkpoint_packs |
wrapped | modes.compile | global_backward |
wrapped | modes.compile | global_returns | returns
""")
#: What no plan of a mode has: not measured.
LEFT_OUT: dict[str, tuple[str, ...]] = {
    **dict.fromkeys((*COMPILE, "dual"), (f"forward_pre|forward|{OF_GRADIENTS} edits",)),
    **dict.fromkeys(("aot", "inductor"), (f"forward_pre|forward|{OF_GRADIENTS} edits", "forward_pre|forward raises")),
}
ANEW, PLAIN = "modes.compile.reset", "modes.compile.in_place_global"
#: The clause that says what to do about a rule or a clause, to those that it is about.
REMEDIES = {
    **dict.fromkeys((f"{mode}.{rule}" for mode in COMPILE for rule in ("frame", "everywhere")), ANEW),
    **dict.fromkeys((f"modes.compile.{name}" for name in ("late_layer", "late_sequential")), ANEW),
    **dict.fromkeys(
        ("compiled.wrapper", "late.wrapper", "modes.compile.global", "modes.compile.global_returns"), PLAIN
    ),
    **dict.fromkeys(("checkpoint.stops", "modes.checkpoint.early_stop"), "modes.checkpoint.no_early_stop"),
    "modes.compile.aot_inner": "modes.compile.output_hook",
}
