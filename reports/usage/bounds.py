"""Which releases of torch a project says that it supports, read from its own metadata."""

from __future__ import annotations

import ast
import configparser
import contextlib
import email
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import SpecifierSet
from packaging.version import Version

PATCHES = 10  # no release had more
ABOVE = 4  # folders above the code in which its metadata may be


@dataclass(frozen=True)
class Bounds:
    """What the metadata say of torch, and where; several extras may say several things."""

    said: tuple[SpecifierSet, ...]
    file: str

    def admits(self, release: Version) -> bool:
        """Say whether some patch of a minor release is supported."""
        major, minor = release.release[:2]
        versions = [f"{major}.{minor}.{patch}" for patch in range(PATCHES)]
        return any(each.contains(version, prereleases=True) for each in self.said for version in versions)

    def __str__(self) -> str:
        """Return "torch>=2.0 (pyproject.toml)"."""
        return " or ".join(sorted({f"torch{each}" for each in self.said})) + f" ({self.file})"


def read_bounds(path: Path) -> Bounds | None:
    """Return what the metadata nearest to some code say of torch; None where nothing does."""
    here = path.resolve()
    for folder in [here, *here.parents][: ABOVE + 1]:
        for file, lines in ((file, lines) for name, lines in READERS.items() for file in sorted(folder.glob(name))):
            asked = [one.specifier for one in _asked(file, lines) if one.name.lower() == "torch" and one.specifier]
            if asked:
                return Bounds(tuple(dict.fromkeys(asked)), file.name)
        if (folder / ".git").exists():
            break
    return None


def _asked(file: Path, lines: Callable[[str], Iterable[str]]) -> Iterator[Requirement]:
    """Yield what a file of metadata requires; what cannot be read requires nothing."""
    try:
        found = [line.partition("#")[0].strip() for line in lines(file.read_text(encoding="utf-8"))]
    except (OSError, ValueError, SyntaxError, RecursionError, AttributeError, configparser.Error):
        return
    for line in found:
        with contextlib.suppress(InvalidRequirement):
            yield Requirement(line)


def _toml(text: str) -> Iterator[str]:
    found = tomllib.loads(text)
    project = found.get("project", {})
    yield from project.get("dependencies", [])
    for extra in project.get("optional-dependencies", {}).values():
        yield from extra
    poetry: Any = found.get("tool", {}).get("poetry", {}).get("dependencies", {}).get("torch")
    asked = poetry.get("version", "") if isinstance(poetry, dict) else poetry or ""
    asked = re.sub(r"^\s*\^\s*(\d+)", r"==\1.*,>=\1", asked)  # Poetry's own: "^2.1" is 2.1 or newer, below 3
    yield f"torch{asked}" if asked[:1] in "<>=!~" else f"torch=={asked}"


def _cfg(text: str) -> Iterator[str]:
    parser = configparser.ConfigParser(interpolation=None)
    parser.read_string(text)
    if parser.has_section("options"):
        yield from parser.get("options", "install_requires", fallback="").splitlines()
    if parser.has_section("options.extras_require"):
        yield from (line for _, lines in parser.items("options.extras_require") for line in lines.splitlines())


def _py(text: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.startswith("torch"):
            yield node.value


def _metadata(text: str) -> Iterator[str]:
    yield from email.message_from_string(text).get_all("Requires-Dist") or []


READERS: dict[str, Callable[[str], Iterable[str]]] = {
    "pyproject.toml": _toml, "setup.cfg": _cfg, "setup.py": _py, "PKG-INFO": _metadata,
    "*.dist-info/METADATA": _metadata, "requirements*.txt": str.splitlines,
}  # fmt: skip
