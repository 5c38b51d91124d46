"""The recorded form: whatever is recorded is read back, a part of a run changes that part, and damage is named."""

from __future__ import annotations

import copy
import json
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fixtures.run import recorded as stored
from reports.data.cell import Cell
from reports.data.layout import WIDTH, in_order, laid_out
from reports.data.runfile import read_run
from reports.data.strict import BadInput
from reports.data.verdicts import VERDICTS, Recorded, read_recorded, read_table, write_recorded
from reports.record.recording import prepared
from reports.record.targets import FOLDER, as_written, read_targets
from suites.selfcheck import synthetic, synthetic_cells

TORCHES = ("1.4.0", "1.9.1", "1.10.2", "2.0.1", "2.9.1", "2.10.0")
CLAUSES = ("a.b.one", "a.b.two", "b.c.three")
MODES = ("eager", "copy", "compiled")
TABLE: dict[str, dict[str, object]] = dict(zip(CLAUSES, synthetic.clauses(3, seed=4).values(), strict=True))
#: Texts that name a version, or hold what stands for one in the files.
WORDS = ("2.0.1", "1.10.2", "‹", "›", "torch", "‹torch›", "‹›", "x\n")
TEXTS = st.lists(st.sampled_from(WORDS), max_size=4).map("".join)
EVIDENCE = st.fixed_dictionaries(
    {"plan": TEXTS, "message": TEXTS, "reproducer": TEXTS, "expected": st.lists(TEXTS), "observed": st.lists(TEXTS)}
)
MORE = st.fixed_dictionaries(
    {},
    optional={
        "declared": st.just(True), "deviation": st.just("a bug"), "holds": st.just([0, 1]),
        "lacks": st.just(["an exclusion"]), "restamped": st.just(True),
        "note": TEXTS, "evidence": EVIDENCE,
    },
)  # fmt: skip
LEAVES = st.none() | st.booleans() | st.integers() | st.text() | st.text(min_size=WIDTH, max_size=WIDTH)
VALUES = st.recursive(LEAVES, lambda inside: st.lists(inside) | st.dictionaries(st.text(), inside), max_leaves=20)
QUICK = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)


@st.composite
def some_cells(draw):
    """A recorded cell; most are plain, so that neighbours are often alike."""
    verdict, reading = draw(st.sampled_from([("conforms", 0), ("absent", None), ("deviates", 1)]))
    digest = draw(st.sampled_from(["a" * 12] * 3 + ["b" * 12]))
    more = draw(MORE) if draw(st.booleans()) else {}
    return Cell.of_record({"verdict": verdict, "reading": reading, "digest": digest, **more})


@st.composite
def tables(draw):
    """What is recorded of some releases: cells are missing here and there."""
    few = draw(st.lists(some_cells(), min_size=1, max_size=3))
    cell = st.sampled_from(few)
    modes = st.dictionaries(st.sampled_from(MODES), cell, min_size=1)
    torches = draw(st.lists(st.sampled_from(TORCHES), unique=True, min_size=1))
    return [
        Recorded(torch, "0.1.0", "3.11", "Linux", "cpu", draw(st.dictionaries(st.sampled_from(CLAUSES), modes)), build)
        for torch in torches
        for build in [draw(st.sampled_from([None, "a" * 40]))]
    ]


def plainly(cells):
    """Return what is read without the reports: of each cell what the end of a run is compared with."""
    return {
        minor: {
            name: {mode: [each[key] for key in ("verdict", "reading", "digest")] for mode, each in modes.items()}
            for name, modes in found.items()
        }
        for minor, found in cells.items()
    }


def what_is_known(recorded):
    """Return the same of what the reports read."""
    return {
        each.minor: {
            name: {mode: [one.verdict, one.reading, one.digest] for mode, one in modes.items()}
            for name, modes in each.cells.items()
        }
        for each in recorded
    }


@QUICK
@given(recorded=tables())
def test_any_table_is_read_as_it_was_written(tmp_path, recorded):
    before = copy.deepcopy(recorded)
    write_recorded(recorded, tmp_path)
    assert recorded == before, "writing changes nothing in hand"
    assert read_recorded(tmp_path) == sorted(recorded, key=lambda each: each.version)
    assert write_recorded(read_recorded(tmp_path), tmp_path) == [], "one table has one text"
    releases, cells = stored.read(str(tmp_path))
    assert plainly(cells) == what_is_known(recorded), "without the reports the same is read"
    assert {name: known["torch"] for name, known in releases.items()} == {each.minor: each.torch for each in recorded}
    for name in stored.names(str(tmp_path))[1:]:
        document = json.loads((tmp_path / name).read_text("utf-8"))
        for found in document["clauses"].values():
            for ends in ", ".join(found.get("run", {})).split(", "):
                assert not ends.endswith(f" to {document['newest']}"), "a range to the newest says so"
            for rows in found["modes"].values():
                assert document["newest"] not in [row[1] for row in rows], "a row to the newest says so"
                for row, after in pairwise(rows):
                    near = list(releases).index(after[0]) == list(releases).index(row[1]) + 1
                    assert not near or row[2:] != after[2:], "neighbours that say the same are one row"


