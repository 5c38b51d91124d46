"""Symptoms of hooks that are lost or run otherwise: after a copy, in a compiled model, in parallel, in a checkpoint."""

from reports.symptoms.symptom import Symptom, UsualCause

#: Causes of several symptoms.
LAYER_MADE_LATER = UsualCause(
    "the layer was made, or put in the place of another, after the hooks were registered",
    program="layer-made-later.py",
    instead="register them again, or a global hook: it sees later modules, too",
)
HOOKS_CLEARED = UsualCause(
    "other code emptied the dict of hooks, as the teardown of a library may do",
    program="hooks-cleared.py",
    instead="register them again; in a library remove only what you registered, by its handles",
)
NEVER_RUNS = UsualCause(
    "the hook has a `yield` in it, or is an `async def`: it returns at once, without running",
    "handles.written.never_runs",
    instead="write it as a plain function",
)

CIRCUMSTANCES = (
    Symptom(
        "my hooks are gone",
        (
            LAYER_MADE_LATER,
            HOOKS_CLEARED,
            UsualCause("a parameter was deep-copied: its tensor hooks stay behind", "gradient.copies.deepcopy"),
            UsualCause(
                "a parameter was pickled or saved: its tensor hooks stay behind", "gradient.copies.pickled_parameter"
            ),
            UsualCause("an optimizer was copied or saved: its step hooks stay behind", "optimizer.copies.dropped"),
            UsualCause("load_state_dict(assign=True) put new parameters in place", "built.conversions.assign"),
            UsualCause("convert_sync_batchnorm made new modules", "built.conversions.sync_batchnorm"),
            UsualCause("what torch.compile returned was deep-copied", "modes.compile.deepcopy"),
            UsualCause("a GraphModule was deep-copied", "modes.fx.copy"),
            UsualCause("the with block of the handle has ended", "handles.removal.with_block"),
        ),
        also="disappeared lost missing vanished dropped away no longer there after copy deepcopy replaced "
        "swapped head fine-tuning"
        " new layer added later teardown cleanup clear library stopped working empty _forward_hooks load",
    ),
    Symptom(
        "a copy of my model calls the hook or the weights of the original",
        (
            UsualCause(
                "the hook is a function, which no copy copies: what it refers to is the original's",
                "handles.copies.what_is_copied",
                instead="make it a bound method of the module that is copied, or register anew on the copy",
            ),
            UsualCause(
                "it is no hook: accelerate or diffusers replaced forward",
                program="replaced-forward.py",
                instead="take their hooks off before the copy, or use a forward hook",
            ),
            UsualCause("copy.copy shares the hooks", "handles.copies.shallow_shares", instead="copy.deepcopy"),
            UsualCause("a handle of the original removes nothing from a copy", "handles.copies.handle_stays"),
        ),
        also="deep deepcopy copied clone ema teacher student still writes list of the original shared "
        "accelerate diffusers replaced forward patched same list self refers",
    ),
    Symptom(
        "hooks run in another order than I want",
        (
            UsualCause("hooks of one module run as they were registered", "ordering.registration.forward"),
            UsualCause(
                "prepend=True puts one first, but behind global hooks",
                "ordering.between.global_before_prepended",
            ),
            UsualCause("global hooks run before those of the module", "ordering.between.global_forward_first"),
            UsualCause("forward hooks of children run before that of the parent", "ordering.nested.forward"),
            UsualCause("backward hooks run from the last child to the first", "ordering.nested.full_backward"),
            UsualCause("a tensor hook runs before the hook of the module", "ordering.between.tensors_around_full"),
            UsualCause(
                "a hook that was removed and registered again is the last", "ordering.registration.hook_again_goes_last"
            ),
        ),
        also="wrong order sequence reversed first last before after earlier later prepend parent child global priority",
    ),
    Symptom(
        "a hook does nothing, or breaks the graph, under torch.compile",
        (
            UsualCause(
                "it was registered after the first compiled call",
                "modes.compile.late_inner",
                instead="register hooks before the first call, or call torch.compiler.reset()",
            ),
            UsualCause(
                "another model of the same class was compiled before, without hooks",
                "modes.compile.instance",
                instead="call torch.compiler.reset() before the first call of this one",
            ),
            UsualCause(
                "a block of the same class before this one has no hook",
                "modes.compile.repeated",
                instead="set torch._dynamo.config.skip_nnmodule_hook_guards = False",
            ),
            UsualCause("a backward hook on an inner module breaks the graph", "modes.compile.breaks"),
            UsualCause("the same with fullgraph=True is an error", "modes.compile.fullgraph"),
            UsualCause("a disabled hook with fullgraph=True is an error", "modes.compile.disabled_fullgraph"),
            UsualCause("what torch.compile returned was deep-copied", "modes.compile.deepcopy"),
            UsualCause("a global hook runs once more, for the wrapper", "modes.compile.global"),
        ),
        also="compiled dynamo inductor graph break recompile fullgraph Unsupported compiling ignored uncalled "
        "called after",
    ),
    Symptom(
        "a hook runs otherwise in DataParallel, DDP, FSDP or a thread",
        (
            UsualCause("DataParallel calls replicas, which share the hooks", "handles.copies.shallow_shares"),
            UsualCause("hooks on the wrapper run around those of the model", "modes.distributed.wrapper"),
            UsualCause(
                "under DDP a tensor hook gets the gradient of its own process", "modes.distributed.local_tensor"
            ),
            UsualCause("a second comm hook", "modes.distributed.comm_again"),
            UsualCause("under FSDP a tensor hook on a sharded parameter is never called", "modes.sharded.tensor"),
            UsualCause("a post-accumulate hook was registered before fully_shard", "modes.sharded.post_before"),
            UsualCause(
                "saved_tensors_hooks is of the thread that entered it",
                "saved.context.thread",
                instead="enter it in the forward of the module",
            ),
        ),
        also="DistributedDataParallel nn.DataParallel multi gpu several devices replicas replica distributed "
        "fully_shard sharded"
        " multithreading threads worker process rank comm uncalled never called parameter sees another "
        "different gradient not executed",
    ),
    Symptom(
        "a hook is called twice, or not at all, in a checkpoint",
        (
            UsualCause("the checkpoint runs forward again in backward()", "modes.checkpoint.early_layers"),
            UsualCause("the same with use_reentrant=True", "modes.checkpoint.reentrant_twice"),
            UsualCause(
                "use_reentrant=True, and no input needs a gradient: no backward hook runs",
                "modes.checkpoint.reentrant_no_input",
                instead="use_reentrant=False",
            ),
            UsualCause("a hook that was registered in between runs only in backward()", "modes.checkpoint.late"),
            UsualCause(
                "a multi-grad hook with a reentrant checkpoint",
                "several.inside.reentrant_checkpoint",
                instead="use_reentrant=False",
            ),
        ),
        also="activation gradient checkpointing recompute recomputation use_reentrant reentrant two times "
        "uncalled checkpoint_sequential",
    ),
    Symptom(
        "a traced, scripted or exported model lacks my hooks",
        (
            UsualCause("torch.jit.trace keeps what forward hooks returned, and no hook", "modes.jit.trace_forward"),
            UsualCause("torch.jit.script drops backward hooks", "modes.jit.script_backward"),
            UsualCause("hooks that come later are called by none of them", "modes.jit.late"),
            UsualCause("torch.jit.save drops hooks of a traced model", "modes.jit.saved_traced"),
            UsualCause("symbolic_trace drops the hooks of the traced module", "modes.fx.root"),
        ),
        also="jit trace script torchscript traced scripted fx symbolic_trace export exported missing dropped "
        "lost saved",
    ),
    Symptom(
        "a state dict or a loaded model has no hooks",
        (
            UsualCause(
                "hooks are not in a state dict",
                "state.save.not_saved",
                instead="register them again after loading",
            ),
            UsualCause("pickling takes along what pickle finds by name", "handles.copies.pickled"),
            UsualCause("tensor hooks of parameters are not pickled", "gradient.copies.pickled_parameter"),
            UsualCause("an optimizer that is loaded has no step hooks", "optimizer.copies.dropped"),
            UsualCause("load_state_dict(assign=True) put new parameters in place", "built.conversions.assign"),
        ),
        also="state_dict load_state_dict torch.save torch.load saved checkpoint file restored resume missing "
        "lack lost gone",
    ),
    Symptom(
        "my hook is given another number of arguments than it takes",
        (
            UsualCause("a forward hook is given module, args, output", "output.calls.arity"),
            UsualCause("with_kwargs=True gives it kwargs, too, before the output", "output.keywords.given"),
            UsualCause("a forward pre-hook is given module, args", "input.returns.checked_at_the_call"),
            UsualCause("a tensor hook is given the gradient alone", "gradient.errors.arity"),
            UsualCause("a backward hook is given module, grad_input, grad_output", "backward.given.full_line"),
            UsualCause("a with_kwargs hook was removed in the same call", "handles.removal.keywords_go_first"),
            UsualCause("nothing is checked where a hook is registered", "handles.written.parameters"),
        ),
        also="TypeError takes positional arguments but were given missing required argument signature "
        "parameters self bound method",
    ),
    Symptom(
        "my hook still runs after I removed it",
        (
            UsualCause("it was registered twice: each handle removes one", "handles.functions.in_many_places"),
            UsualCause("it was removed while the hooks of that call ran", "ordering.changes.forward_removed"),
            UsualCause("a backward hook was removed after the forward", "backward.membership.removed_after_forward"),
            UsualCause("it is on a deep copy", "handles.copies.handle_stays"),
            UsualCause("the tensor is gone, and the graph is not", "gradient.lifetime.removed_too_late"),
            UsualCause("the module was traced: the result is in the graph", "modes.jit.trace_forward"),
        ),
        also="remove removing removed handle remove() has no effect keeps running fires again unregister still "
        "called deleted",
    ),
    Symptom(
        "an exception in a hook",
        (
            UsualCause("it leaves the call, and later hooks do not run", "output.replacement.raising"),
            UsualCause("the next call begins with the first hook", "output.switched.after_failure"),
            UsualCause("with always_call=True a hook runs all the same", "output.always.after_a_hook"),
            UsualCause("gradients that were set before it stay", "gradient.errors.no_rollback"),
            UsualCause("a full backward hook that raises: no input gets a gradient", "backward.errors.raising_full"),
            UsualCause("the exception of an always_call hook becomes a warning", "output.always.silenced_is_warned"),
        ),
        also="raise raises raised error crash fails inside of the hook swallowed silenced lost state afterwards half",
    ),
    Symptom(
        "a gradient is None or zero since I registered a hook",
        (
            UsualCause(
                "a lambda returns what it keeps, as := does: a detached output is the output then",
                "handles.written.detached_output",
                instead="write it with def, and return nothing",
            ),
            UsualCause(
                "a lambda with setdefault returns the first output, each time",
                "handles.written.setdefault_output",
                instead="write it with def, and return nothing",
            ),
            UsualCause("a forward hook returns output.detach() or a new tensor", "output.replacement.value_replaces"),
            UsualCause("a full backward hook returned (None,)", "backward.wrong.nones"),
            UsualCause("a tensor hook returns zeros, or clamps in place", "gradient.edits.own_gradient"),
            UsualCause("a hook of the node returned (None, None)", "gradient.nodes.none_drops"),
            UsualCause("retain_grad() was not called on a non-leaf tensor", "retain.keep.not_by_itself"),
        ),
        also="lambda accident setdefault walrus append earlier early previous layers before no gradient missing "
        "weights do not train"
        " learn stopped learning detached returns accidentally every call gives the first output",
    ),
)
