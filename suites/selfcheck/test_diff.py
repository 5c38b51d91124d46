"""diff: every change of an upgrade is of one kind, told in each form."""

from __future__ import annotations

import json

import pytest

from reports.__main__ import main
from reports.diff import KINDS
from suites.selfcheck import measured

OLD, NEW, NONE = ("conforms", "old"), ("conforms", "new"), ("absent", None)
BAD, DEAD, NO = ("deviates", "old"), ("crashed", None), ("refused", None)
#: (on 2.0, on 2.15) -> what that is
CHANGES = {
    (OLD, NEW): "changed",
    (NONE, OLD): "added",
    (OLD, NONE): "removed",
    (BAD, NONE): "removed",
    (OLD, BAD): "deviates",
    (NONE, BAD): "deviates",
    (OLD, DEAD): "deviates",
    (BAD, OLD): "fixed",
    (DEAD, NEW): "fixed",
    (BAD, DEAD): "otherwise",
    (OLD, NO): "otherwise",
    (NONE, NO): "added",
}


@pytest.fixture
def verdicts(tmp_path):
    names = {f"a.b.c{number}": pair for number, pair in enumerate(CHANGES)}
    table = {name: measured.clause(name, readings=("old", "new")) for name in [*names, "a.b.same", "a.b.unseen"]}
    cells = {**{name: [*pair] for name, pair in names.items()}, "a.b.same": [OLD, OLD], "a.b.unseen": [OLD, None]}
    return measured.write(tmp_path / "verdicts", table, cells, ("2.0.1", "2.15.0"))


def test_every_change_is_of_its_kind(verdicts, capsys):
    assert main(["diff", "2.0", "2.15", "--format", "json", "--verdicts", str(verdicts)]) == 0
    told = json.loads(capsys.readouterr().out)
    assert {change["clause"]: change["kind"] for change in told["changes"]} == {
        f"a.b.c{number}": kind for number, kind in enumerate(CHANGES.values())
    }
    assert (told["same"], told["unseen"]) == (1, 1)


@pytest.mark.parametrize("form", ["text", "markdown"])
def test_what_hurts_most_comes_first(verdicts, capsys, form):
    assert main(["diff", "2.0", "2.15", "--format", form, "--verdicts", str(verdicts)]) == 0
    out = capsys.readouterr().out.lower()
    counts = [f"{title} ({list(CHANGES.values()).count(kind)})" for kind, title in KINDS.items()]
    places = [out.index(told) for told in counts]
    assert places == sorted(places)
    assert all(out.count(f"a.b.c{number}{' ' if form == 'text' else '`'}") == 1 for number in range(len(CHANGES)))
