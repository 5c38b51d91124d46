"""Programs of layers: they meet what they are for, wrong definitions and a wrong torch are seen, scripts run alone."""

from __future__ import annotations

import ast
import contextlib
import io
from collections import Counter
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given, settings

from fixtures.clause.clause import CLAUSES
from fixtures.draw.contract import drawing_for
from fixtures.draw.only import ONLY_DRAWS
from fixtures.draw.programs import net_programs
from fixtures.judge.subject import Subject
from fixtures.model.contract import contract_for, installed_version
from fixtures.plan.layers import OUTPUTS, WAYS
from fixtures.play.program import compiled
from fixtures.programs import grammar
from fixtures.programs.grammar import ALWAYS, CALLS, KINDS, PASSES, STEPS, Attach, Block, TrainStep
from fixtures.programs.plan import SOURCES, NetProgram
from fixtures.show.bundle import Unfit
from fixtures.show.example import Known
from fixtures.show.example import program as example
from fixtures.show.standalone import script
from fixtures.stages.eager import Eager
from suites.examples import wrong
from suites.selfcheck.all_clauses import drawn, import_suites
from suites.selfcheck.programs.faults import FAULTS
from suites.selfcheck.programs.mutants import MUTANTS, played

import_suites()
VERSION = installed_version()
CONTRACT = contract_for(VERSION)
MEASURED = Known({"1.8": "conforms", "2.15": "conforms"})
NAMES = sorted(name for name in CLAUSES if name.startswith("programs."))
#: fault of torch -> clauses that must reject it with 30 programs each.
CAUGHT = {
    "sequential_last": ("programs.same.in_forward",),
    "copy_drops": ("programs.calls.moved", "programs.same.copied"),
    "other_threads": ("programs.calls.passes",),
    "step_post_too_early": ("programs.calls.loop",),
}
#: Programs whose words are counted, and of these so many that are run; the least and most shares in percent.
DRAWN, RUN, LEAST, MOST_ERRORS, MOST_SILENT = 800, 100, 2, 10, 5
#: What is drawn less often than in two programs of a hundred, and how often at least.
RARE = {"act attach": 0.8}
#: Hooks that join others on one tensor: it is changed in place between them, or two layers hand it on.
ON_ONE_TENSOR = (
    NetProgram(
        "vec",
        (Block("relu_in_place"),),
        (*(Attach("forward", f"h{at}", at, "attach") for at in (5, 6)), TrainStep(input_needs_grad=True)),
    ),
    NetProgram(
        "vec",
        (Block("residual", (Block("linear"),)),),
        (Attach("tensor", "h0", 5, "thrice"), Attach("forward", "h1", 4, "attach"), TrainStep()),
    ),
)


def programs(count: int) -> list[NetProgram]:
    """The first programs of the whole grammar, the same in each run."""
    found: list[NetProgram] = []

    @settings(ONLY_DRAWS, max_examples=count, derandomize=True)
    @given(program=net_programs())
    def collect(program: NetProgram) -> None:
        found.append(program)

    with drawing_for(CONTRACT):
        collect()
    return found


def words(part: Any) -> Iterator[str]:
    """What a program meets, block by block and step by step."""
    yield type(part).__name__
    for field in fields(part):
        value = getattr(part, field.name)
        if isinstance(value, tuple):
            for one in value:
                yield from words(one)
        elif is_dataclass(value):
            yield from words(value)
        else:
            yield field.name if value is True else f"{field.name} {value}"


def moments(program: NetProgram) -> Iterator[str]:
    """Whether hooks are registered before the first pass, or later."""
    passed = False
    for step in program.steps:
        passed |= isinstance(step, TrainStep)
        if isinstance(step, Attach):
            yield "moment between" if passed else "moment first"


def every_word() -> set[str]:
    """What programs on the newest torch must meet."""
    kinds = {f"kind {name}" for name in (*CONTRACT.program_layers, *KINDS)} - {"kind functional", "kind inference_mode"}
    acts = {f"act {act}" for kind in KINDS.values() for act in kind.acts}
    passes = {f"how {name}" for name in PASSES} | {f"call {name}" for name in CALLS}
    pairs = {f"form {name}" for name in OUTPUTS} | {f"way {name}" for name in WAYS}
    options = {*ALWAYS, "everywhere", "each"}
    return {*STEPS, *kinds, *acts, *passes, *pairs, *options, "moment first", "moment between"}


def test_each_word_is_met_often_enough() -> None:
    met = Counter(word for each in programs(DRAWN) for word in {*words(each), *moments(each)})
    shares = {word: 100 * met[word] / DRAWN for word in sorted(every_word())}
    print("\n".join(f"{share:5.1f} % {word}" for word, share in sorted(shares.items(), key=lambda one: one[1])))
    assert {word: share for word, share in shares.items() if share < RARE.get(word, LEAST)} == {}


