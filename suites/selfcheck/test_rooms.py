"""The three rooms: who may import whom, how long a file may be, where versions and paths may stand."""

from __future__ import annotations

import ast
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ROOMS = ("suites", "fixtures", "reports")
DOORS_TO_TORCH = ("fixtures/play/stage.py", "fixtures/modes.py")
LONGEST, LONGEST_CONFTEST = 400, 100
GENERATED = ("reports/verdicts/",)
#: Programs to send to others: they import torch and nothing of ours.
SENT = ("reports/upstream/",)
#: The one that imports all suites by their files.
IMPORTER = "suites/examples.py"
VERSION_LIST = "tox.ini"
MACHINE_PATH = re.compile(r"""(?<![\w.~}/-])/(?:work|tmp|root|home|opt|Users|mnt|data)/\w""")


def tracked() -> list[str]:
    """The files of the repository, those about to be added included."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return sorted(name for name in set(listed.stdout.splitlines()) if (ROOT / name).is_file())


def sources(room: str = "") -> list[str]:
    return [name for name in tracked() if name.endswith(".py") and name.startswith(room)]


def imports(name: str) -> Iterator[str]:
    """The modules that a file imports anywhere, relative ones made absolute."""
    for node in ast.walk(ast.parse((ROOT / name).read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            package = ".".join(name.split("/")[: -node.level]) if node.level else ""
            module = ".".join(part for part in (package, node.module) if part)
            yield module
            yield from (f"{module}.{alias.name}" for alias in node.names)


def imports_torch(name: str) -> bool:
    return any(module.split(".")[0] == "torch" for module in imports(name))


def fixtures_behind(name: str) -> set[str]:
    """The fixtures modules that a file loads, directly or through others."""
    found: set[str] = set()
    waiting = [name]
    while waiting:
        for module in imports(waiting.pop()):
            path = module.replace(".", "/") + ".py"
            if module.startswith("fixtures.") and path not in found and (ROOT / path).is_file():
                found.add(path)
                waiting.append(path)
    return found


@pytest.mark.parametrize("name", sources("fixtures/"))
def test_fixtures_import_no_room_above(name: str) -> None:
    assert not [module for module in imports(name) if module.split(".")[0] in ("suites", "reports")]


@pytest.mark.parametrize("name", [name for name in sources("suites/") if "/selfcheck/" not in name])
def test_suites_import_fixtures_only(name: str) -> None:
    assert not [module for module in imports(name) if module.split(".")[0] == "reports"]


@pytest.mark.parametrize("name", [name for name in sources("reports/") if not name.startswith(SENT)])
def test_reports_import_only_fixtures_without_torch(name: str) -> None:
    assert not imports_torch(name)
    assert not [module for module in imports(name) if module.split(".")[0] == "suites"]
    assert not [path for path in fixtures_behind(name) if imports_torch(path)]


@pytest.mark.parametrize("name", [*sources("fixtures/"), *sources("conftest.py")])
def test_torch_is_behind_its_doors(name: str) -> None:
    assert name in DOORS_TO_TORCH or not imports_torch(name)


@pytest.mark.parametrize("folder", SENT)
def test_programs_to_send_import_nothing_of_ours(folder: str) -> None:
    ours = [name for name in sources(folder) if any(module.split(".")[0] in ROOMS for module in imports(name))]
    assert [name for name in ours if not name.endswith("__init__.py")] == []


def test_no_module_hides_an_import() -> None:
    """The tests above read import statements: only the doors to torch may import by a computed name."""
    hidden = re.compile(r"\b__import__\(|\bimport_module\(")
    found = [name for room in ROOMS for name in sources(room) if hidden.search((ROOT / name).read_text("utf-8"))]
    allowed = (*DOORS_TO_TORCH, IMPORTER)
    assert [name for name in found if "/selfcheck/" not in name and name not in allowed] == []


@pytest.mark.parametrize("name", [name for name in tracked() if not name.startswith(GENERATED)])
def test_no_file_is_too_long(name: str) -> None:
    if Path(name).suffix in (".png", ".svg", ".webp", ".json"):
        return
    lines = (ROOT / name).read_text(encoding="utf-8").count("\n")
    assert lines <= (LONGEST_CONFTEST if name.endswith("conftest.py") else LONGEST)


def test_tox_ini_is_the_only_list_of_versions() -> None:
    """A list of versions is three pins or three environments of torch in one file."""
    pin = re.compile(r"torch==(\d+\.\d+)|\btorch(\d+\.\d+)\b")
    lists = []
    for name in tracked():
        if name.startswith(GENERATED) or Path(name).suffix not in (
            ".py",
            ".toml",
            ".ini",
            ".cfg",
            ".json",
            ".yml",
            ".txt",
        ):
            continue
        found = {match.group(1) or match.group(2) for match in pin.finditer((ROOT / name).read_text(encoding="utf-8"))}
        if len(found) > 4 and "/selfcheck/" not in name:
            lists.append(name)
    assert lists == [VERSION_LIST]


@pytest.mark.parametrize("name", tracked())
def test_no_file_names_a_path_of_one_machine(name: str) -> None:
    content = (ROOT / name).read_bytes()
    if b"\0" in content or name == "suites/selfcheck/test_rooms.py":
        return
    lines = content.decode("utf-8").splitlines()
    assert [line.strip()[:160] for line in lines if MACHINE_PATH.search(line)] == []
