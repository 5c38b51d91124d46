"""What a hook may return for an undefined gradient: nothing. The example of the documentation does not know that."""

from typing import Any, List

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import by_release, clause
from fixtures.draw.plans import NUMBERS
from fixtures.judge.subject import Subject
from suites.names import HOOKS_IN_ORDER, NONE_FROM_FUNCTION, TENSOR_DOCS, UNDEFINED_ISSUE
from suites.tensors import item, leaf, outcome, through_silent_function

ABOUT = "register_hook"

USES = st.lists(st.just(0) | NUMBERS, min_size=2, max_size=4).filter(any)


@clause(
    "gradient.undefined.no_replacement",
    says="A tensor hook that is given None and returns a tensor ends backward() with RuntimeError.",
    source="measured",
    asked="substitute zeros for missing gradient in callback crash torch zeros_like instead "
    "of nothing gradient is None in a tensor hook NoneType unsupported operand",
    value="RuntimeError",
    wrong={"taken": "accepted"},
    witness={"uses": [2, 0], "replaced": [False, True], "observers": 0},
)
@given(uses=USES, replaced=st.lists(st.booleans(), min_size=4, max_size=4), observers=st.integers(0, 2))
def test_no_replacement(subject: Subject, uses: List[int], replaced: List[bool], observers: int) -> None:
    import torch

    x = torch.ones(len(uses), dtype=torch.float64, requires_grad=True)
    tensors = x.unbind(0)
    for tensor, changed in zip(tensors, replaced):
        for _ in range(observers):
            tensor.register_hook(lambda grad: None)
        if changed:
            tensor.register_hook(lambda grad: torch.tensor(7.0, dtype=torch.float64))
    result = outcome(sum(by * tensor for by, tensor in zip(uses, tensors) if by).backward)
    if any(changed and not by for by, changed in zip(uses, replaced)):
        expected = subject.value
    else:
        expected = "accepted"
    grad = [7 if changed else by for by, changed in zip(uses, replaced)]
    assert (result, item(x.grad)) == (expected, grad if expected == "accepted" else None)


@clause(
    "gradient.undefined.replaced",
    says="A tensor hook that returns a tensor where a custom Function gave None ends backward() with RuntimeError.",
    where="that is the only use of the tensor",
    source=(HOOKS_IN_ORDER, UNDEFINED_ISSUE),
    asked="custom autograd op backward skips input try supplying own gradient from hook error "
    "straight through gradient is None in a tensor hook NoneType unsupported operand",
    matters_if="tensor returns ?gradient_undefined",
    readings=by_release(
        ("error", "silent", "silent"),
        ("2.0", "refused", ("RuntimeError", "RuntimeError")),
        "A tensor hook, also of a leaf, that is given None and returns a tensor ends backward(): RuntimeError.",
        ("1.7", "leaf not asked", ("accepted", "RuntimeError")),
        "A tensor hook of an inner tensor that is given None may not return a tensor; one of a leaf is not called.",
        ("", "taken", ("taken", "taken")),
        "A tensor that a tensor hook returns where a custom Function gave None takes the place of a zero.",
    ),
    # At the leaf the first two readings differ, at an inner tensor these and the third.
    witness={"places": [(0, 0), (1, 0)], "depth": 1},
)
@given(
    places=st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=2), depth=st.integers(0, 2)
)
def test_replaced(subject: Subject, places: List[Any], depth: int) -> None:
    import torch

    for place, observers in places:
        row = [leaf(1)]
        for _ in range(depth):
            row.append(2 * row[-1])
        place = min(place, depth)
        for _ in range(observers):
            row[place].register_hook(lambda grad: None)
        row[place].register_hook(lambda grad: torch.tensor(7.0, dtype=torch.float64))
        result = outcome(through_silent_function(row[-1]).backward)
        expected = subject.value[1 if place else 0]
        taken = expected == "taken"
        assert (result, item(row[0].grad)) == ("accepted" if taken else expected, 7 * 2.0**place if taken else None)


@clause(
    "gradient.undefined.example_fails",
    says="After a, b = x.unbind() and b.register_hook(lambda g: g * 2) a.sum().backward() raises TypeError.",
    where="x needs a gradient",
    source=(TENSOR_DOCS, "https://github.com/pytorch/pytorch/issues/11751"),
    asked="split chunk unused piece scale gradient unsupported operand nonetype and "
    "int crash gradient is None in a tensor hook NoneType unsupported operand",
    level="observed",
    matters_if="tensor ?gradient_undefined",
    effect="error",
    value="TypeError",
    wrong={"works": "accepted"},
    witness={"uses": [2, 0], "hooked": [False, True, False, False]},
    docs="contradicts",
    note="The documentation says that the hook is called with the gradient, a tensor; None is not mentioned.",
)
@given(uses=USES, hooked=st.lists(st.booleans(), min_size=4, max_size=4))
def test_example_fails(subject: Subject, uses: List[int], hooked: List[bool]) -> None:
    import torch

    x = torch.ones(len(uses), dtype=torch.float64, requires_grad=True)
    tensors = x.unbind(0)
    for tensor, doubled in zip(tensors, hooked):
        if doubled:
            tensor.register_hook(lambda grad: grad * 2)
    root = sum(by * tensor for by, tensor in zip(uses, tensors) if by)
    result = outcome(root.backward)
    expected = subject.value if any(doubled and not by for by, doubled in zip(uses, hooked)) else "accepted"
    grad = [by * 2 if doubled else by for by, doubled in zip(uses, hooked)]
    assert (result, item(x.grad)) == (expected, grad if expected == "accepted" else None)


@clause(
    "gradient.undefined.example_fails_after_a_function",
    says="The hook lambda g: g * 2 on an inner tensor ends backward() with TypeError if a Function gave it None.",
    where="that is the only use of the tensor",
    source=(TENSOR_DOCS, NONE_FROM_FUNCTION),
    asked="custom autograd backward returns none then scaling activation gradient crashes unsupported "
    "operand nonetype gradient is None in a tensor hook NoneType unsupported operand",
    level="observed",
    matters_if="tensor ?gradient_undefined",
    readings=by_release(
        ("error", "none"),
        ("1.7", "fails", ("TypeError", None)),
        "The hook grad * 2 fails on an inner tensor given to a Function that returns None: it is given None.",
        ("", "works", ("accepted", 0.0)),
        "The hook grad * 2 works on an inner tensor given to a Function that returns None: it is given zero.",
    ),
    witness={"before": 1, "place": 1, "hooks": 1},
    docs="contradicts",
    note="The documentation says that the hook is called with the gradient, a tensor; None is not mentioned.",
)
@given(before=st.integers(1, 3), place=st.integers(1, 3), hooks=st.integers(1, 2))
def test_example_fails_after_a_function(subject: Subject, before: int, place: int, hooks: int) -> None:
    row = [leaf(1)]
    for _ in range(before):
        row.append(2 * row[-1])
    for _ in range(hooks):
        row[min(place, before)].register_hook(lambda grad: grad * 2)
    result = outcome(through_silent_function(row[-1]).backward)
    assert (result, item(row[0].grad)) == subject.value
