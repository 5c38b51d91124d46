"""A tensor changed in place has a new version: which one retain_grad() speaks of; what a view and its base keep.

This changed in torch 1.13 and 2.3.
"""

from math import prod
from typing import Any, List

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import by_release, clause
from fixtures.clause.rows import Row, each
from fixtures.draw.edited import edited
from fixtures.draw.plans import FACTORS, NUMBERS
from fixtures.judge.subject import Subject
from fixtures.plan.grammar import (
    Backward,
    Forward,
    Hook,
    InPlace,
    Input,
    Leaf,
    MulInPlace,
    Parallel,
    Plan,
    Retain,
    Scale,
    hooks_of,
)
from fixtures.stages.make import make
from suites.names import BASE_VERSION, FOLLOWS, IN_PLACE_NOTE, RETAIN_UNDEFINED
from suites.tensors import item, leaf

ABOUT = "retain_grad"

BOUND = IN_PLACE_NOTE + ' "they actually become permanently bound to the grad_fn"'
FOLLOWING, STAYING = {"retain_follows": True}, {"retain_follows": False}


def loss_of_two_y(*steps: Any) -> Plan:
    """y = 3x, what happens to y, and the gradients of 2y."""
    return Plan(Leaf("m0", "scale", (3,)), (Input(1),), (Forward(), *steps, Backward((2,))))


def used_twice(first: int, by: int, second: int) -> Plan:
    """y is used, changed in place by a pre-hook of its second user, and used again."""
    users = Parallel("m0", (Leaf("m1", "add"), Leaf("m2", "add")))
    change = Hook("forward_pre", "m2", "h0", (InPlace(by),))
    inputs = (Input(1, leaf=False), Input(1, leaf=False))
    return Plan(users, inputs, (change, Retain("x0"), Forward(), Backward((first, second))))


