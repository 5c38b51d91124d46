"""The run file: what is written is read back, and whatever is damaged is refused in one line."""

from __future__ import annotations

import copy
import json
import random
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reports.data import runfile, strict, verdicts
from reports.data.atlas import build
from reports.data.runfile import BadInput, read_run, read_runs
from reports.data.strict import SCHEMAS
from reports.data.table import Table
from reports.page.build import render
from suites.selfcheck import synthetic

TORCH = "2.13.0"
QUICK = settings(
    max_examples=40,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
texts = st.text(max_size=30)
words = st.text(min_size=1, max_size=12)
parts = st.from_regex(r"[a-z][a-z0-9_]{0,5}", fullmatch=True)
ids = st.builds("{}.{}.{}".format, parts, parts, parts)


@st.composite
def readings(draw):
    names = draw(st.lists(words, min_size=1, max_size=3, unique=True))
    ranges = st.sampled_from(["", "never", ">=2.0", ">=1.10,<2.0", "<1.8"])
    return [{"name": name, "torch": draw(ranges), "says": draw(texts)} for name in names]


@st.composite
def clauses(draw):
    return {
        "says": draw(words), "source": draw(st.lists(texts, min_size=1, max_size=2)), "readings": draw(readings()),
        "needs": [], "covers": draw(st.lists(words, max_size=2, unique=True)),
        "docs": draw(st.sampled_from(["", "contradicts"])), "note": draw(texts), "code": draw(texts),
        "file": draw(texts), "line": draw(st.integers(0, 999)),
        "digest": draw(st.from_regex(r"[0-9a-f]{12}", fullmatch=True)),
    }  # fmt: skip


evidence = st.fixed_dictionaries(
    {
        "plan": texts,
        "expected": st.lists(texts, max_size=3),
        "observed": st.lists(texts, max_size=3),
        "message": texts,
        "reproducer": texts,
    }
)


@st.composite
def runs(draw):
    """Draw the lines of any finished run."""
    table = draw(st.dictionaries(ids, clauses(), max_size=4))
    cells = []
    for name, clause in table.items():
        names = [reading["name"] for reading in clause["readings"]]
        some = st.lists(st.sampled_from(names), unique=True)
        cells.append(
            {
                "type": "cell", "clause": name, "mode": "eager", "verdict": draw(st.sampled_from(VERDICTS)),
                "reading": draw(st.none() | st.sampled_from(names)), "refuted": draw(some), "holds": draw(some),
                "declared": draw(st.booleans()), "seconds": draw(st.floats(0, 1e6)), "note": draw(texts),
                "evidence": draw(st.none() | evidence),
            }
        )  # fmt: skip
    return [synthetic.header(table, TORCH), *cells, synthetic.footer(cells)]


VERDICTS = ["conforms", "deviates", "crashed", "hung", "absent", "refused", "unseen"]


@QUICK
@given(lines=runs())
def test_any_run_is_read_as_it_was_written(tmp_path, lines):
    path = synthetic.write_lines(tmp_path / "a.jsonl", lines)
    run = read_run(path)
    assert run.header == lines[0]
    assert list(run.lines.values()) == lines[1:-1]
    runfile.write_runs(tmp_path / "b.jsonl", [run])
    again = read_run(tmp_path / "b.jsonl")
    assert (again.header, again.lines, again.seconds) == (run.header, run.lines, run.seconds)


@QUICK
@given(lines=runs())
def test_any_run_is_recorded_and_read_back(tmp_path, lines):
    run = read_run(synthetic.write_lines(tmp_path / "a.jsonl", lines))
    recorded = verdicts.from_runs([run], Table("0.1.0", run.clauses))
    verdicts.write_recorded([recorded], tmp_path / "verdicts")
    assert verdicts.read_recorded(tmp_path / "verdicts") == [recorded]
    assert verdicts.write_recorded([recorded], tmp_path / "verdicts") == []


def test_every_object_in_the_schemas_is_closed():
    def objects(value, place):
        if isinstance(value, dict):
            if value.get("type") == "object":
                yield place, value
            for key, below in value.items():
                yield from objects(below, [*place, key])

    for path in SCHEMAS.glob("*.json"):
        for place, found in objects(json.loads(path.read_text("utf-8")), [path.name]):
            assert "additionalProperties" in found, place


def table(count=3):
    return synthetic.clauses(count)


def lines_of(change):
    """Return the raw lines of a good run after a change of its objects."""
    lines = copy.deepcopy(synthetic.run_lines(table(), TORCH))
    changed = change(lines)
    return "".join(json.dumps(line) + "\n" for line in (lines if changed is None else changed))


def dropped(*kinds):
    return lambda lines: [line for line in lines if line["type"] not in kinds]


def update(place, **changes):
    return lambda lines: lines[place].update(changes)


def twice(verdict):
    def change(lines):
        cell = next(line for line in lines if line["type"] == "cell")
        lines.insert(len(lines) - 1, {**cell, "verdict": verdict or cell["verdict"], "evidence": None})

    return change


def deep(levels):
    return "[" * levels + "]" * levels


DAMAGED = {
    "empty": (b"", "is empty"),
    "blank": (b"\n", "line 1: is not JSON"),
    "text": (b"hello\n", "line 1: is not JSON"),
    "binary": (b"\x7fELF\x00\x01\xff\n", "line 1: byte 7 is not UTF-8"),
    "bom": (b"\xef\xbb\xbf{}\n", "line 1: is not JSON"),
    "list": (b"[1]\n", "line 1: is not a line of a run file"),
    "foreign": (b'{"type": "session"}\n', "line 1: has the type 'session'"),
    "type is a list": (b'{"type": [1]}\n', "line 1: has the type [1]"),
    "deep": (deep(100_000).encode() + b"\n", "line 1: is nested deeper than"),
    "number": (b'{"type": ' + b"9" * 5000 + b"}\n", "line 1: is not JSON"),
    "not a number": (b'{"type": NaN}\n', "line 1: is not JSON (NaN is not a JSON number)"),
    "twin key": (b'{"type": "header", "type": "header"}\n', "the key 'type' is there twice"),
    "surrogate": (b'{"type": "\\ud800"}\n', "half of a surrogate pair"),
    "format": (lines_of(update(0, format=2)), "line 1: is of format 2, this suite reads format 1"),
    "unknown key": (lines_of(update(0, colour="red")), "line 1: has the unknown key 'colour'"),
    "no header": (lines_of(dropped("header")), "line 1: a started line comes before the header"),
    "second header": (lines_of(lambda lines: lines.insert(3, lines[0])), "line 4: a second header before the footer"),
    "after the footer": (lines_of(lambda lines: lines.append(lines[2])), "a cell line comes after the footer"),
    "no cell": (lines_of(lambda lines: lines[:1]), "the run is not finished: no cell of"),
    "unknown clause": (lines_of(update(2, clause="a.b.c")), "line 3: is of the clause a.b.c, which"),
    "unknown mode": (lines_of(update(2, mode="jit")), "line 3: is of the mode jit"),
    "unknown reading": (lines_of(update(2, reading="<b>")), "line 3: names the reading '<b>'"),
    "unknown verdict": (lines_of(update(2, verdict="passed")), "line 3: at ['verdict'] 'passed' is none of conforms"),
    "endless seconds": (lines_of(update(2, seconds=1e999)).replace("Infinity", "1e999"), "line 3: at ['seconds']"),
    "twice the same": (lines_of(twice(None)), "a second cell of"),
    "twice, another verdict": (lines_of(twice("hung")), "hung after"),
    "footer lies": (lines_of(update(-1, cells=99)), "the footer speaks of 99 cells"),
    "no version": (lines_of(update(0, torch="newest")), "torch 'newest' is not a version"),
    "shard": (lines_of(update(0, shard=[3, 2])), "shard 3 of 2 cannot be"),
    "control signs": (lines_of(update(0, torch="\x1b[31m\n2.0")), r"torch '\x1b[31m\n2.0' is not a version"),
}  # fmt: skip


@pytest.mark.parametrize("name", DAMAGED)
def test_damage_is_told_in_one_line(tmp_path, name):
    content, said = DAMAGED[name]
    path = tmp_path / "run.jsonl"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(BadInput) as caught:
        read_runs(path)
    text = str(caught.value)
    assert said in text
    assert text.startswith(str(path)), "the file is named"
    assert "; " in text, "the hint is named"
    assert text.isprintable(), "one line, nothing that a terminal acts upon"
    assert len(text) < 500


def test_a_file_that_is_none(tmp_path):
    for path, said in (
        (tmp_path, "is a directory"),
        (tmp_path / "none", "no such file"),
        (Path("/dev/null"), "regular"),
    ):
        with pytest.raises(BadInput, match=said):
            read_runs(path)


def test_a_huge_file_is_refused_without_reading_it(tmp_path, monkeypatch):
    path = tmp_path / "run.jsonl"
    with path.open("wb") as file:
        file.truncate(strict.MAX_FILE_BYTES + 1)  # sparse: takes no room
    with pytest.raises(BadInput, match="is larger than"):
        read_runs(path)
    monkeypatch.setattr(strict, "MAX_LINE_BYTES", 100)
    with pytest.raises(BadInput, match="line 1: is larger than"):
        read_runs(synthetic.write_run(path, table(), TORCH))


def test_a_cut_off_run_says_how_to_resume_and_can_still_be_looked_at(tmp_path):
    path = synthetic.write_run(tmp_path / "run.jsonl", table(), TORCH)
    content = path.read_bytes()
    path.write_bytes(content[: content.rindex(b'"seconds"')])
    with pytest.raises(BadInput, match=r"the last line is cut off; resume it with: python -m pytest --resume"):
        read_runs(path)
    assert len(read_run(path, partial=True).cells) == 3


def test_a_run_without_footer_is_whole_once_every_node_has_its_cell(tmp_path):
    lines = synthetic.run_lines(table(), TORCH)
    assert read_run(synthetic.write_lines(tmp_path / "a", lines[:-1])).complete
    crashed = synthetic.write_lines(tmp_path / "b", lines[:-2])
    with pytest.raises(BadInput, match=r"not finished: no cell of .* \(1 missing\); resume it with"):
        read_run(crashed)
    assert len(read_run(crashed, partial=True).missing) == 1


def mutated(content: bytes, rng: random.Random) -> bytes:
    """Damage a file as disks, editors and enemies do."""
    place, other = sorted(rng.randrange(len(content)) for _ in range(2))
    kind = rng.randrange(6)
    if kind == 0:
        return content[:place]
    if kind == 1:
        return content[:place] + bytes([rng.randrange(256)]) + content[place + 1 :]
    if kind == 2:
        return content[:place] + content[other:]
    if kind == 3:
        return content[:other] + content[place:other] + content[other:]
    lines = content.splitlines(keepends=True)
    if kind == 4:
        rng.shuffle(lines)
        return b"".join(lines)
    return b"".join(rng.choices(lines, k=len(lines)))


def said_of(path, partial=False):
    """Return the complaint about a file; a file that is good enough must make a page."""
    try:
        found = read_runs(path, partial=partial)
    except BadInput as problem:
        return str(problem)
    render(build(verdicts.Table("0", {}), [], found[:1]))
    return ""


def test_hundreds_of_damaged_files_are_read_or_refused_in_one_line(tmp_path):
    content = synthetic.write_run(tmp_path / "good.jsonl", table(4), TORCH).read_bytes()
    path = tmp_path / "run.jsonl"
    said = []
    for seed in range(300):
        path.write_bytes(mutated(content, random.Random(seed)))
        said += [said_of(path), said_of(path, partial=True)]
    assert all(text.isprintable() for text in said)
    assert sum(map(bool, said)) > 400, "damage that is not noticed would be the end of trust"


WRONG = (None, True, 0, -1, 1.5, 10**30, "", "x", "<script>", "a.b.c", "2.0", [], [[]], {}, {"a": 1}, ["x", "x"])


def spoiled(lines, rng):
    """Put a wrong value somewhere into well-formed lines."""
    value = rng.choice(lines)
    while True:
        key = rng.choice(list(value) if isinstance(value, dict) else range(len(value)))
        if not isinstance(value[key], (dict, list)) or not value[key] or rng.random() < 0.3:
            value[key] = rng.choice(WRONG)
            return lines
        value = value[key]


def test_hundreds_of_wrong_values_are_read_or_refused_in_one_line(tmp_path):
    good = synthetic.run_lines(table(4), TORCH)
    good[2].update(verdict="deviates", declared=True, evidence=synthetic.evidence())
    good[-1] = synthetic.footer([line for line in good if line["type"] == "cell"])
    said = []
    for seed in range(400):
        lines = spoiled(copy.deepcopy(good), random.Random(seed))
        said.append(said_of(synthetic.write_lines(tmp_path / "run.jsonl", lines)))
    assert all(text.isprintable() for text in said)
    assert sum(map(bool, said)) > 200


def test_one_line_that_is_cut_off_is_resumed_only_where_it_is_ours(tmp_path):
    path = tmp_path / "one.jsonl"
    for content, said in (
        (b'{"type": "header", "form', "resume it with"),
        (b'{"some": "oth', "is not JSON"),
        ("{}".encode("utf-16"), "UTF-8"),
    ):
        path.write_bytes(content)
        with pytest.raises(BadInput, match=said):
            read_run(path)
