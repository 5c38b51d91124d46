"""Recorded costs that somebody changed: every fault is told in one line, and nothing is shown."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from reports.__main__ import main
from reports.costs import from_run
from reports.costs_recorded import record
from reports.strict import BadInput, validate
from suites.selfcheck import synthetic, timing_session
from suites.selfcheck.timing_session import Machine


def figure(document: dict, name: str, hook: str) -> dict:
    (found,) = [each for each in document["figures"] if (each["figure"], each["hook"]) == (name, hook)]
    return found


def drop(document: dict, name: str) -> None:
    document["figures"] = [each for each in document["figures"] if each["figure"] != name]


BROKEN = {
    "another format": (lambda told: told.update(format=2), "is of format 2"),
    "another torch": (lambda told: told.update(torch="2.13.0"), "holds torch 2.13.0, not 2.15"),
    "an unknown key": (lambda told: told.update(extra=1), "has the unknown key 'extra'"),
    "a figure twice": (lambda told: told["figures"].append(told["figures"][0]), "holds a figure twice"),
    "a sweep of its own": (lambda told: told.update(sweep="2026-11-20T08:00:00Z"), "belongs to the sweep of"),
    "no plain call": (lambda told: drop(told, "floor"), "holds no plain Python call"),
    "an absent plain call": (
        lambda told: figure(told, "floor", "plain_call").update(absent=["torch.x"], values={}),
        "holds no plain Python call",
    ),
    "no noise": (lambda told: drop(told, "same"), "has no noise: the work forward was not measured beside itself"),
    "an absent noise": (
        lambda told: figure(told, "same", "forward").update(absent=["torch.x"], values={}),
        "has no noise: the work forward was not measured beside itself",
    ),
    "absent and measured": (
        lambda told: figure(told, "call", "forward").update(absent=["torch.x"]),
        "call forward empty 1: must not have each",
    ),
    "neither absent nor measured": (
        lambda told: figure(told, "call", "forward").update(values={}),
        "call forward empty 1: has no added",
    ),
    "no cost in plain calls": (
        lambda told: figure(told, "call", "node")["values"].pop("plain_calls"),
        "call node empty 1: has no plain_calls",
    ),
    "no ratio of bytes": (
        lambda told: figure(told, "memory", "full_backward")["values"].pop("ratio"),
        "memory full_backward empty 1: has no ratio",
    ),
    "plain calls of bytes": (
        lambda told: figure(told, "memory", "full_backward")["values"].update(plain_calls=[1, 1, 1]),
        "memory full_backward empty 1: must not have plain_calls",
    ),
    "a ratio to nothing": (
        lambda told: figure(told, "floor", "plain_call")["values"].update(ratio=[1, 1, 1]),
        "floor plain_call empty 1: must not have ratio",
    ),
    "a ratio of a slope": (
        lambda told: figure(told, "slope", "forward")["values"].update(ratio=[1, 1, 1]),
        "slope forward empty 1: must not have ratio",
    ),
    "a call in bytes": (
        lambda told: figure(told, "call", "node").update(unit="bytes"),
        "call node empty 1: is in bytes",
    ),
    "a call beside nothing": (
        lambda told: figure(told, "call", "node").update(work="nothing"),
        "call node empty 1: is beside 'nothing'",
    ),
    "a control of nothing": (
        lambda told: figure(told, "call", "node")["values"].update(control=[0, 1, 2]),
        "call node empty 1: the control takes 0 ns",
    ),
    "too few processes": (
        lambda told: figure(told, "call", "node").update(each=[1.0] * 9),
        "call node empty 1: tells 9 of 24 processes",
    ),
    "too few weights": (
        lambda told: figure(told, "call", "node").update(weights=[1] * 9),
        "call node empty 1: has 9 weights for 24 processes",
    ),
    "no weights": (
        lambda told: figure(told, "call", "node").pop("weights"),
        "call node empty 1: has 0 weights for 24 processes",
    ),
    "a process of no weight": (
        lambda told: figure(told, "call", "node").update(weights=[1] * 23 + [0]),
        "['weights'][23] 0 breaks the rule minimum 1",
    ),
    "a word among numbers": (
        lambda told: figure(told, "call", "node").update(each=[1.0] * 23 + ["1"]),
        "['each'][23] '1' is not of type number",
    ),
    "a middle outside": (
        lambda told: figure(told, "call", "node")["values"].update(added=[3, 1, 2]),
        "call node empty 1: added does not lie in its interval",
    ),
}


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    """Give a folder with the costs of two versions."""
    sweep = [from_run(timing_session.run(Machine(seed), torch=torch)) for seed, torch in ((1, "2.14.1"), (2, "2.15.0"))]
    record(sweep, tmp_path / "costs")
    return tmp_path / "costs"


@pytest.mark.parametrize("name", BROKEN)
def test_a_bad_recording_is_told_in_one_line(recorded: Path, capsys, name) -> None:
    breaks, fault = BROKEN[name]
    path = recorded / "2.15.json"
    told = json.loads(path.read_text("utf-8"))
    breaks(told)
    path.write_text(json.dumps(told), "utf-8")
    assert main(["overhead", "--from", "2.14", "--to", "2.15", "--costs", str(recorded)]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1), err
    assert fault in err
    assert "2.15.json" in err


def test_what_is_not_json_is_told_in_one_line(recorded: Path, capsys) -> None:
    path = recorded / "2.15.json"
    path.write_text(path.read_text("utf-8")[:-3], "utf-8")
    assert main(["overhead", "--costs", str(recorded)]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1), err
    assert "is not JSON" in err


def test_the_atlas_holds_the_recorded_costs(tmp_path: Path, recorded: Path) -> None:
    """As they are recorded, and its schema knows them."""
    table = synthetic.clauses(4, seed=1)
    synthetic.write_verdicts(tmp_path / "verdicts", table)
    recorded.rename(tmp_path / "verdicts" / "costs")
    out = tmp_path / "atlas.json"
    assert main(["atlas", "--out", str(out), "--verdicts", str(tmp_path / "verdicts")]) == 0
    told = json.loads(out.read_text("utf-8"))
    validate(told, "atlas.schema.json", out, "")
    files = [
        json.loads((tmp_path / "verdicts" / "costs" / f"{minor}.json").read_text("utf-8")) for minor in ("2.14", "2.15")
    ]
    assert told["costs"] == files
    told["costs"][0]["figures"][0]["extra"] = 1
    with pytest.raises(BadInput, match="unknown key 'extra'"):
        validate(told, "atlas.schema.json", out, "")


def test_what_nobody_changed_is_shown(recorded: Path, capsys) -> None:
    assert main(["overhead", "--from", "2.14", "--to", "2.15", "--costs", str(recorded)]) == 0
    assert capsys.readouterr().out.startswith("torch 2.14.1 -> 2.15.0: 0 of ")
