"""run --for: the clauses that code relies on, and at which of its lines it matters that one is not as stated."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from packaging.version import Version

from fixtures.judge.triage import DIFFERS
from reports.data.strict import validate
from reports.relied.alarm import Alarms, alarms
from reports.relied.answer import FORMS, LISTS
from reports.relied.choice import ALSO, ONLY_IF, REFUSED, SHOWN, Relied, relied
from reports.relied.named import NAMED, about
from reports.usage.affects import MISSING, affects
from reports.usage.uses import read_code
from suites.selfcheck.affects.score_affects import Form, columns, forms, recorded
from suites.selfcheck.tiny_suites import ROOT

NEWEST = Version("2.15.0")
PREPEND = "ordering.registration.prepend_forward"
#: A fault that this code meets at one line, and one that it does not: each as a module that changes torch.
LOADS = "m.register_load_state_dict_post_hook(lambda m, keys: None)\n"
FAULTS = {
    "never_run": "torch.nn.Module.register_load_state_dict_post_hook = lambda self, hook: None",
    "not_there": "del torch.nn.Module.register_load_state_dict_post_hook",
    "of_others": "torch.Tensor.register_hook = lambda self, hook: None",
}


def chosen(tmp_path: Path, source: str, version: Version = NEWEST) -> Relied:
    (tmp_path / "them.py").write_text(source, encoding="utf-8")
    atlas, names = recorded()
    return relied(atlas, read_code(tmp_path, names.has), tmp_path, version)


@pytest.mark.parametrize(
    ("source", "there", "not_there"),
    [
        ("m.register_forward_hook(f, prepend=True)", [PREPEND], ["modes.compile.wrapper", "tutorial."]),
        ("m.register_forward_hook(f)", ["ordering.registration.forward"], [PREPEND, "gradient.", "optimizer."]),
        ("m.register_forward_hook(f, **some())", [PREPEND], []),
        ("m.register_forward_hook(lambda *a: None)", ["output.replacement.none_keeps"], ["output.replacement.chain"]),
        ("m.register_forward_hook(lambda m, x, y: y * 2)", ["output.replacement.chain"], []),
        ("m.register_forward_hook(f)\nc = torch.compile(m)", ["modes.compile.wrapper"], ["modes.jit."]),
        ("m.register_forward_hook(f)\n# torch.compile(m)", [], ["modes.compile."]),
        (
            '"""As torch.compile(m) does."""\nm.register_forward_hook(f)\ns = """\ntorch.jit.script(m)"""',
            [],
            ["modes."],
        ),
        ("m.register_full_backward_hook(f)", ["backward.given.full"], ["retain.modules.undefined"]),
        ("m.register_forward_hook(f)", [], ["handles.removal.", "handles.inside.", "handles.written."]),
        ("h = m.register_forward_hook(f)\nh.remove()", ["handles.removal.stops"], ["handles.removal.with_keywords"]),
        ("m.register_forward_hook(lambda m, a, y: m.register_forward_hook(f))", ["handles.inside.no_guard"], []),
        ("m.register_forward_hook(lambda m, a, y: [y])", ["handles.written.pop_output"], []),
        ("m.register_full_backward_hook(f)", ["backward.given.frozen_input"], ["backward.returns.full_wrong"]),
        ("m.register_full_backward_hook(f)\ny.backward(create_graph=True)", ["backward.twice.create_graph"], []),
        ("@torch.compile\ndef loss(x): ...\nm.register_forward_hook(f)", [], ["modes.compile."]),
        ("@torch.compile\ndef forward(x): ...\nm.register_forward_hook(f)", ["modes.compile.wrapper"], []),
        ("o.register_step_post_hook(f)", ["optimizer.order.registered"], ["output.", "ordering.registration.forward"]),
    ],
)
def test_what_concerns_the_code(tmp_path: Path, source: str, there: list[str], not_there: list[str]) -> None:
    found = chosen(tmp_path, source).clauses
    for start in there:
        assert any(name.startswith(start) for name in found), start
    for start in not_there:
        assert not [name for name in found if name.startswith(start)]


def test_a_use_that_does_not_run_on_this_torch_is_left_out(tmp_path: Path) -> None:
    source = 'if Version(torch.__version__) < Version("2.0"):\n    m.register_forward_hook(f)\n'
    assert not chosen(tmp_path, source).clauses
    assert chosen(tmp_path, source, Version("1.13.1")).clauses


def test_a_comment_accepts_a_clause(tmp_path: Path) -> None:
    assert (
        PREPEND
        not in chosen(tmp_path, f"m.register_forward_hook(f, prepend=True)  # hook-conformance: {PREPEND}").clauses
    )


@pytest.mark.parametrize("form", list(forms()), ids=lambda form: form.name)
def test_all_that_affects_says_of_releases_is_among_them(tmp_path: Path, form: Form) -> None:
    """What differs between releases concerns the code, so it is checked on the torch that is here."""
    (tmp_path / "them.py").write_text(form.code, encoding="utf-8")
    atlas, names = recorded()
    code = read_code(tmp_path, names.has)
    found = affects(atlas, columns(), code, names, "", "")
    here = [one for one in found.findings if not one.clause.startswith(MISSING) and "?" not in "".join(one.open)]
    here = [one for one in here if any(not code.guards.shut(use.guards, NEWEST) for use in one.uses)]
    mine = relied(atlas, code, tmp_path, NEWEST).clauses if code.uses else {}
    left = [atlas.clauses[one.clause] for one in here if one.clause not in mine]
    assert [one.id for one in left if not (one.is_claim or about(one) or REFUSED.search(one.says))] == []


def test_every_row_of_the_tables_leaves_a_clause_out() -> None:
    atlas, _ = recorded()
    starts = [start for one in NAMED.values() for start in one.clauses]
    assert [start for start in starts if not any(name.startswith(start) for name in atlas.clauses)] == []
    texts = [f"{one.id} {one.says}" for one in atlas.clauses.values()]
    says = [one.says for one in NAMED.values() if one.says] + [REFUSED.pattern, ALSO.pattern]
    says += [one.pattern for one in (*ONLY_IF.values(), *SHOWN.values())]
    assert [each for each in says if not any(re.search(each, text) for text in texts)] == []


def said(asked: Relied, signs: list[str]) -> Alarms:
    """What is said of a run in which one clause fails, with these signs."""
    atlas, names = recorded()
    name = "handles.removal.stops"
    assert name in asked.clauses
    cell = {"clause": name, "mode": "eager", "verdict": DIFFERS[0], "declared": False, "signs": signs, "evidence": None}
    run: Any = type("Run", (), {"lines": {(name, "eager"): cell}, "measured": "2.15.0"})
    return alarms(asked, run, atlas.clauses, names, lambda *given: "")


@pytest.mark.parametrize(
    ("source", "signs", "lines"),
    [
        ("m.register_forward_hook(f)\nm.register_full_backward_hook(f)", ["full_backward hook"], [2]),
        (
            "m.register_forward_hook(f)\nm.register_full_backward_hook(f)",
            ["forward hook", "full_backward hook"],
            [1, 2],
        ),
        ("m.register_forward_hook(f)\nm.register_full_backward_hook(f)", ["forward hook", "prepend=True"], []),
        ("m.register_forward_hook(f, **k)", ["forward hook", "prepend=True"], [1]),
        ("m.register_forward_hook(f)", ["forward hook", "global hook"], []),
        ("m.register_forward_hook(lambda *a: None)", ["forward hook", "replaces"], []),
        ("m.register_forward_hook(lambda *a: a[2] * 2)", ["forward hook", "replaces"], [1]),
        ("m.register_forward_hook(f)", [], [1]),
        ("m.register_forward_hook(f)\nm.register_forward_hook(f, prepend=True)", ["forward hook", "prepend=True"], [2]),
        (
            "m.register_forward_hook(lambda *a: None)\nm.register_forward_hook(lambda *a: 1)",
            ["forward hook", "replaces"],
            [2],
        ),
        (
            "m.register_forward_hook(f)\nm.register_full_backward_hook(f)",
            ["forward hook", "full_backward hook", "first at: full_backward hook"],
            [2],
        ),
    ],
)
def test_a_failure_is_said_of_the_lines_that_it_concerns(
    tmp_path: Path, source: str, signs: list[str], lines: list[int]
) -> None:
    """Where the smallest plan that fails has hooks that the code does not register so, it is nobody's alarm."""
    answer = said(chosen(tmp_path, f"{source}\nh.remove()\n"), signs)
    assert [use.line for one in answer.alarms for use in one.uses] == lines
    assert answer.others == (not lines)


