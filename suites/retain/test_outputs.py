"""retain_grad() on the outputs of one operation, of which one is changed in place: whose gradient is kept where."""

from typing import Any, List

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import by_release, clause
from fixtures.draw.plans import FACTORS
from fixtures.judge.subject import Subject
from suites.names import FOLLOWS, PULL
from suites.tensors import item, leaf, outcome

ABOUT = "retain_grad"

#: retain_grad() was made simpler; what it keeps went with the wrong number of the output from then on.
SIMPLER = PULL + "92604"


def outputs_of(number: int) -> Any:
    """The outputs of one operation: a leaf, so many times."""
    import torch

    class Copies(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return tuple(x.clone() for _ in range(number))

        @staticmethod
        def backward(ctx: Any, *grads: Any) -> Any:
            return sum(grads)

    return Copies.apply(leaf(1))


@clause(
    "retain.outputs.first_gets_it",
    says="If a later output of an operation is changed in place, the first one's .grad is that of the changed value.",
    where=("both keep gradients", "of one grad_fn, no views"),
    source=('docs: torch.Tensor.grad "The attribute will then contain the gradients computed"', FOLLOWS, SIMPLER),
    asked="two tensors returned by one function retain_grad wrong grad on one after mul_ inplace on the other swapped",
    level="observed",
    docs="contradicts",
    matters_if="never",
    readings=by_release(
        "silent",
        ("2.0", "the later one's", "later"),
        "If a later output of an operation is changed in place, the first one's .grad is that of the changed value.",
        ("", "its own", "own"),
        "If a later output of an operation is changed in place, the first one's .grad is its own gradient.",
    ),
    witness={"factors": [3, 5], "place": 1, "by": 2},
)
@given(factors=st.lists(FACTORS, min_size=2, max_size=4), place=st.integers(1, 3), by=FACTORS)
def test_first_gets_it(subject: Subject, factors: List[int], place: int, by: int) -> None:
    place = min(place, len(factors) - 1)
    outputs = outputs_of(len(factors))
    for one in outputs:
        one.retain_grad()
    outputs[place].mul_(by)
    sum(factor * one for factor, one in zip(factors, outputs)).backward()
    assert item(outputs[0].grad) == factors[place if subject.value == "later" else 0]


@clause(
    "retain.outputs.second",
    says="If retain_grad() was called on a later output of an operation, changing that in place raises RuntimeError.",
    where=("not on the first", "they have one grad_fn"),
    source=(FOLLOWS, SIMPLER),
    asked="INTERNAL ASSERT FAILED out != nullptr retain_grad modify second result inplace std_mean please report a bug",
    matters_if="never",
    readings=by_release(
        ("error", "none"),
        ("2.0", "refused", "RuntimeError"),
        "If retain_grad() was called on a later output of an operation, changing that in place raises RuntimeError.",
        ("", "accepted", "accepted"),
        "If retain_grad() was called on a later output of an operation, it may be changed in place.",
    ),
    witness={"number": 2, "place": 1, "by": 2},
)
@given(number=st.integers(2, 4), place=st.integers(1, 3), by=FACTORS)
def test_second(subject: Subject, number: int, place: int, by: int) -> None:
    outputs = outputs_of(number)
    place = min(place, number - 1)
    outputs[place].retain_grad()
    assert outcome(lambda: outputs[place].mul_(by)) == subject.value
