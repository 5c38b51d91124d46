"""The verb overhead between two torches: what is compared, told of the versions between them, or not compared."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from reports.__main__ import main
from reports.strict import validate
from suites.selfcheck import synthetic, timing_session
from suites.selfcheck.timing_session import Machine

FORMS = ["text", "json", "markdown"]
#: Versions of a sweep, and how many times as much the full backward hook adds there.
SWEEP = {"1.12.1": 1.0, "1.13.1": 1.0, "2.0.1": 1.4, "2.1.2": 1.4}


class Bench:
    """Makes runs, records them and asks for comparisons."""

    def __init__(self, path: Path, capsys) -> None:
        self.path, self.capsys = path, capsys

    def run(
        self, name: str, seed: int, machine: Machine | None = None, python: str = "3.11.7", more: float = 0.0, **content
    ) -> Path:
        lines = timing_session.session(machine or Machine(seed), **content)
        for each in lines:
            if each.get("figure") == "process":
                each["python"] = python
            if (each.get("figure"), each.get("hook")) == ("call", "nothing_at_all"):
                each["added"] += more
        return synthetic.write_lines(self.path / f"{name}.jsonl", lines)

    def ask(self, *arguments: object, form: str = "text"):
        assert main(["overhead", *map(str, arguments), "--format", form, "--costs", str(self.path / "costs")]) == 0
        out = self.capsys.readouterr().out
        return json.loads(out) if form == "json" else out

    def record(self) -> None:
        runs = [
            self.run(
                torch,
                seed,
                None,
                "3.8.18" if torch == "1.12.1" else "3.11.7",
                torch=torch,
                slower={"full_backward": much},
            )
            for seed, (torch, much) in enumerate(SWEEP.items())
        ]
        self.ask("--record", *runs)


@pytest.fixture
def bench(tmp_path: Path, capsys) -> Bench:
    return Bench(tmp_path, capsys)


def compared(bench: Bench, before: object, after: object) -> dict:
    told = bench.ask("--from", before, "--to", after, form="json")
    validate(told, "costs.schema.json#/$defs/comparison", bench.path, "")
    return told


@pytest.mark.parametrize("form", FORMS)
def test_nothing_changes_between_two_runs_of_one_torch(bench, form) -> None:
    out = bench.ask("--from", bench.run("a", 1), "--to", bench.run("b", 2), form=form)
    assert out["changes"] == [] if form == "json" else ": 0 of " in out


def test_a_change_is_told_with_what_fits_its_ratio(bench) -> None:
    one, other = bench.run("a", 1, torch="2.14.1"), bench.run("b", 2, slower={"full_backward": 1.4})
    first, *told = bench.ask("--from", one, "--to", other).splitlines()
    assert first.startswith("torch 2.14.1+cpu -> 2.15.0+cpu: 1 of ")
    assert re.search(r" figures changed by more than 8%; works without hooks: (1.00|0.99\d) times$", first)
    (line,) = told
    found = re.fullmatch(r"  call full_backward on empty: (\S+) times, (\S+) \(.*\) ns -> (\S+) \(.*\) ns", line)
    assert found, line
    ratio, old, new = (float(each.replace(",", "")) for each in found.groups())
    assert ratio == pytest.approx(1.4, abs=0.02)
    assert new / old == pytest.approx(ratio, rel=0.01)


def test_what_leaves_the_noise_is_told(bench) -> None:
    quiet, costly = bench.run("quiet", 1), bench.run("costly", 2, more=5000.0)
    (told,) = bench.ask("--from", quiet, "--to", costly).splitlines()[1:]
    assert re.match(r"  call nothing_at_all on empty: no ratio, below noise -> [45],\d+ \(.*\) ns", told)
    (change,) = compared(bench, costly, quiet)["changes"]
    assert (change["ratio"], change["after"]) == (None, None)
    assert change["before"][1] == pytest.approx(5000, rel=0.1)


def test_recorded_versions_are_told_one_by_one(bench) -> None:
    """The versions from the one to the other, and what changed from each to the next."""
    bench.record()
    text = bench.ask("--from", "1.13", "--to", "2.1")
    head, versions, changes = text.split("\n\n")
    assert head.startswith("torch 1.13.1 -> 2.1.2: 1 of ")
    _, heads, *rows = versions.splitlines()
    assert heads.split() == ["hook", "1.13", "2.0", "2.1"]
    (row,) = [row for row in rows if row.startswith("full_backward hook ")]
    assert [float(mid) for mid in re.findall(r"([\d.]+) \(", row)] == pytest.approx([125, 175, 175], rel=0.03)
    assert [line.split("  ")[0] for line in changes.splitlines()[2:]] == ["1.13 to 2.0"]

    told = compared(bench, "1.13", "2.1")
    assert [each["torch"] for each in told["versions"]] == ["1.13", "2.0", "2.1"]
    assert told["versions"][0]["plain_calls"]["nothing_at_all"] is None
    assert [len(each["changes"]) for each in told["neighbours"]] == [1, 0]

    markdown = bench.ask("--from", "1.13", "--to", "2.1", form="markdown")
    assert "| hook | 1.13 | 2.0 | 2.1 |" in markdown
    assert "| 1.13 to 2.0 | full\\_backward hook | 1." in markdown


def test_two_pythons_are_not_compared(bench) -> None:
    bench.record()
    said = "not compared: Python 3.8 and 3.11"
    text = bench.ask("--from", "1.12", "--to", "2.0")
    assert text.splitlines()[0] == f"torch 1.12.1 -> 2.0.1: {said}"
    assert re.search(rf"^1.12 to 1.13 +{said}$", text, re.MULTILINE)
    assert said in bench.ask("--from", "1.12", "--to", "2.0", form="markdown")
    told = compared(bench, "1.12", "2.0")
    assert (told["not_compared"], told["compared"], told["works_without_hooks"]) == (said, 0, None)
    assert [each["not_compared"] for each in told["neighbours"]] == [said, None]


@pytest.mark.parametrize(("torch", "told"), [("2.15.0", ["full_backward"]), ("2.14.1", [])])
def test_two_torches_must_differ_by_more_than_two_runs_of_one(bench, torch, told) -> None:
    """One that is installed anew is not quite the one it was."""
    one, other = bench.run("a", 1, torch=torch), bench.run("b", 2, slower={"full_backward": 1.06})
    found = compared(bench, one, other)
    assert ([each["hook"] for each in found["changes"]], found["margin"]) == (told, 0.03 if told else 0.08)


def test_a_gate_of_two_torches_asks_for_no_less_than_they_differ(bench, capsys) -> None:
    old, new = bench.run("old", 1, torch="2.14.1"), bench.run("new", 2)
    gate = ["overhead", str(new), "--baseline", str(old), "--costs", str(bench.path / "costs"), "--overhead-max-ratio"]
    assert main([*gate, "forward=1.07"]) == 2
    assert "'1.07' is no ratio of 1.08 or more" in capsys.readouterr().err
    assert main([*gate, "forward=1.08"]) == 0


def test_a_gate_needs_one_python(bench, capsys) -> None:
    old, new = bench.run("old", 1, python="3.8.18"), bench.run("new", 2)
    gate = ["overhead", str(new), "--baseline", str(old), "--overhead-max-ratio", "forward=1.3"]
    assert main([*gate, "--costs", str(bench.path / "costs")]) == 2
    assert (
        "new.jsonl: not compared: Python 3.8 and 3.11; measure both again, with one Python" in capsys.readouterr().err
    )


def test_two_times_of_which_one_was_crowded_are_not_compared(bench, capsys) -> None:
    """What somebody else does to the caches is not what the clock does, which may run as it likes."""
    bench.run("quiet", 1, torch="2.14.1")
    bench.run("clock", 2, Machine(2, pace=lambda process: 1.3))
    bench.run("busy", 3, Machine(3, crowd=1.2), slower={"full_backward": 1.4})
    bench.run("beside", 4, Machine(4, crowd=1.21), torch="2.14.1")
    quiet, clock, busy, beside = (bench.path / f"{name}.jsonl" for name in ("quiet", "clock", "busy", "beside"))
    said = "not compared: somebody else or torch itself filled the caches while torch 2.15.0+cpu was measured"
    assert bench.ask("--from", quiet, "--to", busy) == f"torch 2.14.1+cpu -> 2.15.0+cpu: {said}\n"
    assert bench.ask("--from", busy, "--to", quiet) == f"torch 2.15.0+cpu -> 2.14.1+cpu: {said}\n"
    assert compared(bench, quiet, busy)["not_compared"] == said
    assert compared(bench, quiet, clock)["not_compared"] is None
    assert [each["hook"] for each in compared(bench, beside, busy)["changes"]] == ["full_backward"]
    gate = ["overhead", str(busy), "--baseline", str(quiet), "--overhead-max-ratio", "forward=1.3"]
    assert main([*gate, "--costs", str(bench.path / "costs")]) == 2
    assert f"{said}; measure both again, with one Python and while nobody else uses" in capsys.readouterr().err


def test_who_records_is_told_what_to_measure_again(bench) -> None:
    runs = [bench.run(torch, seed, Machine(seed, crowd=crowd), torch=torch)
            for seed, (torch, crowd) in enumerate({"2.0.1": 1.0, "2.1.2": 1.1, "2.2.2": 1.01}.items())]  # fmt: skip
    bench.path.joinpath("costs").mkdir()
    assert main(["overhead", "--record", *map(str, runs), "--costs", str(bench.path / "costs")]) == 0
    *paths, told = bench.capsys.readouterr().out.splitlines()
    assert [Path(path).name for path in paths] == ["2.0.json", "2.1.json", "2.2.json"]
    assert told == "torch 2.1.2+cpu: somebody else used the machine beside it; measure it again, and record"
