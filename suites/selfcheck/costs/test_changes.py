"""What hooks cost: which change is one, which files are refused, and what the chapter of the page makes of a record."""

from __future__ import annotations

import copy
import json
from pathlib import Path

import pytest

from reports.costs.change import PULLS, CostChange
from reports.costs.chapter import EDGE, HEIGHT, WIDTH, chapter
from reports.costs.counts import Figure, from_counts, read
from reports.costs.recorded import Record, read_record
from reports.data.strict import BadInput
from suites.selfcheck import synthetic_counts

VERSIONS = {
    "1.7.1": {}, "1.12.1": {}, "1.13.1": {}, "2.0.1": {"full_backward": 2.0}, "2.1.2": {"full_backward": 2.0},
}  # fmt: skip


def figure(work: str, bare: float, added: float, name: str = "hook", apart: float = 0.0) -> Figure:
    return Figure(name, "forward", "forward hook", work, bare, added, added - apart, added + apart)


#: The work, the pass without the hook, what the hook adds, and the change that is the least to be reported.
LEAST = [
    ("forward", 9_000, 1_500, 50),
    ("forward", 9_000, 10_000, 200),
    ("forward", 9_000, 0, 50),
    ("forward", 9_000, -200, 50),
    ("both", 130_000, 247_000, 4_940),
    ("both", 130_000, 10_000, 650),
    ("leaf", 120_000, 2_200, 160),
    ("nothing", 0, 1_200, 36),
]


@pytest.mark.parametrize(("work", "bare", "old", "least"), LEAST)
def test_a_change_is_above_two_percent_and_above_its_floor(work, bare, old, least) -> None:
    for by, reported in ((least + 1, True), (least - 1, False)):
        changes = [CostChange(figure(work, bare, old), figure(work, bare, new)) for new in (old + by, old - by)]
        assert [each.reported for each in changes] == [reported, reported]
        assert (changes[0].ratio is None) == (old <= 0)


def test_where_counts_of_both_lie_among_each_other_nothing_changed() -> None:
    for apart, reported in ((499.0, True), (501.0, False)):
        old, new = (figure("forward", 9_000, added, apart=apart) for added in (10_000, 11_000))
        assert (CostChange(old, new).reported, CostChange(new, old).reported) == (reported, reported)


def test_every_pull_request_is_of_a_recorded_change() -> None:
    shown = chapter(read_record()) or {"steps": []}
    assert sum(bool(pull) for *_, rows in shown["steps"] for *_, pull in rows) == len(PULLS)


def test_a_figure_is_the_median_of_its_seeds() -> None:
    reported = synthetic_counts.document()
    reported["rows"][3].update(bare=[5, 5, 5, 5, 4], added=[3, 1, 2, 9, 2])
    found = from_counts(reported, Path()).figures["hook", "forward"]
    assert (found.bare, found.added, found.lowest, found.highest) == (5, 2, 1, 9)


def row(**changes):
    """Return a change of the row of a forward hook."""
    return lambda reported: reported["rows"][3].update(changes)


def key(**changes):
    """Return a change of the whole file."""
    return lambda reported: reported.update(changes)


COUNTS = {
    "no counts": (lambda reported: [1], "is neither a counts file nor JSON of pytest-benchmark"),
    "of later": (key(format="hook counts 2"), "is of the format 'hook counts 2', this suite reads 'hook counts 1'"),
    "no build": (lambda reported: reported.pop("build") and None, "has no key 'build'"),
    "one seed twice": (key(seeds=[1, 1, 2, 3, 4]), "breaks the rule uniqueItems"),
    "no torch": (key(torch="newest"), "torch 'newest' is not a version"),
    "a row twice": (lambda reported: reported["rows"].append(reported["rows"][0]), "hook forward_pre: is there twice"),
    "a seed less": (row(added=[1] * 4), "hook forward: has 4 numbers in added where there are 5 seeds"),
    "absent and counted": (row(absent=["torch.x"]), "has 5 numbers in bare where there are 0;"),
    "a word": (row(added=["fast"] * 5), "'fast' is not of type number"),
    "a new figure": (row(figure="speed"), "'speed' is none of hook"),
    "another key": (row(more=1), "has the unknown key 'more'"),
}


@pytest.mark.parametrize("name", COUNTS)
def test_a_damaged_counts_file_is_refused(tmp_path: Path, name) -> None:
    change, fault = COUNTS[name]
    reported = synthetic_counts.document()
    path = synthetic_counts.write(tmp_path / "counts.json", change(reported) or reported)
    with pytest.raises(BadInput, match=r"; count a torch in a clone with: python -m suites\.timing$") as caught:
        read(path)
    assert fault in str(caught.value)


