"""Every clause has a program that needs torch only, and on the torch that is installed each does as it says."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from fixtures.clause.clause import CLAUSES
from fixtures.model.contract import contract_for
from fixtures.model.module import expect
from fixtures.plan.grammar import Backward, Copy, Forward, Hook, Input, Leaf, Of, Plan, Raise, Train
from fixtures.show import example, typical
from fixtures.show.bundle import Bundle, Unfit
from fixtures.show.example import Known, inside, literal, span
from fixtures.show.example import program as write
from fixtures.show.noted import Unsayable
from fixtures.show.plain import Plain, plain
from fixtures.show.typical import shows_none, shows_plan, shows_typical
from reports.__main__ import main
from reports.data.atlas import build
from reports.data.verdicts import VERDICTS, read_recorded, read_table
from reports.page import details, programs
from suites import examples
from suites.examples import ROOT, import_suites, recorded, run_all, wrong
from suites.selfcheck.recorded_room import recorded_room

import_suites()
ALL = [clause for _, clause in sorted(CLAUSES.items())]
SHOWN = [clause for clause in ALL if not shows_none(clause)]
LEAF = Leaf("m0", "scale", (1,))
A_PLAN, A_TEST = "gradient.errors.own_type", "backward.twice.replacement"
ONE_READING, SAME_EVERYWHERE = "retain.asked.create_graph", "gradient.replace.chains_in_order"


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """The examples as the page has them, a file each."""
    made = tmp_path_factory.mktemp("examples")
    for name, text in programs.examples().items():
        (made / f"{name}.py").write_text(text, encoding="utf-8")
    return made


def changed(folder: Path, to: Path, name: str, old: str, new: str) -> Path:
    """Write one example with a change elsewhere."""
    text = (folder / f"{name}.py").read_text(encoding="utf-8")
    assert old in text
    path = to / f"{name}.py"
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    return path


def test_every_clause_has_its_program(folder: Path) -> None:
    assert sorted(path.stem for path in folder.iterdir()) == sorted(clause.id for clause in SHOWN)


def test_each_says_what_is_recorded_of_this_torch(folder: Path, capsys) -> None:
    assert run_all(SHOWN, recorded(), folder) == 0, capsys.readouterr().out


def test_no_program_has_annotations_but_those_that_torch_reads(folder: Path) -> None:
    nodes = [node for path in folder.iterdir() for node in ast.walk(ast.parse(path.read_text("utf-8")))]
    found = [getattr(node, name, None) for node in nodes for name in ("annotation", "returns")]
    kept = [ast.unparse(each) for each in found if each is not None]
    assert kept
    assert not [each for each in kept if "torch." not in each]


@pytest.mark.parametrize("name", [A_PLAN, A_TEST, ONE_READING])
def test_a_program_runs_alone(name: str, folder: Path, tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, folder / f"{name}.py"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1].startswith("torch ")


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        (A_PLAN, '("hook", 2)', '("hook", 3)'),
        (A_PLAN, '"torch 1.4, 1.7 to 2.15"', '"torch 1.4"'),
        (A_TEST, "product**subject.value", "2 * product**subject.value"),
        (A_TEST, "'once (", "'ever ("),
        (A_TEST, 'hasattr(torch.nn.Module, "', 'hasattr(torch.nn.Module, "no_'),
        (A_TEST, "(grad,) =", "grad = torch.no_such_name"),
        (ONE_READING, "    assert ", "    assert not "),
        (ONE_READING, "expected = True", "expected = False"),
        (SAME_EVERYWHERE, "    return 2 * ", "    return 3 * "),
    ],
)
def test_a_program_that_says_otherwise_is_found(name: str, old: str, new: str, folder, tmp_path, capsys) -> None:
    changed(folder, tmp_path, name, old, new)
    assert run_all([CLAUSES[name]], recorded(), tmp_path) == 1
    assert f"{name}: otherwise" in capsys.readouterr().out


def test_most_plans_are_programs_as_a_person_writes_them(folder: Path) -> None:
    """They need torch and the standard library alone and no helpers, and fit on a page of 100 columns."""
    texts = {path.stem: path.read_text("utf-8") for path in folder.iterdir() if shows_plan(CLAUSES[path.stem])}
    shown = {name: text.splitlines() for name, text in texts.items() if "\nlog" not in text}
    assert len(shown) > 0.6 * len(texts)
    counts = sorted(sum(map(bool, lines)) for lines in shown.values())
    assert counts[len(counts) // 2] <= 25
    assert max(len(line) for lines in shown.values() for line in lines) <= 100
    imports = {line for lines in shown.values() for line in lines if line.startswith(("import ", "from "))}
    assert imports == {"import torch", "from torch import nn", "import copy", "import inspect"}


@pytest.mark.parametrize(
    ("plan", "why"),
    [
        (Plan(Leaf("m0", "scale", (Of(1),)), (Input(Of(1)),), (Forward(),)), "structures, shapes"),
        (Plan(LEAF, (Input(1),), (Hook("forward", "m0", "h0", form="method"), Forward())), "no plain functions"),
        (Plan(LEAF, (Input(1),), (Hook("forward", "m0", "h0", (Raise(1),)), Forward())), "an action"),
        (Plan(LEAF, (Input(1),), (Copy(), Forward())), "a step"),
        (Plan(LEAF, (Input(1),), (Backward(),)), "finds nothing to act on"),
    ],
)
def test_what_is_not_written_plainly_is_written_as_before(plan: Plan, why: str) -> None:
    contract = contract_for("2.15")
    trace = expect(plan, contract)
    with pytest.raises(Unsayable, match=why):
        Plain(plan, [trace], [contract]).text("", [], [""])
    assert plain(plan, "", [], [("", trace, contract)]) == ""


def test_a_plan_is_shown_without_what_its_test_and_its_kind_do_without(monkeypatch) -> None:
    """A network of its own, other numbers and steps that do nothing for the sentence are left out."""
    net, hook = Leaf("m0", "affine", (1, 1)), Hook("forward", "m0", "h0")
    plan = Plan(net, (Input(1, leaf=False),), (hook, Forward(), Train("m0")))
    without = replace(plan, steps=plan.steps[:2])
    monkeypatch.setattr(typical, "draws", lambda clause, version: ([], [plan, without, without]))
    monkeypatch.setattr(typical, "held", lambda clause, plan, version: True)
    shown = typical.typical(CLAUSES["output.replacement.none_keeps"], "2.15")
    assert shown == Plan(Leaf("m0", "same"), (Input(3),), (hook, Forward()))


def test_a_program_that_was_not_written_is_found(tmp_path: Path, capsys) -> None:
    assert run_all([CLAUSES[A_PLAN]], recorded(), tmp_path) == 1
    assert f"there is no {tmp_path / A_PLAN}.py" in capsys.readouterr().out


def test_a_program_imports_the_module_whose_option_it_asks_for(folder: Path) -> None:
    """`import torch` alone brings torch.utils.checkpoint on some releases only, not on 1.13."""
    lines = (folder / "backward.modes.checkpoint_not_reentrant.py").read_text("utf-8").splitlines()
    asked = next(number for number, line in enumerate(lines) if "torch.utils.checkpoint.checkpoint" in line)
    assert "import torch.utils.checkpoint" in lines[:asked]


def test_a_program_ends_in_one_line_where_torch_lacks_what_it_needs(folder: Path, tmp_path: Path) -> None:
    lacks = "import torch\ndel torch.nn.Module.register_full_backward_hook\n"
    path = changed(folder, tmp_path, A_TEST, "import torch\n", lacks)
    done = subprocess.run([sys.executable, path], cwd=tmp_path, capture_output=True, text=True)
    said = "cannot tell: no torch.nn.Module.register_full_backward_hook\n"
    assert (done.returncode, done.stdout, done.stderr) == (125, said, "")


def test_they_are_made_without_torch_and_are_the_same(folder: Path, tmp_path: Path) -> None:
    """Of these, the strategies or the modules ask which torch is installed, or the plan is drawn."""
    hidden = """
