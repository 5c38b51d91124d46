"""Gradients of a weight that is looked up sparsely: what its hook is given, alone and beside dense uses."""

from typing import Any, List, Tuple

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import clause
from fixtures.draw.plans import FACTORS, NUMBERS
from fixtures.judge.subject import Subject
from fixtures.stages.make import make

ABOUT = "register_hook"

#: Rows that are looked up, and whether sum() follows at once: its gradient is one number that is expanded.
LOOKED_UP = st.tuples(st.lists(st.integers(0, 2), min_size=1, max_size=4), st.booleans())
COLUMNS = st.integers(1, 2)


def looked_up(table: Any, rows: List[int], at_once: bool) -> Any:
    """The sum of some rows of an embedding."""

    found = table(make.tensor(rows))
    return (found if at_once else 1 * found).sum()


def rows_of(grad: Any) -> Tuple[bool, List[List[float]]]:
    """Whether a gradient is sparse, and its three rows; to_dense() may lose what these clauses ask for."""
    if not grad.is_sparse:
        return False, grad.tolist()
    rows = [[0.0] * grad.shape[1] for _ in range(3)]
    for (at,), values in zip(grad._indices().t().tolist(), grad._values().tolist()):
        rows[at] = [old + new for old, new in zip(rows[at], values)]
    return True, rows


@clause(
    "gradient.kinds.sparse",
    says="A tensor hook of the weight of Embedding(sparse=True) is given a sparse gradient.",
    where="the weight has no other use",
    source='docs: torch.nn.Embedding "gradient w.r.t. :attr:`weight` matrix will be a sparse tensor"',
    asked="word vectors lookup table hook norm clip fails coalesce indices values layout sparse_coo",
    value=True,
    wrong={"dense": False},
    witness={"passes": [([1, 1], False)], "by": 1, "columns": 1},
    note="From 1.13 on to_dense() of such a gradient may lose a row: see gradient.kinds.sparse_and_dense.",
)
@given(passes=st.lists(LOOKED_UP, min_size=1, max_size=2), by=FACTORS, columns=COLUMNS)
def test_sparse(subject: Subject, passes: List[Any], by: int, columns: int) -> None:

    seen: List[Any] = []
    table = make.Embedding(3, columns, sparse=True)
    table.weight.register_hook(lambda grad: seen.append(rows_of(grad)))
    table.weight.register_hook(lambda grad: grad * by)
    for rows, at_once in passes:
        looked_up(table, rows, at_once).backward()
    counts = [[[float(rows.count(row))] * columns for row in range(3)] for rows, _ in passes]
    total = [[float(by * sum(rows.count(row) for rows, _ in passes))] * columns for row in range(3)]
    assert (seen, rows_of(table.weight.grad)) == ([(subject.value, one) for one in counts], (True, total))


def summed(uses: List[Any], columns: int, loses: bool) -> Tuple[bool, List[List[float]]]:
    """The sum of the gradients of some uses, as `rows_of` tells it. The latest use is reached first."""
    counted: List[Any] = []
    waiting: List[Any] = []
    dense = False
    for use in reversed(uses):
        dense = dense or isinstance(use, int)
        waiting.append(use)
        if dense:
            sparse = [one for one in waiting if not isinstance(one, int)]
            # Dense plus one row of one expanded number: nothing is added.
            lost = loses and columns == 1 and len(sparse) == 1 and len(sparse[0][0]) == 1 and sparse[0][1]
            counted += [one for one in waiting if not (lost and one in sparse)]
            waiting = []
    total = [sum(use if isinstance(use, int) else use[0].count(row) for use in counted + waiting) for row in range(3)]
    return not dense, [[float(value)] * columns for value in total]


@clause(
    "gradient.kinds.sparse_and_dense",
    says="A weight used sparsely and densely has its tensor hook called once in a backward(), with the dense sum.",
    where="all uses are in the loss",
    source="code: torch/include/torch/csrc/autograd/functions/accumulate_grad.h "
    '"sum is not sparse, and we must change the TensorImpl type"',
    asked="tied embedding and output projection language model hook layout fires how many times",
    matters_if="tensor ?sparse",
    value="once",
    wrong={"for each use": "each"},
    witness={"uses": [([1], True), 1], "columns": 1},
)
@given(uses=st.lists(LOOKED_UP | NUMBERS, min_size=1, max_size=3), columns=COLUMNS)
def test_sparse_and_dense(subject: Subject, uses: List[Any], columns: int) -> None:

    seen: List[Any] = []
    table = make.Embedding(3, columns, sparse=True)
    table.weight.register_hook(lambda grad: seen.append(rows_of(grad)))
    sum((use * table.weight).sum() if isinstance(use, int) else looked_up(table, *use) for use in uses).backward()
    passes = [[use] for use in uses] if subject.value == "each" else [uses]
    expected = [summed(some, columns, subject.value == "a row is lost") for some in passes]
    assert seen == expected
    assert subject.value == "each" or rows_of(table.weight.grad) == expected[0]
