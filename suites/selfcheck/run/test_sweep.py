"""The sweep with a fake tox: what is measured, kept, resumed, given up, and what is said about it."""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from reports.data.strict import BadInput
from reports.record import torches
from reports.record.torches import COUNTS, RUNS, WORK, Asked, Release
from reports.verbs import sweep
from suites.selfcheck import synthetic

ROOT = Path(__file__).resolve().parents[3]
KNOWN = {"1.4": "1.4.0", "1.10": "1.10.2", "2.1": "2.1.2"}
WHOLE = Asked()
SOME = Asked(("retain.", "gradient.errors."), ("eager",))

FAKE_TOX = """
import os, sys, time
run_file, env_folder, behaviour, step = sys.argv[1:5]
os.makedirs(os.environ["UV_CACHE_DIR"], exist_ok=True)
if behaviour == "no interpreter":
    sys.exit("error: Request failed\\ntorch1.4: no python3.8 here; install it")
if step == "install":
    os.makedirs(env_folder, exist_ok=True)
    open(env_folder + "/torch.bin", "wb").write(b"x" * 200_000)
    sys.exit(0)
assert os.path.exists(env_folder + "/torch.bin"), "run before it was installed"
open(env_folder + ".workers", "w").write(os.environ["PYTEST_XDIST_AUTO_NUM_WORKERS"])
if behaviour == "knows no such clause":
    sys.exit("ERROR: --clauses none.: no clause begins so; see README for the chapters")
lines = open(os.path.join(os.path.dirname(__file__), "lines.jsonl")).readlines()
if behaviour == "declines to count":
    sys.exit("seed 1: 1 of 5\\nsuites.timing: no valgrind")
if behaviour == "counts":
    open(run_file, "w").write("{}")
    sys.exit(0)
first = 3 if step == "resume" else 0
last = 3 if behaviour in ("stops", "hangs") else 5
with open(run_file, "a") as stream:
    stream.writelines(lines[first:last])
if behaviour == "hangs":
    time.sleep(600)
sys.exit(1)
"""


def run_of_two() -> list[dict[str, Any]]:
    """Return the lines of a run of two clauses; the second crashes, and its beginning is not noted."""
    lines = synthetic.run_lines(synthetic.clauses(2), "9.9.0")
    for cell, verdict in ((lines[2], "conforms"), (lines[4], "crashed")):
        cell.update(verdict=verdict, reading=None, refuted=[], holds=[], evidence=None, declared=False)
    del lines[3]
    return lines


