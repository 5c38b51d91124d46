"""statements: which sentence is in force in a cell, and what it is to a user that one follows another."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest

from fixtures.clause.clause import EFFECTS
from reports.data.cell import Cell
from reports.data.clause import Clause, Deviation, Reading
from reports.data.statements import (
    ANSWERS,
    CHANGES,
    KINDS,
    UNKNOWN,
    Statement,
    effect_between,
    kind_of_change,
    statement,
)

THERE = [answer for answer in ANSWERS if answer not in ("unseen", "absent", "refused")]
BAD = ("deviates", "crashed", "hung")


@pytest.mark.parametrize("before", THERE)
@pytest.mark.parametrize("after", THERE)
def test_the_kind_of_a_change_follows_from_both_effects(before, after):
    repaired = before in BAD and after in ("holds", "true")
    for old, new in product(EFFECTS, repeat=2):
        found = kind_of_change(Statement("It is.", before, old), Statement("It is not.", after, new))
        assert found == ("fixed" if repaired else CHANGES[old][new]), (before, old, after, new)


@pytest.mark.parametrize("other", [answer for answer in ANSWERS if answer != "unseen"])
@pytest.mark.parametrize("nothing", ["absent", "refused"])
def test_what_comes_is_new_and_what_goes_is_an_error(other, nothing):
    none, there = Statement("", nothing), Statement("It is.", other)
    neither = other in ("absent", "refused")
    assert kind_of_change(none, there) == ("internal" if neither else "added")
    assert kind_of_change(there, none) == ("internal" if neither else "error")


def test_the_table_is_the_one_of_the_design():
    """In docs/design.md, in words."""
    words = {"internal": "different, breaks nothing"}
    text = (Path(__file__).parents[3] / "docs" / "design.md").read_text("utf-8")
    order = ("none", "warning", "error", "silent")
    for before in order:
        cells = [words.get(CHANGES[before][after], CHANGES[before][after]) for after in order]
        assert f"| {' | '.join([before, *cells])} |" in text, before


def test_an_error_or_a_warning_that_begins_is_one_in_both_directions():
    quiet, heard = Statement("It is.", "holds"), Statement("It was.", "otherwise", "warning")
    assert (kind_of_change(quiet, heard), kind_of_change(heard, quiet)) == ("warning", "fixed")
    quiet, heard = Statement("It was.", "otherwise"), Statement("It raises.", "holds", effect="error")
    assert (kind_of_change(quiet, heard), kind_of_change(heard, quiet)) == ("error", "fixed")


def test_code_that_runs_on_several_meets_the_worst_of_each_step_in_both_directions():
    said = {each: Statement("It is.", "otherwise", each) for each in EFFECTS}
    for effects, expected in (
        (["none"], "none"),
        (["none", "none"], "none"),
        (["warning", "none"], "warning"),
        (["warning", "warning"], "warning"),
        (["error", "none", "warning"], "error"),
        (["error", "none", "silent"], "silent"),
    ):
        assert effect_between([said[each] for each in effects]) == expected, effects


def test_the_worst_comes_first_and_what_is_new_last():
    assert tuple(KINDS)[:3] == EFFECTS[:3]
    assert list(KINDS)[-1] == "added"
    assert set(KINDS) == {*EFFECTS[:3], "internal", "fixed", "added"}


DEVIATION = Deviation("lost", "", "deviates", "It is lost.", "error", "A bug.", "measured", "a slip")
READINGS = (
    Reading("now", "", "It is, in its place."),
    Reading("plain", "", "It is."),
    Reading("was", "", "It was.", says_the_same=False, effect="silent"),
    Reading("mute", "", "", says_the_same=False, effect="warning"),
)
BUGS = (DEVIATION, replace(DEVIATION, name="gone", says="It is gone."))
CLAUSE = Clause("a.b.c", "It is.", (), READINGS, "", "", 0, "", {}, needs=("torch.it",), deviations=BUGS)
CLAIMS = (Reading("true", "", "So it is."), Reading("false since 2.0", "", "It is not.", effect="error"))
CLAIM = replace(CLAUSE, readings=CLAIMS)


@pytest.mark.parametrize(
    ("clause", "cell", "said"),
    [
        (CLAUSE, Cell("conforms", "now"), Statement("It is.", "holds", detail="It is, in its place.")),
        (CLAUSE, Cell("conforms", "plain"), Statement("It is.", "holds")),
        (CLAUSE, Cell("conforms", "was"), Statement("It was.", "otherwise", "silent")),
        (CLAUSE, Cell("conforms", "mute"), Statement(UNKNOWN, "otherwise", "warning")),
        (CLAUSE, Cell("conforms", "no reading of this clause"), Statement(UNKNOWN, "otherwise", "silent")),
        (CLAIM, Cell("conforms", "true"), Statement("It is.", "true", detail="So it is.")),
        (CLAIM, Cell("conforms", "false since 2.0"), Statement("It is not.", "false", "error")),
        (
            CLAUSE,
            Cell("deviates", "now", declared=True, deviation="gone"),
            Statement("It is gone.", "deviates", "error", "A bug.", "measured", cause="a slip"),
        ),
        # the name of a rule is none of the words that a reader knows
        (
            CLAUSE,
            Cell("deviates", "now", declared=True, deviation="rule again", note="It is twice."),
            Statement("It is twice.", "deviates", "silent"),
        ),
        # recorded before deviations had names
        (CLAUSE, Cell("deviates", "now", declared=True, note="Lost."), Statement("Lost.", "deviates", "silent")),
        (CLAUSE, Cell("deviates", "now"), Statement(UNKNOWN, "deviates", "silent", new=True)),
        # a deviation that nobody declared has the effect of what torch behaves as
        (CLAUSE, Cell("deviates", "now", holds=("mute",)), Statement(UNKNOWN, "deviates", "warning", new=True)),
        (
            CLAUSE,
            Cell("deviates", "was", holds=("now",)),
            Statement("It is, in its place.", "deviates", "silent", new=True),
        ),
        (CLAUSE, Cell("crashed"), Statement("The process crashed.", "crashed", "error")),
        (CLAUSE, Cell("hung"), Statement("The process hung.", "hung", "error")),
        (CLAUSE, Cell("absent"), Statement("This torch has no torch.it.", "absent")),
        (CLAUSE, Cell("absent", note="no such thing"), Statement("No such thing", "absent")),
        (
            replace(CLAUSE, needs=("a.b", "c")),
            Cell("absent"),
            Statement("This torch lacks at least one of a.b, c.", "absent"),
        ),
        (CLAUSE, Cell("refused", note="the mode says no"), Statement("The mode says no", "refused")),
        (CLAUSE, Cell("unseen"), Statement("", "unseen")),
    ],
)  # fmt: skip
def test_the_statement_of_a_cell(clause, cell, said):
    assert statement(clause, cell) == said
    assert said.good == (said.answer in ("holds", "true"))


def test_the_words_of_a_statement():
    assert Statement("It is.", "holds", "silent").words == "holds: It is."
    assert Statement("It was.", "otherwise", "silent").words == "otherwise (other values or calls): It was."
    lost = Statement("It is lost.", "deviates", "error", "A bug.", "https://a.b/c", new=True)
    assert lost.words == "deviates (raises): It is lost. [not written down by us; A bug; https://a.b/c]"
    assert Statement("", "unseen").words == "unseen"
