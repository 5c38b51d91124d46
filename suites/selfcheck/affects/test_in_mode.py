"""affects --mode: no false all-clear; its tables cover rules, what is recorded, and the chapter `modes`."""

from __future__ import annotations

import json

import pytest
from packaging.specifiers import SpecifierSet

from fixtures.clause.matters_if import SEEN, UNSEEN
from fixtures.rules import RULES
from reports.__main__ import main
from reports.data.by_mode import ASSUMED, CALLS, UNPLAYED, known, otherwise
from reports.data.strict import validate
from reports.data.table import RULE
from reports.usage.stated import CASES, CONCERNS, EVER, HOLD, IS, REMEDIES, WHERE_NOT, WHERE_SO
from reports.usage.uses import APIS, KINDS_OF
from suites.selfcheck.affects.score_affects import recorded

MODES = [mode for mode in recorded()[0].modes if mode != "eager"]
TABLES = (WHERE_SO, WHERE_NOT, EVER)
NEWEST = ("--from", "2.15")
#: Clauses about compiled and checkpointed modules that say that hooks are as in eager, on every release that has them,
#: or what helps, or how a difference ends that another row is about.
AS_IN_EAGER = {
    "modes.checkpoint": "tied no_early_stop random tensor unfrozen unfrozen_no_stop "
    "reentrant_detaches reentrant_no_leaf",
    "modes.compile": "accumulated always_call autograd_changes autograd_compiled autograd_module autograd_tensor "
    "backward disabled disabled_module enabled forward fullgraph_outer in_place_copy in_place_global late_outer "
    "output_hook prints removed_backward reset tensors breaks one_graph own_graph",
}
#: Clauses that say no more than a rule of the same mode, or from when on late hooks run, which another row is about.
SAID_BY_A_RULE = ("modes.compile.late_inner", "modes.checkpoint.reentrant_twice")
SAID_BY_A_RULE += ("modes.compile.dynamic_shape", "modes.compile.other_shape")
#: Clauses whose plans have other hooks too, which a rule is about.
NEXT_TO_OTHERS = {"ordering.between.weights_before_full", "gradient.nodes.pre_several"}


@pytest.fixture(autouse=True)
def _read_once(monkeypatch):
    """Read what is recorded once for all rows."""
    for verb in ("affects", "explain"):
        monkeypatch.setattr(f"reports.verbs.{verb}.read_atlas", lambda args: recorded()[0])
    monkeypatch.setattr("reports.verbs.affects.Lacking", lambda atlas: recorded()[1])


@pytest.fixture
def code(tmp_path):
    """Give a folder for someone's code, which is a repository of its own."""
    folder = tmp_path / "code"
    (folder / ".git").mkdir(parents=True)
    return folder


def ask(code, capsys, mode: str, source: str, *arguments: str) -> tuple[int, str]:
    """Return the exit status and what was printed."""
    (code / "them.py").write_text(source, encoding="utf-8")
    status = main(["affects", str(code), "--mode", mode, *(arguments or NEWEST)])
    return status, capsys.readouterr().out


def plain(code, capsys, mode: str, source: str, *arguments: str):
    """Return the answer as data, in the form that is promised."""
    found = json.loads(ask(code, capsys, mode, source, *(arguments or NEWEST), "--format", "json")[1])
    validate(found, "answers.schema.json#/$defs/affects", code, "")
    return found


def names(found, where: str = "findings") -> dict[str, list[int]]:
    """Return what was said, with the lines of its uses."""
    lines: dict[str, list[int]] = {}
    for one in found[where]:
        lines.setdefault(one["clause"], []).extend(use["line"] for use in one["uses"])
    return {name: sorted(some) for name, some in lines.items()}


PAIR = "m.register_forward_pre_hook(push)\nm.register_forward_hook(pop)\n"
SAVED = "import torch\nwith torch.autograd.graph.saved_tensors_hooks(p, u):\n    m(x)\n"
GLOBAL = "from torch.nn.modules.module import register_module_forward_hook\n"
GLOBAL += "register_module_forward_hook(f)\nregister_module_forward_hook(g)\n"


