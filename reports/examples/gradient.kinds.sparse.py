"""gradient.kinds.sparse: The hook of a weight that is used sparsely is given a sparse gradient.

Says which reading this torch has.
Checked by suites/gradient/test_sparse.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace


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


def example(subject, passes, by, columns):
    seen = []
    table = torch.nn.Embedding(3, columns, sparse=True)
    table.weight.register_hook(lambda grad: seen.append(rows_of(grad)))
    table.weight.register_hook(lambda grad: grad * by)
    for rows, at_once in passes:
        looked_up(table, rows, at_once).backward()
    counts = [[[float(rows.count(row))] * columns for row in range(3)] for rows, _ in passes]
    total = [[float(by * sum(rows.count(row) for rows, _ in passes))] * columns for row in range(3)]
    assert (seen, rows_of(table.weight.grad)) == ([(subject.value, one) for one in counts], (True, total))


READINGS = {
    'sparse (every torch): The sparse gradient in a hook has each row that was looked up, as often, and so has .grad.': True,
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), passes=[([1, 1], False)], by=1, columns=1)
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