import sys
from importlib import metadata, util
sys.modules["torch"] = None
there = metadata.version
def version(name):
    if name == "torch": raise metadata.PackageNotFoundError(name)
    return there(name)
metadata.version = version
from suites import examples
sys.exit(examples.main())
"""
    names = ["gradient.kinds.dtype", "output.calls.", "retain.nodes.", A_PLAN, A_TEST]
    command = [sys.executable, "-c", hidden, "--write", str(tmp_path), *names]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert len(list(tmp_path.iterdir())) > len(names)
    for path in tmp_path.iterdir():
        assert path.read_text(encoding="utf-8") == (folder / path.name).read_text(encoding="utf-8")


def test_nearly_all_plans_that_are_shown_were_drawn_before() -> None:
    """Else who makes the first page waits for them. Each would be drawn here: `python -m suites.examples --draw`."""
    needed = [clause for clause in ALL if shows_typical(clause)]
    fresh = [clause.id for clause in needed if examples.typical_of(clause) is None]
    assert len(needed) > 500
    assert len(fresh) < len(needed) / 10, fresh


def test_a_plan_is_shown_only_of_the_clause_that_it_was_drawn_for(monkeypatch) -> None:
    clause = CLAUSES["backward.firing.summed"]
    _, plan = examples.kept()[clause.id]
    assert repr(examples.typical_of(clause)) == plan
    monkeypatch.setattr(examples, "kept", lambda: {clause.id: ["another", plan]})
    assert examples.typical_of(clause) is None
    monkeypatch.setattr(examples, "kept", lambda: {A_TEST: [CLAUSES[A_TEST].digest(), plan]})
    assert examples.typical_of(CLAUSES[A_TEST]) is None


def test_plans_are_drawn_with_those_of_others_kept_and_counted(tmp_path: Path, monkeypatch, capfd) -> None:
    names = ["backward.firing.summed", "backward.firing.in_turn"]
    before = {name: examples.kept()[name] for name in names}
    monkeypatch.setattr(examples, "TYPICAL", tmp_path / "typical.json")
    monkeypatch.setattr(examples, "PATIENCE", -1)
    monkeypatch.setattr(examples, "kept", lambda: {names[1]: before[names[1]], "no.such.clause": ["", ""]})
    assert examples.draw([CLAUSES[names[0]], CLAUSES[A_TEST]]) == 0
    assert json.loads((tmp_path / "typical.json").read_text("utf-8")) == before
    assert capfd.readouterr().out == "1 of 1 are made\n"


def test_what_differs_in_no_fact_that_was_asked_for_is_played_once(monkeypatch) -> None:
    plays: list[object] = []
    monkeypatch.setattr(example, "expect", lambda plan, contract: plays.append(contract.dict_inputs) or f"{len(plays)}")
    expecting = example.Expecting(Plan(Leaf("m0", "scale", (1,)), (Input(1),), ()))
    asked = [SimpleNamespace(dict_inputs=one, other=other) for one, other in [(1, 1), (1, 2), (2, 1), (1, 3)]]
    assert [expecting.of(each) for each in asked] == ["1", "1", "2", "1"]


@pytest.fixture
def kept(tmp_path: Path, monkeypatch) -> Path:
    """Where examples are kept; there are two, made in no time."""
    monkeypatch.setattr(programs, "_made", lambda *names: dict.fromkeys(names or ("a.b.c", "a.b.d"), "made"))
    monkeypatch.setattr("reports.page.programs.source_digest", lambda *_: "one")
    return tmp_path / "out" / "examples.json"


def test_they_are_made_once_for_the_same_sources(kept: Path, monkeypatch, capsys) -> None:
    both = {"a.b.c": "made", "a.b.d": "made"}
    assert programs.examples(kept) == both
    assert capsys.readouterr().err.startswith("making the examples of all clauses")
    monkeypatch.setattr(programs, "_made", None)
    assert programs.examples(kept) == both
    assert programs.example("a.b.d", kept) == "made"
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("damaged", ["", "{}", "[]", '{"made_from": "one"'])
def test_they_are_made_anew_for_other_sources_and_from_a_damaged_file(kept: Path, monkeypatch, damaged: str) -> None:
    programs.examples(kept)
    monkeypatch.setattr(programs, "_made", lambda: {"a.b.c": "anew"})
    monkeypatch.setattr("reports.page.programs.source_digest", lambda *_: "two")
    assert programs.examples(kept) == {"a.b.c": "anew"}
    kept.write_text(damaged, encoding="utf-8")
    assert programs.examples(kept) == {"a.b.c": "anew"}
    assert json.loads(kept.read_text("utf-8"))["made_from"] == "two"


def test_they_are_made_where_they_cannot_be_kept(kept: Path) -> None:
    kept.parent.write_text("no folder", encoding="utf-8")
    assert list(programs.examples(kept)) == ["a.b.c", "a.b.d"]


def test_one_is_made_alone_and_not_kept(kept: Path) -> None:
    assert programs.example("a.b.e", kept) == "made"
    assert not kept.exists()


def test_what_they_are_made_from_decides(tmp_path: Path, monkeypatch) -> None:
    """The suites, the instruments and the record; not the self-check."""
    files = [
        "suites/a/test_b.py",
        "fixtures/plan/grammar.py",
        "reports/verdicts/retain.json",
        "suites/selfcheck/test_a.py",
    ]
    monkeypatch.setattr(programs, "ROOT", tmp_path)
    monkeypatch.setattr(programs, "VERDICTS", tmp_path / "reports" / "verdicts")
    digests = []
    for name in files:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("changed", encoding="utf-8")
        digests.append(programs._kept(tmp_path / "no")[1])
    assert len(set(digests)) == 3
    assert digests[2] == digests[3]


def test_a_page_of_other_verdicts_has_none(tmp_path: Path, monkeypatch) -> None:
    """They say what is recorded here; and nobody waits for them."""
    monkeypatch.setattr("reports.verbs.commands.examples", None)
    assert recorded_room(tmp_path).call("page", "--out", tmp_path / "page.html") == 0


def test_explain_prints_one_as_it_is(folder: Path, capsys) -> None:
    assert main(["explain", A_PLAN, "--example"]) == 0
    assert capsys.readouterr().out == (folder / f"{A_PLAN}.py").read_text(encoding="utf-8")


def test_one_that_cannot_be_made_is_answered_in_one_line(capsys) -> None:
    with pytest.raises(
        programs.BadInput, match=r"^reports: there is no example of a\.b\.c; suites\.examples: no clause"
    ):
        programs.example("a.b.c")


def test_without_hypothesis_one_line_says_what_to_install(kept: Path, monkeypatch, capsys) -> None:
    monkeypatch.undo()
    monkeypatch.setattr(programs, "find_spec", lambda name: None)
    monkeypatch.setattr(programs.example, "__defaults__", (kept,))
    assert main(["explain", A_PLAN, "--example"]) == 2
    reported = capsys.readouterr()
    assert reported.err.startswith("reports needs hypothesis; install it with: pip install hypothesis ")
    assert (reported.out, reported.err.count("\n")) == ("", 1)


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        (["no.such"], "no clause begins with 'no.such'"),
        (["--write", "no", "no.such"], "no clause begins with 'no.such'"),
        (["--write", __file__, A_PLAN], f"{__file__}: File exists: name another folder"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_line(arguments, fault, monkeypatch, capsys) -> None:
    monkeypatch.setattr(sys, "argv", ["examples", *arguments])
    assert examples.main() == 2
    reported = capsys.readouterr()
    assert reported.err.startswith(f"suites.examples: {fault}")
    assert reported.err.count("\n") == 1


def test_a_torch_that_has_what_its_release_lacked_is_held_to_nothing(folder: Path) -> None:
    """A build of one's own may have more than the release of its number."""
    assert wrong(CLAUSES[A_TEST], Known({"2.15": "absent"}), "2.15", folder) is None


