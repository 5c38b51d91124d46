"""The command line of the reports: what it writes, prints and refuses, and with which exit status."""

from __future__ import annotations

import argparse
import copy
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from reports.__main__ import main
from suites.selfcheck import synthetic
from suites.selfcheck.recorded_room import NEW, OLD, recorded_room, refused

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def room(tmp_path):
    return recorded_room(tmp_path)


def test_page_prints_the_counts_and_then_the_path(room, capsys):
    out = room.path / "deep" / "page.html"
    assert room.call("page", room.run, "--out", out) == 0
    last = capsys.readouterr().out.splitlines()[-2:]
    assert last[0].startswith(f"torch {NEW}: ")
    assert " conforms" in last[0]
    assert last[1] == str(out)
    assert "2.15 (this run)" in out.read_text("utf-8")


@pytest.mark.parametrize("verb", ["page", "atlas", "badge", "merge"])
def test_every_verb_that_writes_a_file_makes_its_folder_and_says_so(room, capsys, verb):
    out = room.path / "deep" / "deeper" / "file"
    assert room.call(verb, room.run, "--out", out) == 0
    assert out.stat().st_size > 0
    capsys.readouterr()
    with pytest.raises(SystemExit):
        main([verb, "--help"])
    assert "a missing folder is made" in " ".join(capsys.readouterr().out.split())


def test_page_is_made_from_the_committed_verdicts_alone_and_is_the_same_each_time(room, capsys):
    for name in ("a", "b"):
        assert room.call("page", "--recorded", "--out", room.path / name) == 0
    assert (room.path / "a").read_bytes() == (room.path / "b").read_bytes()
    assert "this run" not in capsys.readouterr().out


def test_page_of_an_unfinished_run_says_so(room, capsys):
    cut = room.write("cut.jsonl", room.lines()[:-6])
    assert room.call("page", cut, "--out", room.path / "page.html") == 0
    out, err = capsys.readouterr()
    assert "unseen" in out
    assert "3 cells are missing; resume it with" in err
    assert "is not finished: 3 cells" in (room.path / "page.html").read_text("utf-8")


def test_page_with_nothing_to_show(tmp_path, capsys):
    (tmp_path / "verdicts").mkdir()
    status = main(
        ["page", "--recorded", "--verdicts", str(tmp_path / "verdicts"), "--out", str(tmp_path / "page.html")]
    )
    assert "nothing is recorded and no run file was given" in refused(capsys, status)
    assert not (tmp_path / "page.html").exists()


def test_an_own_build_stands_beside_the_nearest_release(room, capsys):
    run = room.write("own.jsonl", room.lines(torch="2.16.0a0+git1a2b3c4")[:])
    lines = [json.loads(line) for line in run.read_text("utf-8").splitlines()]
    lines[0]["torch"] = "2.16.0a0+git1a2b3c4"
    assert room.call("page", room.write("own.jsonl", lines), "--out", room.path / "page.html") == 0
    assert capsys.readouterr().out.startswith("torch 2.16.0a0+git1a2b3c4: ")
    page = (room.path / "page.html").read_text("utf-8")
    assert "the nearest is 2.15" in page
    assert room.call("record", room.path / "own.jsonl") == 2
    assert "is not a release" in capsys.readouterr().err


def test_nothing_is_written_when_one_of_several_files_is_bad(room, capsys):
    before = {path.name: path.read_bytes() for path in room.verdicts.iterdir()}
    good, _ = room.changed()
    bad = room.path / "bad.jsonl"
    bad.write_text("{}\n")
    assert "bad.jsonl, line 1" in refused(capsys, room.call("record", good, bad))
    assert {path.name: path.read_bytes() for path in room.verdicts.iterdir()} == before
    page = room.path / "page.html"
    page.write_text("precious")
    assert room.call("page", bad, "--out", page) == 2
    assert page.read_text() == "precious"


def shards(room, total=3):
    """Write a run cut into shards."""
    lines = room.lines()
    pairs = [lines[place : place + 2] for place in range(1, len(lines) - 1, 2)]
    nodes = list(lines[0]["nodes"].items())
    paths = []
    for shard in range(total):
        header = {**lines[0], "shard": [shard + 1, total], "nodes": dict(nodes[shard::total])}
        body = [line for pair in pairs[shard::total] for line in pair]
        footer = synthetic.footer([line for line in body if line["type"] == "cell"])
        paths.append(room.write(f"shard{shard}.jsonl", [header, *body, footer]))
    return paths


