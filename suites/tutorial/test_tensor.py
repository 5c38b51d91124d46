"""What study notes teach about hooks on tensors, and where it holds.

Each clause is one sentence that learners meet. Its readings are called true and false: see which is in force.
"""

from fixtures.judge.claim import claims
from fixtures.judge.clause import Reading, clause
from fixtures.judge.subject import Subject
from fixtures.judge.table import Row

ABOUT = "register_hook"

NOTES = "tutorials: widely read study notes, 2019-2022"
HOOK = "docs: torch.Tensor.register_hook"
REPLACES = HOOK + ' "a new gradient which will be used in place of :attr:`grad`"'
ADDS = 'docs: torch.Tensor.grad "will accumulate (add) gradients into it"'
NOTE = "note: autograd.html#backward-hooks-execution"
IN_PLACE = "note: autograd.html#behavior-of-tensor-hooks-when-tensor-is-modified-in-place"
RETAIN = "docs: torch.Tensor.retain_grad"
RETAIN_MOVED = "release 2.0: retain_grad keeps the gradient that every hook of the tensor has left"


@clause(
    "tutorial.tensor.t01_one_dict",
    says="Every hook of a tensor is in its _backward_hooks, which is None before the first one.",
    source=(NOTES, HOOK, "docs: torch.Tensor.register_post_accumulate_grad_hook", "measured"),
    concern="tensor_dict",
    instead="look at _post_accumulate_grad_hooks too, where the tensor has it.",
    readings=(
        Reading(
            "true",
            "<2.1",
            "A tensor has one kind of hook, kept in its _backward_hooks.",
            value=(None, ["_backward_hooks"]),
        ),
        Reading(
            "false",
            ">=2.1",
            "Post-accumulate hooks of a tensor are in its _post_accumulate_grad_hooks, not in _backward_hooks.",
            value=(None, ["_backward_hooks", "_post_accumulate_grad_hooks"]),
            headline=False,
            effect="other",
        ),
    ),
    note="Before 1.10 retain_grad() put its own hook into _backward_hooks as well.",
)
def test_t01_one_dict(subject: Subject) -> None:
    import torch

    x = torch.tensor(2.0, requires_grad=True)
    before, places = x._backward_hooks, []
    for name in sorted(dir(x)):
        if name.startswith("register_") and name.endswith("hook"):
            handle = getattr(x, name)(lambda grad: None)
            dicts = [place for place in dir(x) if place.endswith("_hooks")]
            places += [place for place in dicts if handle.id in (getattr(x, place) or {})]
    assert (before, places) == subject.value


