"""Modes of execution: torch is checked against the model of the mode, the sentence by both; rules are needed."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from fixtures.clause.cause import Cause
from fixtures.clause.clause import CLAUSES, Clause, Reading
from fixtures.draw.contract import drawing_for
from fixtures.draw.plans import plans
from fixtures.graph.errors import SharedEdit
from fixtures.judge.corpus import few
from fixtures.judge.in_mode import judge_in_mode
from fixtures.judge.subject import Subject
from fixtures.model.contract import applies, contract_for, installed_version
from fixtures.model.module import expect
from fixtures.plan.grammar import (
    Backward,
    Chain,
    Copy,
    Forward,
    Hook,
    InPlace,
    Input,
    Leaf,
    Like,
    Of,
    Pack,
    Plan,
    Retain,
    Scale,
)
from fixtures.play.player import OverridePoints, Refused
from fixtures.rules.rule import Rule
from fixtures.run.naming import named
from fixtures.run.recorded import FOLDER, read
from fixtures.show.evidence import reported
from fixtures.show.mode_lines import lines_of
from fixtures.show.standalone import script
from fixtures.stages.contexts import Contexts, ContextsStage
from fixtures.stages.copy import CopyMode
from fixtures.stages.eager import Eager
from fixtures.stages.mode import Mode
from fixtures.stages.modes import MODES
from fixtures.stages.stage import Torch
from suites.selfcheck.all_clauses import import_suites
from suites.selfcheck.scripts import ran

ROOT = Path(__file__).resolve().parents[3]
VERSION = installed_version()
CONTRACT = contract_for(VERSION)
OTHERS = [mode for mode in MODES.values() if mode is not Eager]
RULES = [(mode, rule) for mode in OTHERS for rule in mode.rules if applies(rule.torch, VERSION)]
#: Modes that change no call of a hook of a module, and no gradient.
TRANSPARENT = (CopyMode, Contexts)
OUTLIVED = (Hook("backward", "*", "h0"), Forward(), Copy(), Forward(), Backward())
NET = Leaf("m1", "scale", (2,)), (Input(3),)
EXAMPLES = 30


@given(plan=plans(kinds=("forward", "forward_pre"), runs=2))
def of_modules(subject: Subject, plan: Plan) -> None:
    assert subject.holds(plan).returns()


@given(plan=plans(kinds=("tensor",), runs=1))
def of_tensors(subject: Subject, plan: Plan) -> None:
    subject.holds(plan)


def made(function: Any, **changes: Any) -> Clause:
    says = "A sentence."
    readings = changes.pop("readings", (Reading("always", "", says),))
    return Clause(
        "a.b.c",
        says,
        ("measured",),
        readings,
        (),
        changes.pop("witness", None),
        "",
        "",
        False,
        "observed",
        function,
    )


def judged(clause: Clause, mode: Mode, causes: tuple[Cause, ...] = (), some: list[Plan] | None = None) -> Any:
    subject = Subject(mode.name, "cpu", VERSION, CONTRACT, clause.readings[0], mode.play)
    given = None if some is None else lambda: some or []
    return reported(clause, VERSION, judge_in_mode(clause, subject, mode, [], causes, given))


@pytest.fixture(autouse=True)
def few_examples() -> Iterator[None]:
    usual = settings().max_examples
    settings.register_profile("conformance", settings.get_profile("conformance"), max_examples=EXAMPLES)
    settings.load_profile("conformance")
    yield
    settings.register_profile("conformance", settings.get_profile("conformance"), max_examples=usual)
    settings.load_profile("conformance")


def test_every_file_is_a_mode() -> None:
    names = {path.stem for path in (ROOT / "fixtures" / "stages").glob("*.py")} - {
        "__init__",
        "begin",
        "deferred",
        "make",
        "mode",
        "modes",
        "pairs",
        "probe",
        "stage",
        "surroundings",
    }
    assert set(MODES) == names


def test_a_mode_counts_as_measured_once_it_is_recorded() -> None:
    """Each run plays a few plans in those: on a release where nobody has measured the rules it might fail."""
    recorded = {mode for cells in read(str(ROOT / FOLDER))[1].values() for modes in cells.values() for mode in modes}
    assert {name for name, mode in MODES.items() if mode.measured} == recorded


def test_eager_overrides_no_door() -> None:
    stage = Eager().torch
    assert stage.wraps == []
    for door in ("begin", "apply", "backward", "grad", "deepcopy", "reset"):
        assert getattr(type(stage), door) in (getattr(Torch, door), getattr(OverridePoints, door, None))


@pytest.mark.parametrize(("mode", "rule"), RULES, ids=lambda one: one.name)
class TestRule:
    def test_its_sentence_is_true_alone_and_its_witness_needs_it(self, mode: Any, rule: Rule) -> None:
        assert rule.says.endswith(".")
        assert mode().unproven(rule, VERSION) == ""

    def test_scripts_of_each_way_show_it(self, mode: Any, rule: Rule, tmp_path: Path) -> None:
        """Exit status 1 where eager's trace is expected, 0 where the mode's is."""
        eager, ruled = (expect(rule.witness, CONTRACT, lib) for lib in (MODES["eager"].model, mode().lib(VERSION)))
        shown = 0
        for alone in mode().alone():
            if alone.play(rule.witness) == eager:
                continue
            for expected, status in ((eager, 1), (ruled, 0)):
                path = tmp_path / "script.py"
                path.write_text(script(rule.witness, expected, ruled, "a.b.c: A.", VERSION, lines_of(alone)), "utf-8")
                done = ran(path)
                assert done.returncode == status, path.read_text("utf-8") + done.stdout + done.stderr
            shown += 1
        assert shown or eager == ruled, "a rule may say that a mode does less than another rule of it would make it"


@pytest.mark.parametrize(
    ("mode", "plan"),
    [
        ("contexts", Plan(*NET, (Forward(), Backward(retain_graph=False), Backward()))),  # also with create_graph
        ("parallel", Plan(Leaf("m1", "same"), (Input(2, leaf=False),), OUTLIVED)),  # a hook of the first wrapper runs
        ("functional", Plan(Chain("m0", (NET[0],), out=Pack("list", (0,))), NET[1], (Forward(),))),
    ],
)
def test_a_script_does_what_the_play_does(mode: str, plan: Plan, tmp_path: Path) -> None:
    one, path = MODES[mode](), tmp_path / "script.py"
    expected = one.expect(plan, VERSION)
    assert one.play(plan) == expected
    path.write_text(script(plan, expected, expected, "a.b.c: A.", VERSION, lines_of(one)), "utf-8")
    done = ran(path)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_sentence_that_is_as_in_eager_conforms() -> None:
    for mode in TRANSPARENT:
        cell, failure = judged(made(of_modules), mode())
        assert (cell.verdict, cell.mode, failure) == ("conforms", mode.name, None)


def test_a_sentence_that_is_otherwise_by_a_rule_deviates_with_the_words_of_the_rule() -> None:
    cell, failure = judged(made(of_tensors), CopyMode())
    assert failure is None
    assert (cell.verdict, cell.declared, cell.deviation) == ("deviates", True, "rule parameters")
    assert cell.note == CopyMode.rules[0].says
    assert cell.evidence["expected"] != cell.evidence["observed"]
    assert "[m0] = deepcopied([m0])" in cell.evidence["reproducer"] or "deepcopied([m0, " in cell.evidence["reproducer"]


class DropsStage(ContextsStage):
    """torch under a mode that forgets the hooks of the network itself."""

    def apply(self, player: Any, name: str, xs: Any, kwargs: Any) -> Any:
        module = player.modules[name]
        return module.forward(*xs, **kwargs) if name == player.plan.net.name else module(*xs, **kwargs)


class Drops(Contexts):
    stage = DropsStage


def test_a_mode_that_drops_hooks_is_rejected() -> None:
    cell, failure = judged(made(of_modules), Drops())
    assert failure is not None
    assert (cell.verdict, cell.declared) == ("deviates", False)
    assert cell.evidence["plan"].count("Hook(") == 1, "it is made as small as can be"


class Unruled(CopyMode):
    """A mode without the rule that torch keeps."""

    rules = CopyMode.rules[1:]


def test_a_model_without_a_rule_that_torch_has_is_rejected() -> None:
    cell, failure = judged(made(of_tensors), Unruled())
    assert failure is not None
    assert (cell.verdict, cell.declared) == ("deviates", False)


class Blind(CopyMode):
    """A mode whose rule cannot be reported from no rule on its witness."""

    rules = (
        Rule("parameters", "A sentence.", Plan(CopyMode.rules[0].witness.net, CopyMode.rules[0].witness.inputs, ())),
    )


class Wrong(CopyMode):
    """A mode with a rule that torch does not have: its handles remove nothing, torch's module is the same one."""

    wraps = ()


