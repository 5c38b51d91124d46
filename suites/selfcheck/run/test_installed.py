"""What is installed as `hook-conformance`: the suite and all that the verbs need, below one name, as a wheel has it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tomllib
import zipfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from fixtures.run import cli
from fixtures.run.naming import COMMAND
from reports.__main__ import IN_A_CLONE, OF_A_CLONE, main
from reports.data.verdicts import read_table

ROOT = Path(__file__).resolve().parents[3]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
#: What needs a clone.
LEFT_OUT = ("reports/installed", "reports/upstream", "reports/out", "suites/selfcheck", "suites/timing")
A_CLAUSE = 1_700  # bytes: its text, its test, its place in the records, its share of the commands
BUILD = "from setuptools import build_meta; build_meta.build_wheel('dist')"
RUN = ("run", "-n1", "--clauses=retain.asked", "--profile=recorded", "--examples=10")
#: A user's project, in which everything that takes part in a run of ours raises.
RAISES = "raise SystemExit('the project takes part')\n"
HOSTILE = {
    "conftest.py": RAISES,
    "theirs.py": RAISES,
    "fixtures/__init__.py": RAISES,
    "suites/__init__.py": RAISES,
    "reports/__init__.py": RAISES,
    "pytest.ini": "[pytest]\naddopts = -x --strict-markers -p theirs\nfilterwarnings = error\ntestpaths = nowhere\n",
    "pyproject.toml": "[tool.pytest.ini_options]\naddopts = '--no-such-option'\n",
}
THEIRS = {"PYTEST_ADDOPTS": "-x -k nothing", "PYTEST_PLUGINS": "theirs", "PYTHONWARNINGS": "error", "CI": "true"}
#: A torch on which a clause fails.
BREAKS = "import torch\ntorch.Tensor.retain_grad = lambda self: None\n"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("clone")
    for name in ("fixtures", "suites", "reports"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("out", "__pycache__"))
    for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, folder)
    done = subprocess.run([sys.executable, "-c", BUILD], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return next((folder / "dist").glob("*.whl"))


class Site:
    """A wheel that is unpacked, and a user's folder."""

    def __init__(self, wheel: Path, folder: Path) -> None:
        self.folder, self.home, self.packages = folder / "empty", folder / "home", folder / "site"
        self.folder.mkdir()
        zipfile.ZipFile(wheel).extractall(self.packages)

    def call(self, *words: str, path: tuple[Path, ...] = (), **more: str) -> tuple[int, str]:
        """Call the command; return its exit status and what it says."""
        environment = {**os.environ, "XDG_CACHE_HOME": str(self.home), "PYTHONDONTWRITEBYTECODE": "1", **more}
        environment["PYTHONPATH"] = os.pathsep.join(map(str, (self.packages, *path)))
        command = [sys.executable, "-m", "hook_conformance", *words]
        said: Any = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
        done = subprocess.run(command, cwd=self.folder, env=environment, timeout=240, **said)
        return done.returncode, done.stdout

    def files(self, of: Path) -> list[str]:
        return sorted(path.relative_to(of).as_posix() for path in of.rglob("*") if path.is_file())

    def run(self) -> list[dict[str, Any]]:
        """Return the lines of the run file, but for times, in the order of the clauses."""
        text = (self.folder / COMMAND / "run.jsonl").read_text("utf-8")
        lines = [{**json.loads(line), "began": "", "seconds": 0} for line in text.splitlines()]
        return sorted(lines, key=lambda line: (line["type"], line.get("clause", "")))


@pytest.fixture
def site(wheel: Path, tmp_path: Path) -> Site:
    return Site(wheel, tmp_path)


def test_each_file_of_the_clone_is_in_the_wheel(wheel: Path) -> None:
    """Also those of a folder that is new."""
    rooms = ("fixtures", "reports", "suites")
    files = {path.relative_to(ROOT).as_posix() for room in rooms for path in ROOT.glob(f"{room}/**/*.py")}
    wanted = {f"hook_conformance/{name}" for name in files if not name.startswith(LEFT_OUT)}
    assert wanted - set(zipfile.ZipFile(wheel).namelist()) == set()


def test_the_wheel_is_small_and_all_below_one_name(wheel: Path) -> None:
    assert wheel.stat().st_size <= A_CLAUSE * len(read_table().clauses)
    names = zipfile.ZipFile(wheel).namelist()
    assert [name for name in names if not name.startswith(("hook_conformance/", "torch_hook_conformance-"))] == []
    assert "hook_conformance/__init__.py" not in names, "pytest would call the suites hook_conformance.suites then"