@clause(
    "retain.versions.changed_before",
    says="y.retain_grad() called after an in-place change of y keeps the gradient of the changed y.",
    source=(IN_PLACE_NOTE, "measured"),
    asked="inplace relu first then ask for activation gradient which "
    "version is stored retain_grad lost after inplace change",
)
@given(plan=edited("edit", "retain"))
def test_changed_before(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    assert trace.grads()[0][plan.steps[-2].on] == plan.steps[-1].grads[0]


@clause(
    "retain.versions.hook_stays",
    says="A tensor hook registered before y.mul_() gets the gradient of the old y; the kept gradient is of the new y.",
    where="y is not a view",
    see=("gradient.inplace.view_is_lost",),
    source=(BOUND, FOLLOWS),
    asked="register_hook and stored gradient disagree after inplace relu "
    "different values same activation retain_grad lost after inplace change",
    level="implied",
    matters_if="retain_grad ?edited_after",
    readings=by_release(
        "silent",
        ("1.13", "hook old, gradient new", FOLLOWING),
        "A tensor hook registered before y.mul_() gets the gradient of the old y; the kept gradient is of the new y.",
        ("", "both old", STAYING),
        "A tensor hook registered before y.mul_() gets the gradient of the old y; that of the old y is kept, too.",
    ),
    witness=loss_of_two_y(Hook("tensor", "m0>0", "h0"), Retain("m0>0"), MulInPlace("m0>0", 5)),
)
@given(plan=edited("hook", "retain", "edit"))
def test_hook_stays(subject: Subject, plan: Plan) -> None:
    trace, (*_, edit, backward) = subject.holds(plan), plan.steps
    (new,), old = backward.grads, backward.grads[0] * edit.by
    assert trace.seen_by("h0") == [(old,)]
    assert trace.grads()[0][edit.on] == (new if subject.reading.facts["retain_follows"] else old)


@clause(
    "retain.versions.used_before",
    says="Uses of y before y.mul_() do not count in the gradient kept for y.",
    where=("there is not a view", "one backward()"),
    source=FOLLOWS,
    asked="skip connection branch from activation prior to inplace add_ missing "
    "in stored gradient residual retain_grad lost after inplace change",
    matters_if="retain_grad ?edited_after",
    readings=by_release(
        "silent",
        ("1.13", "later uses only", FOLLOWING),
        "Uses of y before y.mul_() do not count in the gradient kept for y.",
        ("", "all uses", STAYING),
        "Uses of y before y.mul_() and uses after it count in the gradient kept for y.",
    ),
    witness=used_twice(100, 5, 2),
)
@given(plan=st.builds(used_twice, NUMBERS, FACTORS, NUMBERS))
def test_used_before(subject: Subject, plan: Plan) -> None:
    before, after = plan.steps[-1].grads
    every = before + after * plan.steps[0].do[0].by
    kept = subject.holds(plan).grads()[0]["x0"]
    assert kept == (after if subject.reading.facts["retain_follows"] else every)


@clause(
    "retain.versions.became_a_leaf",
    says="After y.retain_grad(), y.detach_() and y.requires_grad_(), each backward adds to y.grad once.",
    where="y was not used before",
    source=RETAIN_UNDEFINED,
    asked="detach in place retained activation then train it gradient doubled "
    "double count leaf accumulate retain_grad lost after inplace change",
    matters_if="retain_grad ?became_leaf",
    value=1,
    wrong={"not at all": 0},
    witness={"by": 2, "passes": 1},
)
@given(by=NUMBERS, passes=st.integers(1, 3))
def test_became_a_leaf(subject: Subject, by: int, passes: int) -> None:
    y = 3 * leaf(1)
    y.retain_grad()
    y.detach_()
    y.requires_grad_()
    for _ in range(passes):
        (by * y).backward()
    assert y.grad.item() == subject.value * by * passes


@clause(
    "retain.versions.detached",
    says="After y.retain_grad() and y.detach_(), y.retains_grad is still True, though y is a leaf now.",
    source=("docs: torch.Tensor.retains_grad", "measured"),
    asked="flag remains set after detach in place truncated bptt hidden "
    "state non-leaf became leaf retain_grad lost after inplace change",
    value=True,
    wrong={"becomes False": False},
    witness={"row": [True]},
    docs="contradicts",
    note="By its documentation it is True only for a tensor that is no leaf and whose .grad is going to be set.",
)
@given(row=st.lists(st.booleans(), min_size=1, max_size=3))
def test_detached(subject: Subject, row: List[bool]) -> None:
    tensors = [leaf(1)]
    for keep in row:
        tensors.append(2 * tensors[-1])
        if keep:
            tensors[-1].retain_grad()
    for y, keep in zip(tensors[1:], row):
        y.detach_()
        # Before 1.10 there is no such attribute where nothing was kept.
        retains = getattr(y, "retains_grad", False)
        assert (y.is_leaf, y.requires_grad, retains) == (True, False, keep and subject.value)


@each(
    Row(
        "retain.versions.changed_after",
        "After y.retain_grad() and y.mul_(), y.grad is the gradient of the new y.",
        ("test: test/test_autograd.py TestAutograd.test_retain_grad_inplace", FOLLOWS),
        asked="relu inplace after retain grad stored gradient wrong before "
        "or after modification retain_grad lost after inplace change",
        where="y is not a view",
        matters_if="retain_grad ?edited_after",
        readings=by_release(
            "silent",
            ("1.13", "of the new version", FOLLOWING),
            "After y.retain_grad() and y.mul_(), y.grad is the gradient of the new y.",
            ("", "of the old version", STAYING),
            "After y.retain_grad() and y.mul_(), y.grad is the gradient of the old y.",
        ),
        witness=loss_of_two_y(Retain("m0>0"), MulInPlace("m0>0", 5)),
        script=("retain", "edit"),
    ),
    Row(
        "retain.versions.changed_twice",
        "After y.retain_grad() and two calls of y.mul_(), y.grad is the gradient of the last y.",
        FOLLOWS,
        asked="several in-place ops relu_ add_ after retain grad which version "
        "gradient is stored final retain_grad lost after inplace change",
        where="y is not a view",
        matters_if="retain_grad ?edited_after",
        readings=by_release(
            "silent",
            ("1.13", "of the last version", FOLLOWING),
            "After y.retain_grad() and two calls of y.mul_(), y.grad is the gradient of the last y.",
            ("", "of the first version", STAYING),
            "After y.retain_grad() and two calls of y.mul_(), y.grad is the gradient of the first y.",
        ),
        witness=loss_of_two_y(Retain("m0>0"), MulInPlace("m0>0", 5), MulInPlace("m0>0", 7)),
        script=("retain", "edit", "edit"),
    ),
    Row(
        "retain.versions.asked_again",
        "Calling y.retain_grad() before and after y.mul_() does not count the gradient twice.",
        FOLLOWS,
        asked="in-place relu activation retain grad repeated double count "
        "after modification retain_grad lost after inplace change",
        where="y is not a view",
        matters_if="retain_grad ?edited_after",
        readings=by_release(
            "silent",
            ("1.13", "once, of the new version", FOLLOWING),
            "Calling y.retain_grad() before and after y.mul_() keeps the gradient of the new y, once.",
            ("", "once, of the old version", STAYING, "too"),
            "Calling y.retain_grad() before and after y.mul_() keeps the gradient of the old y, once.",
        ),
        witness=loss_of_two_y(Retain("m0>0"), MulInPlace("m0>0", 5), Retain("m0>0")),
        script=("retain", "edit", "retain"),
    ),
    plan=lambda row: edited(*row.script),
)
def edited_after(subject: Subject, plan: Plan, *, row: Any) -> None:
    new, edits = plan.steps[-1].grads[0], [step for step in plan.steps if isinstance(step, MulInPlace)]
    old = new * prod(edit.by for edit in edits)
    kept = subject.holds(plan).grads()[0][edits[0].on]
    assert kept == (new if subject.reading.facts["retain_follows"] else old)


@clause(
    "retain.versions.hooks_of_each_version",
    says="The gradient kept for y has the changes by tensor hooks registered after y.mul_(), not by earlier ones.",
    where="y.mul_() is called once",
    source=(BOUND, FOLLOWS),
    asked="clip via register_hook not reflected in stored gradient after in-place "
    "op earlier callback ignored retain_grad lost after inplace change",
    level="implied",
    matters_if="retain_grad ?edited_after ?changing_hook",
    readings=by_release(
        "silent",
        ("2.0", "hooks of the new version", {"retain_follows": True, "hooks_of_version": True, "retain_grad": "last"}),
        "The gradient kept for y has the changes by tensor hooks registered after y.mul_(), not by earlier ones.",
        ("1.13", "no hooks", {"retain_follows": True, "hooks_of_version": False, "retain_grad": "slot"}),
        "With a hook from before y.mul_() the gradient kept for y is that of the new y before any hook changed it.",
        ("1.10", "old version, all hooks", {"retain_follows": False, "hooks_of_version": False, "retain_grad": "slot"}),
        "With a hook from before retain_grad() the gradient kept for y is that of the old y, as all hooks left it.",
        ("", "old version, earlier hooks", {"retain_follows": False, "hooks_of_version": False, "retain_grad": "hook"}),
        "After y.mul_() the gradient kept for y is that of the old y, as the hooks before retain_grad() left it.",
    ),
    # y = 3x and the loss is 2y; a hook of the old y times 7, y *= 5, a hook of the new y times 3:
    # 2 * 3, 2, 2 * 5 * 7 * 3 and 2 * 5 * 7, in the order of the readings.
    witness=loss_of_two_y(
        Hook("tensor", "m0>0", "h0", (Scale(7),)),
        Retain("m0>0"),
        MulInPlace("m0>0", 5),
        Hook("tensor", "m0>0", "h1", (Scale(3),)),
    ),
)
@given(plan=edited("scale", "retain", "edit", "scale"))
def test_hooks_of_each_version(subject: Subject, plan: Plan) -> None:
    trace, facts, (*_, edit, _, backward) = subject.holds(plan), subject.reading.facts, plan.steps
    early, late = (hook.do[0].by for hook in hooks_of(plan))
    if facts["retain_follows"]:
        by = late if facts["hooks_of_version"] else 1
    else:
        by = edit.by * early * (late if facts["retain_grad"] == "slot" else 1)
    assert trace.grads()[0][edit.on] == backward.grads[0] * by


#: The sizes of a base and of a view of its first places, the factors of in-place operations, and a gradient.
VIEWED = {
    "size": st.integers(1, 3),
    "part": st.integers(1, 3),
    "edits": st.lists(FACTORS, min_size=1, max_size=2),
    "grad": NUMBERS,
}


@clause(
    "retain.versions.view",
    says="If v = y[1:] and y keep their gradients, uses of v count in both, other uses of y only in that of y.",
    source="measured",
    asked="gradient of slice versus whole tensor both stored does token slice "
    "loss contribute to each retain_grad lost after inplace change",
    value=0,
    wrong={"the base's share": 1},
    witness={"size": 2, "start": 1, "of_view": 5, "of_base": 2},
)
@given(size=st.integers(1, 3), start=st.integers(0, 2), of_view=NUMBERS, of_base=NUMBERS)
def test_view(subject: Subject, size: int, start: int, of_view: int, of_base: int) -> None:
    import torch

    y = 3 * make.ones(size, dtype=torch.float64, requires_grad=True)
    view = y[start:]
    view.retain_grad()
    y.retain_grad()
    ((of_view * view).sum() + (of_base * y).sum()).backward()
    base = [of_base + (of_view if place >= start else 0) for place in range(size)]
    own = [of_view + subject.value * of_base] * len(base[start:])
    assert (view.grad.tolist(), y.grad.tolist()) == (own, base)


@clause(
    "retain.versions.base_changed_by_view",
    says="After y.retain_grad() and y[:1].mul_(2), y.grad is the gradient of the new y.",
    source=(BASE_VERSION, "https://github.com/pytorch/pytorch/issues/117366"),
    asked="modify slice in place of retained activation which gradient stored "
    "old or modified row assignment retain_grad lost after inplace change",
    matters_if="retain_grad ?edited_after",
    readings=by_release(
        "silent",
        ("2.3", "of the new base", "new"),
        "After y.retain_grad() and y[:1].mul_(2), y.grad is the gradient of the new y.",
        ("", "of the old base", "old"),
        "After y.retain_grad() and y[:1].mul_(2), y.grad is the gradient of the old y.",
    ),
    witness={"size": 2, "part": 1, "edits": [5], "grad": 2},
)
@given(**VIEWED)
def test_base_changed_by_view(subject: Subject, size: int, part: int, edits: List[int], grad: int) -> None:
    import torch

    x = make.ones(size, dtype=torch.float64, requires_grad=True)
    y = 3 * x
    y.retain_grad()
    for by in edits:
        y[:part].mul_(by)
    (grad * y).sum().backward()
    inside = min(size, part)
    old = [grad * prod(edits)] * inside + [grad] * (size - inside)
    assert y.grad.tolist() == (old if subject.value == "old" else [grad] * size)
    assert x.grad.tolist() == [3 * each for each in old]


@each(
    Row(
        "retain.versions.view_changed",
        "After v = y[:1], v.retain_grad() and v.mul_(2), v.grad is the gradient of the new v.",
        FOLLOWS,
        asked="slice scaled in place after retain grad on it which gradient is "
        "stored old or modified retain_grad lost after inplace change",
        where="the loss uses v and not y",
        matters_if="retain_grad ?edited_after",
        readings=by_release(
            "silent",
            ("1.13", "of the new view", "new"),
            "After v = y[:1], v.retain_grad() and v.mul_(2), v.grad is the gradient of the new v.",
            ("", "lost", "lost"),
            "After v = y[:1], v.retain_grad() and v.mul_(2), v.grad is None after a backward.",
        ),
        witness={"size": 2, "part": 1, "edits": [5], "grad": 2},
        of_base=False,
    ),
    Row(
        "retain.versions.base_of_kept_view",
        "After v = y[:1], v.retain_grad() and y.mul_(2), v.grad is the gradient of the new v.",
        FOLLOWS,
        asked="retained slice then whole tensor modified in place which gradient "
        "does the slice store retain_grad lost after inplace change",
        where="after y.mul_(2) the loss uses v and not y",
        matters_if="retain_grad ?edited_after",
        readings=by_release(
            "silent",
            ("1.13", "of the new view", "new"),
            "After v = y[:1], v.retain_grad() and y.mul_(2), v.grad is the gradient of the new v.",
            ("", "lost", "lost"),
            "After v = y[:1], v.retain_grad() and y.mul_(2), v.grad is None after a backward.",
        ),
        witness={"size": 2, "part": 1, "edits": [5], "grad": 2},
        of_base=True,
    ),
    size=lambda row: VIEWED["size"],
    part=lambda row: VIEWED["part"],
    edits=lambda row: VIEWED["edits"],
    grad=lambda row: VIEWED["grad"],
)
def kept_view(subject: Subject, size: int, part: int, edits: List[int], grad: int, *, row: Any) -> None:
    import torch

    x = make.ones(size, dtype=torch.float64, requires_grad=True)
    y = 3 * x
    view = y[:part]
    view.retain_grad()
    for by in edits:
        (y if row.of_base else view).mul_(by)
    (grad * view).sum().backward()
    inside = min(size, part)
    assert item(view.grad) == (None if subject.value == "lost" else [grad] * inside)
    assert x.grad.tolist() == [3 * grad * prod(edits)] * inside + [0] * (size - inside)
