"""What hooks cost: which change is one, which files are refused, and what the chapter of the page makes of a record."""

from __future__ import annotations

import copy
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reports.costs import Figure, from_counts, read
from reports.costs_change import PULLS, Change, floor, steps
from reports.costs_page import EDGE, HEIGHT, WIDTH, chapter
from reports.costs_recorded import NOTHING, Record, read_record
from reports.strict import BadInput
from suites.selfcheck import counts

VERSIONS = {
    "1.7.1": {}, "1.12.1": {}, "1.13.1": {}, "2.0.1": {"full_backward": 2.0}, "2.1.2": {"full_backward": 2.0},
}  # fmt: skip


def figure(work: str, bare: float, added: float, name: str = "hook") -> Figure:
    return Figure(name, "forward", "forward hook", work, bare, added)


@pytest.mark.parametrize(
    ("one", "least"),
    [
        (figure("forward", 9_000, 1_500), 120),
        (figure("forward", 9_000, 1_500, "second"), 120),
        (figure("both", 130_000, 247_000), 1_040),
        (figure("both", 130_000, 247_000, "sixteenth"), 1_950),
        (figure("leaf", 120_000, 2_200), 120),
        (figure("nothing", 0, 1_200, "register"), 60),
    ],
)
def test_the_floors(one, least) -> None:
    assert floor(one) == pytest.approx(least)


@given(old=st.floats(-1e4, 1e6), new=st.floats(-1e4, 1e6))
def test_a_change_is_above_two_percent_and_above_its_floor(old, new) -> None:
    change = Change(figure("forward", 9_000, old), figure("forward", 9_000, new))
    assert change.told == (abs(new - old) > 120 and abs(new - old) > 0.02 * abs(old))
    assert (change.ratio is None) == (old <= 0)


def test_every_pull_request_is_of_a_recorded_change() -> None:
    found = {(after.minor, each.after.kind) for _, after, _, all_of in steps(read_record().costs) for each in all_of}
    assert set(PULLS) <= found


def without(told, *keys):
    return {key: value for key, value in told.items() if key not in keys}


COUNTS = {
    "cut off": (lambda told: None, "is not JSON"),
    "no counts": (lambda told: [1], "is neither a counts file nor JSON of pytest-benchmark"),
    "of later": (lambda told: {**told, "format": "hook counts 2"}, "is of the format 'hook counts 2', this checkout"),
    "no build": (lambda told: without(told, "build"), "has no key 'build'"),
    "no seeds": (lambda told: {**told, "seeds": []}, "breaks the rule minItems"),
    "one seed twice": (lambda told: {**told, "seeds": [1, 1, 2, 3, 4]}, "breaks the rule uniqueItems"),
    "no torch": (lambda told: {**told, "torch": "newest"}, "torch 'newest' is no version"),
    "a row twice": (lambda told: told["rows"].append(told["rows"][0]), "hook forward_pre: is there twice"),
    "a seed less": (
        lambda told: counts.row_of(told)["added"].pop(),
        "hook forward: has 4 numbers in added where there are 5 seeds",
    ),
    "absent and counted": (lambda told: counts.row_of(told).update(absent=["torch.x"]), "where there are 0;"),
    "a word": (lambda told: counts.row_of(told).update(added=["fast"] * 5), "'fast' is not of type number"),
    "endless": (lambda told: counts.row_of(told).update(added=[1e300] * 5), "breaks the rule maximum"),
    "a new figure": (lambda told: counts.row_of(told).update(figure="speed"), "'speed' is none of hook"),
    "a sign in a kind": (lambda told: counts.row_of(told).update(kind="<b>"), "breaks the rule pattern"),
    "another key": (lambda told: counts.row_of(told).update(more=1), "has the unknown key 'more'"),
}


def changed(told, change):
    """Return a document after a change, which may return another one in its place."""
    found = change(told)
    return found if isinstance(found, (dict, list)) and found else told


@pytest.mark.parametrize("name", COUNTS)
def test_a_damaged_counts_file_is_refused(tmp_path: Path, name) -> None:
    change, fault = COUNTS[name]
    text = json.dumps(changed(counts.document(), change))
    path = tmp_path / "counts.json"
    path.write_text(text[:-9] if name == "cut off" else text, "utf-8")
    with pytest.raises(BadInput, match=r"; count a torch with: python -m suites\.timing$") as caught:
        read(path)
    assert fault in str(caught.value)


