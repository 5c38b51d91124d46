"""Which releases of torch a project says that it supports, read from its own metadata.

What a project says of torch in a way that is not understood is named in `unread`: it is never guessed.
"""

from __future__ import annotations

import ast
import configparser
import os
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from importlib.metadata import PathDistribution
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from packaging.metadata import parse_email
from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.utils import InvalidWheelFilename, canonicalize_name, parse_wheel_filename
from packaging.version import Version

from reports.usage.owned import File, spelled
from reports.usage.project import Owned

#: What setup.py gives requirements as.
NEEDS = ("install_requires", "extras_require")
PATCHES = 10  # no release had more
FAULTS = (OSError, ValueError, SyntaxError, RecursionError, configparser.Error, TypeError, AttributeError)
ABOVE = 4  # folders above the code in which its metadata may be
#: What is for people who work on a project, and no bound for those who use it.
DEVELOPMENT = re.compile(
    r"(?i)(^|[^a-z])(dev|develop|development|tests?|testing|docs?|lint|ci|build|bench|benchmarks?|examples?|style|types?|typing)([^a-z]|$)"
)
NAMES_TORCH = re.compile(r"\s*torch\s*(\[[^\]]*\])?\s*([<>=!~^@;(]|$)")
#: What may name torch too, and is not read.
OTHER_FILES = ("environment*.y*ml", "conda*.y*ml", "meta.yaml", "Pipfile")


@dataclass
class Asked:
    """What some metadata say of torch: alternatives, those of extras, and what could not be read."""

    base: list[SpecifierSet] = field(default_factory=list)  # all hold
    marked: list[SpecifierSet] = field(default_factory=list)  # one of them holds, by where torch is installed
    extras: list[SpecifierSet] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)

    def add(self, line: str, extra: bool = False) -> None:
        """Take one requirement; of other packages than torch nothing."""
        if not NAMES_TORCH.match(line):
            return
        try:
            one = Requirement(_released(line.strip()))
            said = _of_url(one.url) if one.url else _plain(one.specifier)
        except (InvalidRequirement, InvalidSpecifier, InvalidWheelFilename):
            self.unread.append(f'"{line.strip()}" cannot be read')
            return
        if canonicalize_name(one.name) == "torch":
            of_extra = extra or (one.marker is not None and "extra" in str(one.marker))
            (self.extras if of_extra else self.marked if one.marker else self.base).append(said)

    @property
    def said(self) -> tuple[SpecifierSet, ...]:
        """What holds, each an alternative: an extra only narrows, so it counts where nothing else is said."""
        if self.base:
            both = self.base[0]
            for each in self.base[1:]:
                both &= each
            return (both,)
        return tuple(dict.fromkeys(self.marked or self.extras))


@dataclass(frozen=True)
class Bounds:
    """What the metadata say of torch, and where; nothing in `said` is no bound."""

    said: tuple[SpecifierSet, ...]
    file: str = ""
    unread: tuple[str, ...] = ()

    @property
    def bind(self) -> bool:
        """Whether they leave anything out."""
        return bool(self.said) and all(map(str, self.said))

    def admits(self, release: Version) -> bool:
        """Say whether some patch of a minor release is supported."""
        major, minor = release.release[:2]
        versions = [f"{major}.{minor}.{patch}" for patch in range(PATCHES)]
        return not self.said or any(each.contains(one, prereleases=True) for each in self.said for one in versions)

    def __str__(self) -> str:
        """Return "torch>=2.0 (pyproject.toml)"."""
        return " or ".join(sorted({f"torch{each}" for each in self.said})) + f" ({self.file})"


def read_bounds(path: Path) -> Bounds:
    """Return what the metadata nearest to some code say of torch."""
    here = Path(os.path.realpath(path))
    unread: list[str] = []
    for folder in [here, *here.parents][: ABOVE + 1]:
        own = False
        for file, read in _metadata_of(folder, here):
            asked = Asked()
            try:
                own |= bool(read(file, asked))
            except FAULTS as problem:
                first = str(getattr(problem, "msg", problem)).partition("\n")[0]
                asked.unread.append(f"cannot be read ({first})")
            unread += [f"{file.name}: {each}" for each in asked.unread]
            if asked.said:
                return Bounds(asked.said, file.name, tuple(unread))
        if own or (folder / ".git").exists() or folder.name in ("site-packages", "dist-packages"):
            for file in sorted({each for name in OTHER_FILES for each in folder.glob(name)}):
                if re.search(rb"(?m)^[\s\-\"']*(pytorch|torch)\b", _bytes(file)):
                    unread.append(f"{file.name}: names torch, and is not read")
            break
    return Bounds((), "", tuple(unread))


