"""A tensor changed in place has a new version. Which version retain_grad() speaks of changed in torch 1.13 and 2.3."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause import Reading, clause
from fixtures.draw import FACTORS, NUMBERS
from fixtures.edited import edited
from fixtures.plan import Backward, Edit, Fan, Forward, Hook, InPlace, Input, Leaf, Plan, Retain, Scale
from fixtures.subject import Subject

FOLLOWS = "https://github.com/pytorch/pytorch/pull/79996"
NOTE = "note: notes/autograd.html#behavior-of-tensor-hooks-when-tensor-is-modified-in-place"
FOLLOWING, STAYING = {"retain_follows": True}, {"retain_follows": False}


def loss_of_two_y(*steps: Any) -> Plan:
    """y = 3x, what happens to y, and the gradients of 2y."""
    return Plan(Leaf("m0", "scale", (3,)), (Input(1),), (Forward(), *steps, Backward((2,))))


def used_twice(first: int, by: int, second: int) -> Plan:
    """y is used, changed in place by a pre-hook of its second user, and used again."""
    users = Fan("m0", (Leaf("m1", "add"), Leaf("m2", "add")))
    change = Hook("forward_pre", "m2", "h0", (InPlace(by),))
    inputs = (Input(1, leaf=False), Input(1, leaf=False))
    return Plan(users, inputs, (change, Retain("x0"), Forward(), Backward((first, second))))


@clause(
    "retain.versions.changed_before",
    says="retain_grad() after an in-place change keeps the gradient of the changed tensor.",
    source=NOTE,
    covers=("tensor.rg.inplace_before",),
)
@given(plan=edited("edit", "retain"))
def test_changed_before(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    assert trace.grads()[0][plan.steps[-2].on] == plan.steps[-1].grads[0]


@clause(
    "retain.versions.changed_after",
    says="The kept gradient follows a tensor that is changed in place after retain_grad().",
    source=(NOTE, FOLLOWS),
    readings=(
        Reading("of the new version", ">=1.13", "y = 3x; kept; y *= 5; the loss is 2y: y.grad is 2.", FOLLOWING),
        Reading("of the old version", "<1.13", "The gradient of what y was at the call: 10.", STAYING),
    ),
    witness=loss_of_two_y(Retain("m0>0"), Edit("m0>0", 5)),
    covers=("tensor.rg.inplace_after", "graph.order.inplace_retain_grad_moves"),
)
@given(plan=edited("retain", "edit"))
def test_changed_after(subject: Subject, plan: Plan) -> None:
    subject.holds(plan)


@clause(
    "retain.versions.changed_twice",
    says="After several in-place changes it is the gradient of the last version.",
    source=FOLLOWS,
    readings=(
        Reading("of the last", ">=1.13", "y *= 5, y *= 7: y.grad is 2.", FOLLOWING),
        Reading("of the first", "<1.13", "The gradient of what y was at the call: 70.", STAYING),
    ),
    witness=loss_of_two_y(Retain("m0>0"), Edit("m0>0", 5), Edit("m0>0", 7)),
    covers=("tensor.rg.inplace_multi", "graph.order.retain_grad_after_many_inplace"),
)
@given(plan=edited("retain", "edit", "edit"))
def test_changed_twice(subject: Subject, plan: Plan) -> None:
    subject.holds(plan)


@clause(
    "retain.versions.hook_stays",
    says="A hook stays with the version it was registered on, while the kept gradient moves on.",
    source=(NOTE, FOLLOWS),
    readings=(
        Reading("hook old, grad new", ">=1.13", "The hook is given 10, y.grad is 2.", FOLLOWING),
        Reading("both old", "<1.13", "The hook is given 10, y.grad is 10.", STAYING),
    ),
    witness=loss_of_two_y(Hook("tensor", "m0>0", "h0"), Retain("m0>0"), Edit("m0>0", 5)),
    covers=("tensor.rg.inplace_and_hook", "tensor.ip.hook_before"),
)
@given(plan=edited("hook", "retain", "edit"))
def test_hook_stays(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    assert trace.seen_by("h0") == [(plan.steps[-1].grads[0] * plan.steps[-2].by,)]


@clause(
    "retain.versions.asked_again",
    says="Calling retain_grad() again after an in-place change does not count the gradient twice.",
    source=FOLLOWS,
    readings=(
        Reading("once, new", ">=1.13", "y.grad is 2.", FOLLOWING),
        Reading("once, old", "<1.13", "The second call is ignored: y.grad is 10.", STAYING),
    ),
    witness=loss_of_two_y(Retain("m0>0"), Edit("m0>0", 5), Retain("m0>0")),
    covers=("tensor.rg.inplace_twice",),
)
@given(plan=edited("retain", "edit", "retain"))
def test_asked_again(subject: Subject, plan: Plan) -> None:
    subject.holds(plan)


@clause(
    "retain.versions.used_before",
    says="Uses of a tensor before its in-place change do not count in the kept gradient.",
    source=FOLLOWS,
    readings=(
        Reading("new uses only", ">=1.13", "100y, then y *= 5, then 2y: y.grad is 2.", FOLLOWING),
        Reading("the old version's all", "<1.13", "100 + 2 * 5 = 110.", STAYING),
    ),
    witness=used_twice(100, 5, 2),
    covers=("tensor.rg.inplace_used_before",),
)
@given(plan=st.builds(used_twice, NUMBERS, FACTORS, NUMBERS))
def test_used_before(subject: Subject, plan: Plan) -> None:
    subject.holds(plan)


@clause(
    "retain.versions.view",
    says="The gradient kept for a view is its own, and the base's has the view's part in it.",
    source="measured",
    readings=(
        Reading(
            "each its own", "", "The loss is 5 * y[:1]: the view has [5], the base [5, 0].", value=([5.0], [5.0, 0.0])
        ),
        Reading(
            "the base's share",
            "never",
            "The view's grad is a view of the base's grad, of full size.",
            value=([5.0, 0.0], [5.0, 0.0]),
        ),
    ),
    covers=("tensor.rg.view",),
)
def test_view(subject: Subject) -> None:
    import torch

    y = 3 * torch.ones(2, requires_grad=True)
    view = y[:1]
    view.retain_grad()
    y.retain_grad()
    (5 * view).sum().backward()
    assert (view.grad.tolist(), y.grad.tolist()) == subject.value


@clause(
    "retain.versions.view_changed",
    says="The gradient kept for a view follows the view when it is changed in place.",
    source=FOLLOWS,
    readings=(
        Reading("of the new view", ">=1.13", "view *= 5, the loss is 2 * view: [2].", value=([2.0], [30.0, 0.0])),
        Reading("lost", "<1.13", "The old view is no more in the graph: None.", value=(None, [30.0, 0.0])),
    ),
    covers=("tensor.rg.inplace_view_self",),
)
def test_view_changed(subject: Subject) -> None:
    import torch

    x = torch.ones(2, requires_grad=True)
    view = (3 * x)[:1]
    view.retain_grad()
    view.mul_(5)
    (2 * view).sum().backward()
    assert (None if view.grad is None else view.grad.tolist(), x.grad.tolist()) == subject.value


@clause(
    "retain.versions.base_changed_by_view",
    says="The gradient kept for a base follows a change made through a view of it.",
    source=("https://github.com/pytorch/pytorch/pull/117552", "https://github.com/pytorch/pytorch/issues/117366"),
    readings=(
        Reading("of the new base", ">=2.3", "y[:1] *= 5, the loss is 2y: [2, 2].", value=([2.0, 2.0], [30.0, 6.0])),
        Reading(
            "of the old base",
            "<2.3",
            "The gradient of what y was at the call: [10, 2].",
            value=([10.0, 2.0], [30.0, 6.0]),
        ),
    ),
    covers=("tensor.rg.inplace_view_of_base", "graph.order.retain_grad_on_base_then_view_inplace"),
)
def test_base_changed_by_view(subject: Subject) -> None:
    import torch

    x = torch.ones(2, requires_grad=True)
    y = 3 * x
    y.retain_grad()
    y[:1].mul_(5)
    (2 * y).sum().backward()
    assert (y.grad.tolist(), x.grad.tolist()) == subject.value


@clause(
    "retain.versions.became_a_leaf",
    says="A kept tensor that becomes a leaf by detach_() has its gradient accumulated once.",
    source="https://github.com/pytorch/pytorch/pull/92604",
    readings=(
        Reading("once", "", "y.grad is 2.", value=2.0),
        Reading("never", "never", "Nothing is kept any more.", value=0.0),
    ),
    covers=("tensor.rg.detach_then_rg",),
)
def test_became_a_leaf(subject: Subject) -> None:
    import torch

    y = 3 * torch.ones((), requires_grad=True)
    y.retain_grad()
    y.detach_()
    y.requires_grad_()
    (2 * y).backward()
    assert y.grad.item() == subject.value


@clause(
    "retain.versions.detached",
    says="detach_() leaves retains_grad True, on what is now a leaf that requires no gradient.",
    source=("docs: torch.Tensor.retains_grad", "measured"),
    readings=(
        Reading("stays True", "", "requires_grad is False, retains_grad True.", value=(True, False, True)),
        Reading("becomes False", "never", "As for any leaf.", value=(True, False, False)),
    ),
    covers=("tensor.rg.detach_",),
    docs="contradicts",
    note="By its documentation it is True only for a tensor that is no leaf and whose .grad is going to be set.",
)
def test_detached(subject: Subject) -> None:
    import torch

    y = 3 * torch.ones((), requires_grad=True)
    y.retain_grad()
    y.detach_()
    assert (y.is_leaf, y.requires_grad, y.retains_grad) == subject.value


@clause(
    "retain.versions.base_of_kept_view",
    says="The gradient kept for a view follows the view when its base is changed in place.",
    source=FOLLOWS,
    readings=(
        Reading("of the new view", ">=1.13", "base *= 5, the loss is 2 * view: [2].", value=[2.0]),
        Reading("lost", "<1.13", "The old view is no more in the graph: None.", value=None),
    ),
    covers=("tensor.rg.inplace_base_of_view",),
)
def test_base_of_kept_view(subject: Subject) -> None:
    import torch

    y = 3 * torch.ones(2, requires_grad=True)
    view = y[:1]
    view.retain_grad()
    y.mul_(5)
    (2 * view).sum().backward()
    assert (None if view.grad is None else view.grad.tolist()) == subject.value


@clause(
    "retain.versions.hooks_of_each_version",
    says="Hooks put on the new version are in the kept gradient, hooks of older versions are not.",
    source=(NOTE, FOLLOWS),
    readings=(
        Reading(
            "the new hook's",
            ">=2.0",
            "*7, kept, y *= 5, *3, and the loss is 2y: 2 * 3.",
            {"retain_follows": True, "hooks_of_version": True, "retain_grad": "last"},
        ),
        Reading(
            "none",
            ">=1.13,<2.0",
            "The hooks are all on the old version.",
            {"retain_follows": True, "hooks_of_version": False, "retain_grad": "slot"},
        ),
        Reading(
            "all, of the old",
            ">=1.10,<1.13",
            "retain_grad() came after the hooks' place: 2 * 5 * 7 * 3.",
            {"retain_follows": False, "hooks_of_version": False, "retain_grad": "slot"},
        ),
        Reading(
            "those before it, of the old",
            "<1.10",
            "retain_grad() is one of the hooks: 2 * 5 * 7.",
            {"retain_follows": False, "hooks_of_version": False, "retain_grad": "hook"},
        ),
    ),
    witness=loss_of_two_y(
        Hook("tensor", "m0>0", "h0", (Scale(7),)),
        Retain("m0>0"),
        Edit("m0>0", 5),
        Hook("tensor", "m0>0", "h1", (Scale(3),)),
    ),
    covers=("graph.order.tensor_hook_then_retain_after_inplace",),
)
@given(plan=edited("scale", "retain", "edit", "scale"))
def test_hooks_of_each_version(subject: Subject, plan: Plan) -> None:
    subject.holds(plan)
