"""The published schemas: each is a valid one, and what the verbs write fits."""

from __future__ import annotations

import copy
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from referencing import Registry

from reports.__main__ import main
from reports.costs import recorded as recorded
from reports.costs.counts import from_counts
from reports.data.strict import SCHEMAS, BadInput, validate
from suites.selfcheck import synthetic, synthetic_counts

TORCHES = ("1.4.0", "1.13.1", "2.15.0")
TABLE = synthetic.clauses(40, seed=1, claims=4)
COSTS = recorded.document(
    recorded.merged(recorded.NOTHING, [from_counts(synthetic_counts.document(), SCHEMAS)], synthetic_counts.times())
)


@pytest.mark.parametrize("path", sorted(SCHEMAS.glob("*.json")), ids=lambda path: path.name)
def test_every_schema_is_one(path):
    schema = json.loads(path.read_text("utf-8"))
    Draft202012Validator.check_schema(schema)
    assert schema["$id"] == path.name
    assert schema["title"]


NUMBERS = st.integers(-(10**16), 10**16) | st.floats(allow_nan=False, allow_infinity=False)
WORDS = st.sampled_from(["2.15", "2.15\n", "", "a" * 99, "\u00e9", "not counted: absent"])
VALUES = st.one_of(
    NUMBERS, st.booleans(), st.none(), WORDS, st.lists(NUMBERS, max_size=4), st.dictionaries(WORDS, WORDS)
)
RELEASES = {"format": 4, "releases": {"2.15": {"torch": "2.15.0", **dict.fromkeys(("suite", "python"), "1")}}}
RELEASES["releases"]["2.15"].update(platform="Linux", device="cpu")
ROW = ["2.15", "newest", "conforms", None, {"declared": True}]
CLAUSE = {"digest": "0" * 12, "run": {"2.15": ["eager"]}, "beyond": [], "modes": {"eager": [ROW]}}
CHAPTER = {"format": 4, "newest": "2.15", "clauses": {"a.b.c": CLAUSE}}
DOCUMENTS = {"costs": COSTS, "releases": RELEASES, "verdicts": CHAPTER}
ROWS = ("clauses", "a.b.c", "modes", "eager")
PLACES = [
    *(("costs", *place.split(".")) for place in ("format", "releases", "releases.more", "rows.hook.leaf.work")),
    *(("costs", *place.split(".")) for place in ("rows.hook.forward.of.more", "times.machine", "more")),
    *(("releases", *place.split(" ")) for place in ("format", "releases", "releases 2.15", "releases 2.15 torch")),
    *(("releases", *place.split(" ")) for place in ("releases 2.15 build", "releases 2.15 more", "more")),
    *(("verdicts", place) for place in ("format", "newest", "clauses", "more")),
    *(("verdicts", *ROWS[:length]) for length in (2, 3, 4)),
    *(("verdicts", "clauses", "a.b.c", *place.split(" ")) for place in ("beyond", "run", "run 2.15", "run 2")),
    *(("verdicts", *ROWS, 0, place) for place in range(5)),
    *(("verdicts", *ROWS, 0, 4, key) for key in ("declared", "holds", "lacks", "evidence", "more")),
]


@pytest.mark.parametrize("place", PLACES, ids=lambda place: ".".join(map(str, place)))
@given(value=VALUES)
def test_what_is_refused_quickly_is_what_jsonschema_refuses(place, value):
    """A file is judged by one library, and its faults are named by another: both must find the same."""
    kind, *outer, last = place
    reference = f"{kind}.schema.json"
    document = copy.deepcopy(DOCUMENTS[kind])
    validate(document, reference, SCHEMAS, "")
    within = document
    for key in outer:
        within = within[key]
    within[last] = value
    schemas = [(path.name, json.loads(path.read_text("utf-8"))) for path in SCHEMAS.glob("*.json")]
    reported = Draft202012Validator({"$ref": reference}, registry=Registry().with_contents(schemas)).is_valid(document)
    try:
        validate(document, reference, SCHEMAS, "")
        fits = True
    except BadInput:
        fits = False
    assert fits == reported


@pytest.fixture
def room(tmp_path, capsys):
    """Give a room in which one verdict has changed."""
    verdicts = synthetic.write_verdicts(tmp_path / "verdicts", TABLE, TORCHES)
    synthetic_counts.record(verdicts / "costs.json", {"1.13.1": {}})
    (tmp_path / "code.py").write_text("m.register_full_backward_hook(f, prepend=True)\nx.register_hook(g)\n")
    lines = synthetic.run_lines(TABLE, "2.15.0")
    changed = next(line for line in lines if line.get("verdict") == "conforms")
    changed.update(verdict="hung", reading=None, refuted=[])
    lines[-1] = synthetic.footer([line for line in lines if line["type"] == "cell"])
    synthetic.write_lines(tmp_path / "run.jsonl", lines)

    return Room(tmp_path, verdicts, capsys)


class Room:
    """Recorded verdicts, somebody's code and a run file."""

    def __init__(self, path, verdicts, capsys):
        self.path, self.verdicts, self.capsys = path, verdicts, capsys

    def ask(self, verb, *arguments):
        words = [str(self.path / word) if word.endswith((".py", ".jsonl", ".html")) else word for word in arguments]
        assert main([verb, *words, "--verdicts", str(self.verdicts)]) in (0, 1)
        return json.loads(self.capsys.readouterr().out)


ANSWERS = {
    "diff": ["1.4", "2.15"],
    "check": ["run.jsonl"],
    "explain": [next(name for name in TABLE if synthetic.cell(name, TABLE[name], "2.15.0")["evidence"])],
    "rely": [],
    "affects": ["code.py", "--from", "1.4"],
    "page": ["run.jsonl", "--out", "index.html"],
    "merge": ["run.jsonl", "--out", "merged.jsonl"],
}


@pytest.mark.parametrize("verb", ANSWERS)
def test_answers_fit_the_schema_and_it_is_closed(room, verb):
    reported = room.ask(verb, *ANSWERS[verb], "--format", "json")
    reference = f"answers.schema.json#/$defs/{verb}"
    validate(reported, reference, room.path, "")
    with pytest.raises(BadInput, match="unknown key 'colour'"):
        validate({**reported, "colour": "red"}, reference, room.path, "")
    for key in reported:
        with pytest.raises(BadInput, match="has no key"):
            validate({name: reported[name] for name in reported if name != key}, reference, room.path, "")


def test_the_atlas_fits_its_schema_and_holds_every_cell(room, capsys):
    out = room.path / "atlas.json"
    arguments = ["atlas", str(room.path / "run.jsonl"), "--out", str(out), "--verdicts", str(room.verdicts)]
    assert main(arguments) == 0
    assert capsys.readouterr().out == f"{out}\n"
    reported = json.loads(out.read_text("utf-8"))
    validate(reported, "atlas.schema.json", out, "")
    assert [(column["key"], column["run"]) for column in reported["columns"]] == [
        ("1.4", False),
        ("1.13", False),
        ("2.15", False),
        ("2.15 run", True),
    ]
    assert set(reported["cells"]) == set(TABLE) == set(reported["clauses"])
    assert reported["costs"] == json.loads((room.verdicts / "costs.json").read_text("utf-8"))
    assert {len(modes["eager"]) for modes in reported["cells"].values()} == {4}
    assert "hung" in {modes["eager"]["2.15 run"]["verdict"] for modes in reported["cells"].values()}
    with pytest.raises(BadInput):
        validate(
            {**reported, "cells": {"a.b.c": {"eager": {"2.15": {"verdict": "fine"}}}}}, "atlas.schema.json", out, ""
        )
