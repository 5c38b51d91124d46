"""The scripts of reports/upstream: one for each clause that says where torch contradicts its documentation.

`python -m suites.selfcheck.test_upstream` runs them on the torch of its interpreter and writes the table of the README.
"""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from pathlib import Path

import pytest

from fixtures.clause import CLAUSES
from fixtures.modes import missing
from suites.selfcheck.everything import import_suites

import_suites()
UPSTREAM = Path(__file__).resolve().parents[2] / "reports" / "upstream"
README = UPSTREAM / "README.md"
CONTRADICTING = sorted(name for name, one in CLAUSES.items() if one.docs == "contradicts")
SCRIPTS = sorted(path.stem for path in UPSTREAM.glob("*.py"))
PATIENCE = 60
HERE = ".".join(version("torch").split(".")[:2])
TABLE = re.compile(r"(?<=<!-- upstream -->\n).*(?=<!-- /upstream -->)", re.DOTALL)
ROW = re.compile(r"\| `(?P<clause>[\w.]+)` \|.*\| (?P<seen>[\d., ]*) \| \[script\]\((?P<script>[\w.]+)\) \|")
MEASURED = re.compile(r"Run on torch (?P<versions>[\d., ]+[\d])")
ENDING = """
print("documented:", documented)
print("observed:", observed)
if observed != documented:
    raise SystemExit(f"torch {{torch.__version__}} contradicts its documentation ({})")
"""


def text_of(script: str) -> str:
    return (UPSTREAM / f"{script}.py").read_text(encoding="utf-8")


def sentence(script: str) -> str:
    """The disagreement in one sentence: the first line of the script's docstring."""
    return (ast.get_docstring(ast.parse(text_of(script))) or "").partition("\n")[0]


def outcome(script: str) -> str:
    """What a run of the script says: "contradicts", "as documented", or how it broke."""
    command = [sys.executable, "-W", "ignore", str(UPSTREAM / f"{script}.py")]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        return f"hung: stopped after {PATIENCE} s"
    told = [line.partition(":")[0] for line in done.stdout.splitlines()][-2:] == ["documented", "observed"]
    last = (done.stderr.splitlines() or [""])[-1]
    if told and done.returncode == 1 and last.endswith(f"contradicts its documentation ({script})"):
        return "contradicts"
    return "as documented" if told and done.returncode == 0 else f"exit status {done.returncode}: {last}"


def measure() -> dict[str, str]:
    """Run the scripts whose clause is present in this torch."""
    present = [script for script in SCRIPTS if script in CLAUSES and not missing(CLAUSES[script].needs)]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return dict(pool.map(lambda script: (script, outcome(script)), present))


def listed(versions: str) -> list[str]:
    return [one for one in versions.split(", ") if one]


def ordered(versions: list[str]) -> list[str]:
    return sorted(set(versions), key=lambda one: [int(part) for part in one.split(".")])


def measured(readme: str) -> list[str]:
    """The versions on which the scripts were run for the table."""
    found = MEASURED.search(readme)
    return listed(found["versions"]) if found else []


def written(readme: str, outcomes: dict[str, str]) -> str:
    """The README with its table made anew, and what this torch showed in it."""
    seen = {row["clause"]: listed(row["seen"]) for row in ROW.finditer(readme)}
    lines = [f"Run on torch {', '.join(ordered([*measured(readme), HERE]))}.", ""]
    lines += ["| clause | the disagreement | seen on torch | script |", "|---|---|---|---|"]
    for script in SCRIPTS:
        others = [one for one in seen.get(script, []) if one != HERE]
        versions = ordered([*others, HERE] if outcomes.get(script) == "contradicts" else others)
        lines.append(f"| `{script}` | {sentence(script)} | {', '.join(versions)} | [script]({script}.py) |")
    return TABLE.sub("\n".join([*lines, ""]), readme)


@pytest.fixture(scope="module")
def outcomes() -> dict[str, str]:
    return measure()


def test_every_contradicting_clause_has_a_script_and_no_other_has() -> None:
    assert SCRIPTS == CONTRADICTING, "add or remove scripts in reports/upstream"


def test_every_contradicting_clause_has_a_row_and_no_other_has() -> None:
    rows = [(row["clause"], row["script"]) for row in ROW.finditer(README.read_text("utf-8"))]
    assert rows == [(name, f"{name}.py") for name in CONTRADICTING], "python -m suites.selfcheck.test_upstream"


@pytest.mark.parametrize("script", SCRIPTS)
def test_a_script_is_small_and_needs_torch_only(script: str) -> None:
    tree = ast.parse(text_of(script))
    assert text_of(script).count("\n") < 40
    found = [name.name for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names]
    found += [node.module or "." * node.level for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    assert {name.partition(".")[0] for name in found} <= {"torch", *sys.stdlib_module_names}


@pytest.mark.parametrize("script", SCRIPTS)
def test_a_script_says_what_the_documentation_says_and_where(script: str) -> None:
    docstring = ast.get_docstring(ast.parse(text_of(script))) or ""
    assert sentence(script).endswith(".")
    assert re.search(r"\nDocumentation: .*\n    https://docs\.pytorch\.org/.*\ntorch: ", docstring, re.DOTALL)


@pytest.mark.parametrize("script", SCRIPTS)
def test_a_script_ends_by_what_it_observed(script: str) -> None:
    """The exit status is the comparison of the two lines it prints, and nothing else."""
    ending = "".join(ENDING.format(script).split())  # a long one is wrapped
    assert "".join(text_of(script).split()).endswith(ending)


def test_every_script_comes_to_a_result(outcomes: dict[str, str]) -> None:
    assert {script: how for script, how in outcomes.items() if how not in ("contradicts", "as documented")} == {}


def test_the_table_is_up_to_date(outcomes: dict[str, str]) -> None:
    """Sentences follow the scripts; a torch in the list shows exactly the contradictions of the table."""
    readme = README.read_text("utf-8")
    if HERE in measured(readme):
        assert readme == written(readme, outcomes), "python -m suites.selfcheck.test_upstream"


def test_every_contradiction_is_there_on_the_newest_torch() -> None:
    readme = README.read_text("utf-8")
    newest = measured(readme)[-1]
    assert [row["clause"] for row in ROW.finditer(readme) if newest not in listed(row["seen"])] == []


if __name__ == "__main__":
    results = measure()
    print("\n".join(f"{script}: {how}" for script, how in results.items() if how != "contradicts"))
    README.write_text(written(README.read_text(encoding="utf-8"), results), encoding="utf-8")