def test_a_rule_that_is_not_needed_is_stale() -> None:
    assert Blind().unproven(Blind.rules[0], VERSION).endswith("is stale: torch does the same on its witness without it")
    cell, failure = judged(made(of_tensors), Blind())
    assert cell.verdict == "unseen"
    assert "'parameters' of the mode 'copy' is stale" in str(failure)


def test_a_rule_that_torch_does_not_have_is_wrong() -> None:
    assert "is wrong" in Wrong().unproven(CopyMode.rules[1], VERSION)


def test_an_expected_failure_is_never_made_smaller_on_torch() -> None:
    mode, played = CopyMode(), []
    play = mode.play
    mode.play = lambda plan: played.append(plan) or play(plan)  # type: ignore[method-assign,func-returns-value]
    cell, _ = judged(made(of_tensors), mode)
    assert cell.verdict == "deviates"
    # Each plan once, and the witnesses of the rules.
    assert len(played) <= EXAMPLES + len(mode.rules)


class Keeps(CopyMode):
    def keeps(self, plan: Plan) -> bool:
        return False


class Declines(CopyMode):
    def play(self, plan: Any) -> Any:
        raise Refused("no copies here")


def test_what_no_plan_is_kept_of_and_what_is_declined_is_refused() -> None:
    for mode, why in ((Keeps(), "this mode plays no plan of the clause"), (Declines(), "no copies here")):
        cell, failure = judged(made(of_modules), mode)
        assert (cell.verdict, cell.note, failure) == ("refused", why, None)