def test_nothing_is_activated_and_no_torch_asked_for() -> None:
    project = PROJECT["project"]
    assert "entry-points" not in project, "a plug-in of pytest would be in all runs of the user"
    assert list(project["scripts"]) == [COMMAND]
    extra = project["optional-dependencies"]["suite"]
    assert [one for one in (*project["dependencies"], *extra) if one.startswith("torch") or "==" in one] == []
    assert any(one.startswith("numpy") for one in extra)


def test_a_run_in_a_hostile_project_is_that_of_an_empty_folder(site: Site) -> None:
    status, said = site.call(*RUN)
    assert status == 0, said
    assert site.files(site.folder) == ["hook-conformance/run.jsonl"]
    alone_there = site.run()
    for name, text in HOSTILE.items():
        (site.folder / name).parent.mkdir(exist_ok=True)
        (site.folder / name).write_text(text, "utf-8")
    status, said = site.call(*RUN, path=(site.folder,), **THEIRS)
    assert status == 0, said
    assert site.run() == alone_there
    assert sorted({*site.files(site.folder)} - {*HOSTILE}) == ["hook-conformance/run.jsonl"]


def test_all_that_is_written_is_in_one_folder(site: Site) -> None:
    before = site.files(site.packages)
    (site.folder / "breaks.py").write_text(BREAKS, "utf-8")  # found there, as `python -m pytest -p` finds it
    status, said = site.call(*RUN, "-p", "breaks")
    assert (status, "Traceback" in said) == (1, False), said
    assert f"    script: {COMMAND}/reproducers/retain.asked" in said.replace("\\", "/")
    run_file = f"{COMMAND}/run.jsonl"
    assert site.call("check", run_file)[0] in (1, 2)  # 2: this torch may be no release
    status, said = site.call("explain", "retain.keep.adds_up", "--example")
    assert (status, "hook-conformance" in said or "import torch" in said) == (0, True), said
    status, said = site.call("page", run_file)
    assert (status, said.splitlines()[-1]) == (0, f"{COMMAND}/index.html"), said
    assert "python -m reports" not in (site.folder / COMMAND / "index.html").read_text("utf-8").replace("clone", "")
    assert {name.partition("/")[0] for name in site.files(site.folder)} == {COMMAND, "breaks.py"}
    assert site.files(site.home) == [f"{COMMAND}/examples.json"]
    assert site.files(site.packages) == before


def test_what_a_run_needs_is_said_in_one_line(site: Site, tmp_path: Path, monkeypatch, capsys) -> None:
    assert site.call("run", "--no-such-option") == (
        cli.USAGE,
        "hook-conformance run: unrecognized arguments: --no-such-option; see hook-conformance run --help\n",
    )
    (tmp_path / "torch.py").write_text("raise ImportError('libcuda.so: no such file')", "utf-8")
    status, said = site.call("run", path=(tmp_path,))
    assert (status, said.count("\n")) == (2, 1)
    assert said.endswith("(ImportError: libcuda.so: no such file)\n")
    for lacks, hint in (("torch", "needs torch: install the one"), ("xdist", "needs xdist: pip install 'torch-hook")):
        monkeypatch.setattr(cli, "find_spec", lambda name, lacks=lacks: None if name == lacks else find_spec(name))
        assert cli.run("", "", []) == 2
        assert capsys.readouterr().err.startswith(f"hook-conformance run: {hint}")
    assert site.files(site.folder) == []


def test_the_help_lists_run_and_shows_its_options(site: Site, capsys) -> None:
    said = site.call("--help")[1]
    assert "run " in said
    assert "check " in said
    status, said = site.call("run", "--help")
    assert (status, "--clauses PREFIX" in said, "--ignore-glob" in said) == (0, True, False)


def test_an_old_python_has_run_and_is_told_how_to_get_the_rest(monkeypatch, capsys) -> None:
    monkeypatch.setattr(sys, "version_info", (3, 8, 18))
    assert main(["--help"], prog=COMMAND) == 0
    assert "run    measure the torch of this Python" in capsys.readouterr().out
    assert main(["check", "run.jsonl"], prog=COMMAND) == 2
    said = capsys.readouterr().err
    way = "uv tool run --python 3.11 --from torch-hook-conformance hook-conformance check run.jsonl"
    assert said == f"check needs Python 3.11 or newer; with uv: {way}\n"


@pytest.mark.parametrize("verb", OF_A_CLONE)
def test_a_verb_of_a_clone_says_so(verb: str, capsys) -> None:
    assert main([*verb.split(), *(["mine.jsonl"] if verb == "record" else [])], prog=COMMAND) == 2
    assert capsys.readouterr().err == f"{COMMAND}, {verb}: is for a clone; run it there: {IN_A_CLONE} {verb}\n"


def test_the_help_names_the_command_as_it_is_called(capsys) -> None:
    with pytest.raises(SystemExit):
        main(["rely", "--help"], prog=COMMAND)
    assert capsys.readouterr().out.startswith(f"usage: {COMMAND} rely")
