"""rely in two modes at once: by composition where a clause says that they are their sum, else not measured."""

from __future__ import annotations

import pytest

from reports.data.atlas import UNSEEN, Atlas, Column
from reports.data.cell import Beside, Cell
from reports.data.clause import Clause
from reports.data.strict import BadInput
from reports.verbs.pair import said, with_pair

GOOD, BAD, REFUSED = Cell("conforms", 0), Cell("deviates", 0, True, deviation="rule r"), Cell("refused")
WIDER = Cell("conforms", 0, besides=(Beside("r", "global hooks", "Says."),))
#: clause -> its cell in one mode, in the other, and in both.
CELLS = {
    "a.b.both": (GOOD, GOOD, GOOD),
    "a.b.one": (GOOD, BAD, BAD),
    "a.b.other": (BAD, GOOD, BAD),
    "a.b.unknown": (BAD, UNSEEN, UNSEEN),
    "a.b.refused": (REFUSED, GOOD, REFUSED),
    "a.b.besides": (GOOD, WIDER, WIDER),
}
CHECK = "modes.pairs.copy_dual"


def clause(name: str) -> Clause:
    empty = dict.fromkeys(Clause.__dataclass_fields__, ())
    return Clause(**{**empty, "id": name})


@pytest.fixture
def atlas() -> Atlas:
    """Give two releases: on the newer one the pair is the sum of its modes."""
    columns = [Column(torch, torch, torch, "", "", "cpu") for torch in ("2.0", "2.1")]
    cells = {
        (name, column.key, mode): cell
        for name, (copy, dual, _) in CELLS.items()
        for column in columns
        for mode, cell in (("copy", copy), ("dual", dual))
    }
    cells |= {(CHECK, "2.0", "eager"): Cell("deviates"), (CHECK, "2.1", "eager"): GOOD}
    clauses = {name: clause(name) for name in CELLS}
    return Atlas("", clauses, tuple(columns), ("eager", "copy", "dual"), cells, {CHECK: clause(CHECK)})


def test_a_sentence_is_in_two_modes_what_it_is_where_it_is_worse(atlas: Atlas) -> None:
    both = with_pair(atlas, "copy+dual")
    newest = atlas.columns[1]
    assert {name: both.cell(name, newest, "copy+dual") for name in CELLS} == {
        name: one[2] for name, one in CELLS.items()
    }


def test_nothing_is_known_where_the_clause_of_the_pair_does_not_hold(atlas: Atlas) -> None:
    both = with_pair(atlas, "copy+dual")
    assert both.measured_in("copy+dual", both.columns) == atlas.columns[1:]


def test_a_pair_without_a_clause_was_not_measured(atlas: Atlas) -> None:
    with pytest.raises(BadInput, match=r"dual around copy was not measured.*measured pairs are copy\+dual"):
        with_pair(atlas, "dual+copy")


def test_an_answer_about_a_pair_says_that_it_is_by_composition() -> None:
    assert said("copy") == []
    assert CHECK in said("copy+dual")[0]