def _bytes(file: Path) -> bytes:
    return file.read_bytes() if file.is_file() else b""


def _metadata_of(folder: Path, code: Path) -> Iterator[tuple[Path, Callable[[Path, Asked], Any]]]:
    """Yield the files of metadata in a folder, and how each is read, the one that counts most first."""
    for name, read in (("pyproject.toml", _toml), ("PKG-INFO", _email), ("setup.cfg", _cfg), ("setup.py", _py)):
        if (folder / name).exists():
            yield folder / name, read
    installed = sorted([*folder.glob("*.dist-info"), *folder.glob("*.egg-info")])
    below = code.relative_to(folder).as_posix()
    mine = [each for each in installed if _holds(each, below)] if below != "." else installed
    if len(mine) == 1:
        yield mine[0], _installed
    plain = [*folder.glob("requirements*.txt"), *folder.glob("requirements/*.txt")]
    for file in sorted(plain, key=lambda one: (one.name != "requirements.txt", len(one.name), one)):
        yield file, _development if DEVELOPMENT.search(file.stem) else _lines


def _holds(installed: Path, below: str) -> bool:
    """Say whether an installed distribution has the code: as it lists its files."""
    listed = b"".join(_bytes(installed / name) for name in ("RECORD", "installed-files.txt"))
    return bool(re.search(rb"(?m)^(\.\./)?%s[/,\r\n]" % re.escape(below.encode()), listed))


def _toml(file: Path, asked: Asked) -> bool:
    """Take what pyproject.toml says; return whether it describes a project."""
    found = tomllib.loads(file.read_text(encoding="utf-8"))
    project, tool = found.get("project", {}), found.get("tool", {})
    for line in project.get("dependencies", []):
        asked.add(line)
    for extra in project.get("optional-dependencies", {}).values():
        for line in extra:
            asked.add(line, extra=True)
    poetry = tool.get("poetry", {})
    if not asked.base and not asked.marked:
        _poetry(poetry.get("dependencies", {}).get("torch"), asked)
    for name in project.get("dynamic", []):
        given = tool.get("setuptools", {}).get("dynamic", {}).get(name, {})
        for each in (given, *given.values()) if name == "optional-dependencies" else (given,):
            files = each.get("file", []) if isinstance(each, dict) else []
            for other in [files] if isinstance(files, str) else files:
                _read_lines(file.parent / other, asked, extra=name != "dependencies")
    groups = {
        **found.get("dependency-groups", {}),
        **{name: [*one.get("dependencies", {})] for name, one in poetry.get("group", {}).items()},
    }
    for name, lines in groups.items():
        if not asked.said and any(isinstance(line, str) and NAMES_TORCH.match(line) for line in lines):
            asked.unread.append(f"names torch in the group {name}, which is for development")
    return bool(project or poetry)


def _poetry(said: Any, asked: Asked) -> None:
    """Take what Poetry says of torch: a text, a table, or several tables, each for some machines."""
    for one in said if isinstance(said, list) else [said] if said is not None else []:
        table = one if isinstance(one, dict) else {"version": one}
        text = table.get("version")
        if not isinstance(text, str):
            asked.unread.append(f"torch = {table} cannot be read")
            continue
        kind = asked.extras if table.get("optional") else asked.marked
        try:
            for each in re.split(r"\|\|?", _released(re.sub(r"([<>=!~^])\s+", r"\1", text))):
                kind.append(_plain(SpecifierSet(",".join(map(_of_poetry, re.split(r"[\s,]+", each.strip()))))))
        except (InvalidSpecifier, ValueError):
            asked.unread.append(f'torch = "{text}" cannot be read')


def _of_poetry(text: str) -> str:
    """Return one constraint of Poetry in the words of Python: "^2.1" is 2.1 or newer, below 3; "~2.1" below 2.2."""
    sign, version = text[:1], text.lstrip("^~=v")
    if text == "*" or not text:
        return ""
    if sign in "^~" and not text.startswith("~="):
        numbers = list(Version(version).release)
        first = next((at for at, one in enumerate(numbers) if one), len(numbers) - 1)
        place = min(1, len(numbers) - 1) if sign == "~" else first
        numbers[place] += 1
        return f">={version},<{'.'.join(map(str, numbers[: place + 1]))}"
    return text if sign in "<>=!~" else f"=={text}"


def _released(line: str) -> str:
    """Return a requirement as `packaging` reads it: "torch==2.1.0+cpu" is a build of 2.1.0."""
    return line if "@" in line else re.sub(r"(?<=\d)\+[\w.]+", "", line)


