"""The command `hook-conformance`, as it is installed: the packages of the clone, below one name of their own."""

from __future__ import annotations

import sys
from pathlib import Path


def main() -> int:
    """Run one verb, as `python -m reports` does in a clone."""
    sys.path.insert(0, str(Path(__file__).parent))
    from reports.__main__ import INSTALLED
    from reports.__main__ import main as run

    return run(prog=INSTALLED)
