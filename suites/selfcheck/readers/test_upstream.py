"""The scripts of reports/upstream: one for each clause that says where torch contradicts its documentation."""

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

from fixtures.clause.clause import CLAUSES
from reports.data.atlas import Atlas, Column, build
from reports.data.cell import Cell
from reports.data.clause import Clause, Reading
from reports.data.disagreements import UPSTREAM, Disagreement, contradicts, read_scripts, versions, when
from reports.data.strict import BadInput
from reports.data.verdicts import read_recorded, read_table
from suites.selfcheck.all_clauses import import_suites
from suites.selfcheck.scripts import ran

import_suites()
CONTRADICTING = sorted(name for name, one in CLAUSES.items() if one.docs == "contradicts")
SCRIPTS = sorted(path.stem for path in UPSTREAM.glob("*.py"))
PATIENCE = 60
HERE = ".".join(version("torch").split(".")[:2])
ENDING = """
print("documented:", documented)
print("observed:", observed)
if observed != documented:
    raise SystemExit(f"torch {{torch.__version__}} contradicts its documentation ({})")
"""


def text_of(script: str) -> str:
    return (UPSTREAM / f"{script}.py").read_text(encoding="utf-8")


def outcome(script: str) -> str:
    """What a run of the script says: "contradicts", "as documented", or how it broke."""
    try:
        done = ran(UPSTREAM / f"{script}.py", PATIENCE)
    except subprocess.TimeoutExpired:
        return f"hung: stopped after {PATIENCE} s"
    reported = [line.partition(":")[0] for line in done.stdout.splitlines()][-2:] == ["documented", "observed"]
    last = (done.stderr.splitlines() or [""])[-1]
    if reported and done.returncode == 1 and last.endswith(f"contradicts its documentation ({script})"):
        return "contradicts"
    return "as documented" if reported and done.returncode == 0 else f"exit status {done.returncode}: {last}"


@pytest.fixture(scope="module")
def atlas() -> Atlas:
    return build(read_table(), read_recorded())


def test_every_contradicting_clause_has_a_script_and_no_other_has() -> None:
    assert SCRIPTS == CONTRADICTING, "add or remove scripts in reports/upstream"


