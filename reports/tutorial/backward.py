"""Claims about backward hooks of modules."""

from reports.tutorial.claim import ABSENT, Answer, Claim

CLAIMS = (
    Claim(
        "tutorial.backward.t08_arguments",
        "For y = x1*x2*W a full backward hook gets (x1.grad, x2.grad) and (y.grad,), and nothing about W.",
        source=(
            'docs: torch.nn.Module.register_full_backward_hook "with respect to the inputs and outputs respectively"',
        ),
        answers=(
            Answer(
                "true",
                "",
                "A full backward hook gets the gradients of inputs and outputs, none of parameters.",
                {"backward.given.one_entry_each": "always", "backward.given.full_line": "always"},
            ),
        ),
        about=("register_full_backward_hook",),
        needs="torch.nn.Module.register_full_backward_hook",
        asked="what are grad_input and grad_output in multi input layer why is weight gradient missing",
    ),
    Claim(
        "tutorial.backward.t10_collected",
        "Collecting grad_input, then grad_output, in one list gives [x1.grad, x2.grad, output.grad].",
        source=(
            'docs: torch.nn.Module.register_full_backward_hook "with respect to the inputs and outputs respectively"',
        ),
        answers=(
            Answer(
                "true",
                "",
                "grad_input has the gradients of the inputs in their order, grad_output that of the output.",
                {"backward.given.one_entry_each": "always", "retain.keep.inner_tensor": "always"},
            ),
        ),
        about=("register_full_backward_hook", "retain_grad"),
        needs="torch.nn.Module.register_full_backward_hook",
        asked="save gradients of layer inputs and output into python array append extend order backprop",
    ),
    Claim(
        "tutorial.backward.t09_retained_output",
        "After output.retain_grad() output.grad is grad_output[0] of a full hook, if there is no pre-hook.",
        source=(
            "docs: torch.nn.Module.register_full_backward_hook",
            "test: test/test_autograd.py TestAutograd.test_retains_grad_can_always_observe_tensor_prehook",
            "release 2.0: retain_grad keeps the gradient that every hook of the tensor has left",
        ),
        answers=(
            Answer(
                "true",
                ">=2.0",
                "output.grad and grad_output[0] are both what the tensor hooks of the output left.",
                {"retain.modules.output_is_grad_output": "the same"},
            ),
            Answer(
                "false",
                "<2.0",
                "A tensor hook put on the output after retain_grad() makes output.grad differ from grad_output[0].",
                {
                    "retain.modules.output_is_grad_output": (
                        "before or after tensor hooks",
                        "without later tensor hooks",
                    )
                },
                effect="silent",
            ),
        ),
        about=("register_full_backward_hook",),
        needs="torch.nn.Module.register_full_backward_hook",
        note="The output may have tensor hooks. What a full backward pre-hook returns is never in output.grad.",
        asked="compare activation gradient stored versus backward callback second argument same values verify",
    ),
    Claim(
        "tutorial.backward.t26_use_tensor_hooks",
        "No hook on a module can be trusted with the gradient of its input: only tensor hooks can.",
        source=(
            "docs: torch.nn.Module.register_backward_hook",
            'docs: torch.nn.Module.register_full_backward_hook "with respect to the inputs and outputs respectively"',
            "release 1.8: full backward hooks of modules",
        ),
        answers=(
            Answer(
                "true",
                "<1.8",
                "The only backward hook of a module gets the gradients of its last operation.",
                {"backward.given.legacy_last_operation": "always", "backward.given.one_entry_each": ABSENT},
            ),
            Answer(
                "false",
                ">=1.8",
                "A full backward hook of a module gets the same gradient of the input as a hook on the input.",
                {"backward.given.legacy_last_operation": "always", "backward.given.one_entry_each": "always"},
            ),
        ),
        about=("register_backward_hook", "register_full_backward_hook", "register_hook"),
        asked="is register_full_backward_hook grad_input reliable wrong gradient of x broken use register_hook instead",
    ),
    Claim(
        "tutorial.backward.t18_first_tensor",
        "register_backward_hook() hooks the node of the first tensor that is found in the output.",
        source=("docs: torch.nn.Module.register_backward_hook", "measured"),
        answers=(
            Answer(
                "false",
                "",
                "A legacy hook goes to index 0 of a tuple or list, to the first "
                "tensor of a dict; else the call raises.",
                {"backward.structures.legacy_first": "always"},
                effect="error",
            ),
        ),
        about=("register_backward_hook",),
        note="True for the outputs of most modules: tensors, tuples and lists that begin with one, dicts of tensors.",
        asked="deprecated backward callback multi output module which grad_fn does it attach to only one result",
    ),
    Claim(
        "tutorial.backward.t19_no_node",
        "When the first tensor of the output has no grad_fn, a legacy hook is not called and nothing raises.",
        source=("docs: torch.nn.Module.register_backward_hook", "measured"),
        answers=(
            Answer(
                "true",
                "",
                "The legacy hook of a module that returns a leaf is never called, and nothing raises.",
                {"backward.around.legacy_unchanged_input": "always"},
            ),
        ),
        about=("register_backward_hook",),
        note="A tensor that was computed has a node: returned unchanged, it lets the hook hear its producer.",
        asked="deprecated register_backward_hook never fires silently ignored detached or requires_grad false first "
        "result",
    ),
    Claim(
        "tutorial.backward.t20_last_operation",
        "A legacy hook gets the gradients of the last operation: input (or None), weight and bias, mixed.",
        source=("docs: torch.nn.Module.register_backward_hook", "measured"),
        answers=(
            Answer(
                "true",
                "",
                "For Conv2d a legacy hook gets input, weight, bias; for Linear bias, input and transposed weight.",
                {
                    "backward.legacy.convolution": "always",
                    "backward.legacy.linear": ("product alone", "sum for 1-D and 4-D", "sum for 1-D, 3-D and 4-D"),
                    "backward.around.frozen_factor": "always",
                    "backward.around.legacy_shared_node": "always",
                },
            ),
        ),
        about=("register_backward_hook",),
        note="For a batch of vectors or images. Linear on 3-D input ends in another operation, which changed in 1.12.",
        asked="deprecated register_backward_hook wrong grad_input shapes linear three entries addmm bias only final op",
    ),
    Claim(
        "tutorial.backward.t21_returns",
        "What a legacy hook returns replaces the gradients it was given as grad_input.",
        source=("docs: torch.nn.Module.register_backward_hook", "measured"),
        answers=(
            Answer(
                "true",
                "",
                "Gradients that a legacy hook returns go on and reach .grad.",
                {"backward.returns.legacy_replaces_parameters": "always"},
            ),
        ),
        about=("register_backward_hook",),
        asked="modify gradients with deprecated register_backward_hook return tuple guided backprop clip",
    ),
)