def test_a_clause_that_is_not_recorded_has_no_program_yet(tmp_path: Path, monkeypatch, capsys) -> None:
    with pytest.raises(Unfit, match="no release is recorded to conform: sweep and record first"):
        write(CLAUSES[A_TEST], Known({"2.15": "absent"}))
    monkeypatch.setattr(examples, "recorded", lambda: {"2.15": {A_PLAN: {"verdict": "conforms"}}})
    assert examples.write([CLAUSES[A_PLAN], CLAUSES[A_TEST]], tmp_path) == 1
    assert [path.stem for path in tmp_path.iterdir()] == [A_PLAN]
    assert capsys.readouterr().err.startswith(f"suites.examples: {A_TEST}: no release is recorded to conform")


def test_a_program_is_shown_only_next_to_its_own_sentence(folder: Path) -> None:
    atlas = build(read_table(VERDICTS), read_recorded(VERDICTS)[-1:], [])
    texts = {name: (folder / f"{name}.py").read_text(encoding="utf-8") for name in (A_PLAN, A_TEST)}
    other = replace(atlas.clauses[A_TEST], says="Another sentence.")
    atlas = replace(atlas, clauses={**atlas.clauses, A_TEST: other})
    clauses = details.document(atlas, examples=texts)["clauses"]
    assert [name for name, clause in clauses.items() if "example" in clause] == [A_PLAN]


