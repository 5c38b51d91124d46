"""The verb overhead: what it prints, compares, records, refuses and gates, and with which exit status."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from reports.__main__ import main
from reports.costs_recorded import read_record
from reports.strict import validate
from suites.selfcheck import counts

#: How much more a kind costs, of one hook and of all hooks: what two counts of a torch differ by is below that.
SLOW = 1.06


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    """Write counts of one torch, of the same again, of a slower one, of another Python, of one seed; and times."""
    found = {name: tmp_path / f"{name}.json" for name in ("base", "again", "slow", "old", "one", "times", "verdict")}
    counts.write(found["base"])
    counts.write(found["again"], slower={"forward": 1.0})
    counts.write(found["slow"], "2.15.0a0+gitabc", slower={"forward": SLOW, "full_backward": SLOW})
    counts.write(found["old"], "1.12.1")
    one = counts.document(seeds=[1])
    for row in one["rows"]:
        row.update(bare=row["bare"][:1], added=row["added"][:1])
    found["one"].write_text(json.dumps(one), "utf-8")
    found["times"].write_text(json.dumps(counts.benchmarks()), "utf-8")
    found["verdict"].write_text('{"type": "header"}', "utf-8")
    return found


def call(tmp_path: Path, *arguments: object) -> int:
    return main(["overhead", *map(str, arguments), "--costs", str(tmp_path / "costs.json")])


def complaint(capsys) -> str:
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1), err
    return err


def test_a_counts_file_is_shown(tmp_path, files, capsys) -> None:
    assert call(tmp_path, files["base"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("torch 2.14.1: Python 3.11.7, glibc 2.36, valgrind-3.19.0, seeds: 5\n")
    assert re.search(r"^hook +without it +one hook adds +the 2nd +register and remove$", out, re.M)
    assert re.search(r"^forward hook +9,000 +(11,99|12,00)\d +4,(79|80)\d +1,(19|20)\d$", out, re.M)


def test_what_is_not_counted_says_why(tmp_path, files, capsys) -> None:
    told = counts.document("1.4.0")
    counts.row_of(told, kind="leaf").update(bare=[], added=[], why="valgrind stopped")
    files["base"].write_text(json.dumps(told), "utf-8")
    assert call(tmp_path, files["base"]) == 0
    out = capsys.readouterr().out
    assert re.search(r"^full backward hook +not counted +not counted +not counted$", out, re.M)
    assert f"full backward hook: not counted, this torch has no {counts.FULL}.\n" in out
    assert "tensor hook on a leaf: not counted, valgrind stopped.\n" in out


def test_times_are_shown_with_their_noise(tmp_path, files, capsys) -> None:
    assert call(tmp_path, files["base"], files["times"]) == 0
    _, out = capsys.readouterr().out.split("Nanoseconds that one hook adds on Made-up 9000, ")
    assert out.startswith("torch 2.14.1, Python 3.11.7\n")
    assert re.search(r"^forward hook +900 \(12.0, 30.0\) +15.0 +900 \(180, 198\) +15.0 +below noise$", out, re.M)
    assert "A plain Python call takes 60.0 ns there." in out


def test_the_newest_release_is_shown_where_no_file_is_named(tmp_path, capsys) -> None:
    assert call(tmp_path) == 2
    assert "costs.json: no costs are recorded; count a torch with: python -m suites.timing" in complaint(capsys)
    counts.record(tmp_path / "costs.json", {"2.14.0": {}, "2.9.0": {}}, counts.times())
    assert call(tmp_path) == 0
    newest = capsys.readouterr().out
    assert newest.startswith("torch 2.14.0:")
    assert "Made-up 9000" in newest
    assert call(tmp_path, "2.9") == 0
    assert capsys.readouterr().out.startswith("torch 2.9.0:")


def test_changes_are_listed(tmp_path, files, capsys) -> None:
    assert call(tmp_path, "--from", files["base"], "--to", files["slow"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("torch 2.14.1 -> 2.15.0a0+gitabc: 6 of 15 figures changed\n")
    table = out.split(" after\n")[1]
    rows = [re.split(r" {2,}", line)[:2] for line in table.splitlines()]
    assert sorted(what for what, _ in rows[:2]) == ["forward hook", "full backward hook"]
    further = {
        f"{what} {kind}"
        for what in ("the 2nd", "registering and removing a")
        for kind in ("forward hook", "full backward hook")
    }
    assert {what for what, _ in rows[2:]} == further
    assert all(5 < float(percent[1:-2]) < 7 for _, percent in rows)


def test_counts_of_one_torch_do_not_differ(tmp_path, files, capsys) -> None:
    assert call(tmp_path, "--from", files["base"], "--to", files["again"]) == 0
    assert capsys.readouterr().out == "torch 2.14.1 -> 2.14.1: 0 of 15 figures changed\n"


@pytest.mark.parametrize("form", ["text", "json", "markdown"])
@pytest.mark.parametrize(
    ("arguments", "schema"),
    [
        (["slow", "times"], "costs"),
        (["--from", "base", "--to", "slow"], "changes"),
        (["slow", "--baseline", "base", "--max-ratio", "forward=1.5"], "kinds"),
    ],
)
def test_every_answer_has_three_forms(tmp_path, files, capsys, arguments, schema, form) -> None:
    assert call(tmp_path, *(files.get(word, word) for word in arguments), "--format", form) == 0
    out = capsys.readouterr().out
    assert "forward" in out
    if form == "json":
        told = json.loads(out)
        assert told["format"] == 1
        assert schema in told
        validate(told, "costs.schema.json#/$defs/answer", tmp_path, "")
    if form == "markdown":
        assert out.startswith(("* ", "\n"))
        assert ("|---|" in out) == (schema != "kinds")


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


def test_the_gate_is_open_where_two_counts_of_one_torch_may_differ_so(tmp_path, files, capsys) -> None:
    told = counts.document()
    row = counts.row_of(told, kind="leaf")
    row["added"] = [value + 115 for value in row["added"]]  # 5.2 % of the hook
    files["slow"].write_text(json.dumps(told), "utf-8")
    assert call(tmp_path, files["slow"], "--baseline", files["base"], "--max-ratio", "leaf=1.05") == 0
    assert "over 1.05, but by no more than two counts of one torch differ" in capsys.readouterr().out


def test_a_hook_that_added_nothing_is_over_where_it_adds_something(tmp_path, files, capsys) -> None:
    told = counts.document()
    counts.row_of(told)["added"] = [-3.0, 0.0, 0.0, 0.0, 2.0]
    files["slow"].write_text(json.dumps(told), "utf-8")
    assert call(tmp_path, files["base"], "--baseline", files["slow"], "--max-ratio", "forward=9") == 1
    assert capsys.readouterr().out.startswith("forward: over 9 (0 -> ")


GATE = ["--baseline", "base", "--max-ratio"]


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        (["again", *GATE, "forwrd=1.3"], "no kind of hook is called 'forwrd'; did you mean forward"),
        (["again", *GATE, "forward"], "'' is no ratio of 1 or more; write it as in forward=1.05"),
        (["again", *GATE, "forward=fast"], "'fast' is no ratio"),
        (["again", *GATE, "forward=nan"], "'nan' is no ratio"),
        (["again", *GATE, "forward=0.9"], "'0.9' is no ratio"),
        (["old", "--baseline", "old", "--max-ratio", "post_accumulate=2"], "this torch has no torch.post_accumulate"),
        (["one", *GATE, "forward=1.3"], "torch 2.14.1 was counted with one seed, of 3 that are needed"),
        (["old", *GATE, "forward=1.3"], "different builds, python 3.11.7 and 3.8.18; count both in one environment"),
        (["--from", "old", "--to", "base"], "different builds, python 3.8.18 and 3.11.7"),
        (["times", *GATE, "forward=1.3"], "holds times, which are never compared"),
        (["again", "--baseline", "base"], "a gate needs one counts file"),
        (["--from", "base"], "--from and --to go together"),
        (["base", "--from", "base", "--to", "slow"], "without other files"),
        (["--from", "base", "--to", "slow", "--record"], "do not go together"),
        (["--from", "9.9", "--to", "base"], "9.9: is neither a recorded release nor a file; recorded are no releases"),
        (["missing.json"], "there is no such file"),
        (["base", "again"], "2 counts files where one is shown"),
        (["times", "times"], "is a second file of times"),
        (["verdict"], "is neither a counts file nor JSON of pytest-benchmark; count a torch"),
        (["."], "is a directory"),
        (["--record"], "--record needs counts files"),
        (["--record", "base", "again"], "is of torch 2.14 too"),
        (["--record", "slow"], "torch 2.15.0a0+gitabc is no release"),
        (["--record", "one"], "was counted with fewer than 3 seeds"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(tmp_path, files, capsys, arguments, fault) -> None:
    assert call(tmp_path, *(files.get(word, word) for word in arguments)) == 2
    assert fault in complaint(capsys)
    assert not (tmp_path / "costs.json").exists()


def test_another_build_of_one_python_is_not_compared(tmp_path, files, capsys) -> None:
    told = counts.document()
    told["build"]["python"] = "3.11.7 (main, Jun  1 2026) [GCC 12.2.0]"
    files["slow"].write_text(json.dumps(told), "utf-8")
    assert call(tmp_path, "--from", files["base"], "--to", files["slow"]) == 2
    assert "python 3.11.7 (main, May  9 2026, 07:35:25) [GCC 12.2.0] and 3.11.7 (main, Jun" in complaint(capsys)


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
    assert '"machine": "Made-up 9000",' in "\n".join(again)
