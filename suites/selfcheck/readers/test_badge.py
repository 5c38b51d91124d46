"""badge: an SVG that needs no network, with its words for screen readers."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET

import pytest

from reports.__main__ import main
from reports.verbs.badge import BAD, GOOD, LABEL, OTHER
from suites.selfcheck import synthetic, synthetic_cells

SVG = "{http://www.w3.org/2000/svg}"
FINE, BROKEN, NONE = ("conforms", "always"), ("deviates", "always"), ("absent", None)
OLD, TRUE, FALSE = (("conforms", name) for name in ("old", "true", "false since 2.0"))
TORCHES = ("1.12.1", *synthetic_cells.TORCHES)
#: what was measured on each of TORCHES
CELLS = {
    "a.b.one": [OLD, FINE, FINE, FINE, FINE],
    "a.b.two": [FINE, FINE, BROKEN, NONE, None],
    "a.b.three": [synthetic_cells.bug("lost"), FINE, FINE, FINE, FINE],
    "tutorial.a.b": [TRUE, TRUE, FALSE, FALSE, FALSE],
}
READINGS = {"a": ("always", "old"), "t": ("true", "false since 2.0")}
TABLE = {
    name: synthetic_cells.clause(
        name, readings=READINGS[name[0]], effects={"old": "silent"}, deviations=[("lost", "error")]
    )
    for name in CELLS
}


@pytest.fixture
def verdicts(tmp_path):
    return synthetic_cells.write(tmp_path / "verdicts", TABLE, CELLS, TORCHES)


@pytest.mark.parametrize(
    ("torch", "said", "color"),
    [
        ("1.12", "hooks on torch 1.12.1: 1 of 3 hold, 1 otherwise, 1 of 1 claims true", OTHER),
        ("1.13", "hooks on torch 1.13.1: 3 of 3 hold, 1 of 1 claims true", GOOD),
        ("2.0", "hooks on torch 2.0.1: 2 of 3 hold, 0 of 1 claims true, 1 not declared", BAD),
        ("2.14", "hooks on torch 2.14.0: 2 of 2 hold, 0 of 1 claims true", GOOD),
        ("2.15", "hooks on torch 2.15.0: 2 of 2 hold, 0 of 1 claims true, 1 not measured", BAD),
    ],
)
def test_the_badge_says_how_a_torch_stands(verdicts, capsys, torch, said, color):
    assert main(["badge", "--torch", torch, "--format", "text", "--verdicts", str(verdicts)]) == 0
    assert capsys.readouterr().out == said + "\n"
    assert main(["badge", "--torch", torch, "--format", "json", "--verdicts", str(verdicts)]) == 0
    reported = json.loads(capsys.readouterr().out)
    assert (reported["schemaVersion"], f"{reported['label']}: {reported['message']}", reported["color"]) == (
        1,
        said,
        color,
    )


def test_the_picture_is_accessible_and_complete(verdicts, capsys, tmp_path):
    out = tmp_path / "hooks.svg"
    assert main(["badge", "--torch", "2.0", "--out", str(out), "--verdicts", str(verdicts)]) == 0
    assert capsys.readouterr().out == f"{out}\n"
    root = ET.fromstring(out.read_text("utf-8"))
    title = next(root.iter(f"{SVG}title"))
    assert (root.get("role"), root.get("aria-labelledby")) == ("img", title.get("id"))
    words = "hooks on torch 2.0.1: 2 of 3 hold, 0 of 1 claims true, 1 not declared"
    assert title.text == words
    assert [text.text for text in root.iter(f"{SVG}text")] == words.split(": ")
    assert out.read_text("utf-8").count("http") == 1, "only the name of the namespace: nothing is fetched"
    assert sum(int(rect.attrib["width"]) for rect in root.iter(f"{SVG}rect")) == int(root.attrib["width"])


def test_the_line_that_shows_the_picture_says_its_words(verdicts, capsys):
    assert main(["badge", "--torch", "2.0", "--format", "markdown", "--verdicts", str(verdicts)]) == 0
    words = "hooks on torch 2.0.1: 2 of 3 hold, 0 of 1 claims true, 1 not declared"
    assert capsys.readouterr().out == f"![{words}](hooks.svg)\n"


def luminance(color):
    parts = [int(color[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("color", [GOOD, OTHER, BAD, LABEL])
def test_the_words_stand_out(color):
    assert 1.05 / (luminance(color) + 0.05) > 4.5


def test_the_badge_of_a_run(verdicts, capsys, tmp_path):
    run = synthetic.write_run(tmp_path / "run.jsonl", TABLE, "2.16.0a0")
    assert main(["badge", str(run), "--format", "text", "--verdicts", str(verdicts)]) == 0
    assert capsys.readouterr().out == "hooks on torch 2.16.0a0+cpu: 3 of 3 hold, 1 of 1 claims true\n"


@pytest.mark.parametrize(("declared", "more"), [(True, ""), (False, ", 1 not declared")])
def test_another_mode_counts_only_where_it_fails(verdicts, capsys, tmp_path, declared, more):
    """Most clauses have no cell there, and nothing is left to measure."""
    header, *lines = synthetic.run_lines(TABLE, "2.16.0a0", modes=["eager", "copy"])
    other = synthetic.cell("a.b.two", TABLE["a.b.two"], "2.16.0a0", "copy")
    lines[-1] = {**other, "verdict": "deviates", "refuted": [], "declared": declared}
    lines.append(synthetic.footer([line for line in lines if line["type"] == "cell"]))
    run = synthetic.write_lines(tmp_path / "run.jsonl", [header, *lines])
    assert main(["badge", str(run), "--format", "text", "--verdicts", str(verdicts)]) == 0
    assert capsys.readouterr().out == f"hooks on torch 2.16.0a0+cpu: 3 of 3 hold, 1 of 1 claims true{more}\n"


def test_the_badge_of_several_runs_is_that_of_the_newest_or_of_the_one_that_is_named(verdicts, capsys, tmp_path):
    runs = [str(synthetic.write_run(tmp_path / f"{torch}.jsonl", TABLE, torch)) for torch in ("2.15.0", "2.0.1")]
    for extra, said in (
        ([], "hooks on torch 2.15.0: 3 of 3 hold, 1 of 1 claims true\n"),
        (["--torch", "2.0"], "hooks on torch 2.0.1: 3 of 3 hold, 1 of 1 claims true\n"),
        (["--torch", "1.13"], "hooks on torch 1.13.1: 3 of 3 hold, 1 of 1 claims true\n"),
    ):
        assert main(["badge", *runs, *extra, "--format", "text", "--verdicts", str(verdicts)]) == 0
        assert capsys.readouterr().out == said


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--torch", "2.1"], "did you mean 2.14 or 2.15?"),
        (["none.jsonl"], "there is no such file"),
    ],
)
def test_a_badge_that_cannot_be_made(verdicts, capsys, arguments, said):
    assert main(["badge", *arguments, "--verdicts", str(verdicts)]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert said in err
