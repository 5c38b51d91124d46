"""The cards of the hook APIs: each has one, it names clauses that are there, and it is one screen on every release."""

from __future__ import annotations

import argparse

import pytest

from reports.__main__ import main
from reports.cards.card import MOST, PARTS, card, clauses_of, table
from reports.data.by_mode import known
from reports.data.clause import known_apis
from reports.data.names import read_atlas
from reports.data.verdicts import VERDICTS
from reports.verbs.card_forms import CARDS, HEADS, Shown
from suites.selfcheck import synthetic_cells

#: Parts that only some cards need.
OPTIONAL = {"beside"}


@pytest.fixture(scope="module")
def atlas():
    """Give what is recorded."""
    return read_atlas(argparse.Namespace(runs=[], verdicts=VERDICTS))


def test_each_api_has_a_card_and_each_card_an_api(atlas):
    assert set(known(atlas)) <= set(table()) <= known_apis(atlas.clauses)


def test_a_card_names_clauses_that_are_there_each_of_them_once(atlas):
    named = {api: clauses_of(parts) for api, parts in table().items()}
    assert {api: found for api, each in named.items() if (found := set(each) - set(atlas.clauses))} == {}
    assert {api: each for api, each in named.items() if len(each) > len(set(each))} == {}


def test_a_card_has_all_parts_each_with_a_line_or_the_reason_why_not(atlas):
    for api, parts in table().items():
        assert set(PARTS) - OPTIONAL <= set(parts) <= {"call", *PARTS}, api
        assert all(parts.values()), api
        found = card(atlas, api, atlas.columns, "eager")
        assert {line.part for line in found.lines} == set(parts) - {"call"}, api
        assert (found.there, dict(found.left)) == (True, {}), api


def test_a_card_is_one_screen_on_every_release(atlas):
    for api in table():
        for at in range(len(atlas.columns)):
            found = card(atlas, api, atlas.columns[: at + 1], "eager")
            lines = CARDS["text"](Shown(found, "")).rstrip("\n").split("\n")
            assert len(lines) <= MOST, (api, atlas.columns[at].label)
            assert (found.torch, found.there) == (atlas.columns[at].label, at >= atlas.came.get((api, ""), 0))


def test_a_card_says_what_is_true_on_its_release(atlas):
    told = {label: {line.clause: line.says for line in one.lines} for label, one in on(atlas, "1.8", "1.13", "2.15")}
    inplace = "backward.inplace.output"
    assert told["1.8"][inplace].startswith("With a full backward hook backward() raises RuntimeError if the output was")
    assert told["2.15"][inplace] == f"{atlas.clauses[inplace].says} {atlas.clauses[inplace].limits}"
    assert "ordering.registration.prepend_full_backward" not in told["1.13"]  # the option came later


def on(atlas, *labels):
    """Yield cards of one API, each on a release."""
    for label in labels:
        columns = [column for column in atlas.columns if column.label == label]
        yield label, card(atlas, "register_full_backward_hook", columns, "eager")


def test_a_call_has_the_options_of_its_release(atlas):
    calls = {label: one.call.partition("(")[2] for label, one in on(atlas, "1.13", "2.0")}
    assert calls == {"1.13": "hook)", "2.0": "hook, prepend=False)"}


API = "register_backward_hook"
NAMES = table()[API]["traps"]


@pytest.fixture
def verdicts(tmp_path):
    """Give three clauses of a card: one that changes, one that came later, one that was not measured on the newest."""
    cells = [
        [("conforms", "old")] * 2 + [("conforms", "new")] * 2,
        [("absent", None)] * 3 + [("conforms", "always")],
        [("conforms", "always")] * 3 + [None],
    ]
    readings = ("always", "new", "old")
    found = {
        name: synthetic_cells.clause(
            name, "def test_x(): pass\n", readings=readings, about=[API], effects={"old": "error"}
        )
        for name in NAMES
    }
    return synthetic_cells.write(tmp_path / "verdicts", found, dict(zip(NAMES, cells, strict=True)))


def ask(verdicts, capsys, *more):
    status = main(["rely", "--api", API, *more, "--verdicts", str(verdicts)])
    return status, capsys.readouterr().out


def test_rely_prints_the_card_and_all_of_it_where_that_is_asked_for(verdicts, capsys):
    status, out = ask(verdicts, capsys)
    changes, later, unseen = NAMES
    assert out.startswith(
        "torch.nn.Module.register_backward_hook(hook)\non torch 2.15; there on all recorded releases; "
    )
    assert f"  [{changes}]\n" in out
    assert f"before{' ' * (max(map(len, HEADS.values())) + 2 - 6)}torch 1.13 to 2.0: Is old.  [{changes}]\n" in out
    assert (f"[{later}]" in out, f"[{unseen}]" in out, status) == (True, False, 1)
    assert "lines left out: not measured on torch 2.15: " in out
    assert (
        "torch 1.13 to 2.15, eager: of 3 clauses 2 change, 1 not measured on every release; --all lists them\n" in out
    )
    status, out = ask(verdicts, capsys, "--to", "2.0")
    assert "not there on torch 2.0: 1" in out
    assert "before" not in out.replace("before on it", "")
    assert ask(verdicts, capsys, "--all")[1].startswith("torch 1.13 to 2.15, eager: of 3 clauses 2 change")
    for more in (["--chapter", "backward"], [changes], ["--api", API, changes], ["--format", "json"]):
        assert "lines left out" not in ask(verdicts, capsys, *more)[1]


def test_the_exit_status_is_about_all_clauses_of_the_api(verdicts, capsys):
    assert [ask(verdicts, capsys, *more)[0] for more in ([], ["--all"])] == [1, 1]
    assert [ask(verdicts, capsys, "--from", "2.14", "--to", "2.14", *more)[0] for more in ([], ["--all"])] == [1, 1]
