"""No verb prints a sentence of a release on which it is not true: every clause, every range of recorded releases.

What is true is read from the recorded files alone, without the readers that are checked here.
"""

from __future__ import annotations

import functools
import re
from collections import Counter

import pytest

from fixtures.run import recorded as stored
from reports.data.atlas import build
from reports.data.cell import Cell
from reports.data.claims import CLAIMS
from reports.data.history import STATUSES
from reports.data.statements import statement
from reports.data.table import document
from reports.data.verdicts import VERDICTS, read_recorded, read_table
from reports.verbs import choice, diff, diff_forms, rely
from suites.selfcheck import synthetic_cells

SPAN = re.compile(r"(?:(since|up to|torch) )?([\d.]+)(?: to ([\d.]+))?(?: or earlier)?(?:: (.*))?")
SAID = re.compile(r"(\w+)(?: \((?:other values or calls|raises|warns)\))?(?:: (.*?))?(?: \[.*\])?")
#: A new API: clause, since when, and what is so.
NEW = re.compile(r"([a-z_]+\.\w+\.\w+)  ((?:since|up to|torch) .*?): (.*)")
#: Of a clause, whatever the release.
HINTS = ("    where ", "    see ", "    instead: ")
#: what is said of a release on which no sentence of a clause is known to be true
SILENT = ("absent", "unseen", "crashed", "hung", "refused")


def parts(pattern, text):
    """Return the groups of a pattern that fits the whole text; fails where it does not."""
    found = pattern.fullmatch(text)
    assert found, text
    return found.groups()


class Truth:
    """What each clause was measured to be on each release, from the files themselves."""

    def __init__(self, folder):
        table = document(folder)["clauses"]
        self.clauses = {name: one for name, one in table.items() if not one.get("checks_model")}
        releases, cells = stored.read(str(folder))
        self.keys = list(releases)
        self.names = {known["torch"]: key for key, known in releases.items()}
        self.cells = {
            key: {name: self._known(name, found.get(name, {}).get("eager")) for name in self.clauses}
            for key, found in cells.items()
        }

    def _known(self, name, cell):
        """Return the verdict, whether the clause's own sentence is true, and every sentence that is."""
        clause = self.clauses[name]
        if cell is None or cell["digest"] != clause["digest"]:
            return "unseen", False, frozenset()
        if cell["verdict"] == "conforms":
            reading = clause["readings"][cell["reading"]]
            claim = {one["name"].split()[0] for one in clause["readings"]} <= {"true", "false"}
            own = reading["name"].split()[0] == "true" if claim else reading.get("says_the_same", True)
            return "conforms", own, frozenset({reading["says"], *([clause["says"]] if own else [])})
        bugs = [one["says"] for one in clause.get("deviations", ()) if one["name"] == cell.get("deviation")]
        known = {clause["readings"][place]["says"] for place in cell.get("holds", ())}
        return cell["verdict"], False, frozenset({*bugs, *known, cell.get("note", "")})

    def range(self, first, last):
        """Return the releases from one to another, both included."""
        low, high = sorted((self.keys.index(first), self.keys.index(last)))
        return self.keys[low : high + 1]

    def verdicts(self, clause, *keys):
        """Return the verdicts of a clause on these releases."""
        return [self.cells[key][clause][0] for key in keys]

    def judge(self, clause, keys, words):
        """Return what is wrong with words about a clause on these releases, nothing where they are true."""
        false = self._false(clause, words).intersection(keys)
        return f"{clause} on {', '.join(sorted(false))}: {words}" if false else ""

    @functools.cache  # noqa: B019 - it lives as long as the test
    def _false(self, clause, words):
        """Return the releases on which words about a clause are not true."""
        answer, says = parts(SAID, words)
        return {key for key in self.keys if not self._right(answer, says, *self.cells[key][clause])}

    @staticmethod
    def _right(answer, says, verdict, own, sentences):
        if answer in SILENT:
            return verdict == answer
        if answer == "deviates":
            return verdict == answer and (says in sentences or says.startswith("Torch does something else"))
        return verdict == "conforms" and own == (answer in ("holds", "true")) and says in sentences


def check_rely(truth, first, last, text):
    """Return what is false in the answer of rely, and how many statements were looked at."""
    whole, wrong, seen, title, clause = truth.range(first, last), [], Counter(), "", ""
    for line in text.split("\n")[1:]:
        if not line.startswith(" "):
            title = line.partition(" (")[0]
        elif not line.startswith("    "):
            clause, _, says = line[2:].partition("  ")
            if title in STATUSES["holds"]:
                wrong.append(truth.judge(clause, whole, f"holds: {says}"))
                seen["holds"] += 1
            elif says:
                false = [key for key in whole if says not in truth.cells[key][clause][2]]
                wrong.append(f"{clause} on {false}: {says}" * bool(false))
                seen["otherwise"] += 1
        elif line.startswith(HINTS):
            seen["hints"] += 1
        elif line.startswith("    not true here: "):
            true = [key for key in whole if truth.cells[key][clause][1]]
            wrong.append(f"{clause} is true on {true}" * bool(true))
            seen["not true"] += 1
        elif span := SPAN.fullmatch(line[4:]):
            since, low, high, words = span.groups()
            keys = truth.range(low, high or (last if since else low))
            wrong.append(truth.judge(clause, keys, words))
            seen["span"] += 1
        else:
            assert title in STATUSES["otherwise"], line
    return [each for each in wrong if each], seen


