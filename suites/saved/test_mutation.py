"""allow_mutation_on_saved_tensors: changes in place of what was saved."""

from typing import Any, List, Tuple

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import clause
from fixtures.draw.plans import FACTORS, NUMBERS
from fixtures.judge.subject import Subject
from suites.hooking import result
from suites.saved.plans import BOOLEANS
from suites.saved.sources import HAS_MUTATION, MUTATION
from suites.tensors import leaf

ABOUT = "allow_mutation_on_saved_tensors"
ERRORS = (RuntimeError, AssertionError)


def squared(x: Any, edits: List[int]) -> Tuple[Any, Any]:
    """The square of 1 * x, which is changed in place behind it; and what was changed."""
    y = 1 * x
    z = y**2
    for by in edits:
        y.mul_(by)
    return y, z


EDITS = st.lists(FACTORS, min_size=1, max_size=3)


@clause(
    "saved.mutation.value",
    says="In allow_mutation_on_saved_tensors y.mul_(2) after z = y**2 does not change what z.backward() computes.",
    where=("the pass is in the same block", "y is a non-leaf"),
    see=("saved.mutation.outside", "saved.mutation.inner_hooks"),
    source=f'{MUTATION} "so the original version can still be used during backward"',
    asked="modify activation in place after forward without breaking backward allow mutation clone on write",
    needs=HAS_MUTATION,
    value="saved",
    wrong={"what it is now": "now", "an error": "error"},
    witness={"x": 3, "edits": [2]},
)
@given(x=NUMBERS, edits=EDITS)
def test_value(subject: Subject, x: int, edits: List[int]) -> None:
    import torch

    start, now = leaf(x), []

    def run() -> float:
        with torch.autograd.graph.allow_mutation_on_saved_tensors():
            y, z = squared(start, edits)
            now.append(y.item())
            z.backward()
        return start.grad.item()

    found = result(run, *ERRORS)
    assert found == {"saved": 2 * x, "now": 2 * now[0], "error": "RuntimeError"}[subject.value]


@clause(
    "saved.mutation.outside",
    says="A graph made in allow_mutation_on_saved_tensors raises AssertionError in a pass outside of that block.",
    where="the graph saved something",
    source=f'{MUTATION} "both the forward and backward should be run under the same context manager"',
    asked="Trying to backward outside of the allow_mutation_on_saved_tensors context AssertionError",
    needs=HAS_MUTATION,
    value="AssertionError",
    wrong={"as usual": "as usual"},
    witness={"x": 3, "again": False},
)
@given(x=NUMBERS, again=BOOLEANS)
def test_outside(subject: Subject, x: int, again: bool) -> None:
    import torch

    start = leaf(x)
    allow = torch.autograd.graph.allow_mutation_on_saved_tensors
    with allow():
        _, z = squared(start, [])

    def run() -> float:
        if again:
            with allow():
                z.backward()
        else:
            z.backward()
        return start.grad.item()

    assert result(run, *ERRORS) == {"AssertionError": "AssertionError", "as usual": 2 * x}[subject.value]


@clause(
    "saved.mutation.before",
    says="Changing in allow_mutation_on_saved_tensors what was saved before it makes the pass raise RuntimeError.",
    source="measured",
    asked="allow_mutation_on_saved_tensors entered after forward still modified by an inplace operation error",
    needs=HAS_MUTATION,
    value="RuntimeError",
    wrong={"helps": "helps"},
    witness={"x": 3, "by": 2},
)
@given(x=NUMBERS, by=FACTORS)
def test_before(subject: Subject, x: int, by: int) -> None:
    import torch

    start = leaf(x)
    y, z = squared(start, [])

    def run() -> float:
        with torch.autograd.graph.allow_mutation_on_saved_tensors():
            y.mul_(by)
            z.backward()
        return start.grad.item()

    assert result(run, *ERRORS) == {"RuntimeError": "RuntimeError", "helps": 2 * x}[subject.value]


@clause(
    "saved.mutation.inner_hooks",
    says="For z = y**2 in saved_tensors_hooks in allow_mutation_on_saved_tensors y.mul_(2) makes the gradient wrong.",
    where=("the hooks copy nothing", "y is a non-leaf tensor"),
    source="measured",
    asked="activation offloading inside allow_mutation_on_saved_tensors wrong gradient save_on_cpu together",
    needs=HAS_MUTATION,
    about=("allow_mutation_on_saved_tensors", "saved_tensors_hooks"),
    value="now",
    wrong={"what was saved": "saved"},
    witness={"x": 3, "edits": [2]},
)
@given(x=NUMBERS, edits=EDITS)
def test_inner_hooks(subject: Subject, x: int, edits: List[int]) -> None:
    import torch

    start = leaf(x)
    with torch.autograd.graph.allow_mutation_on_saved_tensors():
        with torch.autograd.graph.saved_tensors_hooks(lambda tensor: tensor.detach(), lambda packed: packed):
            y, z = squared(start, [])
        for by in edits:
            y.mul_(by)
        z.backward()
    assert start.grad.item() == 2 * {"now": y.item(), "saved": x}[subject.value]