@pytest.mark.parametrize("mode", MODES)
def test_what_is_assumed_of_a_mode_is_said(code, capsys, mode) -> None:
    assumed = plain(code, capsys, mode, PAIR)["assumed"]
    assert assumed[0] == "; ".join([f"assumed: {CALLS[mode]}", *[ASSUMED.get(mode, "")] * (mode in ASSUMED)])
    out = ask(code, capsys, mode, PAIR)[1]
    assert all(f"\n{line}\n" in out for line in assumed)
    like = [other for other in MODES if any(f"--mode {other}: {CALLS[other]}" in line for line in assumed)]
    compiled = ["aot", "compiled", "in_place", "inductor", "late"]
    some = next((group for group in (compiled, ["checkpoint", "reentrant"]) if mode in group), [mode])
    assert like == [other for other in some if other != mode]


def test_releases_that_a_mode_was_not_measured_on_are_said(code, capsys) -> None:
    found = plain(code, capsys, "checkpoint", PAIR, "--from", "1.13")
    assert found["releases"][0] == "2.1"
    assert found["assumed"][-1] == "nothing is known of checkpoint on torch 1.13 to 2.0: it was not measured there"


def test_what_was_not_measured_is_an_answer_of_its_own(code, capsys) -> None:
    source = "m._forward_hooks\nm.retain_grad()\nm._forward_hooks\n"
    status, out = ask(code, capsys, "compiled", source)
    assert status == 3
    assert "\nnot measured in compiled (1)\n\nthem.py:1, them.py:3: _forward_hooks, on torch 2.15\n" in out
    assert "\nnothing that it uses and was measured differs in compiled, as assumed above\n2 uses are not " in out
    (missed,) = plain(code, capsys, "compiled", source)["unmeasured"]
    assert (missed["api"], missed["on"], [use["line"] for use in missed["uses"]]) == ("_forward_hooks", "2.15", [1, 3])
    assert ask(code, capsys, "compiled", "m._forward_hooks  # hook-conformance: all")[0] == 0
    assert ask(code, capsys, "compiled", "x.retain_grad()")[0] == 0


def test_some_differ_and_some_are_not_measured(code, capsys) -> None:
    status, out = ask(code, capsys, "checkpoint", PAIR + "m._forward_hooks")
    assert status == 1
    assert "\nthem.py:3: _forward_hooks, on torch 2.15\n" in out


def test_an_api_is_not_measured_on_some_releases(code, capsys) -> None:
    (missed,) = plain(code, capsys, "compiled", SAVED, "--from", "2.3")["unmeasured"]
    assert (missed["api"], missed["on"]) == ("saved_tensors_hooks", "2.3 to 2.4")
    aot = plain(code, capsys, "aot", GLOBAL)["unmeasured"]
    assert [(one["api"], [use["line"] for use in one["uses"]]) for one in aot] == [
        ("register_module_forward_hook", [2, 3])
    ]


def test_what_was_not_measured_is_in_a_baseline(code, capsys, tmp_path) -> None:
    held = str(tmp_path / "held.json")
    source = "m._forward_hooks"
    assert ask(code, capsys, "compiled", source, *NEWEST, "--write-baseline", held)[0] == 3
    assert ask(code, capsys, "compiled", "\n" + source, *NEWEST, "--baseline", held)[0] == 0
    assert ask(code, capsys, "compiled", "m._forward_pre_hooks", *NEWEST, "--baseline", held)[0] == 3


