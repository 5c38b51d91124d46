"""merge: each way in which a merge could lie has an error of its own, and an honest one is whole."""

from __future__ import annotations

import copy
import hashlib
import json

import pytest

from reports.__main__ import main
from reports.data.atlas import build
from reports.data.runfile import read_runs
from reports.data.verdicts import Table
from suites.selfcheck import synthetic

TORCH, OTHER = "2.15.0", "2.14.0"
TABLE = synthetic.clauses(11, seed=3)


class Room:
    """A folder of run files."""

    def __init__(self, path):
        self.path, self.out = path, path / "merged.jsonl"

    def shard(self, number, of, name="", torch=TORCH, table=TABLE, **changes):
        """Write one shard as the recorder cuts it: dealt out in turn."""
        whole = copy.deepcopy(synthetic.run_lines(table, torch))
        header, cells = whole[0], [line for line in whole if line["type"] == "cell"][number - 1 :: of]
        wanted = {cell["clause"] for cell in cells}
        header.update(
            shard=[number, of],
            selection=f"{len(table)}-{hashlib.sha256(repr(sorted(table)).encode()).hexdigest()[:12]}",
            nodes={node: cell for node, cell in header["nodes"].items() if cell[0] in wanted},
            clauses={name: clause for name, clause in header["clauses"].items() if name in wanted},
        )
        header.update(changes)
        header["torch"] = header.pop("torch_build", header["torch"])
        if header["selection"] is None:
            del header["selection"]  # as runs had it before they reported what they were cut from
        return self.write(name or f"{number}-{of}.jsonl", [header, *cells, synthetic.footer(cells)])

    def write(self, name, lines):
        return synthetic.write_lines(self.path / name, lines)

    def lines(self, path):
        return [json.loads(line) for line in path.read_text("utf-8").splitlines()]

    def merge(self, *paths):
        return main(["merge", *map(str, paths), "--out", str(self.out)])


@pytest.fixture
def room(tmp_path):
    return Room(tmp_path)


@pytest.fixture
def refused(room, capsys):
    """Merge, and return the one line that says why not; nothing is written then."""

    def call(*paths):
        assert room.merge(*paths) == 2
        out, err = capsys.readouterr()
        assert (out, err.count("\n"), room.out.exists()) == ("", 1, False)
        assert any(err.startswith(str(path)) for path in paths)
        return err

    return call


@pytest.mark.parametrize("of", [1, 2, 4, 11])
def test_shards_in_any_order_become_the_whole_run(room, of):
    shards = [room.shard(number, of) for number in range(1, of + 1)]
    assert room.merge(*reversed(shards)) == 0
    (merged,) = read_runs(room.out)
    whole = synthetic.run_lines(TABLE, TORCH)
    assert merged.header["clauses"] == TABLE
    assert merged.header["shard"] == [1, 1]
    assert sorted(merged.cells) == sorted((line["clause"], "eager") for line in whole if line["type"] == "cell")
    assert merged.header["nodes"] == whole[0]["nodes"]


def test_versions_platforms_and_devices_merge_into_columns_of_one_atlas(room):
    runs = [
        room.shard(1, 1, "a"),
        room.shard(1, 1, "b", torch=OTHER),
        room.shard(1, 1, "c", platform="Darwin-arm64", python="3.12.1"),
        room.shard(1, 1, "d", device="cuda"),
    ]
    assert room.merge(*runs) == 0
    atlas = build(Table("0", {}), [], read_runs(room.out))
    assert {column.key for column in atlas.columns} == {
        f"{key} run" for key in ("2.14", "2.15", "2.15 Darwin-arm64", "2.15 cuda")
    }
    assert all(not atlas.counts(column).get("unseen") for column in atlas.columns)


def test_a_missing_footer(room, refused):
    first, second = room.shard(1, 2), room.shard(2, 2)
    room.write(first.name, room.lines(first)[:-2])
    text = refused(second, first)
    assert "the run is not finished: no cell of" in text
    assert "resume it with" in text


def test_only_the_footer_is_missing(room, refused):
    """All cells are there, and what happened after the last one is not known."""
    first, second = room.shard(1, 2), room.shard(2, 2)
    room.write(first.name, room.lines(first)[:-1])
    assert "the run is not finished: it has no footer; resume it with" in refused(second, first)


def test_shards_of_as_many_other_cells(room, refused):
    """Nothing is reported twice and the sizes fit, but half of each selection is nowhere."""
    names = sorted(TABLE)
    one, other = ({name: TABLE[name] for name in part} for part in (names[:6], names[5:]))
    one.pop(names[5])
    other.pop(names[5])
    text = refused(room.shard(1, 2, table=one), room.shard(2, 2, table=other))
    assert "shard 2 of 2 was cut from other cells than shard 1" in text


