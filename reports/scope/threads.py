"""Backward hooks of two threads that share a leaf run in both threads, in no fixed order."""

import threading

import torch

hooked = torch.ones(2, requires_grad=True)
seen = []
hooked.register_hook(lambda grad: seen.append(threading.current_thread().name))
workers = [threading.Thread(target=lambda: (2 * hooked).sum().backward(), name=name) for name in ("one", "two")]
for worker in workers:
    worker.start()
for worker in workers:
    worker.join()
print(seen)
assert sorted(seen) == ["one", "two"]
