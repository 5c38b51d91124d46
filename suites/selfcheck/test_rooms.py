"""The three rooms and their folders: who may import whom, where a clause is, how long a file may be, what it may name.

Each test is about all files at once, and lists those that break its rule.
"""

from __future__ import annotations

import ast
import re
import subprocess
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

from reports.data.verdicts import read_table

ROOT = Path(__file__).resolve().parents[2]
ROOMS = ("suites", "fixtures", "reports")
#: The folders of a room, the lowest first: a file imports from its own and from lower ones.
FLOORS = {
    "fixtures": (
        "plan",
        "graph",
        "target",
        "families",
        "play",
        "state",
        "model",
        "programs",
        "draw",
        "rules",
        "hooked",
        "stages",
        "clause",
        "judge",
        "show",
        "run",
    ),
    "reports": (
        "tutorial",
        "symptoms",
        "data",
        "cards",
        "record",
        "search",
        "costs",
        "usage",
        "page",
        "verbs",
        "relied",
    ),
}
#: Who may ask which torch is installed: a session and two programs, which say it to all others.
ASK_THE_VERSION = ["fixtures/run/judging.py", "suites/coverage.py", "suites/examples.py"]
DOORS_TO_TORCH = ("fixtures/stages/",)
LONGEST, LONGEST_CONFTEST = 400, 100
#: Tables whose rows are of several topics.
TABLES = {"suites/together/test_grammar.py": "the whole grammar; a topic is the kinds of hooks drawn"}
MOST_FILES = 26
#: Folders with more files, and why each is one folder.
LARGE = {
    "reports/scope": "a program for each condition of a usual program, all alike",
    "reports/upstream": "a program for each sentence of torch's documentation that is not so, all alike",
}
GENERATED = ("reports/verdicts/",)
#: Programs to send to others: they import torch and nothing of ours.
SENT = ("reports/upstream/", "reports/scope/", "reports/why/")
#: The one that imports all suites by their files.
IMPORTER = "suites/table.py"
#: Files that nobody reads line by line.
NOT_READ = (".png", ".svg", ".webp", ".json")
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


def imported(names: Iterable[str], *packages: str) -> list[str]:
    """The files that import one of these packages, each with the module."""
    return [f"{name}: {module}" for name in names for module in imports(name) if module.split(".")[0] in packages]


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


def test_fixtures_import_no_room_above() -> None:
    assert imported(sources("fixtures/"), "suites", "reports") == []


def test_what_draws_and_judges_is_given_the_contract() -> None:
    files = [name for room in ("fixtures/", "suites/") for name in sources(room) if "/selfcheck/" not in name]
    assert [name for name in files if "fixtures.model.contract.installed_version" in imports(name)] == ASK_THE_VERSION


def test_suites_import_fixtures_only() -> None:
    assert imported([name for name in sources("suites/") if "/selfcheck/" not in name], "reports") == []


def test_reports_import_no_torch_and_nothing_of_suites() -> None:
    readers = [name for name in sources("reports/") if not name.startswith(SENT)]
    assert imported(readers, "torch", "suites") == []
    # What is installed as the command starts the suite and `model`, too, which no verb of the readers does.
    readers = [name for name in readers if not name.startswith("reports/installed/")]
    assert imported({path for name in readers for path in fixtures_behind(name)}, "torch") == []


def loaded(name: str) -> set[str]:
    """The files of this repository that a file imports."""
    return {path for module in imports(name) if (ROOT / (path := module.replace(".", "/") + ".py")).is_file()}


@pytest.mark.parametrize("room", FLOORS)
def test_a_folder_imports_nothing_of_those_above_it(room: str) -> None:
    """Inside functions and for types, too: what is only looked up later, or by a type checker, is an arrow."""
    assert {name.split("/")[1] for name in sources(f"{room}/") if name.count("/") > 1} <= {
        *FLOORS[room],
        "upstream",
        "installed",
        "scope",
        "why",
    }
    floors = [f"{room}/{folder}/" for folder in FLOORS[room]]
    above = {folder: tuple(floors[place + 1 :]) for place, folder in enumerate(floors)}
    files = [(folder, name) for folder in floors for name in sources(folder)]
    up = {name: {each for each in loaded(name) if each.startswith(above[folder])} for folder, name in files}
    assert {name: found for name, found in up.items() if found} == {}


