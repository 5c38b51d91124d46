"""What torch does otherwise than clauses say, by cause: ranged, witnessed, explained. What matches nothing fails.

The cells follow. A clause that demands another answer to a fact of a cause deviates by it, without a line here.
"""

from typing import Tuple

from fixtures.clause.cause import Cause, Deviating

PULL = "https://github.com/pytorch/pytorch/pull/"
ISSUE = "https://github.com/pytorch/pytorch/issues/"
DIES = "the process dies"

CAUSES: Tuple[Cause, ...] = (
    Cause(
        "the type is lost",
        ">=1.5,<1.7",
        reason="The engine rethrew the text of a Python exception from C++.",
        ref=PULL + "43684",
        effect="error",
        says="Every exception that a hook raises leaves backward() as RuntimeError.",
        facts={"engine_keeps_error_type": False},
        clauses=(
            Deviating(
                "gradient.errors.bad_value_ends_the_chain",
                "A tensor hook that returns what it may not ends backward() with RuntimeError instead of TypeError.",
            ),
            Deviating(
                "gradient.errors.same_object",
                "backward() raises a new RuntimeError with the text of what the hook raised.",
                False,
                "the object is lost",
            ),
            Deviating(
                "gradient.errors.wrong_type",
                "A tensor hook that returns anything but a tensor or None ends backward() with RuntimeError.",
                ("RuntimeError", "RuntimeError"),
                "RuntimeError instead",
            ),
            Deviating(
                "gradient.errors.not_callable",
                "register_hook takes what is not callable; backward() then raises RuntimeError.",
                ["registered", "RuntimeError"],
                "RuntimeError instead",
            ),
            Deviating(
                "gradient.errors.any_exception",
                "What a tensor hook raises, also KeyboardInterrupt, leaves backward() as RuntimeError.",
                "RuntimeError",
                "RuntimeError instead",
            ),
            Deviating(
                "handles.written.never_gradient",
                "A tensor, node or backward hook that is a generator or `async def` ends backward() in RuntimeError.",
                "RuntimeError",
                "RuntimeError instead",
            ),
            Deviating(
                "handles.written.parameters",
                "A hook with too few or too many parameters can be registered; backward() then raises RuntimeError.",
                ("TypeError", "RuntimeError"),
                "RuntimeError in backward()",
            ),
            Deviating(
                "gradient.callbacks.error",
                "What a callback raises leaves backward() as RuntimeError, and the next queue_callback raises, too.",
                ("RuntimeError", "RuntimeError"),
                "again in the next pass",
                ">=1.5,<1.6",
            ),
            Deviating(
                "gradient.callbacks.error",
                "What a callback raises leaves backward() as RuntimeError; the callbacks behind it are not called.",
                ("RuntimeError", "accepted"),
                "RuntimeError instead",
                ">=1.6,<1.7",
            ),
            Deviating(
                "gradient.passes.inside_fails",
                "An exception in a backward that a hook runs ends the outer backward with RuntimeError.",
                "RuntimeError",
                "RuntimeError instead",
            ),
            Deviating(
                "gradient.undefined.example_fails",
                "The documentation's own hook, grad * 2, ends backward() with RuntimeError on an unused output.",
                "RuntimeError",
                "RuntimeError instead",
            ),
            Deviating(
                "backward.returns.legacy_not_a_tuple",
                "A legacy backward hook that returns no tuple ends backward() with RuntimeError.",
                "RuntimeError",
                "RuntimeError instead",
            ),
        ),
    ),
    Cause(
        "the load pre-hook of spectral_norm stays",
        ">=1.13",
        reason="remove_spectral_norm looks for its own class, but load pre-hooks are wrapped since 1.13; not reported.",
        ref="measured",
        effect="error",
        says="remove_spectral_norm leaves a load pre-hook, for which load_state_dict misses weight_orig.",
        clauses=(
            Deviating(
                "built.spectral_norm.removed",
                "After remove_spectral_norm a strict load_state_dict of the own state dict raises RuntimeError.",
                "RuntimeError",
            ),
        ),
    ),
    Cause(
        "post-accumulate hooks without a gradient",
        ">=2.8",
        reason="The early return for undefined gradients moved out of the accumulation in 2.8; not reported upstream.",
        ref="measured",
        effect="silent",
        says="A post-accumulate hook is called if its leaf's gradient is undefined: .grad stays None or as it was.",
        facts={"post_accumulate_sees_none": True},
        clauses=(Deviating("gradient.accumulated.undefined", name="called all the same"),),
    ),
    Cause(
        "retain_grad in Python expects a gradient",
        "<1.10",
        reason="retain_grad was a Python hook that did not expect an undefined gradient.",
        ref=PULL + "92604",
        effect="error",
        says="With a full backward hook AttributeError ends backward() if an output that keeps its gradient gets none.",
        facts={"retain_of_none": "AttributeError"},
        clauses=(
            Deviating("retain.modules.undefined", name="AttributeError"),
            Deviating(
                "retain.modules.unused_output",
                "backward() raises AttributeError if one of two outputs keeps its gradient and is not in the loss.",
                "AttributeError",
                "AttributeError",
                "<1.5",
            ),
            Deviating(  # "the type is lost" as well
                "retain.modules.unused_output",
                "backward() raises RuntimeError if one of two outputs keeps its gradient and is not in the loss.",
                "RuntimeError",
                "RuntimeError, its type lost",
                ">=1.5,<1.7",
            ),
            Deviating(
                "retain.modules.unused_output",
                "backward() raises AttributeError if one of two outputs keeps its gradient and is not in the loss.",
                "AttributeError",
                "AttributeError again",
                ">=1.7,<1.10",
            ),
        ),
    ),
    Cause(
        "retain_grad in C++ expects a gradient",
        ">=1.10,<2.0",
        reason="retain_grad moved to C++ in 1.10 without expecting an undefined gradient.",
        ref=PULL + "92604",
        effect="error",
        says="With a full backward hook RuntimeError ends backward() if an output that keeps its gradient gets none.",
        facts={"retain_of_none": "RuntimeError"},
        clauses=(
            Deviating("retain.modules.undefined", name="RuntimeError"),
            Deviating(
                "retain.modules.unused_output",
                "backward() raises RuntimeError if one of two outputs keeps its gradient and is not in the loss.",
                "RuntimeError",
                "RuntimeError",
            ),
        ),
    ),
    Cause(
        "retain_grad outlives detach_()",
        "<2.0",
        reason="The hook of retain_grad stayed with the tensor when detach_() made it a leaf.",
        ref=PULL + "92604",
        effect="silent",
        clauses=(
            Deviating(
                "retain.versions.became_a_leaf",
                "A tensor that keeps its gradient and becomes a leaf by detach_() has it added to .grad twice.",
                2,
                "twice",
            ),
        ),
    ),
    Cause(
        "full hooks need the first input",
        "<1.9",
        reason="The first cut of full hooks looked for its node on the first tensor.",
        ref=PULL + "59204",
        effect="error",
        says="With a full backward hook the call raises AttributeError if the first tensor input needs no gradient.",
        facts={"full_first_must_need_grad": True},
        clauses=(Deviating("backward.given.frozen_input", name="the first must need it"),),
    ),
    Cause(
        "full hooks are called from the input side",
        "<1.9",
        reason="The first cut of full hooks was called from the input side only.",
        ref=ISSUE + "56380",
        effect="silent",
        says="A full backward hook of a module whose inputs need no gradient is not called.",
        facts={"full_without_input": "silent"},
        clauses=(
            Deviating("backward.given.no_input", name="silent"),
            Deviating(
                "backward.returns.full_without_input",
                "If no input needs a gradient a full backward hook is not called, so what it returns is not refused.",
                "accepted",
                "never called",
            ),
        ),
    ),
    Cause(
        "full hooks ask for requires_grad in Python",
        "<1.9",
        reason="The first cut of full hooks asked whether tensors require grad, not whether grad mode is on.",
        ref=ISSUE + "59901",
        effect="error",
        says="Under no_grad the call of a module with a full backward hook raises AttributeError.",
        facts={"full_without_grad": "AttributeError"},
        clauses=(Deviating("backward.membership.under_no_grad", name="AttributeError"),),
    ),
    Cause(
        "full hooks are set up under no_grad",
        ">=1.9,<1.10",
        reason="Hooks were set up where requires_grad was true, whether grad mode was on or not.",
        ref=ISSUE + "59901",
        effect="error",
        says="Under no_grad the call of a module with a full backward hook raises RuntimeError.",
        facts={"full_without_grad": "RuntimeError"},
        clauses=(Deviating("backward.membership.under_no_grad", name="RuntimeError"),),
    ),
    Cause(
        "ignored without input",
        ">=2.0,<2.3",
        reason="The node at the output forgot its gradients when it had called the hooks itself.",
        ref=PULL + "116454",
        effect="silent",
        says="What a full backward pre-hook returns is dropped if no input of the module needs a gradient.",
        facts={"full_output_returns": "none if input"},
    ),
    Cause(
        "hooks that remove themselves are freed in use",
        "<1.10",
        reason="The hooks of a tensor were iterated live; a hook that removed itself was freed while it was in use.",
        ref=ISSUE + "66037",
        effect="error",
        clauses=(
            Deviating(
                "gradient.crash.removes_itself_and_replaces",
                "A tensor hook that removes itself and returns a replacement ends the process: segmentation fault.",
                name=DIES,
                verdict="crashed",
            ),
        ),
    ),
    Cause(
        "hooks on a stale view",
        ">=2.0,<2.15",
        reason="The node of a view whose base was changed in place was not made anew before the hook was put on it.",
        ref=ISSUE + "196459",
        effect="error",
        clauses=(
            Deviating(
                "gradient.crash.hook_on_a_stale_view",
                "register_hook on a view whose base was changed in place ends the process: segmentation fault.",
                name=DIES,
                verdict="crashed",
            ),
        ),
    ),
    Cause(
        "retain_grad on a stale view",
        ">=1.13,<2.0",
        reason="The node of a view whose base was changed was not made anew before it was asked to keep gradients.",
        ref=PULL + "92604",
        effect="error",
        clauses=(
            Deviating(
                "gradient.crash.retain_on_a_stale_view",
                "retain_grad() on a view whose base was changed in place ends the process: segmentation fault.",
                name=DIES,
                verdict="crashed",
            ),
        ),
    ),
    Cause(
        "a None is unpacked in compiled autograd",
        ">=2.8",
        reason="The retain_grad hook of an undefined gradient is called by a pointer that is null; not reported.",
        ref="measured",
        effect="error",
        clauses=(
            Deviating(
                "modes.compile.autograd_none",
                "Where a Function gives a retain_grad() tensor None, a compiled autograd pass ends the process.",
                name=DIES,
                verdict="crashed",
            ),
        ),
    ),
    Cause(
        "a row is lost",
        ">=1.13",
        reason="Dense plus a sparse tensor of one expanded value, as sum() sends it back, adds nothing; not reported.",
        ref="measured",
        effect="silent",
        clauses=(
            Deviating(
                "gradient.kinds.sparse_and_dense",
                "A row that an embedding of one column gives to sum() is missing from the sum with other uses.",
                "a row is lost",
            ),
        ),
    ),
    Cause(
        "what is unpacked takes the leaf's hooks along",
        ">=2.0,<2.10",
        reason="A Python tensor that died cleared the hooks of its gradient accumulator, which a leaf shares with it.",
        ref="measured",
        effect="silent",
        clauses=(
            Deviating(
                "saved.unpack.leaf",
                "Once Python lets go of what an unpack hook gave back for a leaf, the leaf's tensor hooks are gone.",
                "none is called",
                "the hooks are gone",
            ),
        ),
    ),
)