def test_versions_are_told_in_ranges() -> None:
    known = ["1.4", "1.5", "1.6", "2.0", "2.1"]
    assert span(["1.4", "1.5", "2.0"], known) == "torch 1.4 to 1.5, 2.0"
    assert span(known, known) == "torch 1.4 to 2.1"
    for reported in (span(["1.4", "1.5", "2.0"], known), span(["1.5"], known) + ", a declared deviation"):
        assert inside("1.5", reported.partition("torch ")[2], known)
        assert not inside("2.1", reported.partition("torch ")[2], known)
        assert not inside("2.2", reported.partition("torch ")[2], [*known, "2.2"])


def test_lines_are_stored_once_and_read_back() -> None:
    lines = programs.Lines()
    texts = ["a\nb\nc\n", "a\nb\nx\n", "x\na"]
    packed = [lines.packed(text) for text in texts]
    assert packed == [[0, -3], [0, -1, 4, 3], [4, 0]]
    for text, each in zip(texts, packed, strict=True):
        runs = [
            [place] if place >= 0 else range(each[at - 1] + 1, each[at - 1] + 1 - place)
            for at, place in enumerate(each)
        ]
        assert "\n".join(lines.values[place] for run in runs for place in run) == text


def test_no_plan_is_shown_that_the_oldest_torch_of_its_clause_cannot_play(monkeypatch) -> None:
    """What is drawn is drawn for the newest: the smallest of these needs a kind of hook that 1.8 lacks."""
    net, run = Leaf("m0", "scale", (1,)), (Forward(), Backward())
    lacks, has = (Plan(net, (Input(1),), (Hook(kind, "m0", "h0"), *run)) for kind in ("full_backward_pre", "forward"))
    clause = CLAUSES["backward.firing.summed"]
    monkeypatch.setattr(typical, "draws", lambda clause, version: ([], [lacks, lacks, has]))
    assert (typical.typical(clause, "2.0"), typical.typical(clause, "1.8")) == (lacks, has)
    monkeypatch.setattr(typical, "draws", lambda clause, version: ([], [lacks]))
    with pytest.raises(Unfit, match=r"no plan was drawn that torch 1\.8 can play"):
        typical.typical(clause, "1.8")


def test_what_has_no_source_is_refused() -> None:
    module = __name__
    assert literal({"a": [1, (2,), {3}], "b": ValueError}, Bundle(), module) == "{'a': [1, (2,), {3}], 'b': ValueError}"
    bundle = Bundle()  # a function that this file does not import
    assert literal(CLAUSES["modes.compile.forward"].witness["form"], bundle, module) == "straight"
    assert [one.partition("(")[0] for one in bundle.definitions] == ["def straight"]
    with pytest.raises(Unfit, match="a value of type object has no source"):
        literal(object(), Bundle(), module)
