"""Which releases of torch a project says that it supports, read from its own metadata.

What a project says of torch in a way that is not understood is named in `unread`: it is never guessed.
"""

from __future__ import annotations

import ast
import configparser
import contextlib
import functools
import operator
import os
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from importlib.metadata import PathDistribution
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.utils import InvalidWheelFilename, parse_wheel_filename
from packaging.version import Version

from reports.usage.owned import File, spelled
from reports.usage.project import Owned

#: What setup.py gives requirements as.
NEEDS = {"install_requires", "extras_require"}
PATCHES = 10  # no release had more
FAULTS = (OSError, ValueError, SyntaxError, RecursionError, configparser.Error, TypeError, AttributeError)
ABOVE = 4  # folders above the code in which its metadata may be
#: What is for people who work on a project, and no bound for those who use it.
WORK = "dev|develop|development|tests?|testing|docs?|lint|ci|build|bench|benchmarks?|examples?|style|types?|typing"
DEVELOPMENT = re.compile(rf"(?i)(^|[^a-z])({WORK})([^a-z]|$)")
NAMES_TORCH = re.compile(r"\s*torch\s*(\[[^\]]*\])?\s*([<>=!~^@;(]|$)")
#: Behind a release: "torch==2.1.0+cpu" and "torch==2.2.0.dev20231010" are builds of one.
BUILD = re.compile(r"(?<=\d)(\+[\w.]+|\.?(dev|post|rc|a|b)\d*)+(?=$|[\s,;|)])")
#: Python -> the first and the last release of torch with a wheel for it on Linux, as `pip index versions torch` says
#: (30 November 2026); "" where there is no end yet. Older Pythons than these are not asked.
WHEELS = {
    "3.7": ("", "1.13"), "3.8": ("", "2.4"), "3.9": ("1.7", "2.8"), "3.10": ("1.11", "2.14"), "3.11": ("1.13", ""),
    "3.12": ("2.2", ""), "3.13": ("2.5", ""), "3.14": ("2.9", ""), "3.15": ("2.15", ""),
}  # fmt: skip
MICROS = (0, 50)  # a bound may be ">=3.8.1"
#: What may name torch too, and is not read.
OTHER_FILES = ("environment*.y*ml", "conda*.y*ml", "meta.yaml", "Pipfile")


@dataclass
class Bounds:
    """What some metadata say of torch; what could not be read is in `unread`, and nothing in `said` is no bound."""

    file: str = ""
    unread: list[str] = field(default_factory=list)
    base: list[SpecifierSet] = field(default_factory=list)  # all hold
    marked: list[SpecifierSet] = field(default_factory=list)  # one of them holds, by where torch is installed
    extras: list[SpecifierSet] = field(default_factory=list)
    pythons: list[SpecifierSet] = field(default_factory=list)  # one of them holds
    of_python: str = ""  # the file that says so

    def leave(self, what: str) -> None:
        """Note what cannot be read."""
        self.unread.append(f"{self.file}: {what}")

    def add(self, line: str, extra: bool = False) -> None:
        """Take one requirement; of other packages than torch nothing."""
        line = re.sub(r"(^|\s)#.*$", "", line).strip()
        if not NAMES_TORCH.match(line):
            return
        try:
            one = Requirement(line if "@" in line else BUILD.sub("", line))
            of_url = parse_wheel_filename(unquote(urlsplit(one.url).path.rpartition("/")[2])) if one.url else None
        except (InvalidRequirement, InvalidWheelFilename):
            self.leave(f'"{line}" cannot be read')
            return
        kind = self.extras if extra or "extra" in str(one.marker) else self.marked if one.marker else self.base
        kind.append(SpecifierSet(f"=={of_url[1].base_version}") if of_url else one.specifier)

    def read(self, file: Path, extra: bool = False, seen: tuple[Path, ...] = ()) -> None:
        """Take a file of requirements, and those that it names with -r and -c; lines go on behind a backslash."""
        for line in re.sub(r"\\\r?\n", " ", file.read_text(encoding="utf-8")).splitlines():
            if not (found := re.match(r"\s*(?:-r|--requirement|-c|--constraint)[\s=]*(\S+)", line)):
                self.add(re.split(r"\s--", line)[0], extra)
            elif not (file.parent / found[1]).is_file():
                self.leave(f"{found[1]} is named and cannot be read")
            elif file not in seen:
                self.read(file.parent / found[1], extra, (*seen, file))

    def add_python(self, texts: Iterable[Any]) -> None:
        """Take which Pythons are supported, as alternatives; where they cannot be read, any may be."""
        with contextlib.suppress(InvalidSpecifier):
            if found := [SpecifierSet(str(each)) for each in texts if each]:
                self.pythons, self.of_python = found, self.file

    @property
    def python(self) -> str:
        """Return ">=3.9 (pyproject.toml)" for what is said of Python, nothing where nothing is."""
        return " or ".join(map(str, self.pythons)) + f" ({self.of_python})" if self.pythons else ""

    def _has_python(self, python: str) -> bool:
        return any(each.contains(f"{python}.{micro}") for each in self.pythons for micro in MICROS)

    def _has_wheel(self, release: Version) -> bool:
        ends = [end for python, end in WHEELS.items() if self._has_python(python)]
        minor = release.release[:2]
        return not ends or any(
            (not first or minor >= Version(first).release) and (not last or minor <= Version(last).release)
            for first, last in ends
        )

    @property
    def said(self) -> tuple[SpecifierSet, ...]:
        """What holds, each an alternative: an extra only narrows, so it counts where nothing else is said."""
        if self.base:
            return (functools.reduce(operator.and_, self.base),)
        return tuple(dict.fromkeys(self.marked or self.extras))

    @property
    def bind(self) -> bool:
        """Whether they leave anything out."""
        return bool(self.said) and all(map(str, self.said))

    def admits(self, release: Version) -> bool:
        """Say whether some patch of a minor release is supported; without a bound, whether it has a wheel."""
        if not self.bind:
            return self._has_wheel(release)
        major, minor = release.release[:2]
        versions = [f"{major}.{minor}.{patch}" for patch in range(PATCHES)]
        return any(each.contains(one, prereleases=True) for each in self.said for one in versions)

    def __str__(self) -> str:
        """Return "torch>=2.0 (pyproject.toml)"."""
        return " or ".join(sorted({f"torch{each}" for each in self.said})) + f" ({self.file})"