def test_merged_shards_are_the_whole_run(room, capsys):
    out = room.path / "merged.jsonl"
    assert room.call("merge", *shards(room), "--out", out) == 0
    assert capsys.readouterr().out.endswith(f"{out}\n")
    assert room.call("check", out) == 0


def test_merge_puts_runs_of_several_versions_into_one_file(room):
    other = synthetic.write_run(room.path / "old.jsonl", room.table, OLD)
    out = room.path / "merged.jsonl"
    assert room.call("merge", room.run, other, "--out", out) == 0
    assert room.call("check", out) == 0
    assert room.call("page", out, "--out", room.path / "page.html") == 0


def test_merge_refuses_by_name_what_would_make_it_a_lie(room, capsys):
    out = room.path / "merged.jsonl"

    def said(*runs):
        text = refused(capsys, room.call("merge", *runs, "--out", out))
        assert not out.exists()
        return text

    parts = shards(room)
    assert "shard 2 of 3 is missing; give all shards" in said(parts[0], parts[2])
    assert "is given twice" in said(parts[0], parts[0])
    again = room.write("again.jsonl", room.lines())
    assert "(both say " in said(room.run, again)
    assert "conforms there, hung here" in said(room.run, room.changed()[0])
    assert "python is '3.12.0', but '3.11.7' in" in said(room.run, room.changed(python="3.12.0")[0])
    table = copy.deepcopy(room.table)
    next(iter(table.values()))["digest"] = "f" * 12
    assert "has another text" in said(room.run, synthetic.write_run(room.path / "text.jsonl", table, NEW))
    out.symlink_to(room.run)
    assert room.call("merge", room.run, "--out", out) == 2


def test_diff_tells_the_same_in_three_forms(room, capsys):
    assert room.call("diff", "1.13", "2.15", "--tutorial", "--format", "json") == 1
    reported = json.loads(capsys.readouterr().out)
    names = [change["clause"] for change in reported["changes"]]
    assert names
    assert len(reported["changes"]) + reported["same"] + reported["unseen"] == len(room.table)
    for form in ("text", "markdown"):
        assert room.call("diff", "1.13", "2.15", "--tutorial", "--format", form) == 1
        text = capsys.readouterr().out
        assert all(name in text for name in names)
        assert f"{len(names)} of {len(room.table)} clauses differ" in text


def test_diff_of_a_run_file_with_a_recorded_version(room, capsys):
    run, clause = room.changed()
    assert room.call("diff", "2.15", run, "--tutorial") == 1
    out = capsys.readouterr().out
    assert "1 of 30 clauses differs (1 error)" in out
    assert clause in out
    assert room.call("diff", room.run, room.run, "--tutorial") == 0
    assert "0 of 30 clauses differ" in capsys.readouterr().out


def test_markdown_cells_hold_no_markup(room, capsys):
    name = next(iter(room.table))
    room.table[name]["says"] = "A <img src=x onerror=alert(1)> | **bold** [a](b)"
    room.verdicts = synthetic.write_verdicts(room.path / "hostile", room.table, (OLD, NEW))
    lines = room.lines()
    lines[2].update(verdict="hung", reading=None, refuted=[])
    lines[-1] = synthetic.footer([line for line in lines if line["type"] == "cell"])
    run = room.write("hostile.jsonl", lines)
    assert room.call("diff", "2.15", run, "--format", "markdown") == 1
    out = capsys.readouterr().out
    assert r"A &lt;img src=x onerror=alert(1)> \| \*\*bold\*\* \[a\](b)" in out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["diff", "2.15", "3.1"], "no such version is recorded; take one of 1.4, 1.13, 2.15"),
        (["diff", "2.15", "newest"], "is neither a recorded version nor a run file"),
        (["check", "none.jsonl"], "there is no such file"),
        (["page", "verdicts"], "is a directory"),
    ],
)
def test_bad_arguments_are_told_in_one_line(room, capsys, monkeypatch, arguments, said):
    monkeypatch.chdir(room.path)
    assert said in refused(capsys, room.call(*arguments))


@pytest.mark.parametrize("arguments", [["pages"], ["page", "--colour"], ["merge", "a"]])
def test_a_wrong_command_line_is_told_in_one_line(capsys, arguments):
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert "--help" in refused(capsys, caught.value.code)