def test_each_use_is_asked_and_a_comment_accepts_its_own_call(code, capsys) -> None:
    assert names(plain(code, capsys, "parallel", GLOBAL)) == {"parallel.wrapper": [2, 3]}
    accepted = GLOBAL.replace("hook(f)", "hook(f)  # hook-conformance: parallel.wrapper")
    assert names(plain(code, capsys, "parallel", accepted)) == {"parallel.wrapper": [3]}
    accepted = accepted.replace("hook(g)", "hook(g)  # hook-conformance: parallel.wrapper")
    assert ask(code, capsys, "parallel", accepted)[0] == 0
    assert ask(code, capsys, "parallel", "m.register_forward_hook(f)")[0] == 0


def test_a_push_without_its_pop(code, capsys) -> None:
    """The forward that a checkpoint runs again stops before the forward hook of the last layer."""
    found = plain(code, capsys, "checkpoint", PAIR)
    assert names(found) == {"checkpoint.again": [1, 2], "checkpoint.stops": [2]}
    (stops,) = (one for one in found["findings"] if one["clause"] == "checkpoint.stops")
    assert stops["instead"].startswith("In set_checkpoint_early_stop(False) all forward (pre-)hooks of")
    both = plain(code, capsys, "checkpoint", PAIR + GLOBAL)[
        "findings"
    ]  # what helps is said where the clause is about it
    assert [bool(one["instead"]) for one in both if one["clause"] == "checkpoint.stops"] == [True, False]
    alone = plain(code, capsys, "checkpoint", "m.register_forward_hook(f)")
    assert "checkpoint.stops" in names(alone, "unsure")
    assert "checkpoint.stops" not in names(alone)
    apart = "class A:\n def f(s): s.register_forward_pre_hook(g)\nclass B:\n def f(s): s.register_forward_hook(g)\n"
    assert "checkpoint.stops" not in names(plain(code, capsys, "checkpoint", apart))
    together = apart.replace("class B:\n", "").replace(
        " def f(s): s.register_forward_h", " def g(s): s.register_forward_h"
    )
    assert names(plain(code, capsys, "checkpoint", together))["checkpoint.stops"] == [3]
    always = PAIR.replace("(pop)", "(pop, always_call=True)")
    found = plain(code, capsys, "checkpoint", always)
    assert "checkpoint.stops" not in {**names(found), **names(found, "unsure")}
    assert names(found, "unsure")["modes.checkpoint.always_call"] == [2]


def test_rules_are_said_on_their_releases_and_of_their_kinds(code, capsys) -> None:
    old, new = ("--from", "2.9", "--to", "2.11"), ("--from", "2.12")
    assert names(plain(code, capsys, "checkpoint", SAVED, *old)) == {"checkpoint.dummy": [2]}
    assert names(plain(code, capsys, "checkpoint", SAVED, *new)) == {}
    raises = "def f(m, x):\n    raise StopIteration\nm.register_forward_pre_hook(f)\n"
    assert "checkpoint.generator" in names(plain(code, capsys, "checkpoint", raises), "unsure")
    silent = raises.replace("raise StopIteration", "pass")
    assert "checkpoint.generator" not in names(plain(code, capsys, "checkpoint", silent), "unsure")
    inference = plain(code, capsys, "inference", "x.register_hook(f)")["findings"]
    assert [(one["clause"], one["effect"]) for one in inference] == [("inference.unrecorded", "error")]


def test_statements_about_a_mode_are_said(code, capsys) -> None:
    assert names(plain(code, capsys, "aot", SAVED)) == {"modes.compile.aot_saved": [2]}
    compiled = plain(code, capsys, "compiled", SAVED)
    assert (names(compiled), "modes.compile.aot_saved" in names(compiled, "unsure")) == ({}, True)
    (one,) = (one for one in compiled["unsure"] if one["clause"] == "modes.compile.aot_saved")
    assert one["if"] == 'the backend is another one than "eager"'
    unsure = names(plain(code, capsys, "compiled", "m.register_forward_hook(f)"), "unsure")
    assert {"compiled.frame", "modes.compile.late_layer", "modes.compile.wrapper"} <= {*unsure}
    out = ask(code, capsys, "compiled", "m.register_forward_hook(f)")[1]
    assert "\n  where the hook is registered after the first compiled call: " in out
    late = plain(code, capsys, "late", "m.register_forward_hook(f)")["findings"]
    assert [one["clause"] for one in late] == ["late.frame"]
    assert late[0]["instead"].startswith("After torch.compiler.reset() the next compiled call runs")
    assert names(
        plain(code, capsys, "checkpoint", "disable_saved_tensors_hooks".join(SAVED.split("saved_tensors_hooks")))
    )


