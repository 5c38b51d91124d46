"""Someone's files: which are read, the cells of a notebook, and what comments in them accept."""

from __future__ import annotations

import ast
import bisect
import json
import os
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from reports.data.strict import BadInput, read_bytes
from reports.usage.owned import File

#: Magics that run Python: of a whole cell, and of what stands behind them on the line.
RUNS = {"time", "timeit", "capture", "prun", "memit", "mprun", "lprun"}
MAGIC = re.compile(r"^(\s*)(?:[%!?].*|[\w.]+\?\??\s*)$")
GIVEN = re.compile(r"^(\s*)([\w.]+(?:\s*,\s*[\w.]+)*)\s*=\s*[%!].*$")
COMMENT = "hook-conformance:"


@dataclass
class Sources:
    """What was read: the files, what could not be read, and what a comment accepts on a line of a file."""

    read: list[File] = field(default_factory=list)
    files: int = 0
    skipped: list[str] = field(default_factory=list)
    accepted: dict[tuple[str, int], str] = field(default_factory=dict)
    cells: dict[str, list[tuple[int, int]]] = field(
        default_factory=dict
    )  # of a notebook: first line and number of each

    def place(self, file: str, line: int) -> tuple[int, int]:
        """Return the cell that a line is in, 0 outside notebooks, and the line in it."""
        cells = self.cells.get(file)
        first, number = cells[bisect.bisect_right(cells, (line, len(cells) + line)) - 1] if cells else (1, 0)
        return number, line - first + 1


def read_sources(path: Path, worth: re.Pattern[bytes], root: Path) -> Sources:
    """Return a file or all Python files of a folder, named as they are below `root`. Raises BadInput."""
    found = Sources()
    fault = ""
    for file in _files(path, found.skipped, root):
        name = _name(file, root)
        try:
            parsed = _parsed(file, name, found, None if file is path else worth)
        except BadInput as problem:
            fault = problem.fault
            found.skipped.append(f"{name}: {fault}")
            continue
        found.files += 1
        found.read += [parsed] if parsed else []
    if not found.files:
        if path.is_dir() and found.skipped:
            fault = f"holds no Python file that can be read ({found.skipped[0]})"
        raise BadInput(path, "", fault or "holds no Python file", "name a file or a folder of Python code")
    return found


def repository(path: Path) -> Path | None:
    """Return the git repository that a path is in; None where it is in none."""
    here = Path(os.path.realpath(path))
    return next((each for each in (here, *here.parents) if (each / ".git").exists()), None)


def _name(file: Path, root: Path) -> str:
    """Return a path below the root: links stay as they are named."""
    return Path(os.path.relpath(os.path.join(os.path.realpath(file.parent), file.name), root)).as_posix()


def _files(path: Path, skipped: list[str], root: Path) -> Iterator[Path]:
    """Yield a file, or all Python files of a folder; a folder inside that cannot be read is listed as skipped."""
    if not path.is_dir():
        yield path
        return
    faults: list[OSError] = []
    for parent, folders, names in os.walk(path, onerror=faults.append):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name != "__pycache__")
        yield from (Path(parent, name) for name in sorted(names) if name.endswith((".py", ".ipynb")))
    skipped += [f"{_name(Path(one.filename), root)}: cannot be read ({one.strerror})" for one in faults]


def _parsed(path: Path, name: str, found: Sources, worth: re.Pattern[bytes] | None) -> File | None:
    """Return a file, none where it has no word for a hook or a guard. Raises BadInput."""
    raw = read_bytes(path)
    if worth and not worth.search(raw):
        return None
    cells: list[tuple[int, int]] = []
    left_out: list[str] = []
    try:
        if path.suffix == ".ipynb":
            raw, cells, left_out = _notebook(raw)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # other people's escapes in strings
            file = File(name, ast.parse(raw))
    except (SyntaxError, ValueError, KeyError, TypeError, AttributeError) as problem:
        line = getattr(problem, "lineno", None)
        what = "no notebook" if path.suffix == ".ipynb" else "no Python of version 3"
        where = f", line {line}" if line else ""
        raise BadInput(path, "", f"is {what} ({getattr(problem, 'msg', problem)}{where})", "") from None
    except (RecursionError, MemoryError):
        raise BadInput(path, "", "is nested too deep to be read", "") from None
    found.skipped += [f"{name}, {each}" for each in left_out]
    if cells:
        found.cells[name] = cells
    for number, line in enumerate(raw.decode("utf-8", "replace").splitlines(), 1):
        if COMMENT in line:
            found.accepted[name, number] = line.rpartition(COMMENT)[2].strip()
    return file


def _notebook(raw: bytes) -> tuple[bytes, list[tuple[int, int]], list[str]]:
    """Return the Python of a notebook, cell behind cell, where each begins, and the cells that are left out."""
    lines: list[str] = []
    cells: list[tuple[int, int]] = []
    left_out: list[str] = []
    for number, cell in enumerate(json.loads(raw)["cells"], 1):
        if cell["cell_type"] == "code":
            source = cell["source"]
            text = source if isinstance(source, str) else "".join(source)
            cells.append((len(lines) + 1, number))
            try:
                lines += _python(text).split("\n")
            except (SyntaxError, ValueError) as problem:
                line = f", line {problem.lineno}" if isinstance(problem, SyntaxError) else ""
                left_out.append(f"cell {number}: is no Python ({getattr(problem, 'msg', problem)}{line})")
    return "\n".join(lines).encode(), cells, left_out


def _python(text: str) -> str:
    """Return the Python of a cell, line for line; what is said to the notebook does nothing. Raises SyntaxError."""
    first = re.match(r"\s*%%(\w*)", text)
    if first:
        if first[1] not in RUNS:
            return ""
        text = text[: first.start()] + "#" + text[first.end() :]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            ast.parse(text)
        except SyntaxError:
            text = "\n".join(_plain(text.split("\n")))
            ast.parse(text)
    return text


def _plain(lines: list[str]) -> Iterator[str]:
    """Yield lines with what is said to the notebook as `pass`, and what such a line gives as None."""
    goes_on = False
    for line in lines:
        if goes_on:
            goes_on = line.rstrip().endswith("\\")
            yield ""
        elif magic := re.match(r"^(\s*)%(\w+)(?:\s+-\S+(?:\s+\d+)?)*\s+(.*)$", line):
            yield f"{magic[1]}{magic[3]}" if magic[2] in RUNS else f"{magic[1]}pass"
        elif found := GIVEN.match(line) or MAGIC.match(line):
            goes_on = line.rstrip().endswith("\\")
            yield found[1] + (f"{found[2]} = None" if found.re is GIVEN else "pass")
        else:
            yield line