OTHER, SEVERAL = "is not the JSON of a whole run of suites/timing", "holds more than one run"
TIMES = {
    "of other tests": (lambda reported: reported["benchmarks"][1].update(extra_info={}), OTHER),
    "no plain call": (lambda reported: reported["benchmarks"].pop(0) and None, OTHER),
    "no control": (lambda reported: reported["benchmarks"].pop(1) and None, OTHER),
    "a list": (lambda reported: {"benchmarks": [1]}, OTHER),
    "no machine": (key(machine_info=[]), OTHER),
    "twice": (lambda reported: reported["benchmarks"].append(reported["benchmarks"][1]), SEVERAL),
    "two torches": (lambda reported: reported["benchmarks"][1]["extra_info"].update(torch="2.0"), SEVERAL),
    "a torch of no version": (
        lambda reported: [one["extra_info"].update(torch="?") for one in reported["benchmarks"]][:0],
        "'?'",
    ),
    "no number": (lambda reported: reported["benchmarks"][1]["stats"].update(median=1e300), "breaks the rule maximum"),
}


@pytest.mark.parametrize("name", TIMES)
def test_damaged_times_are_refused(tmp_path: Path, name) -> None:
    change, fault = TIMES[name]
    reported = synthetic_counts.benchmarks()
    path = synthetic_counts.write(tmp_path / "times.json", change(reported) or reported)
    with pytest.raises(BadInput, match="; measure it in a clone with: pytest suites/timing --benchmark-only") as caught:
        read(path)
    assert fault in str(caught.value)


def test_a_damaged_record_is_refused(tmp_path: Path) -> None:
    path = synthetic_counts.record(tmp_path / "costs.json", {"2.14.1": {}}, synthetic_counts.times())
    good = json.loads(path.read_text("utf-8"))
    for change, fault in (
        (lambda reported: reported.update(format=2), "is of format 2"),
        (lambda reported: reported["releases"]["2.14"].update(torch="2.13.0"), "2.14: holds torch 2.13.0"),
        (lambda reported: reported["releases"]["2.14"].update(seeds=1), "breaks the rule minimum"),
        (lambda reported: reported["rows"]["hook"]["forward"]["of"].update({"2.14": "lost"}), "'lost'"),
        (lambda reported: reported["times"]["rows"]["forward"].update(empty=[1]), "breaks the rule minItems"),
    ):
        reported = copy.deepcopy(good)
        change(reported)
        synthetic_counts.write(path, reported)
        with pytest.raises(BadInput) as caught:
            read_record(path)
        assert fault in str(caught.value)


def told_of(*left_out: str):
    """Return the chapter on these versions; on some a full backward hook was not counted."""
    found = [synthetic_counts.document(torch, slower=kinds) for torch, kinds in VERSIONS.items()]
    for reported in found:
        if reported["torch"] in left_out:
            reported["rows"] = [row for row in reported["rows"] if row["kind"] != "full_backward"]
    made = chapter(Record(tuple(from_counts(reported, Path(reported["torch"])) for reported in found)))
    assert made
    return made, {row["says"]: row for _, rows in made["groups"] for row in rows}


def test_the_table_holds_every_kind_and_release_and_says_what_is_missing() -> None:
    found, rows = told_of("2.1.2")
    assert (found["releases"], found["cuts"]) == (["1.7", "1.12", "1.13", "2.0", "2.1"], [2])
    assert found["builds"] == [("Python 3.8.18", 2), ("Python 3.11.7", 3)]
    assert set(rows) == {says for says, *_ in synthetic_counts.KINDS.values()}
    cells = rows["full backward hook"]["cells"]
    assert [cell and round(float(cell), -1) for cell in cells] == ["", 250, 250, 490, ""]
    assert found["missing"] == [
        f"full backward hook, on 1.7: this torch has no {synthetic_counts.FULL}",
        "full backward hook, on 2.1: not tried",
        "post-accumulate hook, on 1.7 to 2.0: this torch has no torch.post_accumulate",
    ]


def test_what_changed_is_told_from_neighbour_to_neighbour_newest_first() -> None:
    ((releases, why, changes), build) = told_of()[0]["steps"]
    assert (releases, why) == ("1.13 → 2.0", "")
    ((says, percent, *_, pull),) = changes
    assert (says, round(float(percent[1:-2])), pull) == ("full backward hook", 100, str(PULLS["2.0", "full_backward"]))
    assert build == ("1.12 → 1.13", "they were counted with different builds, python 3.8.18 and 3.11.7", [])


def test_a_line_goes_through_the_values_and_stops_where_it_cannot_go_on() -> None:
    found, rows = told_of()
    row = rows["full backward hook"]
    (line,) = row["lines"]  # 1.12 alone is a dot
    points = [tuple(map(float, point.split(","))) for point in line.split(" ")]
    assert [*row["dots"]][1:] == points
    assert points[-1][0] == WIDTH - EDGE
    zero = HEIGHT - EDGE
    assert min(y for _, y in points) == EDGE
    assert zero - points[0][1] == pytest.approx((zero - points[1][1]) / 2, rel=0.02)
    assert row["dots"][0][0] < found["breaks"][0] < row["dots"][1][0]
    assert row["ends"].endswith(" on 2.1")
    assert [len(line.split(" ")) for line in rows["tensor hook on a leaf"]["lines"]] == [2, 3]
    _, rows = told_of("2.0.1")
    assert (rows["full backward hook"]["lines"], len(rows["full backward hook"]["dots"])) == ([], 3)