def test_what_no_plan_of_a_mode_has_is_not_measured(code, capsys) -> None:
    edits = "def f(m, x, y):\n    y.mul_(2)\nm.register_forward_hook(f)\n"
    assert ask(code, capsys, "compiled", edits)[0] == 3
    assert ask(code, capsys, "parallel", edits)[0] == 0
    assert ask(code, capsys, "compiled", edits.replace("mul_", "mul"))[0] == 0
    raises = "def f(m, x, y):\n    raise ValueError\nm.register_forward_hook(f)\n"
    assert [ask(code, capsys, mode, raises)[0] for mode in ("compiled", "aot")] == [0, 3]


def test_an_option_alone_does_not_say_that_there_is_another_hook(code, capsys) -> None:
    prepended, name = "m.register_forward_hook(f, prepend=True)", "modes.compile.prepended"
    found = plain(code, capsys, "compiled", prepended, "--from", "2.7")
    assert (name in names(found), name in names(found, "unsure")) == (False, True)
    found = plain(code, capsys, "compiled", "m.register_forward_hook(f)", "--from", "2.7")
    assert name not in {**names(found), **names(found, "unsure")}


def test_a_release_on_which_a_statement_is_not_so_is_left_out(code, capsys) -> None:
    """Torch 2.5 notices late hooks, and before 2.3 torch.compile turned step hooks off."""
    late = plain(code, capsys, "late", "m.register_forward_hook(f)", "--from", "2.4", "--to", "2.6")["findings"]
    assert [[span["from"] for span in one["spans"]] for one in late if one["clause"] == "late.frame"] == [
        ["2.4", "2.6"]
    ]
    step = "o.register_step_post_hook(f)"
    assert names(plain(code, capsys, "compiled", step, "--from", "2.2"))["modes.compile.step_hooks"] == [1]
    assert names(plain(code, capsys, "compiled", step, "--from", "2.3")) == {}


def test_all_forms_carry_the_same(code, capsys) -> None:
    source = PAIR + "m._forward_hooks\n"
    assumed = plain(code, capsys, "checkpoint", source)["assumed"]
    sarif = json.loads(ask(code, capsys, "checkpoint", source, *NEWEST, "--format", "sarif")[1])
    notes = sarif["runs"][0]["invocations"][0]["toolExecutionNotifications"]
    said = [note["message"]["text"] for note in notes]
    (missed,) = (note for note in notes if note["message"]["text"].startswith("_forward_hooks is not measured"))
    assert missed["locations"][0]["physicalLocation"]["region"]["startLine"] == 3
    assert {*assumed} <= {*said}
    github = ask(code, capsys, "checkpoint", source, *NEWEST, "--format", "github")[1]
    assert "::warning file=them.py,line=3,title=not measured::_forward_hooks is not measured in checkpoint" in github
    assert all(f"::notice::{each}\n" in github for each in assumed)
    markdown = ask(code, capsys, "checkpoint", source, *NEWEST, "--format", "markdown")[1]
    assert (
        "| not measured in checkpoint | at | torch |\n|---|---|---|\n| `_forward_hooks` | them.py:3 | 2.15 |"
        in markdown
    )
    assert "\n* assumed: checkpoint(net, use\\_reentrant=False); " in markdown
    for form in (json.dumps(sarif), github, markdown):
        assert "checkpoint.stops" in form