def _plain(said: SpecifierSet) -> SpecifierSet:
    """Return what is said of releases: a build of one day, "2.2.0.dev20231010", is one of its release."""
    built = re.compile(r"(==.*?)\.?(dev|post|rc|a|b)\d*$")
    return SpecifierSet(",".join(built.sub(r"\1", str(each)) for each in said))


def _of_url(url: str) -> SpecifierSet:
    """Return what the name of a wheel says. Raises InvalidWheelFilename."""
    _, version, _, _ = parse_wheel_filename(unquote(url.partition("#")[0].rpartition("/")[2]))
    return SpecifierSet(f"=={version.base_version}")


def _cfg(file: Path, asked: Asked) -> bool:
    parser = configparser.ConfigParser(interpolation=None)
    parser.read_string(file.read_text(encoding="utf-8"))
    said = parser.get("options", "install_requires", fallback="")
    if said.strip().startswith("file:"):
        for name in said.strip().removeprefix("file:").split(","):
            _read_lines(file.parent / name.strip(), asked)
    _take(said.splitlines(), asked)
    if parser.has_section("options.extras_require"):
        for _, lines in parser.items("options.extras_require"):
            _take(lines.splitlines(), asked, extra=True)
    return parser.has_section("options") or parser.has_section("metadata")


def _py(file: Path, asked: Asked) -> bool:
    """Take what setup.py lists, as far as its text shows it: no description, and no list that is for something else."""
    text = file.read_text(encoding="utf-8")
    code = File("setup.py", ast.parse(text))
    owned = Owned([code])
    for node in code.nodes:
        up = code.parents.get(node)
        if not isinstance(node, (ast.Constant, ast.JoinedStr, ast.BinOp)) or isinstance(up, (ast.JoinedStr, ast.BinOp)):
            continue
        chain = code.chain(node)
        names = [each.arg or "" for each in chain if isinstance(each, ast.keyword)]
        names += [spelled(each.targets[0]) for each in chain if isinstance(each, ast.Assign)]
        extra = any("extra" in name.lower() for name in names)
        if any(DEVELOPMENT.search(name) for name in names) or any(
            isinstance(each, ast.keyword) and each.arg not in NEEDS for each in chain
        ):
            continue
        words = owned.words(code, node)
        for word in words:
            if word.endswith((".txt", ".in")) and (file.parent / word).is_file():
                if not DEVELOPMENT.search(Path(word).stem):
                    _read_lines(file.parent / word, asked, extra=extra)
            elif isinstance(up, (ast.List, ast.Tuple, ast.Set, ast.Dict, ast.Call, ast.keyword)) or "\n" in word:
                _take(word.splitlines(), asked, extra=extra)
        if not words and re.match(r"f?['\"]torch\s*[<>=!~]", ast.unparse(node)):
            asked.unread.append(f"line {getattr(node, 'lineno', 0)}: {ast.unparse(node)} cannot be read")
    return True


def _email(file: Path, asked: Asked) -> bool:
    _take(parse_email(_bytes(file))[0].get("requires_dist", []), asked)
    return False


def _installed(file: Path, asked: Asked) -> bool:
    _take(PathDistribution(file).requires or [], asked)
    return True


def _development(file: Path, asked: Asked) -> bool:
    if any(NAMES_TORCH.match(line) for line in file.read_text(encoding="utf-8").splitlines()):
        asked.unread.append("names torch for development alone")
    return False


def _lines(file: Path, asked: Asked) -> bool:
    _read_lines(file, asked)
    return False


def _take(lines: Iterable[str], asked: Asked, *, extra: bool = False) -> None:
    for line in lines:
        asked.add(re.sub(r"(^|\s)#.*$", "", line), extra)


def _read_lines(file: Path, asked: Asked, *, extra: bool = False, seen: tuple[Path, ...] = ()) -> None:
    """Take a file of requirements, and those that it names with -r and -c; lines go on behind a backslash."""
    if file in seen:
        return
    for line in re.sub(r"\\\r?\n", " ", file.read_text(encoding="utf-8")).splitlines():
        if found := re.match(r"\s*(?:-r|--requirement|-c|--constraint)[\s=]*(\S+)", line):
            other = file.parent / found[1]
            if other.is_file():
                _read_lines(other, asked, extra=extra, seen=(*seen, file))
            else:
                asked.unread.append(f"{found[1]} is named and cannot be read")
        else:
            _take([re.split(r"\s--", line)[0]], asked, extra=extra)
