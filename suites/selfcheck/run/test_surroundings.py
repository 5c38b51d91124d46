"""What a user, a plug-in or a variable has changed changes no verdict, or is refused in one line before the run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

from fixtures.stages.surroundings import USUAL, unfit, usual
from suites.selfcheck.tiny_suites import ROOT, Tiny

#: Each of them deviated once in one of these surroundings; some play plans, and one has a process of its own.
CHOSEN = {
    "suites/backward/modes/test_grad_modes.py": ("backward.modes.forward_ad",),
    "suites/backward/test_legacy.py": ("backward.legacy.recurrent", "backward.legacy.not_callable"),
    "suites/output/test_calls.py": ("output.calls.forward_runs_none",),
    "suites/gradient/kinds/test_complex.py": ("gradient.kinds.real_in_complex",),
    "suites/gradient/test_roots.py": ("gradient.roots.batch",),
    "suites/gradient/test_crash.py": ("gradient.crash.hook_on_a_stale_view",),
    "suites/output/test_values.py": ("output.values.any_form",),
}
NAMES = sorted(name for names in CHOSEN.values() for name in names)
#: A plug-in of pytest that changes what it can, as a user's project may.
CHANGES = """
import torch
torch.set_default_dtype(torch.float64)
torch.autograd.set_detect_anomaly(True)
torch.set_grad_enabled(False)
torch.use_deterministic_algorithms(True)
"""


class Through(torch.overrides.TorchFunctionMode):
    """A mode that changes nothing, as far as it knows."""

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return function(*args, **(kwargs or {}))


#: The same, where a clause could do nothing about it.
UNFIT = {
    "a torch function mode is on, as another default device is": (lambda: torch.device("meta"), Through),
    "inference mode is on": (torch.inference_mode,),
    "autocast is on": (lambda: torch.autocast("cpu"),),
    "a hook on all modules is registered (_global_forward_hooks)": (
        lambda: torch.nn.modules.module.register_module_forward_hook(print),
    ),
}


def run(folder: Path, *options: str, python: tuple[str, ...] = (), place: Path = ROOT, **more: str) -> tuple[int, Any]:
    """Run the chosen clauses; return the exit status with what is said, and the cells but for their times."""
    path = folder / "run.jsonl"
    command = [sys.executable, *python, "-m", "pytest", "-q", "--profile=recorded", "--examples=10"]
    command += ["--mode=eager"]
    command += [f"--clauses={name}" for name in NAMES] + [str(ROOT / file) for file in CHOSEN]
    command += ["-p", "no:randomly"] if "randomly" not in options else []
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(folder), **more}
    environment.pop("PYTEST_ADDOPTS", None)  # that of tox.ini keeps plug-ins of others away
    done = subprocess.run(
        [*command, f"--run-file={path}", *options], cwd=place, env=environment, capture_output=True, text=True
    )
    assert path.exists(), done.stdout + done.stderr
    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    return done.returncode, {line["clause"]: {**line, "seconds": 0} for line in lines if line["type"] == "cell"}


@pytest.fixture(scope="module")
def usually(tmp_path_factory: pytest.TempPathFactory) -> Any:
    status, cells = run(tmp_path_factory.mktemp("usually"))
    assert (status, sorted(cells)) == (0, NAMES)
    return cells


def test_settings_of_torch_change_no_verdict(tmp_path: Path, usually: Any) -> None:
    (tmp_path / "changes.py").write_text(CHANGES)
    assert run(tmp_path, "-p", "changes", "-n1") == (0, usually)


def test_warnings_as_errors_change_no_verdict(tmp_path: Path, usually: Any) -> None:
    assert run(tmp_path, "-W", "error", PYTHONWARNINGS="error") == (0, usually)


def test_flags_of_python_and_plug_ins_of_others_change_no_verdict(tmp_path: Path, usually: Any) -> None:
    plug_ins = ("-p", "randomly", "--cov=fixtures", "--cov-report=", "--timeout=500")
    coverage = str(tmp_path / "coverage")
    assert run(tmp_path, *plug_ins, python=("-O", "-X", "dev"), COVERAGE_FILE=coverage) == (0, usually)


def test_another_folder_a_narrow_terminal_and_no_home_change_no_verdict(tmp_path: Path, usually: Any) -> None:
    assert run(tmp_path, place=tmp_path, COLUMNS="40", HOME=os.devnull) == (0, usually)


def test_a_clone_that_cannot_be_written_is_no_matter(tmp_path: Path) -> None:
    """Where the folders would be made there are files: that keeps root away, too."""
    tiny = Tiny(tmp_path / "tiny", good="", bad="assert 1 == 2")
    for name in (".hypothesis", ".pytest_cache", ".benchmarks", "reproducers"):
        (tmp_path / "tiny" / name).touch()
    status, said = tiny.run("-vv", "-p", "cacheprovider")
    assert (status, tiny.verdicts()) == (1, {"good": "conforms", "bad": "deviates"})
    assert f"no stand-alone script: {tiny.folder}/reproducers/tiny.topic.bad.eager.py cannot be written" in said


@pytest.mark.parametrize("says", UNFIT)
def test_what_no_clause_can_set_is_noticed(says: str) -> None:
    assert unfit() == ""
    for make in UNFIT[says]:
        with make():
            found = unfit()
        assert found == says
    assert unfit() == ""


def test_what_no_clause_can_set_is_refused(tmp_path: Path) -> None:
    tiny = Tiny(tmp_path / "tiny", first="")
    (tmp_path / "tiny" / "changes.py").write_text("import torch\ntorch.set_default_device('meta')\n")
    status, said = tiny.run("-p", "changes")
    assert (status, tiny.path.exists()) == (4, False), said
    assert said.count("no verdict could be trusted; switch it off for the run") == 1


def test_what_was_set_is_put_back() -> None:
    before = [getattr(torch, ask)() for ask, _, _ in USUAL]
    torch.set_default_dtype(torch.float64)
    try:
        with usual():
            assert torch.get_default_dtype() is torch.float32
        assert torch.get_default_dtype() is torch.float64
    finally:
        torch.set_default_dtype(torch.float32)
    assert [getattr(torch, ask)() for ask, _, _ in USUAL] == before == [value for _, _, value in USUAL]


def test_what_is_done_to_the_step_of_an_optimizer_is_put_back() -> None:
    """As torch.compile did before 2.3: other hooks than those of the cell that compiled would never run."""
    torch.optim.SGD([torch.nn.Parameter(torch.ones(1))], lr=1.0)  # torch puts its hooks around step() once
    hooked, bare = torch.optim.SGD.step, torch.optim.Rprop.step
    assert hasattr(hooked, "hooked")
    marked = hasattr(bare, "hooked")
    with usual():
        setattr(torch.optim.SGD, "step", getattr(hooked, "__wrapped__"))  # noqa: B009, B010
        setattr(bare, "hooked", True)  # noqa: B010
    assert torch.optim.SGD.step is hooked
    assert hasattr(torch.optim.Rprop.step, "hooked") == marked
