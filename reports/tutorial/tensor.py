"""Claims about hooks on tensors and retain_grad()."""

from reports.tutorial.claim import Answer, Claim

CLAIMS = (
    Claim(
        "tutorial.tensor.t01_one_dict",
        "Every hook of a tensor is in its _backward_hooks, which is None before the first one.",
        source=(
            "docs: torch.Tensor.register_hook",
            "docs: torch.Tensor.register_post_accumulate_grad_hook",
            "measured",
        ),
        answers=(
            Answer(
                "true",
                "<2.1",
                "A tensor has one kind of hook, kept in its _backward_hooks.",
                {"gradient.membership.two_dicts": "one"},
            ),
            Answer(
                "false",
                ">=2.1",
                "Post-accumulate hooks of a tensor are in its _post_accumulate_grad_hooks, not in _backward_hooks.",
                {"gradient.membership.two_dicts": "two"},
                effect="silent",
            ),
        ),
        about=("register_hook", "register_post_accumulate_grad_hook"),
        note="Before 1.10 retain_grad() put its own hook into _backward_hooks as well.",
        asked="where are register_hook callbacks stored private attribute inspect list count clear all nonetype empty",
    ),
    Claim(
        "tutorial.tensor.t28_returns",
        "A tensor hook that returns None keeps the gradient; one that returns a tensor replaces it.",
        source=('docs: torch.Tensor.register_hook "a new gradient which will be used in place of :attr:`grad`"',),
        answers=(
            Answer(
                "true",
                "",
                "What a tensor hook returns goes on, into .grad and to the inputs; None changes nothing.",
                {
                    "gradient.replace.into_leaf": "always",
                    "gradient.replace.reaches_upstream": "always",
                    "gradient.replace.none_keeps": "always",
                },
            ),
        ),
        about=("register_hook",),
        asked="how to modify or clip gradient with register_hook return value required just print",
    ),
    Claim(
        "tutorial.tensor.t22_chain",
        "The hooks of a tensor run in the order of registration, each on what the one before it returned.",
        source=(
            (
                "note: autograd.html#backward-hooks-execution"
                ' "they are executed in the order in which they are registered"'
            ),
            (
                "note: autograd.html#backward-hooks-execution"
                ' "observe the modifications to the gradient made by earlier hooks"'
            ),
        ),
        answers=(
            Answer(
                "true",
                "",
                "A tensor's gradient is handed from hook to hook, oldest first.",
                {"gradient.replace.chains_in_order": "always"},
            ),
        ),
        about=("register_hook",),
        asked="stack two register_hook callbacks scale then clip second receives modified grad sequence",
    ),
    Claim(
        "tutorial.tensor.t11_sees_the_final_gradient",
        "A hook on the parameter W is given the value that W.grad holds afterwards.",
        source=(
            'docs: torch.Tensor.grad "will accumulate (add) gradients into it"',
            'docs: torch.Tensor.register_hook "a new gradient which will be used in place of :attr:`grad`"',
        ),
        answers=(
            Answer(
                "false",
                "",
                "A hook on W is given what this pass adds to W.grad, before later hooks of W replace it.",
                {"gradient.replace.every_backward": "always", "gradient.replace.chains_in_order": "always"},
                effect="silent",
            ),
        ),
        about=("register_hook",),
        note="True for the first backward with one hook, which is the program that the notes show.",
        asked="parameter register_hook grad equals accumulated .grad or only current batch contribution weight",
    ),
    Claim(
        "tutorial.tensor.t25_never_edit_in_place",
        "Editing a gradient in place in a tensor hook is wrong: others that hold the same gradient see it.",
        source=('docs: torch.Tensor.register_hook "The hook should not modify its argument"',),
        answers=(
            Answer(
                "true",
                "",
                "An edit of a gradient in place in a hook also changes other tensors' gradients.",
                {"gradient.edits.siblings": "always", "gradient.edits.callers_gradient": "always"},
            ),
        ),
        about=("register_hook",),
        note="Who sees it depends on the order: with the hook on y, x.grad is kept already and stays as it was.",
        asked="grad.mul_ or clamp_ inside register_hook corrupts other gradients wrong values return new instead",
    ),
    Claim(
        "tutorial.tensor.t27_known_to_the_node",
        "A hook put on an intermediate tensor is known to the backward node of that tensor.",
        source=(
            (
                "note: autograd.html#behavior-of-tensor-hooks-when-tensor-is-modified-in-place"
                ' "they actually become permanently bound to the grad_fn"'
            ),
            "release 2.0: tensor hooks stay with the version of the tensor they were put on",
        ),
        answers=(
            Answer(
                "true",
                ">=2.0",
                "A hook is put on the node that the tensor has then, also after an edit in place.",
                {"gradient.inplace.own_version": "its own version", "gradient.lifetime.tensor_object_gone": "always"},
            ),
            Answer(
                "false",
                "<2.0",
                "A tensor that had a hook before an edit in place puts new hooks on its old node.",
                {
                    "gradient.inplace.own_version": "the first hook's version",
                    "gradient.lifetime.tensor_object_gone": "always",
                },
                effect="silent",
            ),
        ),
        about=("register_hook",),
        asked="register_hook on non-leaf activation attached to grad_fn pre hook survives deleting variable "
        "autograd graph",
    ),
    Claim(
        "tutorial.retain.t24_is_a_hook",
        "retain_grad() is itself a hook of the tensor and runs in its turn among the others.",
        source=(
            "docs: torch.Tensor.retain_grad",
            'note: autograd.html#backward-hooks-execution "field is updated for Tensors that retain_grad"',
            "release 2.0: retain_grad keeps the gradient that every hook of the tensor has left",
            "https://github.com/pytorch/pytorch/pull/85849",
        ),
        answers=(
            Answer(
                "true",
                "<1.10",
                "retain_grad() keeps what the hooks before it left; later hooks do not matter.",
                {"retain.place.after_every_hook": "in its turn"},
            ),
            Answer(
                "false before 2.0",
                ">=1.10,<2.0",
                "retain_grad() keeps the gradient from before all hooks if it came first, otherwise from after all.",
                {"retain.place.after_every_hook": "before or after all"},
                effect="silent",
            ),
            Answer(
                "false",
                ">=2.0",
                "retain_grad() keeps what all hooks of the tensor left, whatever was registered first.",
                {"retain.place.after_every_hook": "after all hooks"},
                effect="silent",
            ),
        ),
        about=("register_hook", "retain_grad"),
        asked="does calling retain grad earlier or later than register_hook matter for clipped value sequence",
    ),
    Claim(
        "tutorial.retain.t23_exercise",
        "With c = a*b and e = c*d and hooks on c, d and e, e.grad is 2: the doubled gradient is kept.",
        source=(
            "docs: torch.Tensor.retain_grad",
            'note: autograd.html#backward-hooks-execution "field is updated for Tensors that retain_grad"',
            "release 2.0: retain_grad keeps the gradient that every hook of the tensor has left",
            "https://github.com/pytorch/pytorch/pull/85849",
        ),
        answers=(
            Answer(
                "true",
                ">=2.0",
                "With a doubling hook on e after e.retain_grad(), e.grad is the doubled gradient: 2.",
                {
                    "retain.place.after_every_hook": "after all hooks",
                    "gradient.replace.chains_in_order": "always",
                    "gradient.replace.into_leaf": "always",
                    "gradient.replace.reaches_upstream": "always",
                },
            ),
            Answer(
                "false",
                "<2.0",
                "With a doubling hook on e after e.retain_grad(), e.grad is the gradient before it: 1.",
                {
                    "retain.place.after_every_hook": ("before or after all", "in its turn"),
                    "gradient.replace.chains_in_order": "always",
                    "gradient.replace.into_leaf": "always",
                    "gradient.replace.reaches_upstream": "always",
                },
                effect="silent",
            ),
        ),
        about=("retain_grad",),
        asked="stored gradient after register_hook multiplies by 2 example intermediate variables quiz expected value",
    ),
)
