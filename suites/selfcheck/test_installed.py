"""What is installed as `hook-conformance`: all packages that its verbs need, below one name. `.ci/run` installs it."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from reports.__main__ import IN_A_CLONE, INSTALLED, OF_A_CLONE, main

ROOT = Path(__file__).resolve().parents[2]
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["setuptools"]
#: What needs torch, or a clone.
LEFT_OUT = (
    "fixtures/stages",
    "reports/installed",
    "reports/upstream",
    "reports/out",
    "suites/selfcheck",
    "suites/timing",
)


def test_each_package_of_the_clone_is_listed() -> None:
    found = {
        path.parent.relative_to(ROOT).as_posix()
        for room in ("fixtures", "reports", "suites")
        for path in ROOT.glob(f"{room}/**/__init__.py")
    }
    wanted = {"hook_conformance." + name.replace("/", ".") for name in found if not name.startswith(LEFT_OUT)}
    assert set(SETTINGS["packages"]) == {"hook_conformance", *wanted}


@pytest.mark.parametrize("verb", OF_A_CLONE)
def test_a_verb_of_a_clone_says_so(verb: str, capsys) -> None:
    assert main([verb, *(["mine.jsonl"] if verb == "record" else [])], prog=INSTALLED) == 2
    assert capsys.readouterr().err == f"{INSTALLED}, {verb}: is for a clone; run it there: {IN_A_CLONE} {verb}\n"


def test_the_help_names_the_command_as_it_is_called(capsys) -> None:
    with pytest.raises(SystemExit):
        main(["rely", "--help"], prog=INSTALLED)
    assert capsys.readouterr().out.startswith(f"usage: {INSTALLED} rely")