@claims(
    Row(
        "tutorial.tensor.t28_returns",
        "A tensor hook that returns None keeps the gradient; one that returns a tensor replaces it.",
        (NOTES, REPLACES),
        readings=(
            Reading(
                "true",
                "",
                "What a tensor hook returns goes on, into .grad and to the inputs; None changes nothing.",
                by={
                    "gradient.replace.into_leaf": "always",
                    "gradient.replace.reaches_upstream": "always",
                    "gradient.replace.none_keeps": "always",
                },
            ),
            Reading("false", "never", "The gradient goes on as it came."),
        ),
    ),
    Row(
        "tutorial.tensor.t22_chain",
        "The hooks of a tensor run in the order of registration, each on what the one before it returned.",
        (
            NOTES,
            NOTE + ' "they are executed in the order in which they are registered"',
            NOTE + ' "observe the modifications to the gradient made by earlier hooks"',
        ),
        readings=(
            Reading(
                "true",
                "",
                "A tensor's gradient is handed from hook to hook, oldest first.",
                by={"gradient.replace.chains_in_order": "always"},
            ),
            Reading("false", "never", "Every hook is given the gradient that autograd computed."),
        ),
    ),
    Row(
        "tutorial.tensor.t11_sees_the_final_gradient",
        "A hook on the parameter W is given the value that W.grad holds afterwards.",
        (NOTES, ADDS, REPLACES),
        readings=(
            Reading("true", "never", "Hook and W.grad agree always."),
            Reading(
                "false",
                "",
                "A hook on W is given what this pass adds to W.grad, before later hooks of W replace it.",
                by={"gradient.replace.every_backward": "always", "gradient.replace.chains_in_order": "always"},
                headline=False,
                effect="other",
            ),
        ),
        note="True for the first backward with one hook, which is the program that the notes show.",
    ),
    Row(
        "tutorial.tensor.t25_never_edit_in_place",
        "Editing a gradient in place in a tensor hook is wrong: others that hold the same gradient see it.",
        (NOTES, HOOK + ' "The hook should not modify its argument"'),
        readings=(
            Reading(
                "true",
                "",
                "An edit of a gradient in place in a hook also changes other tensors' gradients.",
                by={"gradient.edits.siblings": "always", "gradient.edits.callers_gradient": "always"},
            ),
            Reading("false", "never", "Only the hook's own tensor has another gradient."),
        ),
        note="Who sees it depends on the order: with the hook on y, x.grad is kept already and stays as it was.",
    ),
    Row(
        "tutorial.tensor.t27_known_to_the_node",
        "A hook put on an intermediate tensor is known to the backward node of that tensor.",
        (
            NOTES,
            IN_PLACE + ' "they actually become permanently bound to the grad_fn"',
            "release 2.0: tensor hooks stay with the version of the tensor they were put on",
        ),
        readings=(
            Reading(
                "true",
                ">=2.0",
                "A hook is put on the node that the tensor has then, also after an edit in place.",
                by={
                    "gradient.inplace.own_version": "its own version",
                    "gradient.lifetime.tensor_object_gone": "always",
                },
            ),
            Reading(
                "false",
                "<2.0",
                "A tensor that had a hook before an edit in place puts new hooks on its old node.",
                by={
                    "gradient.inplace.own_version": "the first hook's version",
                    "gradient.lifetime.tensor_object_gone": "always",
                },
                headline=False,
                effect="other",
            ),
            Reading("false at all", "never", "The hook goes when the tensor object goes."),
        ),
        concern="never",
    ),
    Row(
        "tutorial.retain.t24_is_a_hook",
        "retain_grad() is itself a hook of the tensor and runs in its turn among the others.",
        (
            NOTES,
            RETAIN,
            NOTE + ' "field is updated for Tensors that retain_grad"',
            RETAIN_MOVED,
            "https://github.com/pytorch/pytorch/pull/85849",
        ),
        readings=(
            Reading(
                "true",
                "<1.10",
                "retain_grad() keeps what the hooks before it left; later hooks do not matter.",
                by={"retain.place.after_every_hook": "in its turn"},
            ),
            Reading(
                "false before 2.0",
                ">=1.10,<2.0",
                "retain_grad() keeps the gradient from before all hooks if it came first, otherwise from after all.",
                by={"retain.place.after_every_hook": "before or after all"},
                headline=False,
                effect="other",
            ),
            Reading(
                "false",
                ">=2.0",
                "retain_grad() keeps what all hooks of the tensor left, whatever was registered first.",
                by={"retain.place.after_every_hook": "after all hooks"},
                headline=False,
                effect="other",
            ),
        ),
        concern="never",
        about=("register_hook", "retain_grad"),
    ),
    Row(
        "tutorial.retain.t23_exercise",
        "With c = a*b and e = c*d and hooks on c, d and e, e.grad is 2: the doubled gradient is kept.",
        (
            NOTES,
            RETAIN,
            NOTE + ' "field is updated for Tensors that retain_grad"',
            RETAIN_MOVED,
            "https://github.com/pytorch/pytorch/pull/85849",
        ),
        readings=(
            Reading(
                "true",
                ">=2.0",
                "With a doubling hook on e after e.retain_grad(), e.grad is the doubled gradient: 2.",
                by={
                    "retain.place.after_every_hook": "after all hooks",
                    "gradient.replace.chains_in_order": "always",
                    "gradient.replace.into_leaf": "always",
                    "gradient.replace.reaches_upstream": "always",
                },
            ),
            Reading(
                "false",
                "<2.0",
                "With a doubling hook on e after e.retain_grad(), e.grad is the gradient before it: 1.",
                by={
                    "retain.place.after_every_hook": ("before or after all", "in its turn"),
                    "gradient.replace.chains_in_order": "always",
                    "gradient.replace.into_leaf": "always",
                    "gradient.replace.reaches_upstream": "always",
                },
                headline=False,
                effect="other",
            ),
        ),
        concern="never",
    ),
)
def decided(subject: Subject) -> None:
    """What each of them says follows from the clauses that its readings name."""
    raise NotImplementedError
