"""Hundreds of damaged verdict files: each is read or refused in one line, by the reports and by a run of the suite."""

from __future__ import annotations

import contextlib
import io
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fixtures.run import recorded as stored
from reports.__main__ import main
from reports.data.strict import BadInput
from reports.data.verdicts import read_recorded
from suites.selfcheck import synthetic
from suites.selfcheck.record.test_fuzz_runfile import RAW, WRONG, thorough

TORCHES = ("1.4.0", "1.13.1", "2.0.1", "2.15.0")
TABLE = synthetic.clauses(12, seed=5, claims=2)
#: Values that stand in rows, so that what is damaged is often still of the right form.
ROWS = ("newest", "1.4", "2.0", "2.15", "9.9", "conforms", ["2.0", "newest", "absent"], ["2.15", "1.4", "absent"])


@pytest.fixture
def folder(tmp_path):
    made = synthetic.write_verdicts(tmp_path / "verdicts", TABLE, TORCHES)
    with synthetic.changing(made, "2.0") as cells:
        for modes in cells.values():
            modes["eager"]["restamped"] = True
    return made


@st.composite
def places(draw: Any, raw: bytes) -> int:
    """A place in a file; every line is as likely as a long one."""
    lines = raw.split(b"\n")
    line = draw(st.integers(0, len(lines) - 1))
    return sum(len(each) + 1 for each in lines[:line]) + draw(st.integers(0, len(lines[line])))


@st.composite
def damaged(draw: Any, raw: bytes) -> bytes:
    """Bytes are missing, are there twice, or are others."""
    first, last = sorted((draw(places(raw)), draw(places(raw))))
    return raw[:first] + draw(st.sampled_from((b"", raw[first:last] * 2, *RAW))) + raw[last:]


@st.composite
def spoiled(draw: Any, raw: bytes) -> bytes:
    """A value somewhere, however deep, is another one, is gone, or is there twice."""
    document: Any = json.loads(raw)
    value = document
    while True:
        keys = list(value) if isinstance(value, dict) else list(range(len(value)))
        key = draw(st.sampled_from(keys))
        inside = value[key]
        if isinstance(inside, (dict, list)) and inside and draw(st.integers(0, 4)):
            value = inside
            continue
        change = draw(st.sampled_from(("other", "other", "gone", "twice")))
        if change == "gone":
            del value[key]
        elif change == "twice" and isinstance(value, list):
            value.insert(key, inside)
        else:
            value[key] = draw(st.sampled_from((*ROWS, *WRONG)))
        return json.dumps(document, ensure_ascii=False).encode()


def complaint(read: Any, folder: Any) -> str:
    """Return what is said of the files; nothing when they are read."""
    try:
        assert read(str(folder) if read is stored.read else folder)
        return ""
    except (BadInput, stored.Damaged) as problem:
        reported = str(problem)
    assert reported.isprintable()
    assert len(reported) < 600
    assert reported.startswith(str(folder)), "the file is named"
    return reported


@pytest.mark.parametrize("damage", [damaged, spoiled], ids=lambda damage: damage.__name__)
@pytest.mark.parametrize("kind", ["releases", "chapter"])
def test_a_damaged_file_is_read_or_refused_in_one_line(folder, kind, damage):
    names = stored.names(str(folder))
    name = names[0] if kind == "releases" else names[1]
    raw, ended = (folder / name).read_bytes(), set()

    @thorough(400)
    @given(broken=damage(raw))
    def holds(broken: bytes) -> None:
        (folder / name).write_bytes(broken)
        reported, said = (complaint(read, folder) for read in (read_recorded, stored.read))
        ended.add(bool(reported))
        assert reported or not said, "what a run refuses the reports refuse, which look more closely"

    holds()
    assert ended == {False, True}


@pytest.mark.parametrize("words", [["rely"], ["diff", "1.4", "2.15"], ["record", "RUN"], ["check", "RUN"]])
def test_no_verb_ends_with_a_traceback_or_writes_over_what_it_cannot_read(folder, words):
    run = synthetic.write_run(folder.parent / "run.jsonl", TABLE, TORCHES[-1])
    good = {path.name: path.read_bytes() for path in folder.iterdir()}
    name = stored.names(str(folder))[2]
    ended = set()

    @thorough(60)
    @given(broken=spoiled(good[name]))
    def holds(broken: bytes) -> None:
        for each, raw in {**good, name: broken}.items():
            (folder / each).write_bytes(raw)
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            status = main([*(str(run) if word == "RUN" else word for word in words), "--verdicts", str(folder)])
        ended.add(status == 2)
        assert status in (0, 1) or (out.getvalue(), err.getvalue().count("\n")) == ("", 1)
        if status == 2:
            assert {path.name: path.read_bytes() for path in folder.iterdir()} == {**good, name: broken}

    holds()
    assert ended == {False, True}
