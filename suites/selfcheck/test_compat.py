"""compat: the verdicts in the words of browser-compat-data, checked against a schema."""

from __future__ import annotations

import json

import pytest

from reports.__main__ import main
from reports.data.statements import UNKNOWN
from reports.data.strict import BadInput, validate
from reports.data.verdicts import VERDICTS
from suites.selfcheck import measured, synthetic

GOOD, NEW, OLD = ("conforms", "always"), ("conforms", "new"), ("conforms", "old")
NONE, BAD, HUNG = ("absent", None), ("deviates", "always"), ("hung", None)
MUTE, LOUD, BOTH, LOST = ("conforms", "mute"), ("conforms", "loud"), ("conforms", "both"), measured.bug("lost")
MUTE_SAYS = "otherwise (silent): Is mute."
#: what was measured on 1.13, 2.0, 2.14 and 2.15 -> the support statements
STATEMENTS = {
    "always": ([GOOD] * 4, {"version_added": "≤1.13"}),
    "added": ([NONE, GOOD, GOOD, GOOD], {"version_added": "2.0"}),
    "removed": ([GOOD, GOOD, NONE, NONE], {"version_added": "≤1.13", "version_removed": "2.14"}),
    "never": ([NONE] * 4, {"version_added": False}),
    "unseen": ([None] * 4, {"version_added": None}),
    "gap": ([GOOD, None, GOOD, GOOD], {"version_added": "≤1.13", "notes": "not measured on torch 2.0"}),
    "gaps": (
        [GOOD, None, GOOD, None],
        {"version_added": "≤1.13", "notes": ["not measured on torch 2.0", "not measured on torch 2.15"]},
    ),
    "later": ([None, GOOD, GOOD, GOOD], {"version_added": "≤2.0"}),
    "between": ([NONE, None, GOOD, GOOD], {"version_added": "≤2.14"}),
    "gone": ([GOOD, None, NONE, NONE], {"version_added": "≤1.13", "version_removed": "≤2.14"}),
    "broken": (
        [GOOD, BAD, BAD, GOOD],
        [
            {"version_added": "2.15"},
            {
                "version_added": "2.0",
                "version_removed": "2.15",
                "partial_implementation": True,
                "notes": f"deviates (silent): {UNKNOWN} [not declared]",
            },
            {"version_added": "≤1.13", "version_removed": "2.0"},
        ],
    ),
    "hung": (
        [NONE, NONE, NONE, HUNG],
        {"version_added": "2.15", "partial_implementation": True, "notes": "hung (error): The process hung."},
    ),
    "twice": (
        [GOOD, NONE, GOOD, GOOD],
        [{"version_added": "2.14"}, {"version_added": "≤1.13", "version_removed": "2.0"}],
    ),
    "known": (
        [GOOD, LOST, GOOD, GOOD],
        [
            {"version_added": "2.14"},
            {
                "version_added": "2.0",
                "version_removed": "2.14",
                "partial_implementation": True,
                "notes": "deviates (error): Is lost. [what is lost; Why lost; measured]",
            },
            {"version_added": "≤1.13", "version_removed": "2.0"},
        ],
    ),
    "passed": (
        [GOOD, MUTE, MUTE, GOOD],
        [
            {"version_added": "2.15"},
            {"version_added": "≤1.13", "version_removed": "2.0", "notes": f"torch 2.0 to 2.14: {MUTE_SAYS}"},
        ],
    ),
    "late": ([MUTE, GOOD, GOOD, GOOD], {"version_added": "2.0", "notes": f"torch 1.13: {MUTE_SAYS}"}),
    "lately": (
        [NONE, MUTE, BOTH, LOUD],
        {
            "version_added": "2.14",
            "version_removed": "2.15",
            "notes": [f"torch 2.0: {MUTE_SAYS}", "torch 2.15: otherwise (error): Is loud."],
        },
    ),
    "both": ([GOOD, GOOD, BOTH, BOTH], {"version_added": "≤1.13"}),
    "mute": (
        [MUTE, MUTE, LOUD, None],
        {
            "version_added": False,
            "notes": [
                f"torch 1.13 to 2.0: {MUTE_SAYS}",
                "torch 2.14: otherwise (error): Is loud.",
                "not measured on torch 2.15",
            ],
        },
    ),
}  # fmt: skip


