"""Words find clauses: questions, APIs, texts that torch prints, misspelt ones; and what has no clause is said."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from reports.__main__ import main
from reports.data.claims import sentences
from reports.data.uncovered import UNCOVERED
from reports.data.verdicts import read_table
from reports.search.answers import ANSWERS
from reports.search.ask import search
from reports.search.index import asking, texts
from suites.selfcheck.readers import torch_texts

CLAUSES = sentences(read_table().clauses)
SEARCH = search(CLAUSES)
ASKED = Path(__file__).parent / "asked"
#: What people asked, kept for this -> the beginnings of what is right; "answer" is one that is no clause.
KEPT: dict[str, list[str]] = json.loads((ASKED / "questions.json").read_text("utf-8"))
ELSEWHERE = (ASKED / "elsewhere.txt").read_text("utf-8").splitlines()
SAID = texts("said")
#: What people ask -> where the answer is, among the first five.
QUESTIONS = {
    "why is my backward hook not called": "backward.firing.no_output",
    "forward hook does not fire": "output.calls.forward_runs_none",
    "grad_input is None in the first layer": "backward.given.no_input",
    "get the output of an intermediate layer": "output.replacement.hook_is_given",
    "torch.save fails with a hook": "handles.copies.pickled",
    "shared module hook called twice": "ordering.nested.shared_forward",
    "gradient of intermediate tensor is None": "retain.keep.",
    "relu inplace overwrites my stored activation": "output.calls.same_object",
    "remove handle inside hook": "ordering.changes.forward_removed",
    "in which order do hooks run": "ordering.",
    "kwargs in forward hook": "output.keywords.",
    "multihead attention out_proj hook": "output.layers.attention",
    "LSTM backward hook": "backward.",
    "weight tying register_hook": "gradient.replace.",
    "optimizer step in backward": "gradient.accumulated.",
}
#: What torch prints -> the topic that is about it, first of all.
PRINTED = {
    "RuntimeError: hook 'f' has changed the size of value": ("gradient.values.", "gradient.errors.", "backward."),
    "can't retain_grad on Tensor that has requires_grad=False": ("retain.keep.needs_grad",),
    "cannot register a hook on a tensor that doesn't require gradient": ("gradient.membership.",),
    "Cannot use both regular backward hooks and full backward hooks on a single Module": ("backward.membership.",),
    "Backward hook returned an invalid number of grad_input, got 2, but expected 1": ("backward.",),
    "post accumulate grad hooks cannot be registered on non-leaf tensors": ("gradient.accumulated.",),
    "OrderedDict mutated during iteration": ("output.always.", "handles.", "ordering.", "gradient."),
    "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed": ("retain.keep.not_by_itself",),
    "Output 0 of BackwardHookFunctionBackward is a view and is being modified inplace": ("backward.inplace.",),
    "Output 0 of BackwardHookFunction is a view and is being modified inplace. This view": ("backward.inplace.",),
    "forward pre-hook must return None or a tuple of (new_args, new_kwargs)": ("input.keywords.",),
}


@pytest.mark.parametrize("words", QUESTIONS)
def test_a_question_finds_its_clause(words):
    found = SEARCH.find(words)
    assert any(name.startswith(QUESTIONS[words]) for name in found.clauses[:5]), found.clauses[:5]
    assert found.close


@pytest.mark.parametrize("words", PRINTED)
def test_a_text_that_torch_prints_finds_its_clause_first(words):
    assert SEARCH.find(words).clauses[0].startswith(PRINTED[words])


@pytest.mark.parametrize(
    ("misspelt", "words"),
    [
        ("retian_grad twice", "retain_grad twice"),
        ("pickel a model", "pickle a model"),
        ("deepcpy hooks", "deepcopy hooks"),
    ],
)
def test_a_slip_of_the_pen_finds_what_was_meant(misspelt, words):
    assert set(SEARCH.find(misspelt).clauses[:5]) & set(SEARCH.find(words).clauses[:5])


def test_the_beginning_of_an_id_finds_all_that_begin_so():
    begun = SEARCH.find("retain.versions.")
    assert begun.clauses == tuple(name for name in CLAUSES if name.startswith("retain.versions."))
    assert begun.close


def test_of_the_kept_questions_most_are_answered_first_and_nearly_all_among_five():
    first = five = 0
    for words, wanted in KEPT.items():
        found = SEARCH.find(words)
        shown = (["answer"] * bool(found.answer) + list(found.clauses))[: 5 * found.close]
        right = [any(name.startswith(begin) for begin in wanted) for name in shown]
        first, five = first + any(right[:1]), five + any(right)
    assert first / len(KEPT) > 0.65
    assert five / len(KEPT) > 0.9


@pytest.mark.parametrize("words", ELSEWHERE)
def test_words_about_other_things_are_close_to_nothing(words):
    found = SEARCH.find(words)
    assert not found.close
    assert not found.symptoms


@pytest.mark.parametrize("one", SAID, ids=lambda one: one["text"][:40])
@pytest.mark.parametrize("form", ["{}", "Traceback (most recent call last):\n  in f\nRuntimeError: {}"])
def test_a_text_of_torch_about_hooks_finds_its_clause_or_says_that_there_is_none(one, form):
    found = SEARCH.find(form.format(one["text"].replace("…", "<Thing at 0x7f>")))
    if one["clause"]:
        assert one["clause"] in found.clauses[:5]
        assert found.close
    else:
        assert not found.close
        assert any(one["file"] in note for note in found.notes)


def test_these_are_all_texts_of_the_newest_torch():
    assert torch_texts.said() == {one["text"]: one["file"] for one in SAID}
    assert {one["clause"] for one in SAID if one["clause"]} <= set(CLAUSES)


@pytest.mark.parametrize(
    ("code", "begin"),
    [
        ("layer.register_forward_hook(lambda m, i, o: o * 2)", "output.replacement."),
        ("def hook(module, args, output): return output * 2", "output.replacement."),
        ("w.register_hook(lambda grad: grad * mask)", ("gradient.", "tutorial.tensor.")),
        ("def f(module, grad_input, grad_output): print(grad_input)", "backward."),
    ],
)
def test_code_finds_by_its_names(code, begin):
    found = SEARCH.find(code)
    assert found.close
    assert any(name.startswith(begin) for name in found.clauses[:5])


def test_an_answer_is_found_by_its_sentence_and_by_what_people_type():
    for one in ANSWERS:
        assert SEARCH.find(one.says).answer == one
        assert SEARCH.find(one.asked.partition(",")[0]).answer == one
    assert SEARCH.find("in which order do hooks run").answer is None


def test_each_renaming_names_something():
    assert all(asked and meant for asked, meant in asking()["renamings"])


def test_what_people_see_is_named_where_it_fits():
    assert [one.name for one in SEARCH.find("hook called twice with checkpoint").symptoms] == [
        "a hook is called twice, or not at all, in a checkpoint"
    ]
    assert not SEARCH.find("complex numbers hook conjugate").symptoms


def test_what_has_no_clause_is_named_by_whole_words_only():
    for one in UNCOVERED:
        for phrase in one.phrases:
            assert one.says in SEARCH.find(f"a hook and {phrase}").notes, phrase
    for words in ("register_forward_hook", "hook", "a full backward hook and its order", "step in backward"):
        assert not any(note.startswith("Not covered") for note in SEARCH.find(words).notes), words
    assert "mode contexts" in SEARCH.find("functional_call and forward hooks").notes[0]


def test_every_clause_has_everyday_words_and_no_text_is_of_another():
    assert all(clause.asked for clause in CLAUSES.values())
    assert set(texts("messages")["clauses"]) <= set(CLAUSES)


def test_the_verb_ranks_says_what_has_no_clause_and_how_near_it_is(capsys, monkeypatch):
    assert main(["find", "hooks", "survive", "deepcopy", "--format", "json", "--most", "3"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert [one["clause"] for one in answer["clauses"]] == list(SEARCH.find("hooks survive deepcopy").clauses[:3])
    assert main(["find", "lightning", "hook"]) == 1
    out = capsys.readouterr().out
    assert out.startswith("Not covered: libraries on top of torch")
    assert "Nothing is close." in out
    assert main(["find", "xyzzy"]) == 1
    assert main(["find", "react", "hook"]) == 1
    assert capsys.readouterr().out.startswith("Nothing is close.")
    assert main(["find", "turn", "hooks", "off", "and", "on"]) == 0
    assert "why --program hooks-off-for-a-while.py" in capsys.readouterr().out
    assert main(["find", "my", "backward", "hook", "is", "not", "called"]) == 0
    assert "usual causes: python -m reports why my backward hook on a module is not called" in capsys.readouterr().out
    assert main(["find", " "]) == 2
    assert main(["find", "hook", "--most", "0"]) == 2
    assert capsys.readouterr().err.count("\n") == 2
    monkeypatch.setattr("sys.stdin", open(__file__, encoding="utf-8"))  # noqa: SIM115 - a text to read
    assert main(["find", "-"]) in (0, 1)


def test_rely_names_the_nearest_where_no_clause_is_called_so(capsys):
    assert main(["rely", "shared", "module"]) == 2
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    for name in SEARCH.find("shared module").clauses[:5]:
        assert name in err