@QUICK
@given(recorded=tables(), torch=st.sampled_from(TORCHES), data=st.data())
def test_a_run_of_some_cells_changes_these_and_nothing_else(tmp_path, recorded, torch, data):
    lines = synthetic.run_lines(TABLE, torch, modes=list(MODES))
    chosen = data.draw(st.lists(st.tuples(st.sampled_from(CLAUSES), st.sampled_from(MODES)), min_size=1, unique=True))
    made = [synthetic.cell(name, TABLE[name], torch, mode) for name, mode in chosen]
    lines[0]["nodes"] = {f"{name}[{mode}]": [name, mode] for name, mode in chosen}
    run = read_run(synthetic.write_lines(tmp_path / "run.jsonl", [lines[0], *made, synthetic.footer(made)]))
    folder = tmp_path / "verdicts"
    write_recorded(recorded, folder)
    synthetic.write_table(folder, TABLE)
    old = {each.minor: each for each in read_recorded(folder)}
    recording = prepared([run], folder)
    recording.write(folder)
    now = {each.minor: each for each in read_recorded(folder)}
    minor = ".".join(torch.split(".")[:2])
    assert {name: each for name, each in now.items() if name != minor} == {
        name: each for name, each in old.items() if name != minor
    }
    expected = {clause: dict(modes) for clause, modes in old[minor].cells.items()} if minor in old else {}
    (new,) = recording.after
    for name, mode in chosen:
        expected.setdefault(name, {})[mode] = new.cells[name][mode]
    assert now[minor].cells == expected
    assert plainly(stored.read(str(folder))[1]) == what_is_known(now.values())


def test_a_new_release_on_which_nothing_changed_is_a_few_lines(tmp_path):
    """A line that says what was measured, and in each chapter which release is the newest."""
    recorded = read_recorded()
    write_recorded(recorded, tmp_path)
    before = {path.name: path.read_text("utf-8").splitlines() for path in tmp_path.iterdir()}
    newest = recorded[-1]
    cells = {
        name: {
            mode: Cell.of_record(json.loads(json.dumps(synthetic.as_entry(cell)).replace(newest.torch, "9.9.0")))
            for mode, cell in modes.items()
        }
        for name, modes in newest.cells.items()
    }
    write_recorded([*recorded, Recorded("9.9.0", "0.1.0", "3.11", "Linux-x86_64", "cpu", cells)], tmp_path)
    for name, old in before.items():
        new = (tmp_path / name).read_text("utf-8").splitlines()
        if name == stored.RELEASES:
            assert len(set(new) - set(old)) == 2, "its own line, and the comma behind the one before it"
        else:
            assert [(was, now) for was, now in zip(old, new, strict=True) if was != now] == [(old[0], new[0])]


def test_what_is_committed_is_as_it_is_written(tmp_path):
    clauses = read_table().clauses
    beyond = {name: one.beyond for name, one in clauses.items() if one.beyond is not None}
    write_recorded(read_recorded(), tmp_path, beyond)
    names = {path.name for path in VERDICTS.iterdir()} - {stored.COSTS, FOLDER}
    assert names == {path.name for path in tmp_path.iterdir()}
    for name in names:
        assert (tmp_path / name).read_bytes() == (VERDICTS / name).read_bytes(), name
    for target in read_targets():
        assert as_written(target.record) == (VERDICTS / FOLDER / f"{target.name}.json").read_text("utf-8"), target.name


@given(value=VALUES, indent=st.sampled_from(["", "   "]))
def test_whatever_is_laid_out_is_read_back(value, indent):
    text = laid_out(value, indent)
    assert json.loads(text) == value
    assert in_order(value) == value
    assert ("\n" in text) <= (len(indent) + len(json.dumps(value, ensure_ascii=False)) > WIDTH), "what fits is one line"


def test_a_chapter_without_clauses_has_no_file(tmp_path):
    cell = Cell("conforms", 0, digest="a" * 12)
    reported = ("2.0.1", "0.1.0", "3.11", "Linux", "cpu")
    write_recorded([Recorded(*reported, {"a.b.one": {"eager": cell}, "b.c.three": {"eager": cell}})], tmp_path)
    write_recorded([Recorded(*reported, {"b.c.three": {"eager": cell}})], tmp_path)
    assert stored.names(str(tmp_path)) == [stored.RELEASES, "b.json"]


GOOD = [["1.4", "1.4", "absent"], ["1.9", "newest", "conforms", 0]]


