"""The gate of the verb overhead: it shuts where a kind of hook surely costs more than it may."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from reports.__main__ import main
from suites.selfcheck import synthetic, timing_session
from suites.selfcheck.timing_session import Machine

NOT_SURELY = "over 1.05, but not surely: the intervals allow less, or the works without hooks changed"
QUIET = {"spread": 0.0, "jitter": 0.0, "interrupted": 0.0}


@pytest.fixture
def runs(tmp_path: Path) -> dict[str, Path]:
    return timing_session.write_three(tmp_path)


@pytest.fixture
def gate(tmp_path, capsys):
    """Give a gate: its exit status and its lines, the first of them about the works without hooks."""

    def run(new: Path, base: Path, *limits: str) -> tuple[int, list[str]]:
        options = [word for limit in limits for word in ("--overhead-max-ratio", limit)]
        files = [str(new), "--baseline", str(base), "--costs", str(tmp_path / "costs")]
        status = main(["overhead", *files, *options])
        return status, capsys.readouterr().out.splitlines()

    return run


def test_a_gate_opens_and_shuts(runs, gate) -> None:
    assert gate(runs["again"], runs["base"], "forward=1.1")[0] == 0
    status, (works, *lines) = gate(runs["slow"], runs["base"], "full_backward=1.3", "forward=1.1")
    assert status == 1
    assert works.startswith("works without hooks: ")
    assert lines[0].endswith("over 1.3")
    assert lines[1].endswith("within 1.1")
    assert gate(runs["slow"], runs["base"], "full_backward=1.5")[0] == 0


def test_a_gate_is_not_shut_by_a_slow_machine(tmp_path, runs, gate) -> None:
    """It stays open for a hook that costs the same, and shut for one that costs more, on a clock slower by half."""
    slow = Machine(5, pace=lambda process: 1.5)
    paced = timing_session.write(tmp_path / "paced.jsonl", slow, slower={"full_backward": 1.4})
    status, (works, *lines) = gate(paced, runs["base"], "forward=1.1", "full_backward=1.3")
    assert status == 1
    assert re.match(r"works without hooks: 1\.(49|5\d) times the baseline", works)
    assert lines[0].endswith("within 1.1")
    assert re.fullmatch(r"full_backward: 1\.(39|4\d) times the baseline, over 1\.3", lines[1])
    status, _ = gate(runs["base"], paced, "forward=1.1")
    assert status == 0


def test_a_gate_is_not_shut_by_noise(tmp_path, gate) -> None:
    """The median lies above the limit, but the interval begins below it, or would not pass that of the baseline."""
    noisy, sharp = tmp_path / "noisy.jsonl", tmp_path / "sharp.jsonl"
    lines = timing_session.session(Machine(1, **QUIET))
    for each in lines:
        if (each.get("figure"), each.get("hook")) == ("call", "forward"):
            each["added"] *= 1.2 if each["process"] % 2 else 0.99
    synthetic.write_lines(noisy, lines)
    timing_session.write(sharp, Machine(1, **QUIET))
    status, told = gate(noisy, sharp, "forward=1.05")
    assert status == 0
    assert told[1].endswith(NOT_SURELY)
    more = timing_session.write(tmp_path / "more.jsonl", Machine(1, **QUIET), slower={"forward": 1.3})
    assert gate(more, noisy, "forward=1.05")[0] == 1
    assert gate(more, noisy, "forward=1.1")[0] == 0


def test_a_gate_shuts_where_noise_becomes_a_cost(tmp_path, runs, gate) -> None:
    """The baseline may be all that could hide in its noise; a new cost beyond that, times the limit, is over it."""
    lines = timing_session.session(Machine(2), torch="2.14.1")
    for each in lines:
        if (each.get("figure"), each.get("hook")) == ("call", "nothing_at_all"):
            each["added"] += 5000.0
    costly = synthetic.write_lines(tmp_path / "costly.jsonl", lines)
    status, told = gate(costly, runs["base"], "nothing_at_all=1.3")
    assert status == 1
    assert re.match(r"nothing_at_all: below noise -> \S+ \(.*\) ns, over 1.3 times what the noise", told[1])
    assert gate(costly, runs["base"], "nothing_at_all=1000")[0] == 0
    status, told = gate(runs["again"], runs["base"], "nothing_at_all=1.3")
    assert (status, told[1:]) == (0, ["nothing_at_all: below noise, within 1.3"])


def test_a_gate_is_not_shut_by_faster_works_without_hooks(tmp_path, gate) -> None:
    """The hook takes as long as before; it is only more beside works that take less."""
    base = timing_session.write(tmp_path / "base.jsonl", Machine(1, **QUIET))
    faster = timing_session.write(tmp_path / "faster.jsonl", Machine(1, **QUIET), works=0.7)
    status, (works, told) = gate(faster, base, "node=1.05")
    assert status == 0
    assert works.startswith("works without hooks: 0.70")
    assert told == f"node: 1.43 times the baseline, {NOT_SURELY}"


def test_what_the_noise_of_a_new_run_hides_is_not_within(tmp_path, gate) -> None:
    lines = timing_session.session(Machine(1, **QUIET))
    for each in lines:
        if each.get("figure") == "same":
            each["added"] = 90e3 if each["process"] % 2 else -90e3
    noisy = synthetic.write_lines(tmp_path / "noisy.jsonl", lines)
    base = timing_session.write(tmp_path / "base.jsonl", Machine(1, **QUIET))
    assert gate(noisy, base, "node=2", "full_backward=2", "leaf=100") == (0, [
        "works without hooks: 1.00 times the baseline; what hooks add is told beside that",
        "node: below noise, which hides more than 2 times the baseline",
        "full_backward: 1.00 times the baseline, within 2",
        "leaf: below noise, within 100",
    ])  # fmt: skip


def test_a_hook_that_was_only_measured_while_the_processor_was_slow_has_no_gate(tmp_path, capsys) -> None:
    lines = timing_session.session(Machine(1, **QUIET))
    for each in lines:
        if (each.get("figure"), each.get("hook")) == ("call", "node") and each["process"] > 7:
            each["rounds"] = 0
    slow = synthetic.write_lines(tmp_path / "slow.jsonl", lines)
    base = timing_session.write(tmp_path / "base.jsonl", Machine(1, **QUIET))
    for new, old in ((slow, base), (base, slow)):
        options = ["--overhead-max-ratio", "node=1.3", "--costs", str(tmp_path / "costs")]
        assert main(["overhead", str(new), "--baseline", str(old), *options]) == 2
        assert "slow.jsonl: node was measured while the processor was slow on torch" in capsys.readouterr().err


def test_the_run_beside_which_somebody_used_the_machine_is_named(tmp_path, capsys) -> None:
    busy = timing_session.write(tmp_path / "busy.jsonl", Machine(1, **QUIET, crowd=1.2))
    quiet = timing_session.write(tmp_path / "quiet.jsonl", Machine(1, **QUIET))
    for new, old in ((busy, quiet), (quiet, busy)):
        options = ["--overhead-max-ratio", "node=1.3", "--costs", str(tmp_path / "costs")]
        assert main(["overhead", str(new), "--baseline", str(old), *options]) == 2
        said = f"{busy}: not compared: somebody else used the machine while busy.jsonl was measured"
        assert said in capsys.readouterr().err
