"""What is measured where that is more than a release on the CPU: said everywhere, and what is not there is left out."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fixtures.clause.clause import CLAUSES
from fixtures.draw.contract import drawing_for
from fixtures.judge.control import control, only_numbers, without_hooks
from fixtures.judge.subject import Played
from fixtures.judge.triage import NO_MATTER, triage
from fixtures.model.contract import contract_for, installed_version
from fixtures.plan.grammar import Forward, Hook, Input, Leaf, Of, Plan, Retain
from fixtures.run.targeted import stages_of, target_of
from fixtures.show.on_target import of_plan
from fixtures.stages.make import make
from fixtures.stages.modes import MODES
from fixtures.stages.probe import lacking
from fixtures.target.features import FEATURES, used_by_plan
from fixtures.target.plans import on_target, why_not
from fixtures.target.target import HERE, TEMPLATE, BadTarget, Target, asked_for, read
from suites.selfcheck.all_clauses import import_suites

import_suites()
ROOT = Path(__file__).resolve().parents[3]
RECORDED = sorted((ROOT / "suites" / "targets").glob("*.toml"))
LAZY = ROOT / "suites" / "targets" / "lazy.toml"


def run(folder, *options, target=None, environment=()):
    """Run some clauses, and return how it ended, what it said, the header and the cells."""
    path = folder / "run.jsonl"
    command = [sys.executable, "-m", "pytest", "-q", "-n0", "-p", "no:randomly", "-p", "no:cacheprovider", "--quick"]
    command += [f"--run-file={path}", *options, *([f"--target={target}"] if target else [])]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, env={**os.environ, **dict(environment)}, check=False
    )
    lines = list(map(json.loads, path.read_text("utf-8").splitlines())) if path.exists() else [{}]
    cells = {line["clause"]: line for line in lines if line.get("type") == "cell"}
    return done.returncode, done.stdout + done.stderr, lines[0], cells


def written(folder, text):
    path = folder / "mine.toml"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("devise = 'lazy'", "devise: there is no such key"),
        ("device = 3", "device: has to be a text"),
        ("imports = 'torch'", "imports: has to be a list of texts"),
        ("device = ", "is no TOML"),
        ("dtype = 'float16'", "dtype: float16: one of float64, float32"),
        ("wrap = 'mine'", "wrap: mine: write package:function"),
        ("[lacks]\nspeed = 'slow'", "lacks.speed: there is no such feature; there are deepcopy"),
        ("[known]\n'a.b.c' = ''", "known: has to be a table of texts"),
    ],
)
def test_a_wrong_file_is_said_in_a_line(tmp_path, text, says):
    with pytest.raises(BadTarget, match=r"mine\.toml") as caught:
        read(str(written(tmp_path, text)), FEATURES)
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.fixture
def nothing_stays():
    """The process is of no target again."""
    yield
    HERE.use(Target())
    make.device = "cpu"


@pytest.mark.parametrize(
    ("options", "modes", "says"),
    [
        ({"--import": ["no_such_backend"]}, "eager", "--import: cannot import no_such_backend"),
        ({"--device": "hpu:x"}, "eager", "a backend of another package needs --import PACKAGE"),
        ({"--wrap": "json:nothing"}, "eager", "--wrap: json has no function nothing"),
        ({"--wrap": "json:dumps"}, "copy", "--wrap: a wrapper is measured in the mode eager"),
        ({"--target": "nowhere.toml"}, "eager", "nowhere.toml: cannot be read"),
    ],
)
def test_what_cannot_be_measured_is_said_in_a_line(nothing_stays, options, modes, says):
    asked: Any = SimpleNamespace(getoption=options.get)
    with pytest.raises(pytest.UsageError) as caught:
        stages_of(target_of(asked), {modes: MODES[modes]})
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


def test_clauses_that_a_target_does_not_reach_are_said_in_a_line(tmp_path):
    status, said, _, cells = run(tmp_path, "--wrap=json:dumps", "--clauses=handles.handle.")
    assert (status, cells) == (4, {})
    assert "these clauses make no tensor there, or are about the CPU" in said


def test_the_template_is_a_file_and_says_all_keys():
    assert all(f"# {name}" in TEMPLATE for name in ("name", "imports", "setup", "device", "dtype", "wrap", "sync"))
    assert "[lacks]" in TEMPLATE
    assert "[known]" in TEMPLATE


def test_an_option_goes_before_the_file(tmp_path):
    path = written(tmp_path, "device = 'lazy'\nimports = ['json']\n")
    given_ = {"--target": str(path), "--device": "meta", "--import": ["os"]}
    found = asked_for(given_.get, FEATURES)
    assert (found.device, found.imports) == ("meta", ("json", "os"))
    assert found.options() == [f"--target={path}", "--device=meta", "--dtype=float64", "--import=json", "--import=os"]
    assert asked_for({}.get, FEATURES).usual


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.stem)
def test_what_is_recorded_names_causes_more_than_clauses(path):
    found = read(str(path), FEATURES)
    assert len(found.known) <= 10
    assert not found.usual


def test_a_feature_is_there_on_the_cpu():
    assert lacking("cpu") == []


def test_leaving_a_feature_out_leaves_most_plans():
    """Of those that a run plays: some of each clause."""
    found, count = dict.fromkeys(FEATURES, 0), [0]
    functions: list[Any] = [one.function for one in CLAUSES.values() if one.plays]
    drawn = [one.hypothesis._given_kwargs["plan"] for one in functions]

    @settings(
        max_examples=1500,
        derandomize=True,
        database=None,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )
    @given(data=st.data())
    def draw(data):
        plan = data.draw(data.draw(st.sampled_from(drawn)))
        count[0] += 1
        for name in used_by_plan(plan, FEATURES):
            found[name] += 1

    with drawing_for(contract_for(installed_version())):
        draw()
    assert {name: number / count[0] for name, number in found.items() if number > 0.15 * count[0]} == {}


def test_a_plan_has_the_dtypes_of_its_target(nothing_stays):
    plan = Plan(Leaf("m0", "same"), (Input(Of(1, (2,), dtype="complex128")), Input(Of(1, (2,)))), steps=(Forward(),))
    assert on_target(plan) is plan
    HERE.use(Target(dtype="float32"))
    assert [one.value.dtype for one in on_target(plan).inputs] == ["complex64", "float32"]
    assert why_not(plan) == ""
    both = replace(plan, inputs=(*plan.inputs, Input(Of(1, (2,), dtype="float32"))))
    assert why_not(both) == "needs float64 and float32"


def test_what_lives_on_is_of_the_cpu_alone(nothing_stays):
    from fixtures.families.lifetime import LetGo

    plan = Plan(Leaf("m0", "same"), (Input(1),), steps=(Forward(), LetGo()))
    assert why_not(plan) == ""
    HERE.use(Target(device="lazy"))
    assert why_not(plan) == "needs tensors that keep alive what those of the CPU do"
    assert why_not(replace(plan, steps=plan.steps[:1])) == ""


@pytest.mark.parametrize("others", ["", "dataclasses, "])
def test_a_script_makes_its_tensors_on_the_device(nothing_stays, others):
    HERE.use(Target(device="meta"))
    found: Any = {}
    exec(of_plan(f"import {others}torch\nx = torch.tensor(1.0)\n"), found)
    assert found["x"].device.type == "meta"
    assert not others or found["dataclasses"]


def found_by(wrong: Any, played: Any, keeps: Any = lambda plan: True) -> Any:
    """What the control says where torch does otherwise on the plans that `wrong` names."""
    return control(lambda plan: trace("a"), lambda plan: trace("b" if wrong(plan) else "a"), played, keeps)


def trace(event: str) -> Any:
    return SimpleNamespace(lines=lambda: [event])


def test_the_control_tells_arithmetic_from_hooks():
    hooked = Plan(Leaf("m0", "scale", values=(2,)), (Input(1),), (Hook("tensor", "x0", "h"), Retain("x0"), Forward()))
    plain = replace(hooked, steps=(Forward(),))
    assert without_hooks(hooked) == plain
    played = Played(hooked, trace("a"), trace("b"))
    found = found_by(lambda plan: True, played)
    assert found is not None
    assert found.plan == plain
    assert found_by(lambda plan: plan != plain, played) is None
    assert found_by(lambda plan: True, played, lambda plan: False) is None
    alone = Played(plain, trace("a"), trace("b"))
    assert found_by(lambda plan: True, alone) is alone


@pytest.mark.parametrize(
    ("observed", "alone"),
    [
        ((("h0", ({"x": 3},)), ("grads", ((1, None),))), True),
        ((("h0", ({"x": 2},)), ("grads", ((1, 1),))), False),
        ((("grads", ((1, None),)), ("h0", ({"x": 2},))), False),
        ((("h0", ({"y": 2},)), ("grads", ((1, None),))), False),
    ],
)
def test_numbers_alone_are_told_from_calls(observed, alone):
    assert only_numbers((("h0", ({"x": 2},)), ("grads", ((1, None),))), observed) == alone


def test_what_is_no_matter_of_hooks_has_a_group_behind_the_others():
    cell = {"verdict": "deviates", "declared": False, "mode": "eager", "complaint": "", "evidence": None}
    cells = [{**cell, "clause": f"a.b.c{number}", "signs": [NO_MATTER, "tensor hook"]} for number in range(5)]
    cells += [{**cell, "clause": "a.b.d", "signs": ["tensor hook"]}, {**cell, "clause": "a.b.e", "signs": []}]
    assert [len(one.cells) for one in triage(cells)] == [1, 5, 1]


def test_a_backend_is_measured_without_what_it_lacks(tmp_path):
    """Said everywhere; nothing fails; and the script of a difference makes its tensors there."""
    chosen = ["--clauses=gradient.copies.pickle", "--clauses=retain.asked", "--clauses=retain.keep.own_memory"]
    status, said, header, cells = run(tmp_path, *chosen, target=LAZY)
    words = f"lazy on torch {torch.__version__.partition('+')[0]}, lazy"
    assert status == 0, said
    assert header["target"]["words"] == words
    assert {"pickle", "strides"} <= set(header["target"]["lacking"])
    assert f"{words}: " in said
    assert (cells["gradient.copies.pickle"]["verdict"], cells["gradient.copies.pickle"]["note"]) == (
        "refused",
        "needs pickled tensors",
    )
    known = cells["retain.keep.own_memory"]
    assert (known["verdict"], known["declared"], known["deviation"]) == ("deviates", True, "known")
    script = tmp_path / "script.py"
    script.write_text(known["evidence"]["reproducer"], encoding="utf-8")
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr
    assert "lazy on torch" in done.stdout


def test_an_entry_without_use_fails_the_run(tmp_path):
    path = written(tmp_path, LAZY.read_text("utf-8").partition("[lacks]")[0] + "[lacks]\ndeepcopy = 'none'\n")
    status, said, _, _ = run(tmp_path, "--clauses=retain.asked", target=path)
    assert status == 4
    assert "lacks.deepcopy: it is there: take the entry out" in said
    path = written(
        tmp_path, "name = 'mine'\n[known]\n'retain.asked.seen_upstream' = 'none'\n'no.such.clause' = 'none'\n"
    )
    status, said, _, _ = run(tmp_path, "--clauses=retain.asked", "--mode=eager", target=path)
    assert status == 4
    assert "known.no.such.clause: there is no such clause" in said
    path.write_text(path.read_text("utf-8").replace("'no.such.clause' = 'none'\n", ""), encoding="utf-8")
    status, said, _, cells = run(tmp_path, "--clauses=retain.asked", "--mode=eager", target=path)
    assert status == 1
    assert [name for name, cell in cells.items() if cell["complaint"]] == ["retain.asked.seen_upstream"]
    assert "known.retain.asked.seen_upstream: it conforms here: take the entry out" in said


@pytest.mark.parametrize(
    ("fault", "clauses"),
    [("order", "ordering.registration."), ("removed", "handles.removal."), ("retained", "retain.keep.")],
)
def test_a_fault_under_a_backend_is_found_without_what_it_lacks(tmp_path, fault, clauses):
    options = ["-p", "suites.selfcheck.run.fault_of_targets", f"--clauses={clauses}"]
    status, said, _, cells = run(tmp_path, *options, target=LAZY, environment={"TARGET_FAULT": fault})
    assert status == 1, said
    failed = [cell for cell in cells.values() if cell["verdict"] == "deviates" and not cell["declared"]]
    assert failed, said
    assert NO_MATTER not in failed[0]["signs"]


@pytest.mark.parametrize(("wrapper", "good"), [("identity", True), ("deaf", False)])
def test_a_wrapper_is_measured(tmp_path, wrapper, good):
    options = [f"--wrap=suites.selfcheck.run.wrapping:{wrapper}", "--clauses=output.replacement."]
    status, said, header, cells = run(tmp_path, *options)
    assert (status == 0) == good, said
    assert header["target"]["wrap"].endswith(wrapper)
    failed = [cell for cell in cells.values() if cell["verdict"] == "deviates"]
    assert bool(failed) != good
    for cell in failed[:1]:
        script = tmp_path / "script.py"
        script.write_text(cell["evidence"]["reproducer"], encoding="utf-8")
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        done = subprocess.run([sys.executable, script], capture_output=True, text=True, env=environment, check=False)
        assert done.returncode == 1, done.stdout + done.stderr


def test_float32_is_measured(tmp_path):
    status, said, header, cells = run(
        tmp_path, "--dtype=float32", "--clauses=retain.values", "--clauses=gradient.edits"
    )
    assert status == 0, said
    assert header["target"]["dtype"] == "float32"
    assert {cell["verdict"] for cell in cells.values()} == {"conforms"}
