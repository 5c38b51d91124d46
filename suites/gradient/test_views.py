"""Views of a base that is changed in place, and the base: which of their hooks are called, and with what."""

from typing import Any, List, Tuple

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import by_release, clause
from fixtures.draw.plans import FACTORS
from fixtures.judge.subject import Subject
from suites.gradient.versions import CHANGES, calls_of, noting
from suites.names import BASE_VERSION, IN_PLACE_NOTE

ABOUT = "register_hook"


@clause(
    "gradient.inplace.base_through_view",
    says="A change of y in place through the slice y[:1] makes a new version of y, with tensor hooks of its own.",
    where=("grad mode is on", "y is an inner tensor"),
    source=(IN_PLACE_NOTE, BASE_VERSION, "https://github.com/pytorch/pytorch/issues/117366"),
    asked="assign into part of activation indexed write original hook sees which value",
    matters_if="tensor inner ?hooked_again ?edited_between",
    readings=by_release(
        "silent",
        ("2.3", "its own version", "own"),
        "Tensor hooks put on a base before or after a change through a view are given their version's gradient.",
        ("", "the first hook's version", "first"),
        "All tensor hooks of a base are given the gradient of one version, that where the first one was put.",
    ),
    witness={"steps": ["hook", 5, "hook"]},
)
@given(steps=CHANGES)
def test_base_through_view(subject: Subject, steps: List[Any]) -> None:
    import torch

    seen: List[Any] = []
    names = map(str, range(len(steps)))
    y = 3 * torch.ones(2, dtype=torch.float64, requires_grad=True)
    for step in steps:
        if step == "hook":
            y.register_hook(noting(seen, next(names)))
        else:
            y[:1].mul_(step)
    (2 * y).sum().backward()
    assert seen == [(name, [2.0 * by, 2.0]) for name, by in calls_of(steps, subject.value)]


@clause(
    "gradient.inplace.view_is_lost",
    says="Tensor hooks of a slice v = y[:1] are not called for uses of v after v or y was changed in place.",
    where=("they were registered before that", "y is an inner tensor"),
    see="gradient.inplace.view_hooked_again",
    source=(IN_PLACE_NOTE, "test: test/test_autograd.py TestAutograd.test_tensor_hooks_inplace_over_view"),
    asked="hook on slice or chunk silently stops firing once inplace op is applied never triggered",
    value=False,
    wrong={"called": True},
    witness={"change_view": True, "by": 5, "before": None, "hooks": 1},
    docs="contradicts",
    note="The note says that hooks registered before the change go on getting gradients of the values before it.",
)
@given(change_view=st.booleans(), by=FACTORS, before=st.none() | FACTORS, hooks=st.integers(1, 2))
def test_view_is_lost(subject: Subject, change_view: bool, by: int, before: Any, hooks: int) -> None:
    import torch

    seen: List[Any] = []
    x = torch.ones(2, dtype=torch.float64, requires_grad=True)
    y = 3 * x
    view = y[:1]
    for number in range(hooks):
        view.register_hook(noting(seen, str(number)))
    early = None if before is None else (before * view).sum()
    (view if change_view else y).mul_(by)
    late = (2 * view).sum()
    (late if early is None else late + early).backward()
    grad = (before or 0) + (2 * by if subject.value else 0)
    called = subject.value or before is not None
    assert seen == [(str(number), [float(grad)]) for number in range(hooks) if called]
    assert x.grad.tolist() == [3.0 * ((before or 0) + 2 * by), 0.0]


@clause(
    "gradient.inplace.view_hooked_again",
    says="A tensor hook put on a hooked view after the last change of its base in place is called.",
    where=("the view is a slice", "it is used only after that"),
    source=("https://github.com/pytorch/pytorch/pull/196514", "measured"),
    asked="base modified inplace fix by registering again on the sliced piece now fires",
    matters_if="tensor inner ?view ?hooked_again ?edited_between",
    instead="read view.grad_fn before the hook is registered.",
    readings=by_release(
        "silent",
        ("2.15", "called", [(1, ["b"]), (0, ["b"])]),
        "A tensor hook put on a hooked view after the last change of its base is called, grad_fn read or not.",
        ("2.0", "when grad_fn was read", [(1, []), (0, ["b"])]),
        "A tensor hook put on a hooked view after its base was changed is called only if grad_fn was read.",
        ("", "never called", [(1, []), (1, [])]),
        "A tensor hook put on a hooked view after its base was changed is never called.",
    ),
)
def test_view_hooked_again(subject: Subject) -> None:
    import torch

    results: List[Tuple[int, List[str]]] = []
    for read in (False, True):
        seen: List[Any] = []
        y = 3 * torch.ones(2, requires_grad=True)
        view = y[:1]
        view.register_hook(noting(seen, "a"))
        y.mul_(5)
        if read:
            assert view.grad_fn is not None
        hooks = len(view._backward_hooks or {})
        view.register_hook(noting(seen, "b"))
        (2 * view).sum().backward()
        results.append((hooks, [name for name, _ in seen]))
    assert results == subject.value