def run(tmp_path: Path, *words: str, source: str | None = LOADS) -> subprocess.CompletedProcess[str]:
    """Run it on somebody's code, in a folder in which torch may be changed by a module."""
    if source is not None:
        (tmp_path / "them.py").write_text(source, encoding="utf-8")
    for name, line in FAULTS.items():
        (tmp_path / f"{name}.py").write_text(f"import torch\n{line}\n", encoding="utf-8")
    command = [sys.executable, "-m", "reports.installed", "run", "--for", "them.py", "-n0", *words]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, env=env)


def test_a_torch_that_is_right_gives_no_alarm(tmp_path: Path) -> None:
    done = run(tmp_path)
    assert (done.returncode, done.stdout.count("\n")) == (0, 1), done.stderr
    assert re.fullmatch(
        r"torch 2\.\S+: \d+ clauses that your code relies on at 1 place are all as stated\n", done.stdout
    )


@pytest.mark.parametrize(
    ("fault", "says"),
    [("never_run", "  relies on state."), ("not_there", "torch has no register_load_state_dict_post_hook:")],
)
def test_a_break_is_said_at_its_line(tmp_path: Path, fault: str, says: str) -> None:
    done = run(tmp_path, "-p", fault)
    assert done.returncode == 1, done.stderr
    assert "\nthem.py:1: register_load_state_dict_post_hook\n" in done.stdout
    assert says in done.stdout
    for line in (line for line in done.stdout.splitlines() if line.strip().startswith("script: ")):
        assert (tmp_path / line.split()[1]).is_file()


