"""The cards of the hook APIs: each has one, it names clauses that are there, and it is one screen on every release."""

from __future__ import annotations

import argparse

import pytest

from reports.__main__ import main
from reports.cards.card import MOST, PARTS, card, parts_of, table
from reports.data.by_mode import known
from reports.data.clause import known_apis
from reports.data.names import read_atlas
from reports.data.verdicts import VERDICTS
from reports.verbs.card_forms import as_text
from suites.selfcheck import synthetic_cells

APIS = [api for cards in table().values() for api in cards]
#: Parts that only some cards need.
OPTIONAL = {"next_to"}


@pytest.fixture(scope="module")
def atlas():
    """Give what is recorded."""
    return read_atlas(argparse.Namespace(runs=[], verdicts=VERDICTS))


def card_of(atlas, api, columns):
    """Return the card that an API has."""
    found = card(atlas, api, columns, "eager")
    assert found is not None
    return found


def test_each_api_has_a_card_and_each_card_an_api(atlas):
    assert set(known(atlas)) <= set(APIS) <= known_apis(atlas.clauses)


def test_a_card_has_all_parts_each_with_clauses_that_are_there_or_the_reason_why_not(atlas):
    for api in APIS:
        parts = parts_of(api)
        assert set(PARTS) - OPTIONAL <= set(parts) <= {"call", *PARTS}, api
        named = [name for chosen in parts.values() if isinstance(chosen, list) for name in chosen]
        assert (set(named) - set(atlas.clauses), len(named)) == (set(), len(set(named))), api
        found = card_of(atlas, api, atlas.columns)
        assert ({line.part for line in found.lines}, dict(found.left)) == (set(parts) - {"call"}, {}), api


def test_a_card_is_one_screen_on_every_release(atlas):
    for api in APIS:
        for at, column in enumerate(atlas.columns):
            found = card_of(atlas, api, atlas.columns[: at + 1])
            assert as_text(found, "").count("\n") <= MOST, (api, column.label)
            assert (found.torch, found.there) == (column.label, at >= atlas.came.get((api, ""), 0))


def test_a_card_says_what_is_true_on_its_release(atlas):
    asked = [column for column in atlas.columns if column.label in ("1.8", "1.13", "2.0")]
    old, middle, new = (card_of(atlas, "register_full_backward_hook", [column]) for column in asked)
    told = [{line.clause: line.says for line in one.lines} for one in (old, middle, new)]
    inplace, prepended = "backward.inplace.output", "ordering.registration.prepend_full_backward"
    assert told[0][inplace].startswith("With a full backward hook backward() raises RuntimeError if the output was")
    assert told[2][inplace] == f"{atlas.clauses[inplace].says} {atlas.clauses[inplace].limits}"
    assert [prepended in one for one in told] == [False, False, True]  # the option came later
    assert [one.call.partition("(")[2] for one in (middle, new)] == ["hook)", "hook, prepend=False)"]


API = "register_backward_hook"


def test_rely_prints_the_card_and_all_where_that_is_asked_for(tmp_path, capsys):
    changes, later, unseen = parts_of(API)["traps"]
    cells = {
        changes: [("conforms", "old")] * 2 + [("conforms", "new")] * 2,
        later: [("absent", None)] * 3 + [("conforms", "always")],
        unseen: [("conforms", "always")] * 3 + [None],
    }
    given = {"readings": ("always", "new", "old"), "about": [API], "effects": {"old": "error"}}
    verdicts = synthetic_cells.write(
        tmp_path / "verdicts", {name: synthetic_cells.clause(name, **given) for name in cells}, cells
    )

    def ask(*more):
        assert main(["rely", "--api", API, *more, "--verdicts", str(verdicts)]) == 1
        return capsys.readouterr().out

    out = ask()
    assert out.startswith(
        "torch.nn.Module.register_backward_hook(hook)\non torch 2.15; there on all recorded releases; "
    )
    assert f"torch 1.13 to 2.0: Is old.  [{changes}]\n" in out
    assert (f"[{later}]" in out, f"[{unseen}]" in out) == (True, False)
    assert " not measured on torch 2.15\n" in out
    assert "eager: of 3 clauses 2 change, 1 not measured on every release; --all lists them\n" in out
    assert "1 not there on torch 2.0" in ask("--to", "2.0")
    for more in (["--all"], ["--chapter", "backward"], [changes], ["--api", API], ["--format", "json"]):
        assert "lines left out" not in ask(*more)
