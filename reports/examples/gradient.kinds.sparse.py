"""gradient.kinds.sparse: The hook of a weight that is used sparsely is given a sparse gradient.

Says which reading this torch has.
Checked by suites/gradient/test_kinds.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace


def example(subject, passes, by):
    seen = []
    table = torch.nn.Embedding(3, 1, sparse=True)
    table.weight.register_hook(lambda grad: seen.append((grad.is_sparse, grad.to_dense().tolist())))
    table.weight.register_hook(lambda grad: grad * by)
    for rows in passes:
        # Times 1: from torch 2.0 on, to_dense() loses a single row of values that sum() has expanded.
        (1 * table(torch.tensor(rows))).sum().backward()
    counts = [[[float(rows.count(row))] for row in range(3)] for rows in passes]
    total = [[float(by * sum(rows.count(row) for rows in passes))] for row in range(3)]
    grad = table.weight.grad
    assert (seen, grad.is_sparse, grad.to_dense().tolist()) == ([(subject.value, one) for one in counts], True, total)


READINGS = {
    'sparse (every torch): With a row for each row that was looked up, counted as often.': True,
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), passes=[[1, 1]], by=1)
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