def made(folder, capsys, *runs):
    """Return the document that the verb writes, which fits its schema."""
    out = folder.parent / "compat.json"
    assert main(["compat", *map(str, runs), "--out", str(out), "--verdicts", str(folder)]) == 0
    assert capsys.readouterr().out == f"{out}\n"
    document = json.loads(out.read_text("utf-8"))
    validate(document, "compat.schema.json", out, "")
    return document


def features(document):
    """Return the features of the chapter a, topic b."""
    return document["hooks"]["a"]["b"]


def clause(name):
    harms = {"mute": "silent", "loud": "error"}
    return measured.clause(name, readings=("always", "both", *harms), harms=harms, deviations=[("lost", "error")])


@pytest.fixture
def statements(tmp_path, capsys):
    table = {f"a.b.{name}": clause(f"a.b.{name}") for name in STATEMENTS}
    cells = {f"a.b.{name}": cells for name, (cells, _) in STATEMENTS.items()}
    return features(made(measured.write(tmp_path / "verdicts", table, cells), capsys))


def test_support_is_stated_as_it_was_measured(statements):
    found = {name: feature["__compat"]["support"].get("torch") for name, feature in statements.items()}
    # a clause that was never measured in a mode says nothing of that mode
    assert found == {name: told if name != "unseen" else None for name, (_, told) in STATEMENTS.items()}


def test_every_reading_is_a_feature_of_its_own(tmp_path, capsys):
    table = {"a.b.c": measured.clause("a.b.c", readings=("old", "new", "New!"), source=("release 2.0: x",))}
    folder = measured.write(tmp_path / "verdicts", table, {"a.b.c": [OLD, NEW, ("deviates", "new"), NEW]})
    feature = features(made(folder, capsys))["c"]
    assert set(feature) == {"__compat", "old", "new", "new_2"}
    assert feature["__compat"]["spec_url"] == "https://github.com/pytorch/pytorch/releases/tag/v2.0.0"
    assert feature["old"]["__compat"]["support"]["torch"] == {"version_added": "≤1.13", "version_removed": "2.0"}
    assert [each["version_added"] for each in feature["new"]["__compat"]["support"]["torch"]] == ["2.15", "2.14", "2.0"]
    assert feature["new_2"]["__compat"]["support"]["torch"] == {"version_added": False}


def test_the_committed_verdicts_fit_the_schema_and_are_written_the_same_each_time(tmp_path, capsys):
    folder = tmp_path / "verdicts"
    folder.symlink_to(VERDICTS)
    document = made(folder, capsys)
    assert document["platforms"]["torch"]["releases"]["2.0"] == {"release": "2.0.1", "status": "retired"}
    assert len([point for topics in document["hooks"].values() for points in topics.values() for point in points]) > 500
    assert main(["compat"]) == 0
    assert json.loads(capsys.readouterr().out) == document


def test_a_run_stands_in_the_place_of_what_is_recorded_of_its_release(tmp_path, capsys):
    table = {"a.b.c": measured.clause("a.b.c")}
    folder = measured.write(tmp_path / "verdicts", table, {"a.b.c": [GOOD] * 4})
    lines = synthetic.run_lines(table, "2.15.0")
    lines[2].update(verdict="hung", reading=None, refuted=[], holds=[], evidence=None, declared=False)
    lines[-1] = synthetic.footer([lines[2]])
    run = synthetic.write_lines(tmp_path / "run.jsonl", lines)
    document = made(folder, capsys, run)
    assert features(document)["c"]["__compat"]["support"]["torch"] == [
        {"version_added": "2.15", "partial_implementation": True, "notes": "hung (error): The process hung."},
        {"version_added": "≤1.13", "version_removed": "2.15"},
    ]
    assert list(document["platforms"]["torch"]["releases"]) == ["1.13", "2.0", "2.14", "2.15"]


