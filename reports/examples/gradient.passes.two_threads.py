"""gradient.passes.two_threads: Passes that run at once in several threads each call the hook of a leaf that they share.

Says which reading this torch has.
Checked by suites/gradient/test_threads.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace


def leaf(value):
    """A float64 scalar that requires grad."""
    return torch.tensor(float(value), dtype=torch.float64, requires_grad=True)


def example(subject, passes):
    import threading

    seen = []
    x = leaf(1)
    x.register_hook(lambda grad: seen.append(grad.item()))
    start = threading.Barrier(len(passes))

    def work(factor, times):
        start.wait()
        for _ in range(times):
            (factor * x).backward()

    threads = [threading.Thread(target=work, args=one) for one in enumerate(passes, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    run = passes if subject.value == "each" else passes[:1]
    assert sorted(seen) == [float(factor) for factor, times in enumerate(run, 1) for _ in range(times)]


READINGS = {
    'each (every torch): Every pass of every thread calls the hook once, with its own gradient.': 'each',
}

holds = []
for reading, demanded in READINGS.items():
    try:
        example(SimpleNamespace(value=demanded), passes=[1, 1])
    except AssertionError:
        continue
    holds.append(reading)
print("torch", torch.__version__, "-", "; ".join(holds) or "none of these readings")
raise SystemExit(not holds)