@pytest.mark.parametrize(
    ("file", "spoil", "said"),
    [
        ("releases.json", lambda it: it["releases"]["1.9"].update(torch="1.8.1"), "1.9: holds torch 1.8.1"),
        ("releases.json", lambda it: it["releases"]["1.9"].update(torch="new"), "1.9: torch 'new' is not a version"),
        ("releases.json", lambda it: it["releases"].pop("1.4"), "names torch '1.4', which releases.json does not have"),
        ("releases.json", lambda it: it["releases"].update({"1": {}}), "'1' breaks the rule pattern"),
        ("releases.json", lambda it: it["releases"]["1.9"].update(colour="red"), "has the unknown key 'colour'"),
        ("a.json", lambda it: it.update(newest="1.7"), "names torch '1.7', which releases.json does not have"),
        ("a.json", lambda it: it.update(format=1), "is of format 1, this suite reads format 4"),
        ("a.json", lambda it: it["clauses"].update({"b.b.one": it["clauses"]["a.b.one"]}), "b.b.one: belongs into"),
        ("a.json", lambda it: rows(it).append(GOOD[0]), "a.b.one [eager], row 3: begins before the end of the one"),
        ("a.json", lambda it: rows(it)[0].__setitem__(1, "newest"), "row 2: begins before the end of the one before"),
        ("a.json", lambda it: rows(it)[0].__setitem__(1, "1.9"), "row 2: begins before the end of the one before"),
        ("a.json", lambda it: rows(it).__setitem__(0, ["1.9", "1.4", "absent"]), "row 1: ends before it begins"),
        ("a.json", lambda it: rows(it)[0].append({}), "[0][3] {} is not of type integer or null"),
        ("a.json", lambda it: rows(it)[0].__setitem__(2, "fine"), "'fine' is none of conforms"),
        ("a.json", lambda it: rows(it).clear(), "[] breaks the rule minItems"),
        ("a.json", lambda it: rows(it)[0].extend([None, {"restamped": True}]), "has the unknown key 'restamped'"),
        ("a.json", lambda it: run(it, {"1.7": ["eager"]}), "run 1.7, range 1: names torch '1.7', which releases.json"),
        ("a.json", lambda it: run(it, {"2.0 to 1.9": ["eager"]}), "range 1: ends before it begins"),
        ("a.json", lambda it: run(it, {"1.4, 1.4 to 1.9": ["eager"]}), "range 2: begins before the end of the one"),
        ("a.json", lambda it: run(it, {"1.4": ["copy"]}), "names the mode copy, of which it has no row"),
        ("a.json", lambda it: run(it, {"1.4": ["eager"], "1.9": ["eager"]}), "the mode eager, which is named before"),
        ("a.json", lambda it: (rows(it).pop(0), run(it, {"1.4 to newest": ["eager"]})), "run on torch 1.4, of which"),
        ("a.json", lambda it: run(it, {"1.4": []}), "[] breaks the rule minItems"),
        ("a.json", lambda it: run(it, {}), "{} breaks the rule minProperties"),
    ],
)  # fmt: skip
def test_rows_that_contradict_each_other_are_named(tmp_path, file, spoil, said):
    cells = [("absent", None), ("conforms", "always"), ("conforms", "always")]
    synthetic_cells.write(tmp_path, TABLE, {"a.b.one": cells}, ("1.4.0", "1.9.1", "2.0.1"))
    path = tmp_path / file
    document = json.loads((tmp_path / file).read_text("utf-8"))
    assert file != "a.json" or rows(document) == GOOD
    spoil(document)
    path.write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(BadInput) as caught:
        read_recorded(tmp_path)
    assert said in str(caught.value)
    assert str(caught.value).startswith(str(tmp_path))
    assert stored.HINT in str(caught.value) or "format" in said


@pytest.mark.parametrize("file", ["releases.json", "a.json"])
@pytest.mark.parametrize("read", [read_recorded, lambda folder: stored.read(str(folder))], ids=["reports", "runs"])
def test_a_record_of_the_format_before_is_refused_in_one_line(tmp_path, file, read):
    synthetic_cells.write(tmp_path, TABLE, {"a.b.one": [("absent", None)]}, ("1.4.0",))
    document = json.loads((tmp_path / file).read_text("utf-8"))
    (tmp_path / file).write_text(json.dumps({**document, "format": stored.FORMAT - 1}), encoding="utf-8")
    with pytest.raises((BadInput, stored.Damaged)) as caught:
        read(tmp_path)
    said = str(caught.value)
    assert said.startswith(f"{tmp_path / file}: is of format 3, this suite reads format 4")
    assert "\n" not in said


def run(document, ranges):
    document["clauses"]["a.b.one"]["run"] = ranges


def rows(document):
    return document["clauses"]["a.b.one"]["modes"]["eager"]