def check_diff(truth, first, last, text):
    """Return what is false in the answer of diff, and how many statements were looked at."""
    wrong, seen, clause = [], Counter(), ""
    for line in text.split("\n")[1:]:
        if re.fullmatch(r"[a-z_]+\.\w+\.\w+", line):
            clause = line
        elif new := NEW.fullmatch(line):
            wrong.append(truth.judge(new[1], truth.range(parts(SPAN, new[2])[1], last), new[3]))
            seen["new"] += 1
        elif line.startswith("  - torch "):
            wrong.append(truth.judge(clause, [first], line.partition(": ")[2]))
            seen["before"] += 1
        elif line.startswith("  + "):
            _, low, _, words = parts(SPAN, line[4:])
            wrong.append(truth.judge(clause, truth.range(low, last), words))
            seen["after"] += 1
        elif line.startswith("    on both: "):
            wrong.append(truth.judge(clause, [first, last], line.partition(": ")[2]))
            seen["both"] += 1
        elif clause and (span := SPAN.fullmatch(line[4:])) and line.startswith("    "):
            _, low, high, words = span.groups()
            wrong.append(truth.judge(clause, truth.range(low, high or low), words))
            seen["between"] += 1
    return [each for each in wrong if each], seen


def measured_ones(clauses):
    """Return the choice of all that the files hold: claims of tutorials follow from them."""
    return choice.Choice(tuple(name for name in clauses if name not in CLAIMS), 0)


def brute(folder, monkeypatch):
    """Return all that is false in the answers over all ranges, and how many statements of each kind were looked at."""
    truth, seen = Truth(folder), Counter()
    table, recorded = read_table(folder), read_recorded(folder)
    atlas = build(table, recorded)
    cells = {old.minor: diff.recorded_cells(old, table) for old in recorded}  # not made anew for each range
    monkeypatch.setattr(diff, "recorded_cells", lambda old, _: cells[old.minor])
    chosen = measured_ones(atlas.clauses)
    wrong = []
    for low, first in enumerate(truth.keys):
        for last in truth.keys[low:]:
            whole = truth.range(first, last)
            columns = tuple(column for column in atlas.columns if column.key in whole)
            reported = rely.rely(atlas, columns, chosen, "eager")
            assert {one.clause for one in reported.clauses} == {*truth.clauses}
            changed = diff.compare(first, last, table, recorded, choose=measured_ones)
            known = [name for name in truth.clauses if "unseen" not in truth.verdicts(name, first, last)]
            assert len(changed.changes) + changed.same == len(known)
            for falsely, counted in (
                check_rely(truth, first, last, rely.as_text(reported)),
                check_diff(truth, first, last, diff_forms.as_text(changed)),
            ):
                wrong += falsely
                seen += counted
    return wrong, seen


def test_no_sentence_is_false_on_a_release_of_its_range(monkeypatch):
    wrong, seen = brute(VERDICTS, monkeypatch)
    assert wrong == []
    ranges = len(read_recorded())
    ranges = ranges * (ranges + 1) // 2
    assert seen["holds"] > 200 * ranges
    assert all(seen[kind] > 0 for kind in ("span", "before", "after"))


GOOD, TRUE, MUTE, NONE = ("conforms", "good"), ("conforms", "both"), ("conforms", "mute"), ("absent", None)
LOST, BUG, DEAD = synthetic_cells.bug("lost", "good"), ("deviates", "good"), ("crashed", None)
CELLS = {
    "a.b.good": [GOOD] * 4,
    "a.b.both": [GOOD, TRUE, TRUE, GOOD],
    "a.b.mute": [MUTE] * 4,
    "a.b.passed": [GOOD, MUTE, MUTE, GOOD],
    "a.b.late": [NONE, MUTE, GOOD, TRUE],
    "a.b.lost": [GOOD, LOST, LOST, MUTE],
    "a.b.bug": [LOST, BUG, GOOD, DEAD],
    "a.b.unseen": [GOOD, None, MUTE, GOOD],
    "a.b.gap": [GOOD, None, GOOD, GOOD],
    "tutorial.b.c": [("conforms", "true")] * 2 + [("conforms", "false")] * 2,
}


@pytest.fixture
def made(tmp_path):
    """Give verdicts with every kind of cell."""
    table = {
        name: synthetic_cells.clause(
            name,
            readings=("true", "false") if name[0] == "t" else ("good", "both", "mute"),
            effects={"mute": "silent"},
            deviations=[("lost", "error")],
        )
        for name in CELLS
    }
    return synthetic_cells.write(tmp_path / "verdicts", table, CELLS)


def test_every_kind_of_statement_is_looked_at(made, monkeypatch):
    wrong, seen = brute(made, monkeypatch)
    assert wrong == []
    assert all(seen[kind] for kind in ("holds", "otherwise", "not true", "span", "before", "after", "both", "between"))


@pytest.mark.parametrize(
    ("module", "name", "fault"),
    [
        (rely, "status", lambda found: "holds" if all(one.cell.verdict == "conforms" for one in found) else "nowhere"),
        (rely, "status", lambda found: "otherwise" if len(list(found)) > 1 else "holds"),
        (rely, "status", lambda found: "nowhere"),
        (
            rely,
            "timeline",
            lambda found: [(found[0].columns[0].key + " to " + found[-1].columns[-1].key, found[0].statement.words)],
        ),
        (diff, "_since", lambda path, new: path[0][0]),
        (diff, "statement", lambda clause, cell: statement(clause, Cell("conforms", "good"))),
    ],
)
def test_a_wrong_rule_is_seen(made, monkeypatch, module, name, fault):
    monkeypatch.setattr(module, name, fault)
    wrong, _ = brute(made, monkeypatch)
    assert wrong