def test_no_two_files_need_each_other() -> None:
    """For types neither: what only a type checker follows is a circle to a reader."""
    needs = {name: loaded(name) for room in ROOMS for name in sources(f"{room}/")}
    TopologicalSorter(needs).prepare()  # raises where they go round


def test_torch_is_behind_its_doors() -> None:
    behind = [name for name in (*sources("fixtures/"), *sources("conftest.py")) if not name.startswith(DOORS_TO_TORCH)]
    assert imported(behind, "torch") == []


def test_programs_to_send_import_nothing_of_ours() -> None:
    assert imported([name for folder in SENT for name in sources(folder)], *ROOMS) == []


def test_no_module_hides_an_import() -> None:
    """The tests above read import statements: only the doors to torch may import by a computed name."""
    hidden = re.compile(r"\b__import__\(|\bimport_module\(")
    found = [name for room in ROOMS for name in sources(room) if hidden.search((ROOT / name).read_text("utf-8"))]
    allowed = (*DOORS_TO_TORCH, IMPORTER)
    assert [name for name in found if "/selfcheck/" not in name and not name.startswith(allowed)] == []


def test_no_file_is_too_long() -> None:
    written = [name for name in tracked() if not name.startswith(GENERATED) and Path(name).suffix not in NOT_READ]
    lines = {name: (ROOT / name).read_text("utf-8").count("\n") for name in written}
    most = {name: LONGEST_CONFTEST if name.endswith("conftest.py") else LONGEST for name in written}
    assert {name: count for name, count in lines.items() if count > most[name]} == {}


def test_no_folder_has_too_many_files() -> None:
    files = Counter(str(Path(name).parent) for room in ROOMS for name in tracked() if name.startswith(f"{room}/"))
    assert {folder for folder, count in files.items() if count > MOST_FILES} == set(LARGE)


def test_the_file_of_a_clause_follows_from_its_name() -> None:
    """A topic is one file, or a folder where that would be too long."""
    found: dict[tuple[str, ...], set[str]] = defaultdict(set)
    for name, clause in read_table().clauses.items():
        found[tuple(name.split(".")[:2])].add(clause.file)
    wrong = []
    for (chapter, topic), files in found.items():
        folder = f"suites/{chapter}/{topic}/"
        long = sum((ROOT / name).read_text("utf-8").count("\n") for name in files) > LONGEST
        inside = all(name.startswith(f"{folder}test_") for name in files)
        if files != {f"suites/{chapter}/test_{topic}.py"} and not (inside and long) and not files <= set(TABLES):
            wrong.append(f"{chapter}.{topic}: {', '.join(sorted(files))}")
    assert wrong == []


def test_tox_ini_is_the_only_list_of_versions() -> None:
    """A list of versions is more than four pins or environments of torch in one file."""
    pin = re.compile(r"torch==(\d+\.\d+)|\btorch(\d+\.\d+)\b")
    lists = []
    for name in tracked():
        if Path(name).suffix in (".py", ".toml", ".ini", ".cfg", ".json", ".yml", ".txt"):
            found = {first or second for first, second in pin.findall((ROOT / name).read_text("utf-8"))}
            if len(found) > 4 and "/selfcheck/" not in name and not name.startswith(GENERATED):
                lists.append(name)
    assert lists == [VERSION_LIST]


def test_no_file_names_a_path_of_one_machine() -> None:
    found = []
    for name in tracked():
        content = (ROOT / name).read_bytes()
        if b"\0" not in content and name != "suites/selfcheck/test_rooms.py":
            lines = content.decode("utf-8").splitlines()
            found += [f"{name}: {line.strip()[:160]}" for line in lines if MACHINE_PATH.search(line)]
    assert found == []