def test_one_shard_of_two_selections(room, refused):
    names = sorted(TABLE)
    one, other = ({name: TABLE[name] for name in part} for part in (names[:5], names[5:10]))
    shards = [room.shard(1, 2, "a", table=one), room.shard(2, 2, "b", table=one), room.shard(1, 2, "c", table=other)]
    assert "is shard 1 of 2, as" in refused(*shards)


def test_a_cell_told_twice_with_different_verdicts(room, refused):
    one, lines = room.shard(1, 1, "one"), room.lines(room.shard(1, 1, "two"))
    cell = next(line for line in lines if line.get("verdict") == "conforms")
    cell.update(verdict="hung", reading=None, refuted=[])
    lines[0]["nodes"] = {node: key for node, key in lines[0]["nodes"].items() if key[0] == cell["clause"]}
    two = room.write("two", [lines[0], cell, synthetic.footer([cell])])
    assert f"{cell['clause']} [eager] is also in {one} (conforms there, hung here)" in refused(one, two)


def test_a_cell_told_twice_alike(room, refused):
    assert "(both say " in refused(room.shard(1, 1, "one"), room.shard(1, 1, "two"))


def test_a_cell_told_twice_in_one_file(room, refused):
    lines = room.lines(room.shard(1, 1))
    cell = next(line for line in lines if line["type"] == "cell")
    assert "a second cell of" in refused(room.write("twice", [*lines[:-1], cell, lines[-1]]))


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"format": 2}, "is of format 2, this suite reads format 1"),
        ({"colour": "red"}, "has the unknown key 'colour'"),
        ({"suite": "0.2.0"}, "was run with the suite 0.2.0, but"),
        ({"python": "3.12.1"}, "python is '3.12.1', but"),
        ({"profile": "search"}, "profile is 'search', but"),
        ({"examples": 5}, "examples is 5, but"),
        ({"hypothesis": "6.113.0"}, "hypothesis is '6.113.0', but None in"),
        ({"torch_build": "2.15.0+cu132"}, "torch is '2.15.0+cu132', but"),
        ({"modes": ["eager", "compiled"]}, "has the modes eager, compiled, but"),
    ],
)
def test_shards_of_another_schema_suite_or_environment(room, refused, changes, said):
    assert said in refused(room.shard(1, 2), room.shard(2, 2, **changes))


def test_another_suite_is_refused_between_versions_too(room, refused):
    assert "was run with the suite 0.2.0" in refused(
        room.shard(1, 1), room.shard(1, 1, "b", torch=OTHER, suite="0.2.0")
    )


@pytest.mark.parametrize("torch", [TORCH, OTHER])
def test_another_text_of_a_clause(room, refused, torch):
    table = copy.deepcopy(TABLE)
    for clause in table.values():
        clause["digest"] = "f" * 12
    other = room.shard(2, 2, "other", torch=torch, table=table) if torch == TORCH else None
    other = other or room.shard(1, 1, "other", torch=torch, table=table)
    first = room.shard(1, 1, "first")
    assert f"has another text than in {first}; run all with one suite" in refused(first, other)


def test_a_missing_shard(room, refused):
    assert "shard 2 of 3 is missing; give all shards" in refused(room.shard(1, 3), room.shard(3, 3))
    assert "shard 2, 3, 4, 5, 6 of 11 is missing" in refused(room.shard(1, 11))


def test_shards_that_were_cut_from_different_cells(room, refused):
    fewer = dict(list(TABLE.items())[:4])
    old = {"selection": None}
    text = refused(room.shard(1, 2, **old), room.shard(2, 2, table=fewer, **old))
    assert "shard 2 of 2 has 2 cells and the first one 6: not cut from the same cells" in text
    less, more = room.shard(1, 2, "less", table=fewer, **old), room.shard(2, 2, "more", **old)
    assert "not cut from the same cells" in refused(less, more)
    assert "was cut from other cells" in refused(room.shard(1, 2), room.shard(2, 2, table=fewer))


def test_the_same_file_twice_and_the_output_among_the_inputs(room, refused, capsys):
    one = room.shard(1, 1)
    assert "is given twice" in refused(one, one)
    assert main(["merge", str(one), "--out", str(one)]) == 2
    assert "is also one of the files to read" in capsys.readouterr().err
    assert read_runs(one)
