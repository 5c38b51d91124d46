"""The verb overhead: what it prints, compares, records, refuses and gates, and with which exit status."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from reports.__main__ import main
from reports.costs.recorded import read_record
from reports.data.strict import validate
from suites.selfcheck import synthetic_counts

#: How much more a kind costs on the slow torch: by more than two counts of one torch differ, whatever the kind.
SLOW = {"forward": 1.06, "full_backward": 1.06}


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    """Write counts of a torch, of the same again, of a slow one, another Python, one seed, no valgrind; and times."""
    small = synthetic_counts.document(seeds=[1])
    nothing = synthetic_counts.document()
    for one, row in zip(small["rows"], nothing["rows"], strict=True):
        one.update(bare=one["bare"][:1], added=one["added"][:1])
        row.update(bare=[], added=[], why="there is no valgrind")
    documents = {
        "base": synthetic_counts.document(), "again": synthetic_counts.document(slower={"forward": 1.0}),
        "one": small, "none": nothing,
        "slow": synthetic_counts.document("2.15.0a0+gitabc", slower=SLOW),
        "old": synthetic_counts.document("1.12.1+cpu"),
        "times": synthetic_counts.benchmarks(), "verdict": {"type": "header"},
        "built": synthetic_counts.document(
            build={**nothing["build"], "python": "3.11.7 (main, Jun  1 2026) [GCC 12.2.0]"}
        ),
    }  # fmt: skip
    return {name: synthetic_counts.write(tmp_path / f"{name}.json", reported) for name, reported in documents.items()}


def call(tmp_path: Path, *arguments: object) -> int:
    return main(["overhead", *map(str, arguments), "--costs", str(tmp_path / "costs.json")])


def test_a_counts_file_is_shown(tmp_path, files, capsys) -> None:
    assert call(tmp_path, files["base"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("torch 2.14.1: Python 3.11.7, glibc 2.36, valgrind-3.19.0, seeds: 5\n")
    assert re.search(r"^hook +without it +one hook adds +the 2nd +register and remove$", out, re.M)
    assert re.search(r"^forward hook +9,000 +(11,99|12,00)\d +4,(79|80)\d +1,(19|20)\d$", out, re.M)


def test_what_is_not_counted_says_why(tmp_path, files, capsys) -> None:
    assert call(tmp_path, files["old"]) == 0
    out = capsys.readouterr().out
    assert re.search(r"^post-accumulate hook +not counted +not counted +not counted$", out, re.M)
    assert "\npost-accumulate hook: not counted, this torch has no torch.post_accumulate.\n" in out
    assert call(tmp_path, files["none"]) == 0
    assert capsys.readouterr().out.endswith("\nnothing was counted: there is no valgrind\n")


def test_times_are_shown_with_their_noise(tmp_path, files, capsys) -> None:
    assert call(tmp_path, files["base"], files["times"]) == 0
    _, out = capsys.readouterr().out.split("Nanoseconds that one hook adds on Made-up 9000, ")
    assert out.startswith("torch 2.14.1, Python 3.11.7; a plain Python call takes 60.0; in brackets the interquartile")
    assert re.search(r"^forward hook +900 \(12.0, 30.0\) +15.0 +900 \(180, 198\) +15.0 +below noise$", out, re.M)


def test_the_newest_release_is_shown_where_no_file_is_named(tmp_path, capsys) -> None:
    synthetic_counts.record(tmp_path / "costs.json", {"2.14.0": {}, "2.9.0": {}}, synthetic_counts.times())
    assert call(tmp_path) == 0
    newest = capsys.readouterr().out
    assert newest.startswith("torch 2.14.0:")
    assert "Made-up 9000" in newest
    assert call(tmp_path, "v2.9") == 0
    assert capsys.readouterr().out.startswith("torch 2.9.0:")


def test_changes_are_listed(tmp_path, files, capsys) -> None:
    assert call(tmp_path, "--from", files["base"], "--to", files["slow"]) == 0
    head, out = capsys.readouterr().out.split("\n", 1)
    assert head == "torch 2.14.1 -> 2.15.0a0+gitabc: 6 of 15 figures changed"
    rows = [re.split(r" {2,}", line)[:2] for line in out.split(" after\n")[1].splitlines()]
    one = {"forward hook", "full backward hook"}
    assert {what for what, _ in rows[:2]} == one
    assert {what for what, _ in rows[2:]} == {
        f"{of} {what}" for of in ("the 2nd", "registering and removing a") for what in one
    }
    assert all(5 < float(percent[1:-2]) < 7 for _, percent in rows)
    assert call(tmp_path, "--from", files["base"], "--to", files["again"]) == 0
    assert capsys.readouterr().out == "torch 2.14.1 -> 2.14.1: 0 of 15 figures changed\n"


@pytest.mark.parametrize("form", ["text", "json", "markdown"])
@pytest.mark.parametrize(
    ("arguments", "key"),
    [
        (["slow", "times"], "costs"),
        (["--from", "base", "--to", "slow"], "changes"),
        (["slow", "--baseline", "base", "--max-ratio", "forward=1.5"], "kinds"),
    ],
)
def test_every_answer_has_three_forms(tmp_path, files, capsys, arguments, key, form) -> None:
    assert call(tmp_path, *(files.get(word, word) for word in arguments), "--format", form) == 0
    out = capsys.readouterr().out
    assert "forward" in out
    if form == "json":
        reported = json.loads(out)
        validate(reported, "answers.schema.json#/$defs/overhead", tmp_path, "")
        assert key in reported
    if form == "markdown":
        assert out.startswith("* ")
        assert ("|---|" in out) == (key != "kinds")


@pytest.mark.parametrize(
    ("limits", "status", "said"),
    [
        (["forward=1.05"], 1, r"forward: 1\.0[56]\d times the baseline, over 1.05 \(1\d,\d+ -> 12,\d+\)\n"),
        (["forward=1.1", "full_backward=1.1"], 0, r"forward: .* within 1.1 .*\nfull_backward: .* within 1.1 .*\n"),
        (["leaf=1.2", "full_backward=1.03"], 1, r"leaf: .* within 1.2 .*\nfull_backward: .* over 1.03 .*\n"),
    ],
)
def test_the_gate(tmp_path, files, capsys, limits, status, said) -> None:
    words = [word for limit in limits for word in ("--max-ratio", limit)]
    assert call(tmp_path, files["slow"], "--baseline", files["base"], *words) == status
    assert re.fullmatch(said, capsys.readouterr().out)


@pytest.mark.parametrize(
    ("before", "kind", "status", "said"),
    [
        (2_085, "leaf", 0, "over 1.05, but by no more than two counts of one torch differ"),
        (0, "forward", 1, "forward: over 1.05 (0 -> 1"),
    ],
)
def test_the_gate_where_a_hook_added_next_to_nothing(tmp_path, files, capsys, before, kind, status, said) -> None:
    reported = synthetic_counts.document()
    next(row for row in reported["rows"] if row["kind"] == kind)["added"] = [before] * 5
    old = synthetic_counts.write(tmp_path / "little.json", reported)
    assert call(tmp_path, files["base"], "--baseline", old, "--max-ratio", f"{kind}=1.05") == status
    assert said in capsys.readouterr().out


GATE = ["--baseline", "base", "--max-ratio"]


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        (["again", *GATE, "forwrd=1.3"], "no kind of hook is called 'forwrd'; did you mean forward"),
        (["again", *GATE, "forward"], "'' is not a ratio of 1 or more; write it as in forward=1.05"),
        (["again", *GATE, "forward=nan"], "'nan' is not a ratio"),
        (["again", *GATE, "forward=0.9"], "'0.9' is not a ratio"),
        (["old", "--baseline", "old", "--max-ratio", "post_accumulate=2"], "this torch has no torch.post_accumulate"),
        (["one", *GATE, "forward=1.3"], "torch 2.14.1 has too few hash seeds: 1, where 3 are needed"),
        (["old", *GATE, "forward=1.3"], "different builds, python 3.11.7 and 3.8.18; count both in one environment"),
        (["times", *GATE, "forward=1.3"], "holds times, which are never compared"),
        (["again", "--baseline", "base"], "a gate needs one counts file"),
        (["--from", "base", "--to", "none"], "nothing was counted on torch 2.14.1: there is no valgrind"),
        (
            ["--from", "base", "--to", "built"],
            "[GCC 12.2.0] and 3.11.7 (main, Jun  1 2026) [GCC 12.2.0]; count",
        ),
        (["--from", "base"], "--from and --to go together"),
        (["base", "--from", "base", "--to", "slow"], "without other files"),
        (["--from", "base", "--to", "slow", "--record"], "do not go together"),
        (["--from", "9.9", "--to", "base"], "9.9: is neither a recorded release nor a file; recorded are no releases"),
        ([], "costs.json: no costs are recorded; count a torch in a clone with: python -m suites.timing"),
        (["missing.json"], "there is no such file"),
        (["base", "again"], "two files of one sort where one is shown"),
        (["times", "times"], "two files of one sort"),
        (["verdict"], "is neither a counts file nor JSON of pytest-benchmark; count a torch"),
        (["."], "is a directory"),
        (["--record"], "--record needs counts files"),
        (["--record", "base", "again"], "is of torch 2.14 too"),
        (["--record", "slow"], "torch 2.15.0a0+gitabc is not a release"),
        (["--record", "one"], "has too few hash seeds"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(tmp_path, files, capsys, arguments, fault) -> None:
    assert call(tmp_path, *(files.get(word, word) for word in arguments)) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert fault in err
    assert not (tmp_path / "costs.json").exists()


def test_what_is_recorded_reads_well_and_is_read_back(tmp_path, files, capsys) -> None:
    path = tmp_path / "costs.json"
    assert call(tmp_path, "--record", files["base"], files["times"], files["old"]) == 0
    assert capsys.readouterr().out == f"{path}\n"
    first = path.read_text("utf-8")
    assert re.search(r'^ {5}"2\.14": \[9000, 1\d+, 1\d+, 1\d+\]', first, re.M)
    assert '"1.12": "not counted: this torch has no torch.post_accumulate",\n     "2.14": [120000, ' in first
    assert [(each.minor, each.torch) for each in read_record(path).costs] == [("1.12", "1.12.1"), ("2.14", "2.14.1")]
    assert call(tmp_path, "--record", files["again"]) == 0
    again = path.read_text("utf-8").splitlines()
    changed = [line for line in again if line not in first.splitlines()]
    assert changed
    assert all(line.strip().startswith('"2.14": [') for line in changed), "the release is replaced, the rest stays"
    assert any("Made-up 9000" in line for line in again)


def test_kinds_that_are_counted_later_are_added_to_their_release(tmp_path, files, capsys) -> None:
    """Only where torch, build and seeds are the same: else the figures of one release would not belong together."""
    path = tmp_path / "costs.json"
    assert call(tmp_path, "--record", files["base"]) == 0
    whole = {figure.key: figure for figure in read_record(path).costs[0].figures.values()}
    later = synthetic_counts.document(slower={"leaf": 2.0})
    later["rows"] = [row for row in later["rows"] if row["kind"] == "leaf"]
    assert call(tmp_path, "--record", synthetic_counts.write(tmp_path / "later.json", later)) == 0
    (now,) = read_record(path).costs
    assert [key for key in whole if now.figures[key] != whole[key]] == [key for key in whole if key[1] == "leaf"]
    capsys.readouterr()
    later["build"]["libc"] = "glibc 2.40"
    assert call(tmp_path, "--record", synthetic_counts.write(tmp_path / "later.json", later)) == 2
    assert "12 figures of torch 2.14.1 are counted with another build; count all kinds" in capsys.readouterr().err
    assert read_record(path).costs[0] == now
