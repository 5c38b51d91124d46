"""Plans of small grammars: torch does what the model does, a script is the program that was played, faults are seen."""

import contextlib
import io
from typing import Any

import pytest
import torch
from hypothesis import HealthCheck, Phase, given, settings

from fixtures.clause.clause import CLAUSES
from fixtures.draw.contract import drawing_for
from fixtures.draw.state import programs
from fixtures.judge.subject import Subject
from fixtures.judge.verdict import judge
from fixtures.model.contract import contract_for, installed_version, with_facts
from fixtures.model.module import expect
from fixtures.play.trace import Event, side_by_side
from fixtures.show.evidence import reported
from fixtures.show.example import Known, program
from fixtures.show.standalone import script
from fixtures.stages.eager import Eager
from fixtures.state import grammar, kinds
from fixtures.state.grammar import Load, On, Put, Save, Tree
from fixtures.state.plan import StatePlan
from suites.selfcheck.all_clauses import import_suites
from suites.selfcheck.mutants.corners import CORNERS

VERSION = installed_version()
CONTRACT = contract_for(VERSION)
QUICK = settings(
    max_examples=150,
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
    phases=(Phase.generate,),
)
PLAN = StatePlan(
    Tree("root", (("w", 1),), children=(Tree("a", (("w", 2),)),)),
    (On("load_own", "a", "h0", (Put("b.w", 5, whole=True),)), Save(), Load(strict=False)),
)
import_suites()


def run(code: str) -> Any:
    """Run a script in this process. Returns (its last words, its log, what it prints)."""
    space: Any = {"__name__": "__main__"}
    out = io.StringIO()
    with contextlib.redirect_stdout(out), pytest.raises(SystemExit) as stop:
        exec(compile(code, "script.py", "exec"), space)
    for handle in space["handles"].values():
        handle.remove()
    return str(stop.value), space["log"], out.getvalue()


@QUICK
@given(drawn=programs())
def test_torch_and_the_model_leave_one_trace_and_the_script_shows_it(drawn: StatePlan) -> None:
    expected, observed = expect(drawn, CONTRACT), Eager().play(drawn)
    assert observed == expected, f"{drawn!r}\n{side_by_side(expected.lines(), observed.lines())}"
    words, log, printed = run(script(drawn, expected, observed, "a.clause.id: A sentence.", VERSION))
    assert [str(Event(row[0], row[1:])) for row in log] == observed.lines()
    assert (words, printed.splitlines()[-1]) == ("False", f"torch {torch.__version__} does as stated")


@pytest.mark.parametrize("name", CORNERS)
def test_torch_does_what_the_model_does_in_a_corner(name: str) -> None:
    assert Eager().play(CORNERS[name]).lines() == expect(CORNERS[name], CONTRACT).lines()


@QUICK
@given(drawn=programs())
def test_a_program_prints_as_the_python_that_builds_it(drawn: StatePlan) -> None:
    assert eval(repr(drawn), {**vars(grammar), "StatePlan": StatePlan}) == drawn


def test_a_play_leaves_nothing_behind() -> None:
    """Not even where a hook is on all modules."""
    Eager().play(StatePlan(Tree("root"), tuple(On(sort, "everywhere", sort) for sort in kinds.REGISTRATION)))
    everywhere = torch.nn.modules.module
    assert not any(getattr(everywhere, f"_global_{sort}_registration_hooks") for sort in kinds.REGISTRATION)


def test_every_kind_is_drawn_and_called() -> None:
    called: set[str] = set()

    @settings(QUICK, max_examples=500)
    @given(drawn=programs(does=()))
    def collect(drawn: StatePlan) -> None:
        labels = {event.what for event in expect(drawn, CONTRACT)}
        called.update(hook.kind for hook in drawn.hooks if hook.label in labels)

    with drawing_for(CONTRACT):
        collect()
    assert called == set(CONTRACT.state_kinds)


def test_a_fault_is_judged_with_signs_and_a_script_that_shows_it() -> None:
    """What the oldest torch does stands for a fault."""
    clause = CLAUSES["state.load.own_keys"]
    older = with_facts(CONTRACT, {"state_own_keys": False})
    subject = Subject("eager", "cpu", VERSION, CONTRACT, clause.readings[0], lambda plan: expect(plan, older))
    cell, failure = reported(clause, VERSION, judge(clause, subject, (), ()))
    assert failure is not None
    assert (cell.verdict, cell.holds) == ("deviates", ["all"])
    assert "load_state_dict()" in cell.signs
    assert "first difference: other value" in cell.signs
    assert cell.evidence is not None
    assert cell.evidence["plan"].startswith("StatePlan(Tree('root'")
    words, _, printed = run(cell.evidence["reproducer"])
    assert (words, printed.splitlines()[-1]) == ("False", f"torch {torch.__version__} does as stated")


def test_a_script_of_what_torch_does_otherwise_says_so() -> None:
    older = with_facts(CONTRACT, {"state_own_keys": False, "state_copied": False})
    wrong = expect(PLAN, older)
    words, _, printed = run(script(PLAN, wrong, wrong, "a.clause.id: A sentence.", VERSION))
    assert (words, printed.splitlines()[-1]) == ("True", f"torch {torch.__version__} does otherwise")


@pytest.mark.parametrize("name", ["state.load.own_keys", "state.save.post_order", "registration.calls.not"])
def test_an_example_says_on_which_torch_its_trace_is_expected(name: str) -> None:
    verdicts = dict.fromkeys((".".join(VERSION.split(".")[:2]),), "conforms")
    verdicts = {"1.12": "conforms", **verdicts} if name == "state.load.own_keys" else verdicts
    words, _, printed = run(program(CLAUSES[name], Known(verdicts)))
    assert words == "False"
    assert "does what is expected of torch" in printed.splitlines()[-1]


def test_a_hook_on_all_modules_that_torch_does_not_remove_meets_no_later_play(monkeypatch: pytest.MonkeyPatch) -> None:
    hooks = torch.nn.modules.module._global_parameter_registration_hooks
    monkeypatch.setattr(torch.utils.hooks.RemovableHandle, "remove", lambda handle: None)
    Eager().play(StatePlan(Tree("root"), (On("parameter", "", "h0"),)))
    assert list(hooks) == []