def test_of_few_plans_each_is_played_once_and_one_that_fails_is_made_small() -> None:
    mode, played = CopyMode(), []
    play = mode.play
    mode.play = lambda plan: played.append(plan) or play(plan)  # type: ignore[method-assign,func-returns-value]
    clause = made(of_modules)
    with drawing_for(CONTRACT):
        some = few(clause, 2)
    cell, failure = judged(clause, mode, some=some)
    assert (cell.verdict, cell.few, cell.evidence, failure) == ("conforms", 2, None, None)
    assert played == some
    cell, failure = judged(clause, Drops(), some=some)
    assert failure is not None
    assert (cell.verdict, cell.declared) == ("deviates", False)
    assert cell.evidence["plan"].count("Hook(") == 1


def test_of_few_plans_one_that_the_model_of_eager_does_not_say_is_no_failure() -> None:
    hooks = tuple(Hook("tensor", "x0", f"h{place}", (InPlace(3),)) for place in range(2))
    start = Backward((Like(3),))
    shared = Plan(Leaf("m0", "sum"), (Input(Of(3, (1,), dtype="float16")),), (*hooks, Forward(), start))
    with pytest.raises(SharedEdit):
        expect(shared, CONTRACT)
    assert judged(made(of_modules), MODES["inference"](), some=[shared])[1] is None


def test_a_mode_that_keeps_few_of_the_plans_is_no_fault_of_the_clause() -> None:
    class Seldom(CopyMode):
        def keeps(self, plan: Plan) -> bool:
            return plan == witness

    witness = Plan(CopyMode.rules[0].witness.net, CopyMode.rules[0].witness.inputs, (Forward(), Forward()))
    cell, failure = judged(made(of_modules, witness=witness), Seldom())
    assert (cell.verdict, failure) == ("conforms", None)


def test_a_stage_declines_through_the_player() -> None:
    class Stage(ContextsStage):
        def apply(self, player: Any, name: str, xs: Any, kwargs: Any) -> Any:
            raise Refused("not this")

    class Mine(Contexts):
        stage = Stage

    cell, _ = judged(made(of_modules), Mine())
    assert (cell.verdict, cell.note) == ("refused", "not this")


def test_a_cause_of_eager_is_inherited() -> None:
    """The reading demands what torch has not done since 2.0: a hook before retain_grad is not seen by it."""
    net, inputs = CopyMode.rules[0].witness.net, CopyMode.rules[0].witness.inputs
    steps = (Forward(), Retain("m0>0"), Hook("tensor", "m0>0", "h0", (Scale(2),)), Backward())
    reading = Reading("old", "", "A sentence.", {"retain_grad": "hook"})
    asked = made(of_modules, readings=(reading,), witness=Plan(net, inputs, steps))
    cause = Cause("as now", "", "It is so.", "measured", "silent", "Instead.", {"retain_grad": "last"})
    for mode in TRANSPARENT:
        cell, failure = judged(asked, mode(), (cause,))
        assert failure is None
        assert (cell.verdict, cell.declared, cell.deviation, cell.note) == ("deviates", True, "as now", "Instead.")


def test_a_clause_that_plays_no_plan_has_no_cell_in_a_mode() -> None:
    import_suites()
    command = [sys.executable, "-m", "pytest", "--mode", "all", "--collect-only", "-q", "-p", "no:cacheprovider"]

    def collected(prefix: str) -> Any:
        return subprocess.run([*command, "--clauses", prefix], cwd=ROOT, capture_output=True, text=True, check=False)

    done = collected("handles.")
    found = {line.rpartition("[")[2][:-1] for line in done.stdout.splitlines() if "[handles." in line}
    names = [name for name in CLAUSES if name.startswith("handles.")]
    assert not CLAUSES["handles.handle.ids"].plays
    wanted = {f"{name}-{mode}" for name in names for mode in MODES if mode == "eager" or CLAUSES[name].plays}
    assert found == wanted
    command[command.index("all")] = "copy"
    done = collected("handles.handle.ids")
    assert done.returncode == 4
    assert "--mode copy: none of these clauses plays a plan" in done.stderr


@pytest.mark.parametrize(
    ("modes", "name"),
    [([], "t.jsonl"), (["eager"], "t.jsonl"), (["copy"], "t.copy.jsonl"), (["eager", "copy"], "t.eager+copy.jsonl")],
)
def test_the_run_file_of_a_mode_has_its_name(modes: list[str], name: str) -> None:
    assert named("out/t.jsonl", modes) == f"out/{name}"
