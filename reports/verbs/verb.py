"""What every verb has on the command line: a help of one line, a description, and its exit statuses with an example."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

from fixtures.run.naming import REPORTS


def add_verb(
    sub: Any,
    name: str,
    run: Callable[[argparse.Namespace], int],
    says: str,
    epilog: str,
    description: str | None = None,
    listed: bool = True,
) -> argparse.ArgumentParser:
    """Add a verb to the command line. What it says of itself is described at length, or in a sentence of its own.

    What only maintainers of this repository run is not `listed` with the others.
    """
    shown = {"help": says} if listed else {}
    parser = sub.add_parser(
        name,
        **shown,
        description=description or says[0].upper() + says[1:] + ".",
        epilog=epilog.replace("python -m reports", REPORTS),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(run=run)
    return parser
