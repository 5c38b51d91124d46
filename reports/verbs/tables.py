"""A table that a verb writes between two marks of a page: <!-- name --> and <!-- /name -->."""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

from fixtures.run.naming import REPORTS
from reports.data.strict import BadInput, one_line, write_atomic
from reports.data.verdicts import VERDICTS


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Let the caller ask whether the table is up to date."""
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 when the table is out of date")
    parser.add_argument("--verdicts", type=Path, default=VERDICTS, help=argparse.SUPPRESS)


def write(path: Path, name: str, table: str, *, check: bool, command: str = "") -> int:
    """Write the table of that name, or say that it is out of date; a command makes it, or a verb of its name."""
    try:
        text = path.read_text("utf-8")
    except OSError as error:
        raise BadInput(path, "", f"cannot be read ({error.strerror})", "name the file with the table") from error
    marked = re.compile(rf"(<!-- {name} -->\n).*?(<!-- /{name} -->)", re.DOTALL)
    if not marked.search(text):
        raise BadInput(path, "", f"has no table of {name}", f"put <!-- {name} --> and <!-- /{name} --> in it")
    fresh = marked.sub(lambda found: found[1] + table + found[2], text)
    if fresh == text:
        print(one_line(f"{path}: the table of {name} is up to date"))
        return 0
    again = command or f"{REPORTS} {name}"
    if check:
        print(one_line(f"{path}: the table of {name} is out of date: {again}"), file=sys.stderr)
        return 1
    write_atomic(path, fresh)
    print(one_line(str(path)))
    return 0