@pytest.mark.parametrize("quoted", [True, False], ids=["quoted", "as Python 3.12.8 and newer"])
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["expalin"], "argument VERB: invalid choice: 'expalin', did you mean explain?"),
        (["rely", "--format", "mark"], "argument --format: invalid choice: 'mark', did you mean markdown?"),
        (["rely", "--format", "xml"], "argument --format: invalid choice: 'xml', choose from json, markdown, text"),
    ],
)
def test_what_was_meant_does_not_hang_on_the_words_of_argparse(capsys, monkeypatch, arguments, said, quoted):
    def check(self, action, value):
        if action.choices is not None and value not in action.choices:
            known = ", ".join(map(repr if quoted else str, action.choices))
            raise argparse.ArgumentError(action, f"invalid choice: {value!r} (choose from {known})")

    monkeypatch.setattr(argparse.ArgumentParser, "_check_value", check)
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert f": {said}; see python -m reports" in refused(capsys, caught.value.code)


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("retain_grad.json", "{", "retain_grad.json: is not JSON"),
        ("retain_grad.json", "[]", "is not of type object"),
        ("retain_grad.json", '{"format": 7}', "is of format 7, this suite reads format 4"),
        ("2.15.json", '{"format": 1}', "2.15.json: is of format 1, this suite reads format 4"),
    ],
)
def test_a_damaged_verdict_file_is_named(room, capsys, name, content, said):
    (room.verdicts / name).write_text(content, encoding="utf-8")
    status = room.call("page", "--recorded", "--out", room.path / "page.html")
    assert said in refused(capsys, status)


def test_as_a_program(room):
    """The module runs from the repository root, and an ASCII terminal is no reason for a traceback."""
    command = [sys.executable, "-m", "reports", "diff", "1.13", "2.15", "--verdicts", str(room.verdicts)]
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (1, "")
    help_text = subprocess.run([*command[:3], "--help"], cwd=ROOT, capture_output=True, text=True)
    assert help_text.returncode == 0
    assert all(verb in help_text.stdout for verb in ("page", "record", "check", "diff", "merge", "sweep"))


@pytest.mark.parametrize("verb", ["check", "page", "triage", "badge", "diff", "record", "affects"])
def test_a_link_to_itself_costs_one_line(room, capsys, verb):
    loop = room.path / "loop.jsonl"
    loop.symlink_to(loop)
    before = ["2.15"] if verb == "diff" else []
    assert main([verb, *before, str(loop)]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert str(loop) in err
    loop.unlink()


def test_what_is_written_goes_to_the_file_of_a_link_and_to_a_device(room, capsys):
    real, link, loop = (room.path / name for name in ("real.json", "link.json", "loop.json"))
    link.symlink_to(real)
    loop.symlink_to(loop)
    arguments = ["atlas", "--verdicts", str(room.verdicts), "--out"]
    assert main([*arguments, str(link)]) == 0
    assert link.is_symlink()
    assert json.loads(real.read_text("utf-8"))["format"] == 1
    assert main([*arguments, "/dev/null"]) == 0
    assert not Path("/dev/null").is_file()
    assert main([*arguments, str(loop)]) == 2
    assert capsys.readouterr().err == f"{loop}: is a link to itself; name another place\n"


def test_without_a_name_the_last_run_of_the_usual_folder_is_read(room, capsys, monkeypatch):
    monkeypatch.chdir(room.path)
    for verb, status in (("check", 2), ("triage", 2)):
        assert main([verb]) == status
        assert "no run file in reports/out or reports/out/runs; measure first: tox, or" in capsys.readouterr().err
    assert room.call("page", "--out", "page.html") == 0
    assert (
        "no run file in reports/out or reports/out/runs: the page shows recorded releases only"
        in capsys.readouterr().err
    )
    runs = room.path / "reports" / "out" / "runs"
    runs.mkdir(parents=True)
    synthetic.write_run(runs / "old.jsonl", room.table, OLD)
    os.utime(runs / "old.jsonl", (1, 1))
    synthetic.write_run(runs / "main.jsonl", room.table, NEW)
    which = f"reading reports/out/runs/main.jsonl: torch {NEW}+cpu, measured on "
    for arguments in (["check"], ["page", "--out", "page.html"]):
        assert room.call(*arguments) == 0
        said = capsys.readouterr().err
        assert which in said
        assert said.endswith(f", {len(room.table)} clauses\n")
    assert main(["triage"]) == 0
    assert which in capsys.readouterr().err
    assert room.call("page", "--recorded", "--out", "page.html") == 0
    assert "this run" not in (room.path / "page.html").read_text("utf-8")
