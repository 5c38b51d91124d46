"""gradient.kinds.sparse_and_dense: The hook of a weight that is used sparsely and densely is called once, with one dense gradient.

Says which reading this torch has.
Checked by suites/gradient/test_kinds.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace


def example(subject, uses):
    seen = []
    table = torch.nn.Embedding(3, 1, sparse=True)
    table.weight.register_hook(seen.append)
    parts = [use * table.weight if isinstance(use, int) else 1 * table(torch.tensor(use)) for use in uses]
    sum(part.sum() for part in parts).backward()

    def grad_of(some):
        rows = [[float(sum(use if isinstance(use, int) else use.count(row) for use in some))] for row in range(3)]
        return not any(isinstance(use, int) for use in some), rows

    found = [(grad.is_sparse, (grad.to_dense() if grad.is_sparse else grad).tolist()) for grad in seen]
    assert found == [grad_of(some) for some in ([uses] if subject.value == "once" else [[use] for use in uses])]


READINGS = {
    'once, dense (every torch): With the sum of all uses; it is sparse only if every use is.': 'once',
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), uses=[[1, 2], 2])
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