TIMES = {
    "of other tests": (lambda told: told["benchmarks"][1].update(extra_info={}), "has no key 'kind'"),
    "no plain call": (lambda told: told["benchmarks"].pop(0) and None, "has no time of a plain call"),
    "no control": (lambda told: told["benchmarks"].pop(1) and None, "forward empty: has no time without the hook"),
    "twice": (lambda told: told["benchmarks"].append(told["benchmarks"][1]), "forward empty bare: is there twice"),
    "two torches": (lambda told: told["benchmarks"][1]["extra_info"].update(torch="2.0"), "is of 2 torches where one"),
    "no machine": (lambda told: told.pop("machine_info") and None, "has no key 'machine_info'"),
}


@pytest.mark.parametrize("name", TIMES)
def test_damaged_times_are_refused(tmp_path: Path, name) -> None:
    change, fault = TIMES[name]
    path = tmp_path / "times.json"
    path.write_text(json.dumps(changed(counts.benchmarks(), change)), "utf-8")
    with pytest.raises(BadInput, match="; measure it with: pytest suites/timing --benchmark-only") as caught:
        read(path)
    assert fault in str(caught.value)


def test_a_damaged_record_is_refused(tmp_path: Path) -> None:
    path = counts.record(tmp_path / "costs.json", {"2.14.1": {}}, counts.times())
    good = json.loads(path.read_text("utf-8"))
    for change, fault in (
        (lambda told: told.update(format=2), "is of format 2"),
        (lambda told: told["releases"]["2.14"].update(torch="2.13.0"), "2.14: holds torch 2.13.0"),
        (lambda told: told["releases"]["2.14"].update(seeds=1), "breaks the rule minimum"),
        (lambda told: told["rows"]["hook"]["forward"]["of"].update({"2.14": "lost"}), "'lost'"),
        (lambda told: told["times"]["rows"]["forward"].update(empty=[1]), "breaks the rule minItems"),
    ):
        told = copy.deepcopy(good)
        change(told)
        path.write_text(json.dumps(told), "utf-8")
        with pytest.raises(BadInput) as caught:
            read_record(path)
        assert fault in str(caught.value)


def recorded(times=None) -> Record:
    found = [from_counts(counts.document(torch, slower=kinds), Path(torch)) for torch, kinds in VERSIONS.items()]
    return Record(tuple(found), times)


def test_nothing_recorded_is_no_chapter() -> None:
    assert chapter(NOTHING) is None


def test_the_table_holds_every_kind_and_release_and_says_what_is_missing() -> None:
    found = chapter(recorded())
    assert found
    assert (found["releases"], found["cuts"]) == (["1.7", "1.12", "1.13", "2.0", "2.1"], [2])
    assert found["builds"] == [("Python 3.8.18", 2), ("Python 3.11.7", 3)]
    rows = {row.says: row.cells for _, rows in found["groups"] for row in rows}
    assert list(rows) == [says for says, *_ in counts.KINDS.values()]
    assert [cell and round(float(cell), -1) for cell in rows["full backward hook"]] == ["", 250, 250, 490, 490]
    assert found["missing"] == [
        f"full backward hook, on 1.7: this torch has no {counts.FULL}",
        "post-accumulate hook, on 1.7 to 2.0: this torch has no torch.post_accumulate",
    ]


def test_what_changed_is_told_from_neighbour_to_neighbour_newest_first() -> None:
    found = chapter(recorded())
    assert found
    ((releases, why, changes), build) = found["steps"]
    assert (releases, why) == ("1.13 → 2.0", "")
    ((says, percent, *_, pull),) = changes
    assert (says, round(float(percent[1:-2])), pull) == ("full backward hook", 100, "")
    assert build == ("1.12 → 1.13", "they were counted with different builds, python 3.8.18 and 3.11.7", [])


def test_a_line_goes_through_the_values_and_stops_where_the_build_changes() -> None:
    found = chapter(recorded())
    assert found
    row = next(row for _, rows in found["groups"] for row in rows if row.says == "full backward hook")
    (line,) = row.lines  # 1.12 alone is a dot
    points = [tuple(map(float, point.split(","))) for point in line.split(" ")]
    assert [*row.dots][1:] == points
    assert points[-1][0] == WIDTH - EDGE
    zero = HEIGHT - EDGE
    assert min(y for _, y in points) == EDGE
    assert zero - points[0][1] == pytest.approx((zero - points[1][1]) / 2, rel=0.02)
    (cut,) = found["breaks"]
    assert row.dots[0][0] < cut < row.dots[1][0]
    assert row.ends.endswith(" on 2.1")
    leaf = next(row for _, rows in found["groups"] for row in rows if row.says == "tensor hook on a leaf")
    assert [len(line.split(" ")) for line in leaf.lines] == [2, 3]
