"""The chapter on costs: every line has its table twin, gaps stay gaps, and nothing recorded is nothing shown."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from reports.costs import Costs, from_run
from reports.costs_page import HEIGHT, LEFT, NAMES_ABOVE, RIGHT, TOP, WIDTH, chapter, chart
from reports.costs_view import changed
from reports.page import TEMPLATES
from suites.selfcheck import timing_session
from suites.selfcheck.timing_session import Machine

QUIET = {"spread": 0.0, "jitter": 0.0, "interrupted": 0.0}
VERSIONS = ("1.12.1", "1.13.1", "2.0.1", "2.1.2")
SWEEP = "2026-11-20T07:00:00Z"


def costs(torch: str, python: str = "3.11.7", **content) -> Costs:
    found = from_run(timing_session.run(Machine(1, **QUIET), torch=torch, **content))
    return replace(found, environment={**found.environment, "python": python})


@pytest.fixture
def sweep() -> list[Costs]:
    """Four versions: a new Python at 1.13, a full backward hook that costs twice as much from 2.0 on."""
    slower = ({}, {}, {"full_backward": 2.0}, {"full_backward": 2.0})
    return [
        costs(torch, "3.8.18" if torch.startswith("1.12") else "3.11.7", slower=slow)
        for torch, slow in zip(VERSIONS, slower, strict=True)
    ]


def html(recorded: list[Costs]) -> str:
    loader = FileSystemLoader(TEMPLATES)
    environment = Environment(loader=loader, autoescape=True, undefined=StrictUndefined)
    return environment.get_template("costs.html").render(costs=chapter(recorded))


def without(found: Costs, hook: str) -> Costs:
    """The costs where a torch lacks a hook."""
    key = ("call", hook, "empty", 1)
    absent = replace(found.figures[key], absent=("torch.x",), values={}, each=(), weights=())
    return replace(found, figures={**found.figures, key: absent})


def test_nothing_recorded_is_nothing_shown() -> None:
    assert chapter([]) is None
    found = costs("2.15.0")
    calls = {key: figure for key, figure in found.figures.items() if key[0] != "call"}
    assert chapter([replace(found, figures=calls)]) is None
    assert html([]).strip() == ""


def test_a_line_goes_through_the_values(sweep) -> None:
    found = chart("full_backward", "full backward hook", sweep)
    assert [row[0] for row in found.rows] == ["1.12", "1.13", "2.0", "2.1"]
    assert [row[1] for row in found.rows] == ["3.8", "3.11", "3.11", "3.11"]
    assert [row[2].split(" ")[0] for row in found.rows] == ["125", "125", "250", "250"]
    (line,) = found.lines
    points = [tuple(map(float, point.split(","))) for point in line.split(" ")]
    assert points == list(found.dots)
    assert points[0][0] == LEFT
    assert points[-1] == (WIDTH - RIGHT, TOP)
    bottom = found.levels[0].at
    assert bottom - points[0][1] == pytest.approx((bottom - points[-1][1]) / 2, abs=0.1)
    assert found.alt == "full backward hook: 125 plain calls on torch 1.12, 250 on 2.1; Python 3.11 from 1.13 on"


def test_a_band_lies_around_its_line() -> None:
    noisy = [from_run(timing_session.run(Machine(seed, 0.1), torch=torch)) for seed, torch in enumerate(VERSIONS)]
    found = chart("forward", "forward hook", noisy)
    (band,) = found.bands
    points = [tuple(map(float, point.split(","))) for point in band.split(" ")]
    assert len(points) == 2 * len(VERSIONS)
    for (x, y), high, low in zip(found.dots, points, reversed(points), strict=False):
        assert (high[0], low[0]) == (x, x)
        assert high[1] < y < low[1]
    assert all(0 <= x <= WIDTH and 0 <= y <= HEIGHT for x, y in points)


def test_a_version_without_the_hook_is_a_gap(sweep) -> None:
    found = chart("forward", "forward hook", [sweep[0], without(sweep[1], "forward"), *sweep[2:]])
    assert [len(line.split(" ")) for line in found.lines] == [2]
    assert len(found.dots) == 3
    assert found.rows[1] == ("1.13", "3.11", "absent")


def test_a_version_between_two_gaps_has_a_bar() -> None:
    """A band of one version has no width; its interval is seen all the same."""
    noisy = [from_run(timing_session.run(Machine(seed, 0.1), torch=torch)) for seed, torch in enumerate(VERSIONS)]
    broken = [without(noisy[0], "forward"), noisy[1], without(noisy[2], "forward"), noisy[3]]
    found = chart("forward", "forward hook", broken)
    assert (found.lines, found.bands) == ((), ())
    assert [bar[0] for bar in found.bars] == [dot[0] for dot in found.dots]
    for (_, high, low), (_, y) in zip(found.bars, found.dots, strict=True):
        assert high < y < low
    text = html(broken)
    for x, high, low in found.bars:
        assert f'<line class="bar" x1="{x}" x2="{x}" y1="{high}" y2="{low}"/>' in text
    assert chart("forward", "forward hook", noisy).bars == ()


def test_below_noise_is_a_gap(sweep) -> None:
    found = chart("nothing_at_all", "nothing at all", sweep)
    assert (found.lines, found.dots) == ((), ())
    assert {row[2] for row in found.rows} == {"below noise"}
    assert found.alt == "nothing at all: no version shows a cost above noise"


def test_a_new_python_is_marked(sweep) -> None:
    (mark,) = chart("forward", "forward hook", sweep).pythons
    assert mark.label == "Python 3.11"
    assert LEFT < mark.at < LEFT + (WIDTH - LEFT - RIGHT) / 3
    assert f'<text x="{mark.at}" y="{NAMES_ABOVE}" text-anchor="middle">Python 3.11</text>' in html(sweep)


def test_changes_between_neighbours_are_told(sweep) -> None:
    _, told = changed(sweep).rows
    assert (told.says, told.cells[:2]) == ("1.13 to 2.0", ("full_backward hook", "2.00"))
    assert told.cells[2].startswith("500,000 (")
    assert told.cells[3].startswith("1,000,000 (")


def test_works_without_hooks_have_a_row_of_their_own() -> None:
    runs = [
        timing_session.run(Machine(seed), torch=torch, works=works)
        for seed, torch, works in ((1, "2.0.1", 1.0), (2, "2.1.2", 1.1))
    ]
    (works,) = changed([from_run(run) for run in runs]).rows
    assert (works.says, works.cells) == ("2.0 to 2.1", ("works without hooks", "1.10", "", ""))


def test_what_is_shown_of_a_change_fits_its_ratio() -> None:
    """The machine is slower by a fifth: the old time is told as it would be today."""
    pace = [Machine(1, **QUIET), Machine(1, **QUIET, pace=lambda process: 1.2)]
    slower: list[dict[str, float]] = [{}, {"full_backward": 1.5}]
    sides = [
        from_run(timing_session.run(machine, torch=torch, slower=slow))
        for machine, torch, slow in zip(pace, ("2.0.1", "2.1.2"), slower, strict=True)
    ]
    works, told = changed(sides).rows
    assert works.cells[:2] == ("works without hooks", "1.20")
    assert [cell.split(" ")[0] for cell in told.cells[1:]] == ["1.50", "600,000", "900,000"]


def test_two_pythons_are_not_compared_and_that_is_said(sweep) -> None:
    sweep[1] = costs("1.13.1", slower={"forward": 1.5})
    (told,) = changed(sweep[:2]).rows
    assert (told.says, told.cells) == ("1.12 to 1.13", ("not compared: Python 3.8 and 3.11", "", "", ""))
    assert "<td>not compared: Python 3.8 and 3.11</td>" in html(sweep)


@pytest.mark.parametrize(
    ("crowd", "said"),
    [
        ((1.0, 1.0, 1.01, 1.0), ""),
        ((1.3, 1.0, 1.0, 1.0), ""),  # the only one of its Python
        ((1.0, 1.0, 1.03, 1.0), "while torch 2.0 was measured"),
        ((1.0, 1.03, 1.0, 0.97), "while torch 1.13 was measured"),
        ((1.0, 1.0, 0.97, 1.0), ""),  # quieter than the others
        ((1.0, 1.01, 0.98, 1.0), ""),  # beside the middle one, and not beside the quietest
    ],
)
def test_versions_beside_which_somebody_used_the_machine_are_named(sweep, crowd, said) -> None:
    found = [
        replace(costs, environment={**costs.environment, "pace": round(costs.environment["pace"] * factor)})
        for costs, factor in zip(sweep, crowd, strict=True)
    ]
    assert ("Somebody else used the machine" in html(found)) == bool(said)
    assert said in html(found)


def test_the_chapter_tells_every_workload_and_the_noise(sweep) -> None:
    found, text = chapter(sweep), html(sweep)
    assert found is not None
    captions = [table.caption for table in found.tables]
    assert captions[1:] == [
        "What one hook adds to one call", "What further hooks add", "Encoder, memory, registering", "Noise of this run",
    ]  # fmt: skip
    for caption in captions:
        assert f"<summary>{caption}</summary>" in text
    assert '<th scope="col">large layer: ratio</th>' in text
    assert "forward beside itself, empty module" in text


def test_only_the_newest_sweep_is_shown(sweep) -> None:
    older = [replace(each, sweep="2026-01-01T00:00:00Z") for each in sweep[:2]]
    found = chapter([*older, *sweep[2:]])
    assert found is not None
    assert [row[0] for row in found.charts[0].rows] == ["2.0", "2.1"]
    assert found.measured == SWEEP[:10]


def test_every_chart_has_words_and_a_column_in_the_table(sweep) -> None:
    found, text = chapter(sweep), html(sweep)
    assert found is not None
    assert len(re.findall(r'<svg [^>]*role="img" aria-label="[^"]+"', text)) == len(found.charts) > 0
    for each in found.charts:
        assert f'<th scope="col">{each.says}</th>' in text
        for _, python, cell in each.rows:
            assert f"<td>{cell}</td>" in text
            assert f"<td>{python}</td>" in text
    for sentence in found.sentences:
        assert f"<li>{sentence}</li>" in text


def test_what_a_file_says_is_text(sweep) -> None:
    key = ("call", "forward", "empty", 1)
    evil = replace(sweep[-1].figures[key], says='"><script>alert(1)</script>')
    sweep[-1] = replace(sweep[-1], figures={**sweep[-1].figures, key: evil})
    text = html(sweep)
    assert "<script" not in text
    assert "&lt;script&gt;" in text
