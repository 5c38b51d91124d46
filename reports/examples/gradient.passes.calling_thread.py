"""gradient.passes.calling_thread: On the CPU hooks run in the thread that called backward(), with its context variables.

Says which reading this torch has.
Checked by suites/gradient/test_threads.py of torch-hook-conformance.
"""

import torch
from types import SimpleNamespace


def example(subject):
    import contextvars
    import threading

    variable = contextvars.ContextVar("variable", default="unset")
    results = []

    def work():
        seen = []
        variable.set("set")
        x = torch.ones((), requires_grad=True)
        x.register_hook(lambda grad: seen.append((threading.get_ident(), variable.get())))
        (2 * x).backward()
        results.extend((thread == threading.get_ident(), value) for thread, value in seen)

    work()
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert results == subject.value


READINGS = {
    "the caller's (torch >=1.6): On the CPU hooks run in the thread that called backward(), be it the main thread or another.": [(True, 'set'), (True, 'set')],
    "one of the engine's (torch <1.6): On the CPU hooks run in a thread of the engine, without the caller's context variables.": [(False, 'unset'), (False, 'unset')],
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
