"""statements: which sentence is in force in a cell, and what it is to a user that one follows another."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest

from reports.data.cell import Cell
from reports.data.clause import Clause, Deviation, Reading
from reports.data.statements import ANSWERS, HARMS, KINDS, UNKNOWN, Statement, harm_of_change, statement

KINDS_BY_LETTER = {"s": "silent", "e": "error", "w": "warning", "a": "added", "f": "fixed", ".": "internal"}
#: a letter for each statement that may follow: holds, otherwise and deviates, each with the harms none, warning, error
#: and silent, and absent.
AFTER = """
holds none        .wes.wes.wese
holds warning     f.esf.esf.ese
holds error       ff.sff.sff.se
holds silent      ssesssesssese
otherwise none    .wes.wes.wese
otherwise warning f.esf.esf.ese
otherwise error   ff.sff.sff.se
otherwise silent  ssesssesssese
deviates none     ffff.wes.wese
deviates warning  fffff.esf.ese
deviates error    ffffff.fff.se
deviates silent   ffffssesssese
absent none       aaaaaaaaaaaa.
"""
ROWS: dict[tuple[str, str], str] = {
    (line.split()[0], line.split()[1]): line.split()[2] for line in AFTER.strip().split("\n")
}
ALIKE = {"true": "holds", "false": "otherwise", "crashed": "deviates", "hung": "deviates", "refused": "absent"}


def shaped(answer: str, harm: str) -> tuple[str, str]:
    """Return the row of a statement: what there is nothing of does no harm."""
    alike = ALIKE.get(answer, answer)
    return (alike, "none") if alike == "absent" else (alike, harm)


@pytest.mark.parametrize("before", [answer for answer in ANSWERS if answer != "unseen"])
@pytest.mark.parametrize("after", [answer for answer in ANSWERS if answer != "unseen"])
def test_every_change_is_of_one_kind(before, after):
    for old, new in product(HARMS, repeat=2):
        letter = ROWS[shaped(before, old)][list(ROWS).index(shaped(after, new))]
        found = harm_of_change(Statement("It is.", before, old), Statement("It is not.", after, new))
        assert found == KINDS_BY_LETTER[letter], (before, old, after, new)


def test_the_worst_comes_first():
    assert list(KINDS) == list(KINDS_BY_LETTER.values())
    assert list(KINDS)[:3] == list(HARMS)[:3]


DEVIATION = Deviation("lost", "", "deviates", "It is lost.", "error", "A bug.", "measured", "a slip")
READINGS = (
    Reading("now", "", "It is, in its place."),
    Reading("plain", "", "It is."),
    Reading("was", "", "It was.", headline=False, harm="silent"),
    Reading("mute", "", "", headline=False, harm="warning"),
)
BUGS = (DEVIATION, replace(DEVIATION, name="gone", says="It is gone."))
CLAUSE = Clause("a.b.c", "It is.", (), READINGS, "", "", 0, "", {}, needs=("torch.it",), deviations=BUGS)
CLAIMS = (Reading("true", "", "So it is."), Reading("false since 2.0", "", "It is not.", harm="error"))
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
        # recorded before deviations had names
        (CLAUSE, Cell("deviates", "now", declared=True, note="Lost."), Statement("Lost.", "deviates", "silent")),
        (CLAUSE, Cell("deviates", "now"), Statement(UNKNOWN, "deviates", "silent", new=True)),
        # a deviation that nobody declared does the harm of what torch behaves as
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
    assert Statement("It was.", "otherwise", "silent").words == "otherwise (silent): It was."
    told = Statement("It is lost.", "deviates", "error", "A bug.", "https://a.b/c", new=True)
    assert told.words == "deviates (error): It is lost. [not declared; A bug; https://a.b/c]"
    assert Statement("", "unseen").words == "unseen"