def test_hooks_are_called_and_few_programs_end_in_errors() -> None:
    errors = silent = 0
    others = {"returns", "grads", "values", "kept", "holds", "saved", "asked", "raises"}
    for program in programs(RUN):
        space: dict[str, Any] = {"torch": torch, "device": "cpu", "log": [], "handles": {}}
        exec(compiled(program.head()), space)
        exec(compiled("\n".join(program.lines())), space)
        names = {event[0] for event in space["here"]}
        errors += "raises" in names
        silent += names <= others
    print(f"errors in {100 * errors / RUN:.0f} %, no hook called in {100 * silent / RUN:.0f} % of the programs")
    assert errors <= MOST_ERRORS * RUN / 100
    assert silent <= MOST_SILENT * RUN / 100


def rejects(name: str, wrong: str) -> bool:
    """Whether the test of a clause fails with a wrong definition, on its witness or one of its first programs."""
    clause = CLAUSES[name]
    subject = Subject("mutant", "cpu", VERSION, CONTRACT, clause.readings[0], lambda program: played(program, wrong))
    with drawing_for(CONTRACT):
        some = [*drawn(name, 15)]
    for program in [*(clause.witness or {}).values(), *some]:
        try:
            clause.test()(subject=subject, program=program)
        except AssertionError:
            return True
    return False


@pytest.mark.parametrize("wrong", MUTANTS)
def test_a_wrong_definition_is_rejected(wrong: str) -> None:
    assert rejects(f"programs.{MUTANTS[wrong][0]}", wrong)


def test_each_clause_rejects_a_wrong_definition() -> None:
    assert sorted({f"programs.{clause}" for clause, _, _ in MUTANTS.values()}) == NAMES


@pytest.mark.parametrize(("fault", "name"), [(fault, name) for fault, those in CAUGHT.items() for name in those])
def test_a_fault_of_torch_is_rejected(fault: str, name: str) -> None:
    eager = Eager()
    with drawing_for(CONTRACT):
        some = drawn(name, 30)
    with FAULTS[fault]():
        assert any(eager.play(program).calls() != ["same"] for program in some)


def test_what_definitions_do_not_see_is_seen_by_a_sentence() -> None:
    """Where a layer of torch calls the forward of another, that has no call on the definitions either."""
    eager = Eager()
    program = NetProgram(
        "vec",
        (Block("sequential", (Block("linear"), Block("tanh"))),),
        (Attach("forward", "h0", each=True), TrainStep()),
    )
    with FAULTS["sequential_last"]():
        assert eager.play(program).calls() == ["same"]
        assert eager.play(NetProgram(program.first, program.body, program.steps, against="forward")).calls() != ["same"]


@pytest.mark.parametrize("program", ON_ONE_TENSOR)
def test_a_hook_joins_those_of_its_tensor(program: NetProgram) -> None:
    assert Eager().play(program).calls() == ["same"]


def test_a_program_prints_as_the_python_that_builds_it() -> None:
    for program in programs(30):
        assert eval(repr(program), {**vars(grammar), "NetProgram": NetProgram}) == program


@pytest.mark.parametrize("name", ["programs.calls.together", "programs.same.in_forward"])
def test_a_script_runs_alone(name: str) -> None:
    with drawing_for(CONTRACT):
        program = drawn(name, 5)[-1]
    expected = program.model(CONTRACT)
    out = io.StringIO()
    with contextlib.redirect_stdout(out), pytest.raises(SystemExit) as stop:
        exec(compile(script(program, expected, expected, "a.clause.id: A sentence.", VERSION), "script.py", "exec"), {})
    assert (str(stop.value), out.getvalue().splitlines()[-1]) == ("False", f"torch {torch.__version__} does as stated")


@pytest.mark.parametrize("name", [name for name in NAMES if ".same." in name])
def test_the_example_of_a_sentence_is_short(name: str, tmp_path: Path) -> None:
    text = example(CLAUSES[name], MEASURED)
    assert len(text.splitlines()) <= 65
    (tmp_path / f"{name}.py").write_text(text, encoding="utf-8")
    assert wrong(CLAUSES[name], MEASURED, "2.15", tmp_path) is None


def test_a_clause_that_compares_with_the_definition_has_no_example() -> None:
    with pytest.raises(Unfit, match=r"programs\.calls\.loop: it compares whole programs with the definition of a hook"):
        example(CLAUSES["programs.calls.loop"], MEASURED)


def test_the_definitions_use_no_hook_of_torch() -> None:
    text = (SOURCES / "oracle.py").read_text("utf-8")
    used = {node.attr for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Attribute)}
    assert {name for name in used if "register_" in name or "Hook" in name or name == "hooks"} == {"hooks"}
    assert "torch.utils.hooks" not in text


def test_a_play_leaves_nothing_behind() -> None:
    before = nn_state()
    for program in programs(10):
        Eager().play(program)
    assert nn_state() == before


def nn_state() -> Any:
    everywhere = vars(torch.nn.modules.module)
    return {
        name: len(value) for name, value in everywhere.items() if name.startswith("_global") and isinstance(value, dict)
    }, {
        name: id(vars(torch.nn.Module)[name])
        for name in ("__call__", "__setattr__", "state_dict", "register_forward_hook")
    }