def read_bounds(path: Path) -> Bounds:
    """Return what the metadata nearest to some code say of torch."""
    here = Path(os.path.realpath(path))
    none = Bounds()
    for folder in [here, *here.parents][: ABOVE + 1]:
        own = (folder / ".git").exists() or folder.name in ("site-packages", "dist-packages")
        for file, read in _metadata_of(folder, here):
            asked = Bounds(file.name, none.unread)
            try:
                own |= bool(read(file, asked))
            except FAULTS as problem:
                asked.leave(f"cannot be read ({[*str(getattr(problem, 'msg', problem)).splitlines(), ''][0]})")
            none.pythons, none.of_python = none.pythons or asked.pythons, none.of_python or asked.of_python
            if asked.said:
                asked.pythons, asked.of_python = none.pythons, none.of_python
                return asked
        if own:
            others = sorted({each for name in OTHER_FILES for each in folder.glob(name) if each.is_file()})
            named = [each for each in others if re.search(rb"(?m)^[\s\-\"']*(pytorch|torch)\b", each.read_bytes())]
            none.unread += [f"{each.name}: names torch, and is not read" for each in named]
            break
    return none


def _metadata_of(folder: Path, code: Path) -> Iterator[tuple[Path, Callable[[Path, Bounds], Any]]]:
    """Yield the files of metadata in a folder, and how each is read, the one that counts most first."""
    for name, read in (("pyproject.toml", _toml), ("PKG-INFO", _installed), ("setup.cfg", _cfg), ("setup.py", _py)):
        if (folder / name).exists():
            yield folder / name, read
    below = code.relative_to(folder).as_posix()
    installed = [each for kind in ("*.dist-info", "*.egg-info") for each in folder.glob(kind)]
    mine = [each for each in installed if below == "." or _holds(each, below)]
    yield from ((each, _installed) for each in mine if len(mine) == 1)
    plain = [*folder.glob("requirements*.txt"), *folder.glob("requirements/*.txt")]
    for file in sorted(plain, key=lambda one: (one.name != "requirements.txt", len(one.name), one)):
        yield file, _lines


def _holds(installed: Path, below: str) -> bool:
    """Say whether an installed distribution has the code: as it lists its files."""
    listed = "\n".join(PathDistribution(installed).read_text(name) or "" for name in ("RECORD", "installed-files.txt"))
    return bool(re.search(rf"(?m)^(\.\./)?{re.escape(below)}([/,]|$)", listed))


def _toml(file: Path, asked: Bounds) -> bool:
    """Take what pyproject.toml says; return whether it describes a project."""
    found = tomllib.loads(file.read_text(encoding="utf-8"))
    project, tool = found.get("project", {}), found.get("tool", {})
    poetry, dynamic = tool.get("poetry", {}), tool.get("setuptools", {}).get("dynamic", {})
    asked.add_python([project.get("requires-python")])
    for line in project.get("dependencies", []):
        asked.add(line)
    for line in (line for extra in project.get("optional-dependencies", {}).values() for line in extra):
        asked.add(line, extra=True)
    if not asked.base and not asked.marked:
        _poetry(poetry.get("dependencies", {}).get("torch", []), asked)
    if python := poetry.get("dependencies", {}).get("python"):
        asked.add_python(_alternatives(python) if isinstance(python, str) else ())
    given = [(dynamic.get("dependencies", {}), False)]
    given += [(each, True) for each in dynamic.get("optional-dependencies", {}).values()]
    for table, extra in given:
        files = table.get("file", []) if isinstance(table, dict) else []
        for other in [files] if isinstance(files, str) else files:
            asked.read(file.parent / other, extra)
    groups = found.get("dependency-groups", {})
    groups |= {name: [*one.get("dependencies", {})] for name, one in poetry.get("group", {}).items()}
    for name, lines in groups.items():
        if not asked.said and any(isinstance(line, str) and NAMES_TORCH.match(line) for line in lines):
            asked.leave(f"names torch in the group {name}, which is for development")
    return bool(project or poetry)


