"""A clause makes its tensors on the device of the run, or says that it makes none or is about the CPU."""

import json
import os
import subprocess
import sys
from pathlib import Path

from fixtures.clause.clause import CLAUSES, ON_CPU
from suites.selfcheck.all_clauses import import_suites

import_suites()

ROOT = Path(__file__).parents[3]
#: What plays no plan: the stage of plans names its device in one place.
DIRECT = sorted(
    one.id
    for one in CLAUSES.values()
    if not one.plays and one.device != "cpu" and one.id.partition(".")[0] not in ON_CPU
)
#: A few that do.
PLAYING = ["output.values.any_form", "gradient.edits.expanded", "together.values.tensor"]
#: Another default device is a torch function mode, and that alone changes these.
NOT_WITH_A_MODE = {"output.layers.fast_path_global": "torch takes no fast path in such a mode"}


def test_every_tensor_is_made_on_the_device_of_the_run(tmp_path: Path) -> None:
    """With the default device meta, a tensor that is made in another way has no values, and fails its clause."""
    path, notes = tmp_path / "run.jsonl", tmp_path / "notes"
    command = [sys.executable, "-m", "pytest", "-q", "--examples=2", "-p", "no:randomly", f"--run-file={path}"]
    command += ["--mode=eager"]
    command += [*(f"--clauses={name}" for name in DIRECT + PLAYING)]
    environment = {**os.environ, "PYTEST_PLUGINS": "suites.selfcheck.run.elsewhere", "ELSEWHERE": str(notes)}
    environment["PYTHONPATH"] = str(ROOT)
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert path.exists(), done.stdout + done.stderr
    cells = [line for line in map(json.loads, path.read_text("utf-8").splitlines()) if line["type"] == "cell"]
    assert {one["clause"] for one in cells} >= {*DIRECT, *PLAYING}, done.stdout + done.stderr
    failed = {one["clause"] for one in cells if one["verdict"] not in ("conforms", "absent") and not one["declared"]}
    assert failed == set(NOT_WITH_A_MODE), done.stdout
    made = {line.split()[0] for line in notes.read_text("utf-8").splitlines() if line.endswith("True")}
    ran = {one["clause"] for one in cells if one["verdict"] in ("conforms", "deviates")}
    # A small program may have no tensor in it; the function that makes those of programs is one.
    assert {name for name in ran - made if not CLAUSES[name].device and not CLAUSES[name].played} == set()
    assert {name for name in made if CLAUSES[name].device == "none"} == set()


def test_a_clause_that_says_nothing_of_the_device_is_not_run_there(tmp_path: Path) -> None:
    """The lazy device is in each wheel; it wants to be switched on."""
    (tmp_path / "lazy_device.py").write_text("import torch._lazy.ts_backend\ntorch._lazy.ts_backend.init()\n")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "lazy_device", "--device=lazy", "--quick"]
    command += [
        "--clauses=gradient.roots.batch",
        "--clauses=gradient.passes.context_stays",
        "--clauses=handles.handle.weak",
    ]
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    path = tmp_path / "run.jsonl"
    done = subprocess.run([*command, f"--run-file={path}"], cwd=ROOT, env=environment, capture_output=True, text=True)
    cells = [line for line in map(json.loads, path.read_text("utf-8").splitlines()) if line["type"] == "cell"]
    assert [(one["clause"], one["verdict"]) for one in cells] == [("gradient.roots.batch", "conforms")], done.stdout
    assert "2 clauses are not run: they make no tensor there, or are about the CPU" in done.stdout