def test_what_breaks_for_others_gives_no_alarm(tmp_path: Path) -> None:
    done = run(tmp_path, "-p", "of_others")
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_other_forms(tmp_path: Path) -> None:
    asked = chosen(tmp_path, "m.register_forward_hook(f)\nm.register_forward_hook(g)\nh.remove()\n")
    answer = said(asked, [])
    found = json.loads(FORMS["json"](answer))
    validate(found, "answers.schema.json#/$defs/relied", tmp_path, "")
    assert [use["line"] for one in found["alarms"] for use in one["uses"]] == [1, 2]
    lines = FORMS["github"](answer).splitlines()
    assert [line.partition(",title=")[0] for line in lines[:2]] == [
        "::error file=them.py,line=1",
        "::error file=them.py,line=2",
    ]
    found = json.loads(LISTS["json"]((asked, recorded()[0].clauses)))
    validate(found, "answers.schema.json#/$defs/relied_list", tmp_path, "")
    assert {one["clause"] for one in found["clauses"]} == {*asked.clauses}


def test_the_list_runs_nothing(tmp_path: Path) -> None:
    done = run(tmp_path, "--list")
    assert done.returncode == 0, done.stderr
    assert re.match(r"\d+ clauses for torch ", done.stdout)
    assert not (tmp_path / "hook-conformance").exists()


@pytest.mark.parametrize(
    ("words", "source", "says"),
    [
        (["--clauses", "retain."], LOADS, "--for: chooses the clauses and modes itself"),
        (["--mode", "copy"], LOADS, "leave --mode out"),
        (["--format", "sarif"], LOADS, "choose from text, json, github"),
        ([], "x = 1\n", "them.py: uses no hook of torch"),
        ([], "def f(:\n", "them.py"),
        (["--run-fil", "x"], LOADS, "see hook-conformance run --help"),
    ],
)
def test_bad_input_is_one_line(tmp_path: Path, words: list[str], source: str, says: str) -> None:
    done = run(tmp_path, *words, source=source)
    assert done.returncode in (2, 4)
    assert done.stdout == ""
    assert says in done.stderr
    assert done.stderr.count("\n") == 1, done.stderr
