"""gradient.kinds.sparse_and_dense: A weight used sparsely and densely has its hook called once, with the dense sum of all uses.

Says which reading this torch has.
Checked by suites/gradient/test_sparse.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace


def summed(uses, columns, loses):
    """The sum of the gradients of some uses, as `rows_of` tells it. The latest use is reached first."""
    counted = []
    waiting = []
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


def rows_of(grad):
    """Whether a gradient is sparse, and its three rows; to_dense() may lose what these clauses ask for."""
    if not grad.is_sparse:
        return False, grad.tolist()
    rows = [[0.0] * grad.shape[1] for _ in range(3)]
    for (at,), values in zip(grad._indices().t().tolist(), grad._values().tolist()):
        rows[at] = [old + new for old, new in zip(rows[at], values)]
    return True, rows


def looked_up(table, rows, at_once):
    """The sum of some rows of an embedding."""
    found = table(torch.tensor(rows))
    return (found if at_once else 1 * found).sum()


def example(subject, uses, columns):
    seen = []
    table = torch.nn.Embedding(3, columns, sparse=True)
    table.weight.register_hook(lambda grad: seen.append(rows_of(grad)))
    sum((use * table.weight).sum() if isinstance(use, int) else looked_up(table, *use) for use in uses).backward()
    passes = [[use] for use in uses] if subject.value == "each" else [uses]
    expected = [summed(some, columns, subject.value == "a row is lost") for some in passes]
    assert seen == expected
    assert subject.value == "each" or rows_of(table.weight.grad) == expected[0]


READINGS = {
    'once, dense (every torch): The hook of a weight is given one gradient, the sum of all uses: dense if one of them is.': 'once',
    'a row is lost (torch >=1.13, a declared deviation): A row looked up alone in an embedding of one column is missing from its dense sum with other uses.': 'a row is lost',
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), uses=[([1], True), 1], columns=1)
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
