"""A process that trains alone: the one gloo group of this process, which has no other member."""

import atexit
import tempfile
from pathlib import Path


def alone() -> None:
    """Make the default process group unless it is there; it ends with the process, and so does its store."""
    import torch.distributed as dist

    if not dist.is_initialized():
        folder = tempfile.TemporaryDirectory()
        atexit.register(folder.cleanup)
        dist.init_process_group("gloo", init_method=Path(folder.name, "store").as_uri(), rank=0, world_size=1)
        atexit.register(dist.destroy_process_group)  # else old torch waits for ever when Python ends