@pytest.mark.parametrize("changes", [{"torch": "2.16.0a0+git1a2b3c4"}, {"device": "cuda"}])
def test_a_run_of_no_release_has_no_place_in_the_line(tmp_path, capsys, changes):
    table = {"a.b.c": measured.clause("a.b.c")}
    folder = measured.write(tmp_path / "verdicts", table, {"a.b.c": [GOOD] * 4})
    lines = synthetic.run_lines(table, "2.15.0")
    lines[0].update(changes)
    run = synthetic.write_lines(tmp_path / "run.jsonl", lines)
    assert main(["compat", str(run), "--verdicts", str(folder)]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert "is of no release" in err


@pytest.mark.parametrize("form", ["text", "markdown"])
def test_support_is_told_in_words(tmp_path, capsys, form):
    table = {f"a.b.{name}": clause(f"a.b.{name}") for name in STATEMENTS}
    folder = measured.write(
        tmp_path / "verdicts", table, {f"a.b.{name}": cells for name, (cells, _) in STATEMENTS.items()}
    )
    assert main(["compat", "--format", form, "--verdicts", str(folder)]) == 0
    lines = capsys.readouterr().out.splitlines()
    told = {
        "always": "torch: added ≤1.13",
        "removed": "torch: added ≤1.13, removed 2.14",
        "never": "torch: no support",
        "unseen": "",
        "gap": "torch: added ≤1.13 (not measured on torch 2.0)",
        "hung": "torch: added 2.15, partial (hung (error): The process hung.)",
        "twice": "torch: added 2.14 / added ≤1.13, removed 2.0",
    }
    for name, words in told.items():
        row = f"a.b.{name}  {words}" if form == "text" else f"| `a.b.{name}` | Says a.b.{name}. | {words} |"
        assert lines.count(row) == 1


def test_the_words_of_a_reading_stand_below_its_clause(tmp_path, capsys):
    table = {"a.b.c": measured.clause("a.b.c", readings=("old", "new"))}
    folder = measured.write(tmp_path / "verdicts", table, {"a.b.c": [OLD, NEW, NEW, NEW]})
    assert main(["compat", "--format", "text", "--verdicts", str(folder)]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "a.b.c  torch: added ≤1.13",
        "a.b.c.old  torch: added ≤1.13, removed 2.0",
        "a.b.c.new  torch: added 2.0",
    ]


def test_hostile_text_stays_text(tmp_path, capsys):
    table = {"a.b.c": {**measured.clause("a.b.c"), "says": "\x1b[31m<script>\n", "source": ["javascript:alert(1)"]}}
    folder = measured.write(tmp_path / "verdicts", table, {"a.b.c": [GOOD] * 4})
    assert "spec_url" not in features(made(folder, capsys))["c"]["__compat"]
    assert main(["compat", "--verdicts", str(folder)]) == 0
    assert "\x1b" not in capsys.readouterr().out


@pytest.mark.parametrize(
    "statement",
    [
        {},
        {"version_added": True},
        {"version_added": "2"},
        {"version_added": "≥2.0"},
        {"version_added": "2.0", "partial_implementation": True},
        {"version_added": "2.0", "flags": []},
        [{"version_added": "2.0"}],
    ],
)
def test_the_schema_refuses_what_the_words_do_not_allow(tmp_path, capsys, statement):
    table = synthetic.clauses(1)
    document = made(synthetic.write_verdicts(tmp_path / "verdicts", table, ("2.0.1",)), capsys)
    chapter, topic, point = next(iter(table)).split(".")
    document["hooks"][chapter][topic][point]["__compat"]["support"]["torch"] = statement
    with pytest.raises(BadInput):
        validate(document, "compat.schema.json", tmp_path, "")
