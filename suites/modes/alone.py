"""A process that trains alone: the one gloo group of this process, which has no other member."""

import tempfile
from functools import lru_cache
from pathlib import Path
from typing import Any


@lru_cache(maxsize=None)
def alone() -> Any:
    """Make the default process group, once, and never end it; return the folder of its store, which goes at the end."""
    import torch.distributed as dist

    folder = tempfile.TemporaryDirectory()
    dist.init_process_group("gloo", init_method=Path(folder.name, "store").as_uri(), rank=0, world_size=1)
    return folder
