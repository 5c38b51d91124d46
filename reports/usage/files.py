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
from typing import Any

from reports.data.strict import BadInput, read_bytes
from reports.usage.owned import File

#: Magics that run Python: of a whole cell, and of what follows them on the line.
RUNS = "time|timeit|capture|prun|memit|mprun|lprun"
RUNS_LINE = re.compile(rf"(?m)^([ \t]*)%(?:{RUNS})(?:[ \t]+-\S+(?:[ \t]+\d+)?)*[ \t]+(.*)$")
#: What else is said to the notebook, and what is given by it: "!ls", "%cd a", "name?", "x = !ls", with the lines below.
SAID = re.compile(
    r"(?m)^([ \t]*)(?:([\w.]+(?:[ \t]*,[ \t]*[\w.]+)*[ \t]*=)[ \t]*[%!]|[%!?]|[\w.]+\?\??[ \t]*$)(?:.*\\\n)*.*$"
)
#: Folders of tools, whose Python is nobody's own: they are left out without a word, as caches and environments are.
TOOLS = re.compile(r"\.(git|hg|svn|tox|nox|venv|eggs|ipynb_checkpoints|\w*cache)$")
COMMENT = "hook-conformance:"


@dataclass
class Sources:
    """What was read: the files, what could not be read, and what a comment accepts on a line of a file."""

    read: list[File] = field(default_factory=list)
    files: int = 0
    skipped: list[str] = field(default_factory=list)
    accepted: dict[tuple[str, int], str] = field(default_factory=dict)
    #: Of a notebook: first line and number of each.
    cells: dict[str, list[tuple[int, int]]] = field(default_factory=dict)

    def place(self, file: str, line: int) -> tuple[int, int]:
        """Return the cell that a line is in, 0 outside notebooks, and the line in it."""
        cells = self.cells.get(file)
        first, number = cells[bisect.bisect_right(cells, (line, len(cells) + line)) - 1] if cells else (1, 0)
        return number, line - first + 1


def read_sources(path: Path, worth: re.Pattern[bytes], root: Path) -> Sources:
    """Return a file or all Python files of a folder, named as they are below `root`. Raises BadInput."""
    found, fault = Sources(), "holds no Python file"
    for file in _files(path, found.skipped, root):
        name = _name(file, root)
        try:
            parsed = _parsed(file, name, found, None if file is path else worth)
            found.files += 1
            found.read += [parsed] if parsed else []
        except BadInput as problem:
            fault = problem.fault
            found.skipped.append(f"{name}: {fault}")
    if not found.files:
        if path.is_dir() and found.skipped:
            fault = f"holds no Python file that can be read ({found.skipped[0]})"
        raise BadInput(path, "", fault, "name a file or a folder of Python code")
    return found


def python_files(path: Path, root: Path) -> Iterator[tuple[str, Path]]:
    """Yield a file, or all Python files of a folder, each with its name below `root`."""
    yield from ((_name(file, root), file) for file in _files(path, [], root))


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
        hidden = (Path(parent, name) for name in sorted(folders) if name.startswith(".") and not TOOLS.match(name))
        skipped += [
            f"{_name(each, root)}: is a folder with a dot, and not read" for each in hidden if _has_python(each)
        ]
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name != "__pycache__")
        yield from (Path(parent, name) for name in sorted(names) if name.endswith((".py", ".ipynb")))
    skipped += [f"{_name(Path(one.filename), root)}: cannot be read ({one.strerror})" for one in faults]


def _has_python(folder: Path) -> bool:
    """Say whether a folder has Python files, and is no virtual environment."""
    files = (name.endswith(".py") for _, _, names in os.walk(folder) for name in names)
    return not (folder / "pyvenv.cfg").exists() and any(files)


def _parsed(path: Path, name: str, found: Sources, worth: re.Pattern[bytes] | None) -> File | None:
    """Return a file, none where it has no word for a hook or a guard. Raises BadInput."""
    raw = read_bytes(path)
    if worth and not worth.search(raw):
        return None
    notebook = path.suffix == ".ipynb"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # other people's escapes in strings
            raw = "\n".join(_lines(json.loads(raw)["cells"], name, found)).encode() if notebook else raw
            file = File(name, ast.parse(raw))
    except (SyntaxError, ValueError, KeyError, TypeError, AttributeError) as problem:
        what = "no notebook" if notebook else "no Python of version 3"
        raise BadInput(path, "", f"is {what} ({_fault(problem)})", "") from None
    except (RecursionError, MemoryError):
        raise BadInput(path, "", "is nested too deep to be read", "") from None
    for number, line in enumerate(raw.decode("utf-8", "replace").splitlines(), 1):
        if COMMENT in line:
            found.accepted[name, number] = line.rpartition(COMMENT)[2].strip()
    return file


def _fault(problem: Exception) -> str:
    line = getattr(problem, "lineno", None)
    return f"{getattr(problem, 'msg', problem)}" + (f", line {line}" if line else "")


def _lines(cells: list[dict[str, Any]], name: str, found: Sources) -> list[str]:
    """Return the Python of a notebook, cell behind cell; where each begins, and which are left out, is found."""
    lines: list[str] = []
    left_out: list[str] = []
    begins: list[tuple[int, int]] = []
    for number, cell in enumerate(cells, 1):
        if cell["cell_type"] == "code":
            begins.append((len(lines) + 1, number))
            try:
                lines += _python("".join(cell["source"])).split("\n")
            except (SyntaxError, ValueError) as problem:
                left_out.append(f"{name}, cell {number}: is no Python ({_fault(problem)})")
    found.cells[name] = begins
    found.skipped += left_out
    return lines


def _python(text: str) -> str:
    """Return the Python of a cell, line for line; what is said to the notebook does nothing. Raises SyntaxError."""
    if first := re.match(rf"\s*%%({RUNS})?", text):
        text = text.replace("%%", "#", 1) if first[1] else ""
    try:
        ast.parse(text)
    except SyntaxError:
        text = RUNS_LINE.sub(r"\1\2", text)
        text = SAID.sub(lambda it: f"{it[1]}{f'{it[2]} None' if it[2] else 'pass'}" + "\n" * it[0].count("\n"), text)
        ast.parse(text)
    return text