def _poetry(said: Any, asked: Bounds) -> None:
    """Take what Poetry says of torch: a text, a table, or several tables, each for some machines."""
    for one in said if isinstance(said, list) else [said]:
        table = one if isinstance(one, dict) else {"version": one}
        kind = asked.extras if table.get("optional") else asked.marked
        try:
            kind += [SpecifierSet(each) for each in _alternatives(BUILD.sub("", table["version"]))]
        except (KeyError, TypeError, ValueError):
            asked.leave(f"torch = {one} cannot be read")


def _alternatives(text: str) -> list[str]:
    """Return what Poetry says in the words of Python, each an alternative."""
    some = re.split(r"\|\|?", re.sub(r"([<>=!~^])\s+", r"\1", text))
    return [",".join(map(_of_poetry, re.split(r"[\s,]+", each.strip()))) for each in some]


def _of_poetry(text: str) -> str:
    """Return one constraint of Poetry in the words of Python: "^2.1" is 2.1 or newer, below 3; "~2.1" below 2.2."""
    sign, version = text[:1], text.lstrip("^~=v")
    if sign in ("", "*"):
        return ""
    if sign == "^" or (sign == "~" and text[1:2] != "="):
        numbers = Version(version).release
        first = next((at for at, one in enumerate(numbers) if one), len(numbers) - 1)
        place = min(1, len(numbers) - 1) if sign == "~" else first
        return f">={version},<{'.'.join(map(str, (*numbers[:place], numbers[place] + 1)))}"
    return text if sign in "<>=!~" else f"=={text}"


def _cfg(file: Path, asked: Bounds) -> bool:
    parser = configparser.ConfigParser(interpolation=None)
    parser.read_string(file.read_text(encoding="utf-8"))
    said = parser.get("options", "install_requires", fallback="").strip()
    asked.add_python([parser.get("options", "python_requires", fallback="")])
    for name in said.removeprefix("file:").split(",") if said.startswith("file:") else ():
        asked.read(file.parent / name.strip())
    extras = dict(parser.items("options.extras_require")) if parser.has_section("options.extras_require") else {}
    for lines, extra in ((said, False), *((lines, True) for lines in extras.values())):
        for line in lines.splitlines():
            asked.add(line, extra)
    return parser.has_section("options") or parser.has_section("metadata")


def _py(file: Path, asked: Bounds) -> bool:
    """Take what setup.py lists, as far as its text shows it: no description, and no list that is for something else."""
    code = File("setup.py", ast.parse(file.read_text(encoding="utf-8")))
    owned = Owned([code])
    asked.add_python(_python_requires(code, owned))
    for node in code.nodes:
        up = code.parents.get(node)
        if not isinstance(node, (ast.Constant, ast.JoinedStr, ast.BinOp)) or isinstance(up, (ast.JoinedStr, ast.BinOp)):
            continue
        chain = code.chain(node)
        given = [each.arg or "" for each in chain if isinstance(each, ast.keyword)]
        names = given + [spelled(each.targets[0]) for each in chain if isinstance(each, ast.Assign)]
        if any(DEVELOPMENT.search(name) for name in names) or {*given} - NEEDS:
            continue
        extra = any("extra" in name.lower() for name in names)
        listed = isinstance(up, (ast.List, ast.Tuple, ast.Set, ast.Dict, ast.Call, ast.keyword))
        words = owned.words(code, node)
        for word in words:
            if word.endswith((".txt", ".in")) and (file.parent / word).is_file():
                if not DEVELOPMENT.search(Path(word).stem):
                    asked.read(file.parent / word, extra)
            elif listed or "\n" in word:
                for line in word.splitlines():
                    asked.add(line, extra)
        if not words and re.match(r"f?['\"]torch\s*[<>=!~]", text := ast.unparse(node)):
            asked.leave(f"line {getattr(node, 'lineno', 0)}: {text} cannot be read")
    return True


def _python_requires(code: File, owned: Owned) -> list[str]:
    given = (each.value for each in code.nodes if isinstance(each, ast.keyword) and each.arg == "python_requires")
    return [word for each in given for word in owned.words(code, each)]


def _installed(file: Path, asked: Bounds) -> bool:
    """Take what PKG-INFO says, or a folder of metadata."""
    found = PathDistribution(file if file.is_dir() else file.parent)
    asked.add_python(found.metadata.get_all("Requires-Python") or [])
    for line in found.requires or []:
        asked.add(line)
    return True


def _lines(file: Path, asked: Bounds) -> None:
    if not DEVELOPMENT.search(file.stem):
        asked.read(file)
    elif any(NAMES_TORCH.match(line) for line in file.read_text(encoding="utf-8").splitlines()):
        asked.leave("names torch for development alone")
