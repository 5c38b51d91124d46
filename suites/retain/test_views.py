"""What a view and its base keep, when both are used and when one of them is changed in place."""

from math import prod
from typing import Any, List

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import by_release, clause
from fixtures.clause.rows import Row, each
from fixtures.draw.plans import FACTORS, NUMBERS
from fixtures.judge.subject import Subject
from suites.names import BASE_VERSION, FOLLOWS
from suites.tensors import item

ABOUT = "retain_grad"

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
    where="no tensor is changed in place",
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

    y = 3 * torch.ones(size, dtype=torch.float64, requires_grad=True)
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

    x = torch.ones(size, dtype=torch.float64, requires_grad=True)
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

    x = torch.ones(size, dtype=torch.float64, requires_grad=True)
    y = 3 * x
    view = y[:part]
    view.retain_grad()
    for by in edits:
        (y if row.of_base else view).mul_(by)
    (grad * view).sum().backward()
    inside = min(size, part)
    assert item(view.grad) == (None if subject.value == "lost" else [grad] * inside)
    assert x.grad.tolist() == [3 * grad * prod(edits)] * inside + [0] * (size - inside)
