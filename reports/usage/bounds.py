"""Which releases of torch a project says that it supports, read from its own metadata."""

from __future__ import annotations

import ast
import configparser
import email
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import InvalidSpecifier, SpecifierSet
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
    folders = [here, *here.parents][: ABOVE + 1] if here.is_dir() else [*here.parents][:ABOVE]
    for folder in folders:
        for file in _files(folder):
            said = tuple(dict.fromkeys(_said(file)))
            if said:
                return Bounds(said, file.name)
        if (folder / ".git").exists():
            break
    return None


def _files(folder: Path) -> Iterator[Path]:
    for pattern in ("pyproject.toml", "setup.cfg", "setup.py", "PKG-INFO", "*.dist-info/METADATA", "requirements*.txt"):
        yield from sorted(each for each in folder.glob(pattern) if each.is_file())


def _said(file: Path) -> Iterator[SpecifierSet]:
    """Yield each range of torch that a file states; a file that cannot be read states none."""
    try:
        text = file.read_text(encoding="utf-8")
        lines = {".toml": _toml, ".cfg": _cfg, ".py": _py, ".txt": str.splitlines}.get(file.suffix, _metadata)(text)
        lines = list(lines)
    except (OSError, ValueError, SyntaxError, RecursionError, configparser.Error):
        return
    for line in lines:
        try:
            found = Requirement(line.partition("#")[0].strip())
        except (InvalidRequirement, AttributeError):
            continue
        if found.name.lower() == "torch" and found.specifier:
            yield found.specifier


def _toml(text: str) -> Iterator[str]:
    found = tomllib.loads(text)
    project = found.get("project", {})
    yield from project.get("dependencies", [])
    for extra in project.get("optional-dependencies", {}).values():
        yield from extra
    poetry: Any = found.get("tool", {}).get("poetry", {}).get("dependencies", {}).get("torch")
    asked = poetry.get("version", "") if isinstance(poetry, dict) else poetry or ""
    if asked:
        yield f"torch{_caret(asked)}"


def _caret(asked: str) -> str:
    """Return a range of Poetry as one of packaging: "^2.0" is ">=2.0,<3"."""
    found = re.fullmatch(r"\s*\^\s*(\d+)(\.[\d.]+)?\s*", asked)
    if found:
        return f">={found[1]}{found[2] or ''},<{int(found[1]) + 1}"
    try:
        return str(SpecifierSet(asked if asked[0] in "<>=!~" else f"=={asked}"))
    except InvalidSpecifier:
        return ""


def _cfg(text: str) -> Iterator[str]:
    parser = configparser.ConfigParser(interpolation=None)
    parser.read_string(text)
    for section, name in (("options", "install_requires"), ("options.extras_require", "")):
        if parser.has_section(section):
            for key, value in parser.items(section):
                if name in ("", key):
                    yield from value.splitlines()


def _py(text: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.startswith("torch"):
            yield node.value


def _metadata(text: str) -> Iterator[str]:
    for line in email.message_from_string(text).get_all("Requires-Dist") or []:
        yield line.partition(";")[0]
