"""gradient.passes.two_threads: Backward passes of several threads call the hook of a shared leaf once each.

Says which reading this torch has.
Checked by suites/gradient/test_passes.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace


def example(subject):
    import threading

    calls = []
    x = torch.ones((), requires_grad=True)
    x.register_hook(lambda grad: calls.append(1))
    x.grad = torch.zeros(())

    def work():
        for _ in range(25):
            (2 * x).backward()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(calls), x.grad.item()) == subject.value


READINGS = {
    'once each (every torch): 4 threads, 25 passes each, gradient 2.': (100, 200.0),
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded))
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