@pytest.mark.parametrize("mode", MODES)
def test_explain_knows_every_name_that_is_printed(code, capsys, mode) -> None:
    apis = sorted({api.removeprefix("Optimizer.").removeprefix("Node.") for api in APIS})
    lines = [f"m.{api}(f)" if "register" in api or api == "retain_grad" else f"torch.{api}(f, g)" for api in apis]
    lines += [
        "m.grad_fn.register_hook(f)",
        "m.register_forward_hook(f, always_call=True)",
        "optim.register_state_dict_pre_hook(f)",
    ]
    source = "import torch\n" + "\n".join(lines) + "\n"
    found = plain(code, capsys, mode, source, "--from", "2.1")
    printed = {*names(found), *names(found, "unsure")}
    for name in printed:
        assert main(["explain", name]) == 0, name
    capsys.readouterr()
    assert printed


def test_each_rule_says_which_uses_it_concerns() -> None:
    rules = {f"{mode}.{rule.name}" for mode, some in RULES.items() for rule in some}
    assert [one for one in rules if one not in CONCERNS and one.partition(".")[2] not in CONCERNS] == []
    short = {one.partition(".")[2] for one in rules}
    assert [one for one in CONCERNS if one not in rules | short] == []


@pytest.mark.parametrize("mode", MODES)
def test_what_is_recorded_of_an_api_alone_is_said_of_its_uses(mode) -> None:
    """Whatever a clause about one API shows otherwise by a rule, the rule's row has a kind of this API."""
    atlas = recorded()[0]
    apis = {*known(atlas)} - {*UNPLAYED.get(mode, ())}
    missed = set()
    for name, clause in atlas.clauses.items():
        about = apis.intersection(clause.about)
        for column in atlas.columns if len(about) == 1 and name not in NEXT_TO_OTHERS else ():
            cell = atlas.cell(name, column, mode)
            if otherwise(cell):
                rule = (cell.deviation or "").removeprefix(RULE)
                rows = CONCERNS.get(f"{mode}.{rule}") or CONCERNS[rule]
                kinds = {kind for row in rows for kind in row.split()[0].split("|")}
                if rows and not kinds & {*KINDS_OF[next(iter(about))]}:
                    missed.add((rule, *about, name))
    assert sorted(missed) == []


def test_the_chapter_of_modes_is_judged() -> None:
    atlas = recorded()[0]
    as_eager = {f"{topic}.{name}" for topic, some in AS_IN_EAGER.items() for name in some.split()}
    judged = [*(name for table in TABLES for name in table), *as_eager, *SAID_BY_A_RULE]
    assert len(judged) == len({*judged})
    topics = ("modes.checkpoint.", "modes.compile.")
    assert {name for name in atlas.clauses if name.startswith(topics)} - {*judged} == set()
    assert {*judged, *REMEDIES.values()} - {*atlas.clauses} == set()
    rules = {f"{mode}.{rule.name}" for mode, some in RULES.items() for rule in some}
    assert {name for name in REMEDIES if name not in judged} <= {
        *rules,
        *(f"{mode}.{rule}" for mode in MODES for rule in ("frame", "everywhere")),
    }
    for name in as_eager:  # no reading of theirs says otherwise
        clause = atlas.clauses[name]
        assert all(one.says_the_same or one.never for one in clause.readings), name


def test_every_word_is_known_and_used() -> None:
    rows = [row for some in CONCERNS.values() for row in some] + [
        f"x {words}" for one in TABLES for _, words in one.values()
    ]
    used = {word for row in rows for word in row.split()[1:]}
    assert {word for word in used if word[0] != "?"} <= {*SEEN}
    unseen = {word[1:] for word in used if word[0] == "?"}
    assert unseen - {*UNSEEN} == {*CASES} - {"option"}
    assert not {*CASES} & {*UNSEEN}
    assert {case for cases in IS.values() for case in cases} <= unseen
    assert {word[1:] for word in HOLD.values()} <= {*UNSEEN}
    for rule in (rule for some in RULES.values() for rule in some):
        assert SpecifierSet(rule.torch) is not None