class Bench:
    """A sweep over a folder of its own, with a scripted tox."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.behaviour = dict.fromkeys(KNOWN, "measures")
        self.calls: list[str] = []
        self.steps: list[tuple[str, str]] = []
        (root / "suites").mkdir()
        (root / "suites" / "test_a.py").write_text("first = 1\n")
        (root / "fake_tox.py").write_text(FAKE_TOX)
        synthetic.write_lines(root / "lines.jsonl", run_of_two())
        for folder in (RUNS, COUNTS, WORK):
            (root / folder).mkdir(parents=True)

    def tox(self, version: Release, step: str) -> list[str]:
        self.steps.append((version.minor, step))
        if step != "install":
            self.calls.append(version.minor + (" resumed" if step == "resume" else ""))
        words = [str(version.run_file), str(version.env_folder), self.behaviour[version.minor], step]
        return [sys.executable, str(self.root / "fake_tox.py"), *words]

    def make(self, part: Asked = WHOLE, **options: object) -> sweep.Sweep:
        chosen = {"jobs": 2, "examples": None, "timeout": 1, "fresh": False, "keep": False, "count": False, **options}
        versions = [Release(minor, patch, self.root, bool(chosen["count"]), part) for minor, patch in KNOWN.items()]
        (self.root / part.folder).mkdir(parents=True, exist_ok=True)
        return sweep.Sweep(versions, argparse.Namespace(**chosen), self.tox)

    def run(self, part: Asked = WHOLE, **options: object) -> dict[str, Release]:
        self.calls.clear()
        made = self.make(part, **options)
        made.run()
        return {version.minor: version for version in made.versions}


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


@pytest.mark.parametrize(("jobs", "workers"), [(1, 4), (2, 2), (3, 1), (9, 1)])
def test_versions_at_the_same_time_share_the_cores(bench: Bench, monkeypatch: Any, jobs: int, workers: int) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 4)
    found = bench.run(jobs=jobs)
    given = {minor: Path(f"{version.env_folder}.workers").read_text() for minor, version in found.items()}
    assert given == dict.fromkeys(KNOWN, str(workers))


def test_versions_come_from_tox_ini() -> None:
    known = torches.known_versions(ROOT / "tox.ini")
    assert next(iter(known)) == "1.4"
    assert "1.13" in known
    assert "2.15" in known
    assert all(patch.startswith(minor + ".") for minor, patch in known.items())
    assert list(known) == sorted(known, key=lambda minor: [int(part) for part in minor.split(".")])


def test_every_pinned_version_is_an_environment_and_the_other_way_round() -> None:
    if not (sweep.importlib.util.find_spec("tox") and sweep.importlib.util.find_spec("tox_uv")):
        pytest.skip("tox is not in this environment; .ci/run lists the environments")
    listed = subprocess.run(
        [sys.executable, "-m", "tox", "list", "--no-desc"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    environments = [word for word in listed.stdout.split() if word.startswith("torch") and word[5:6].isdigit()]
    releases = [word for word in environments if "-" not in word]
    assert releases == [f"torch{minor}" for minor in torches.known_versions(ROOT / "tox.ini")]
    assert {word.partition("-")[0] for word in environments} == set(releases)


@pytest.mark.parametrize("word", ["1.10", "torch1.10", "1.10.2"])
def test_a_version_is_named_in_three_ways(word: str) -> None:
    assert torches.pick([word], KNOWN) == ["1.10"]


def test_no_name_means_all_and_the_order_is_that_of_tox_ini() -> None:
    assert torches.pick([], KNOWN) == list(KNOWN)
    assert torches.pick(["2.1", "1.4"], KNOWN) == ["1.4", "2.1"]


def test_an_unknown_version_is_refused_with_a_hint() -> None:
    with pytest.raises(BadInput, match=r"no torch version '1\.1' there; did you mean 1\.10\?"):
        torches.pick(["1.1"], KNOWN)
    with pytest.raises(BadInput, match=r"known are 1\.4 to 2\.1"):
        torches.pick(["newest"], KNOWN)


def test_command_line_refuses_an_unknown_version_in_one_line() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "reports", "sweep", "2.99"], cwd=ROOT, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "known are 1.4 to 2." in done.stderr


def test_all_are_measured_and_the_environments_removed(bench: Bench) -> None:
    made = bench.make()
    made.run()
    assert [version.state for version in made.versions] == ["measured"] * 3
    assert made.versions[0].says == "1 conforms, 1 crashed"
    assert made.peak >= 200_000
    assert not made.cache.exists()
    assert not any(version.env_folder.exists() for version in made.versions)
    assert all(version.seconds > version.installing > 0 for version in made.versions)


def test_environments_stay_when_asked(bench: Bench) -> None:
    assert all(version.env_folder.exists() for version in bench.run(keep=True).values())


def test_complete_runs_are_kept_until_sources_or_options_change(bench: Bench) -> None:
    bench.run()
    assert {version.state for version in bench.run().values()} == {"kept"}
    assert bench.calls == []
    assert {version.state for version in bench.run(examples=7).values()} == {"measured"}
    assert {version.state for version in bench.run(examples=7, fresh=True).values()} == {"measured"}
    (bench.root / "suites" / "test_a.py").write_text("second = 2\n")
    assert {version.state for version in bench.run(examples=7).values()} == {"measured"}
    assert not any("resumed" in call for call in bench.calls)


def test_an_incomplete_run_is_resumed(bench: Bench) -> None:
    bench.behaviour["1.10"] = "stops"
    first = bench.run()["1.10"]
    assert (first.state, first.says.split(":")[0]) == ("incomplete", "1 of 2 clauses")
    bench.behaviour["1.10"] = "measures"
    second = bench.run()
    assert bench.calls == ["1.10 resumed"]
    assert second["1.10"].says == "1 conforms, 1 crashed"
    assert second["1.4"].state == "kept"


def test_a_version_that_cannot_be_installed_costs_no_other(bench: Bench) -> None:
    bench.behaviour["1.4"] = "no interpreter"
    ended = bench.run()
    assert ended["1.4"].state == "not measured"
    assert ended["1.4"].says.startswith("torch1.4: no python3.8 here; install it")
    assert ended["2.1"].state == "measured"


def test_a_version_that_hangs_is_stopped(bench: Bench) -> None:
    bench.behaviour["2.1"] = "hangs"
    ended = bench.run(timeout=0.03)
    assert ended["2.1"].state == "incomplete"
    assert "stopped after 0.03 minutes" in ended["2.1"].says


def test_an_interruption_ends_what_runs_and_is_resumed(bench: Bench) -> None:
    bench.behaviour["1.4"] = "hangs"
    made = bench.make(jobs=1, timeout=5)
    waker = threading.Thread(target=interrupt_once, args=(made.versions[0].run_file,))
    waker.start()
    with pytest.raises(KeyboardInterrupt):
        made.run()
    waker.join()
    assert bench.calls == ["1.4"]
    assert ("1.10", "install") in bench.steps, "the next one is installed while the first one runs"
    assert ("2.1", "install") not in bench.steps, "two environments at most"
    bench.behaviour["1.4"] = "measures"
    assert bench.run(jobs=1)["1.4"].state == "measured"
    assert bench.calls[0] == "1.4 resumed"


def test_some_clauses_have_run_files_of_their_own_and_are_resumed(bench: Bench) -> None:
    bench.run()
    whole = {path: path.read_bytes() for path in (bench.root / RUNS).glob("*")}
    assert len(whole) == 9
    bench.behaviour["1.10"] = "stops"
    ended = bench.run(SOME)
    assert ended["1.4"].run_file == bench.root / "reports/out/parts/gradient.errors+retain@eager/torch1.4.jsonl"
    assert ended["1.4"].run_file.exists()
    bench.behaviour["1.10"] = "measures"
    assert bench.run(SOME)["1.10"].state == "measured"
    assert bench.calls == ["1.10 resumed"]
    assert {version.state for version in bench.run(SOME).values()} == {"kept"}
    assert {path: path.read_bytes() for path in (bench.root / RUNS).glob("*")} == whole


def test_a_part_has_a_folder_that_names_it(bench: Bench) -> None:
    assert Asked(("retain.",)).folder.name == "retain"
    assert Asked((), ("copy",)).folder.name == "all@copy"
    many = [
        Asked(tuple(f"gradient.errors.number_{number}" for number in range(count))).folder.name for count in (9, 10)
    ]
    assert many[0] != many[1]
    assert max(map(len, many)) < 80


@pytest.mark.parametrize(
    ("part", "words"),
    [(("Retain",), "--clauses 'Retain' cannot be one"), (("../..",), "cannot be one"), (("",), "cannot be one")],
)
def test_what_cannot_be_a_clause_is_refused(part: tuple[str, ...], words: str) -> None:
    with pytest.raises(BadInput, match=words):
        Asked(part)
    with pytest.raises(BadInput, match=r"--mode '\.\./x' cannot be one"):
        Asked((), ("../x",))


def test_a_clause_that_no_torch_knows_ends_the_sweep_at_the_first(bench: Bench) -> None:
    bench.behaviour = dict.fromkeys(KNOWN, "knows no such clause")
    made = bench.make(SOME, jobs=1)
    made.run()
    assert made.refused.startswith("--clauses none.: no clause begins so")
    assert ("2.1", "install") not in bench.steps
    assert not made.versions[0].env_folder.exists()


def test_the_suite_is_told_which_clauses_and_where_to_write(tmp_path: Path) -> None:
    version = Release("1.10", "1.10.2", tmp_path, part=Asked(("retain.",), ("copy",)))
    words = sweep.tox_command(argparse.Namespace(count=False, examples=7))(version, "resume")
    after = words[words.index("--") + 1 :]
    assert after == [
        f"--run-file={version.asked}", "--clauses", "retain.", "--mode", "copy", "--resume", "--examples", "7",
    ]  # fmt: skip
    assert version.run_file == version.asked.with_name("torch1.10.copy.jsonl")


def test_packages_that_another_version_may_need_stay_within_their_room(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = bench.make()
    made.cache.mkdir()
    (made.cache / "shared.whl").write_bytes(b"x" * 100_000)
    made.trim()
    assert (made.cache / "shared.whl").exists()
    monkeypatch.setattr(sweep, "CACHE_ROOM", 50_000)
    made.trim()
    assert not made.cache.exists()


def test_counting_knows_no_clauses() -> None:
    words = ["sweep", "--count", "--clauses", "retain."]
    done = subprocess.run([sys.executable, "-m", "reports", *words], cwd=ROOT, capture_output=True, text=True)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "--count counts all kinds of hook, and knows no --clauses" in done.stderr


def interrupt_once(run_file: Path) -> None:
    """Interrupt the main thread as soon as the run file has a cell."""
    while not (run_file.exists() and '"cell"' in run_file.read_text()):
        time.sleep(0.05)
    os.kill(os.getpid(), signal.SIGINT)


def test_a_damaged_run_file_is_measured_again(bench: Bench) -> None:
    bench.run()
    damaged = Release("1.4", "1.4.0", bench.root)
    damaged.run_file.write_text("not json\n")
    assert bench.run()["1.4"].state == "measured"
    assert json.loads(damaged.run_file.read_text().splitlines()[0])["type"] == "header"


def test_disk_is_counted_once_per_file(tmp_path: Path) -> None:
    (tmp_path / "first").write_bytes(b"x" * 100_000)
    once = torches.disk_usage(tmp_path)
    os.link(tmp_path / "first", tmp_path / "second")
    assert torches.disk_usage(tmp_path) == once >= 100_000


def test_progress_names_versions_clauses_and_time(bench: Bench) -> None:
    made = bench.make()
    made.versions[0].state, made.versions[0].seconds = "measured", 60.0
    made.versions[1].state = "running"
    made.began -= 30.5
    assert made.text().startswith("1 of 3 versions  torch1.10: installing  0:30 elapsed  about 0:45 left")


def test_counts_lie_apart_and_belong_to_what_counts(bench: Bench) -> None:
    (bench.root / "suites" / "timing").mkdir()
    counts = bench.root / "suites" / "timing" / "count.py"
    counts.write_text("first = 1\n")
    bench.behaviour = dict.fromkeys(KNOWN, "counts")
    ended = bench.run(count=True)
    assert {(version.state, version.says) for version in ended.values()} == {("measured", "counted")}
    assert ended["1.4"].run_file == bench.root / "reports/out/counts/torch1.4.json"
    (bench.root / "suites" / "test_a.py").write_text("second = 2\n")
    assert {version.state for version in bench.run(count=True).values()} == {"kept"}
    counts.write_text("second = 2\n")
    assert {version.state for version in bench.run(count=True).values()} == {"measured"}


def test_a_count_that_wrote_nothing_says_why_and_how_far_it_was(bench: Bench) -> None:
    bench.behaviour = dict.fromkeys(KNOWN, "declines to count")
    ended = bench.run(count=True)
    assert {version.state for version in ended.values()} == {"not measured"}
    assert "suites.timing: no valgrind" in ended["1.4"].says
    assert ended["1.4"].far() == "seed 1: 1 of 5"


def test_counting_runs_in_the_environment_of_its_torch(tmp_path: Path) -> None:
    version = Release("1.10", "1.10.2", tmp_path, True)
    command = sweep.tox_command(argparse.Namespace(count=True, examples=None))
    assert command(version, "install")[1:6] == ["-m", "tox", "run", "-e", "torch1.10"]
    assert command(version, "install")[-1] == "--notest"
    words = command(version, "run")
    assert words[1:6] == ["-m", "tox", "exec", "-e", "torch1.10"]
    assert words[-6:] == ["python", "-m", "suites.timing", "--count", "--out", str(version.run_file)]


def test_counting_without_valgrind_is_refused_before_anything_is_installed() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "reports", "sweep", "--count"], cwd=ROOT, capture_output=True, text=True,
        env={"PATH": ""},
    )  # fmt: skip
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "apt-get install valgrind" in done.stderr
