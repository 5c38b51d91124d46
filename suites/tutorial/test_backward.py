"""What study notes teach about backward hooks of modules, and where it holds.

Each clause is one sentence that learners meet. Its readings are called true and false: see which is in force.
"""

from fixtures.judge.claim import ABSENT, claims
from fixtures.judge.clause import Reading
from fixtures.judge.subject import Subject
from fixtures.judge.table import Row

NOTES = "tutorials: widely read study notes, 2019-2022"
FULL = "docs: torch.nn.Module.register_full_backward_hook"
RESPECTIVELY = FULL + ' "with respect to the inputs and outputs respectively"'
LEGACY = "docs: torch.nn.Module.register_backward_hook"
NEEDS_FULL = "torch.nn.Module.register_full_backward_hook"


@claims(
    Row(
        "tutorial.backward.t08_arguments",
        "For y = x1*x2*W a full backward hook gets (x1.grad, x2.grad) and (y.grad,), and nothing about W.",
        (NOTES, RESPECTIVELY),
        readings=(
            Reading(
                "true",
                "",
                "A full backward hook gets the gradients of inputs and outputs, none of parameters.",
                by={"backward.given.one_entry_each": "always", "backward.given.full_line": "always"},
            ),
            Reading("false", "never", "The gradient of W is among those of the inputs."),
        ),
        needs=NEEDS_FULL,
    ),
    Row(
        "tutorial.backward.t10_collected",
        "Collecting grad_input, then grad_output, in one list gives [x1.grad, x2.grad, output.grad].",
        (NOTES, RESPECTIVELY),
        readings=(
            Reading(
                "true",
                "",
                "grad_input has the gradients of the inputs in their order, grad_output that of the output.",
                by={
                    "backward.given.one_entry_each": "always",
                    "retain.keep.inner_tensor": "always",
                    "retain.modules.any_mixture": "always",
                },
            ),
            Reading("false", "never", "The gradient of the output comes first."),
        ),
        needs=NEEDS_FULL,
        about=("register_full_backward_hook", "retain_grad"),
    ),
    Row(
        "tutorial.backward.t09_retained_output",
        "After output.retain_grad() output.grad is grad_output[0] of a full hook, if there is no pre-hook.",
        (
            NOTES,
            FULL,
            "test: test/test_autograd.py TestAutograd.test_retains_grad_can_always_observe_tensor_prehook",
            "release 2.0: retain_grad keeps the gradient that every hook of the tensor has left",
        ),
        readings=(
            Reading(
                "true",
                ">=2.0",
                "output.grad and grad_output[0] are both what the tensor hooks of the output left.",
                by={"retain.modules.output_is_grad_output": "the same"},
            ),
            Reading(
                "false",
                "<2.0",
                "A tensor hook put on the output after retain_grad() makes output.grad differ from grad_output[0].",
                by={
                    "retain.modules.output_is_grad_output": (
                        "before or after tensor hooks",
                        "without later tensor hooks",
                    )
                },
                headline=False,
                effect="other",
            ),
        ),
        needs=NEEDS_FULL,
        concern="never",
        note="The output may have tensor hooks. What a full backward pre-hook returns is never in output.grad.",
    ),
    Row(
        "tutorial.backward.t26_use_tensor_hooks",
        "No hook on a module can be trusted with the gradient of its input: only tensor hooks can.",
        (NOTES, LEGACY, RESPECTIVELY, "release 1.8: full backward hooks of modules"),
        readings=(
            Reading(
                "true",
                "<1.8",
                "The only backward hook of a module gets the gradients of its last operation.",
                by={"backward.given.legacy_last_operation": "always", "backward.given.one_entry_each": ABSENT},
            ),
            Reading(
                "false",
                ">=1.8",
                "A full backward hook of a module gets the same gradient of the input as a hook on the input.",
                by={"backward.given.legacy_last_operation": "always", "backward.given.one_entry_each": "always"},
                headline=False,
            ),
        ),
        about=("register_backward_hook", "register_full_backward_hook", "register_hook"),
        concern="never",
    ),
    Row(
        "tutorial.backward.t18_first_tensor",
        "register_backward_hook() hooks the node of the first tensor that is found in the output.",
        (NOTES, LEGACY, "measured"),
        readings=(
            Reading("true", "never", "The first tensor is found wherever it lies."),
            Reading(
                "false",
                "",
                "A legacy hook goes to index 0 of a tuple or list, to the first tensor of a dict; "
                "else the call raises.",
                by={"backward.structures.legacy_first": "always"},
                headline=False,
                effect="raises",
            ),
        ),
        note="True for the outputs of most modules: tensors, tuples and lists that begin with one, dicts of tensors.",
    ),
    Row(
        "tutorial.backward.t19_no_node",
        "When the first tensor of the output has no grad_fn, a legacy hook is not called and nothing raises.",
        (NOTES, LEGACY, "measured"),
        readings=(
            Reading(
                "true",
                "",
                "The legacy hook of a module that returns a leaf is never called, and nothing raises.",
                by={"backward.around.legacy_unchanged_input": "always"},
            ),
            Reading("false", "never", "It is called for the leaf that the module returns."),
        ),
        note="A tensor that was computed has a node: returned unchanged, it lets the hook hear its producer.",
    ),
    Row(
        "tutorial.backward.t20_last_operation",
        "A legacy hook gets the gradients of the last operation: input (or None), weight and bias, mixed.",
        (NOTES, LEGACY, "measured"),
        readings=(
            Reading(
                "true",
                "",
                "For Conv2d a legacy hook gets input, weight, bias; for Linear bias, input and transposed weight.",
                by={
                    "backward.legacy.convolution": "always",
                    "backward.legacy.linear": ("product alone", "sum for 1-D and 4-D", "sum for 1-D, 3-D and 4-D"),
                    "backward.around.frozen_factor": "always",
                    "backward.around.legacy_shared_node": "always",
                },
            ),
            Reading("false", "never", "Both list input, weight and bias in this order; a container does the same."),
        ),
        note="For a batch of vectors or images. Linear on 3-D input ends in another operation, which changed in 1.12.",
    ),
    Row(
        "tutorial.backward.t21_returns",
        "What a legacy hook returns replaces the gradients it was given as grad_input.",
        (NOTES, LEGACY, "measured"),
        readings=(
            Reading(
                "true",
                "",
                "Gradients that a legacy hook returns go on and reach .grad.",
                by={
                    "backward.returns.legacy_replaces_parameters": "always",
                    "backward.returns.legacy_anywhere": "always",
                },
            ),
            Reading("false", "never", "The gradients stay as they were."),
        ),
    ),
)
def decided(subject: Subject) -> None:
    """What each of them says follows from the clauses that its readings name."""
    raise NotImplementedError