@pytest.mark.parametrize("script", SCRIPTS)
def test_a_script_is_small_and_needs_torch_only(script: str) -> None:
    tree = ast.parse(text_of(script))
    assert text_of(script).count("\n") < 40
    found = [name.name for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names]
    found += [node.module or "." * node.level for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    assert {name.partition(".")[0] for name in found} <= {"torch", *sys.stdlib_module_names}


@pytest.mark.parametrize("script", SCRIPTS)
def test_a_script_ends_by_what_it_observed(script: str) -> None:
    """The exit status is the comparison of the two lines it prints, and nothing else."""
    ending = "".join(ENDING.format(script).split())  # a long one is wrapped
    assert "".join(text_of(script).split()).endswith(ending)


@pytest.mark.parametrize("one", read_scripts(), ids=lambda one: one.clause)
def test_a_script_says_what_the_documentation_says_and_where(one: Disagreement) -> None:
    assert one.sentence.endswith(".")
    assert one.documentation.endswith((".", ")"))
    assert one.torch.endswith(".")
    assert re.fullmatch(r"https://docs\.pytorch\.org/docs/stable/[\w./#-]+", one.address)


@pytest.mark.parametrize("one", read_scripts(), ids=lambda one: one.clause)
def test_what_is_as_documented_is_a_reading_of_the_clause(one: Disagreement) -> None:
    readings = {reading.name for reading in CLAUSES[one.clause].readings}
    assert set(one.as_documented) <= readings


def test_the_scripts_show_here_what_the_verdicts_say(atlas: Atlas) -> None:
    """On a recorded torch, a script contradicts where the table says so, and comes to a result elsewhere too."""
    column = next((column for column in atlas.columns if column.key == HERE), None)
    if column is None:
        pytest.skip(f"torch {HERE} is not recorded")
    reported = [
        one for one in read_scripts() if atlas.cell(one.clause, column, "eager").verdict in ("conforms", "deviates")
    ]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        outcomes = dict(pool.map(lambda one: (one.clause, outcome(one.clause)), reported))
    words = {True: "contradicts", False: "as documented"}
    assert outcomes == {one.clause: words[contradicts(atlas, one, column)] for one in reported}


def test_scripts_that_run_at_the_same_time_end_each_with_its_own_status(tmp_path: Path) -> None:
    """Two threads that asked multiprocessing at the same time: one in 130 was said to end with 255."""
    script = tmp_path / "three.py"
    script.write_text("import time\ntime.sleep(0.02)\nraise SystemExit(3)\n", "utf-8")
    with ThreadPoolExecutor(8) as pool:
        assert {done.returncode for done in pool.map(lambda _: ran(script), range(400))} == {3}


def test_every_contradiction_is_there_on_the_newest_torch(atlas: Atlas) -> None:
    assert [one.clause for one in read_scripts() if not contradicts(atlas, one, atlas.columns[-1])] == []


SCRIPT = '''"""A hook sleeps.

Documentation: a hook is
    awake.
    https://docs.pytorch.org/docs/stable/hooks.html
    (the warning)
torch: lets it sleep.
See also: https://github.com/1, https://github.com/2
As documented: awake
"""
'''


def test_a_script_is_read(tmp_path: Path) -> None:
    (tmp_path / "a.b.c.py").write_text(SCRIPT, "utf-8")
    (one,) = read_scripts(tmp_path)
    assert (one.clause, one.sentence, one.torch) == ("a.b.c", "A hook sleeps.", "lets it sleep.")
    assert one.documentation == "a hook is awake. (the warning)"
    assert one.address == "https://docs.pytorch.org/docs/stable/hooks.html"
    assert one.see == ("https://github.com/1", "https://github.com/2")
    assert one.as_documented == ("awake",)


@pytest.mark.parametrize("text", ["x = 1\n", "x = \n", SCRIPT.replace("torch:", "Torch:"), SCRIPT.replace("https", "")])
def test_a_script_without_its_form_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.b.c.py").write_text(text, "utf-8")
    with pytest.raises(BadInput, match=r"a\.b\.c\.py"):
        read_scripts(tmp_path)


def test_versions_come_from_readings_and_deviations(tmp_path: Path) -> None:
    """As documented first, then asleep, then a bug with the reading that is documented; then nothing is known."""
    (tmp_path / "a.b.c.py").write_text(SCRIPT, "utf-8")
    (one,) = read_scripts(tmp_path)
    readings = [("awake", "<1.5", ""), ("dozing", "==1.5.*", "It dozes."), ("asleep", "==1.6.*", "It sleeps.")]
    readings.append(("awake", ">=1.7", ""))
    cells = [
        Cell("conforms", "awake"),
        Cell("conforms", "dozing"),
        Cell("conforms", "asleep"),
        Cell("deviates", "awake", declared=True, note="It snores."),
    ]
    columns = tuple(Column(f"1.{n}", f"1.{n}", f"1.{n}.0", "3.8", "", "cpu") for n in range(4, 10))
    cells += [Cell("crashed"), Cell("absent")]
    clause = Clause("a.b.c", "It is awake.", (), tuple(Reading(*each) for each in readings), "", "", 0, "", {})
    keyed = {("a.b.c", column.key, "eager"): cell for column, cell in zip(columns, cells, strict=True)}
    made = Atlas("1", {"a.b.c": clause}, columns, ("eager",), keyed)
    assert versions(made, one) == "1.5 to 1.7"
    assert when(made, one) == [("1.5", "It dozes."), ("1.6", "It sleeps."), ("1.7", "It snores.")]
