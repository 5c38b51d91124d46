"""The suites are the only home of what a clause says: none of it is recorded, and what is recorded finds it there."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fixtures.run import recorded as stored
from reports.data import table as home
from reports.data.strict import SCHEMAS, BadInput, validate
from reports.data.table import document
from reports.data.verdicts import VERDICTS, read_recorded, read_table
from suites.selfcheck import synthetic

#: Keys of the table whose texts are names or code, which may be in a plan or in a trace.
NAMES = {"name", "torch", "effect", "verdict", "digest", "file", "line", "level", "docs", "ref", "code", "matters_if"}
NAMES |= {"about", "cause", "needs", "see"}
#: A shorter text is in others by chance.
SHORTEST = 20


def texts(value: Any) -> Iterator[str]:
    """All texts in plain data."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from (text for each in value.values() for text in texts(each))
    elif isinstance(value, list):
        yield from (text for each in value for text in texts(each))


def words(value: Any) -> Iterator[str]:
    """The sentences in a part of the clause table, its conditions, notes and sources."""
    if isinstance(value, dict):
        yield from (text for key, each in value.items() if key not in NAMES for text in words(each))
    elif isinstance(value, list):
        yield from (text for each in value for text in words(each))
    elif isinstance(value, str) and len(value) >= SHORTEST:
        yield value


def said_in(folder: Path) -> list[str]:
    """What is in the record of what the suites say."""
    table = document(VERDICTS)
    said = {text for part in (table["clauses"], table["modes"]) for text in words(part)}
    said |= {exclusion["needs"] for found in table["modes"].values() for exclusion in found["exclusions"]}
    files = [json.loads((folder / name).read_text("utf-8")) for name in stored.names(str(folder))[1:]]
    recorded = "\n".join(text for file in files for text in texts(file))
    return sorted(text for text in said if text in recorded)


def test_no_word_of_a_clause_is_recorded() -> None:
    assert said_in(VERDICTS) == []


def test_a_recorded_word_would_be_noticed(tmp_path: Path) -> None:
    folder = tmp_path / "verdicts"
    folder.mkdir()
    for name in stored.names(str(VERDICTS)):
        (folder / name).write_bytes((VERDICTS / name).read_bytes())
    clause = read_table().clauses["retain.keep.once_is_enough"]
    with synthetic.changing(folder, "2.15") as cells:
        cells[clause.id]["eager"]["note"] = clause.says
    assert said_in(folder) == [clause.says]


def test_all_that_is_recorded_is_in_the_suites() -> None:
    table, wrong = read_table(), set()
    for release in read_recorded():
        for name, modes in release.cells.items():
            if name not in table.clauses:
                wrong.add(f"there is no clause {name}: python -m reports record --gone")
                continue
            clause = table.clauses[name]
            for mode, cell in modes.items():
                places = {cell.reading, *cell.holds} - {None} if cell.digest == clause.digest else set()
                wrong |= {f"{name} [{mode}] cites the reading {one}" for one in places - {*range(len(clause.readings))}}
                known = {one.name for one in clause.deviations} | {rule for at, rule in table.rules if at == mode}
                if cell.declared and cell.deviation not in known:
                    wrong.add(f"{name} [{mode}] deviates by {cell.deviation}")
                lacks = {one for one in cell.lacks if "." not in one} - table.exclusions.keys()
                wrong |= {f"{name} [{mode}] lacks {one}" for one in lacks}
    assert sorted(wrong) == []


def test_the_table_fits_its_schema() -> None:
    validate(document(VERDICTS), "clauses.schema.json", SCHEMAS, "")


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A clone with suites that say how often they were asked."""
    for folder in ("suites/selfcheck", "fixtures", "reports"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "suites" / "__init__.py").write_text("")
    (tmp_path / "suites" / "table.py").write_text(
        'with open("asked", "a") as file: file.write("x")\nprint(\'{"asked": %d}\' % len(open("asked").read()))\n'
    )
    monkeypatch.setattr(home, "ROOT", tmp_path)
    return tmp_path


def test_the_table_is_made_anew_when_a_source_changes(clone: Path) -> None:
    def asked() -> int:
        return document(clone / "reports" / "verdicts")["asked"]

    assert (asked(), asked()) == (1, 1)
    (clone / "suites" / "selfcheck" / "test_it.py").write_text("no clause is there")
    assert asked() == 1
    (clone / "fixtures" / "one.py").write_text("x = 1")
    assert (asked(), asked()) == (2, 2)
    (clone / "reports" / "out" / "table.json").write_text("{")
    assert asked() == 3
    (clone / "fixtures" / "one.py").unlink()
    assert asked() == 4


def test_suites_that_cannot_be_read_are_named_in_one_line(clone: Path) -> None:
    (clone / "suites" / "table.py").write_text("raise ValueError('two readings have one name')")
    with pytest.raises(BadInput, match="the suites cannot be read \\(ValueError: two readings have one name\\)"):
        document(clone / "reports" / "verdicts")
