"""What the timing suite times: each hook is called, and gone when it was removed. Nothing here is timed."""

from __future__ import annotations

import inspect
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest
import torch

from fixtures.modes import missing
from reports.runfile import read_run
from suites.selfcheck import timing_session
from suites.timing import arms, kinds
from suites.timing.kinds import COUNTED, KINDS, LIB, REGISTERED, Kind
from suites.timing.pairs import SLOW, Arm, Turns
from suites.timing.workloads import WORKLOADS, Pass

ROOT = Path(__file__).resolve().parents[2]
# What a pass calls beyond one hook: a pack and an unpack for each tensor that is saved.
CALLED = {"retain_grad": (0, 0), "saved_tensors": (4, 8)}
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(autouse=True)
def forget_global_hooks():
    yield
    LIB.reset()


@pytest.mark.parametrize("workload", ["empty", "small", "large"])
@pytest.mark.parametrize("name", KINDS)
def test_a_hook_is_called_and_then_gone(name: str, workload: str) -> None:
    kind = KINDS[name]
    assert not missing(kind.needs), "the self-check runs on the newest torch, which has them all"
    assert arms.fires(kind, workload) == CALLED.get(name, (1, 1))[workload != "empty"]


def test_retain_grad_keeps_the_gradient(monkeypatch) -> None:
    """The one kind that calls nothing: what it asks for must be there."""
    asked = []
    real = torch.Tensor.retain_grad
    monkeypatch.setattr(torch.Tensor, "retain_grad", lambda tensor: asked.append(tensor) or real(tensor))
    kinds.retain_pass(Pass("small"), kinds.observe)
    assert asked[0].grad is not None


@pytest.mark.parametrize("name", ["forward", "full_backward"])
def test_each_module_of_the_encoder_is_called(name: str) -> None:
    found = arms.fires(KINDS[name], "encoder", each=True)
    modules = list(Pass("encoder").module.modules())
    assert len(modules) > 100
    # out_proj of the attention is no call: its weight is used by a function.
    assert found == len(modules) - 12


@pytest.mark.parametrize("name", COUNTED)
def test_so_many_hooks_are_called_as_are_registered(name: str) -> None:
    seen, one = [], Pass("empty")
    leave = arms.attach(KINDS[name], one, lambda *args: seen.append(1), 16)
    one.work(KINDS[name].work)()
    leave()
    one.work(KINDS[name].work)()
    assert len(seen) == 16


def test_a_hook_that_is_not_called_is_no_figure() -> None:
    deaf = Kind("deaf", "deaf hook", "forward", attach=lambda one, hook: lambda: None)
    with pytest.raises(arms.NotCalled, match="deaf on empty: one pass calls the hook 0 times"):
        arms.fires(deaf, "empty")


def test_a_hook_that_stays_is_no_figure() -> None:
    def attach(one: Pass, hook):
        one.module.register_forward_hook(hook)
        return lambda: None

    with pytest.raises(arms.NotCalled, match="still called after it was removed"):
        arms.fires(Kind("stays", "hook that stays", "forward", attach=attach), "empty")


def test_control_and_hooked_are_the_same_work() -> None:
    """Without its hooks the second side is the first: the same module, the same input, the same function."""
    for name in REGISTERED:
        control, hooked = arms.by_count(KINDS[name], "small")
        assert control.work == hooked.work


def lines_of(function) -> list[str]:
    """Give the lines of a function below its head, each without its margin."""
    return [line.strip() for line in inspect.getsource(function).splitlines()[1:]]


@pytest.mark.parametrize("name", [name for name in KINDS if name not in REGISTERED])
def test_a_pass_of_its_own_is_its_twin_and_one_line_with_the_hook(name: str) -> None:
    """Both are called through the same partial function, so that neither pays for how it is called."""
    kind = KINDS[name]
    own, twin = lines_of(kind.own_pass), lines_of(kind.twin)
    (extra,) = [line for line in own if line not in twin]
    assert [line for line in own if line != extra] == twin
    assert "hook" in extra or "retain_grad" in extra
    control, hooked = arms.by_count(kind, "small")
    assert isinstance(control.work, partial)
    assert isinstance(hooked.work, partial)
    assert (control.work.func, hooked.work.func) == (kind.twin, kind.own_pass)
    assert control.work.args == hooked.work.args
    assert control.enter is hooked.enter
    assert "each" in kind.says


@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize("name", REGISTERED)
def test_the_control_never_runs_on_a_leaf_that_had_a_hook(monkeypatch, name: str, count: int) -> None:
    """Torch keeps what calls the hooks of a leaf after the last of them was removed, and the control would pay it."""
    hooked: list[torch.Tensor] = []
    ran: list[bool] = []
    for method in ("register_hook", "register_post_accumulate_grad_hook"):
        real = getattr(torch.Tensor, method)
        monkeypatch.setattr(torch.Tensor, method, lambda leaf, hook, real=real: hooked.append(leaf) or real(leaf, hook))
    one = Pass("small")
    monkeypatch.setattr(arms, "Pass", lambda workload: one)
    control, arm = arms.by_count(KINDS[name], "small", [count])

    def watched() -> None:
        ran.append(any(leaf is each for leaf in (one.leaf, one.other) for each in hooked))
        control.work()

    turns = Turns([[Arm(watched), arm]], lambda: 0.0)
    for _ in range(3):
        turns.round()
    assert ran == [False] * 6
    assert bool(hooked) == KINDS[name].on_leaves


@pytest.mark.parametrize("work", ["nothing", "forward", "both", "leaf"])
def test_the_work_beside_itself_is_disturbed_as_with_a_hook(monkeypatch, work: str) -> None:
    """Both sides are one work; right before its block the second one registers a hook, which is gone in the block."""
    log: list[str] = []
    attach = KINDS["forward"].attach

    def logged(one: Pass, hook):
        log.append("registered")
        undo = attach(one, hook)
        return lambda: log.append("removed") or undo()

    monkeypatch.setitem(KINDS, "forward", KINDS["forward"]._replace(attach=logged))
    control, beside = arms.same(work, "small")
    assert control.work == beside.work
    control.enter()()
    assert log == []
    leave = beside.enter()
    assert log == ["registered", "removed"]
    leave()
    assert log == ["registered", "removed"]


def test_every_figure_has_a_noise_of_its_own() -> None:
    """What reports demand of a run: the work of each figure beside itself, on the same workload."""
    sames = {(work, workload) for work, workload, _ in arms.SAMES}
    calls = {(kind.work, workload) for kind in KINDS.values() for workload in arms.TIMES}
    counted = {(KINDS[name].work, "empty") for name in COUNTED}
    assert calls | counted | {("forward", "encoder"), ("both", "encoder"), ("nothing", "empty")} == sames


def test_registering_is_timed_with_its_removal() -> None:
    log: list[str] = []

    def attach(one: Pass, hook):
        log.append("registered")
        return lambda: log.append("removed")

    control, arm = arms.registering(Kind("logs", "hook that logs", "forward", attach=attach))
    control.work()
    assert log == []
    arm.work()
    arm.work()
    assert log == ["registered", "removed"] * 2


def test_memory_is_what_grows_while_graphs_are_held() -> None:
    """A process that grows by 1000 bytes a pass, and 300 more with a hook."""
    size = [0]
    passes = 10
    grown = iter([5000, 9000, 1000, 1300, 1000, 1300])  # the first two find everything new

    def held() -> int:
        size[0] += 1
        if size[0] % 2 == 0:
            total[0] += next(grown) * passes
        return total[0]

    total = [0]
    assert arms.memory("full_backward", held, passes) == arms.Memory(1000, 300)


def test_every_workload_returns_the_shape_it_is_given() -> None:
    for name in WORKLOADS:
        one = Pass(name)
        assert one.forward().shape == one.input.shape
        one.both()
        assert one.leaf.grad is not None
        assert one.leaf.grad.shape == one.leaf.shape


def test_the_default_suite_does_not_collect_the_timing() -> None:
    ignored = [f"--ignore={path}" for path in (ROOT / "suites").iterdir() if path.is_dir() and path.name != "timing"]
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", *ignored]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert found.returncode == pytest.ExitCode.NO_TESTS_COLLECTED, found.stdout


def test_one_process_writes_rows_that_can_be_read(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    command = [sys.executable, "-m", "pytest", "suites/timing", "-q", "-W", "ignore", "-p", "no:cacheprovider"]
    command += ["--timing-seconds=0.01", f"--run-file={path}", "-k", "floor or memory or call and forward-empty"]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert found.returncode == 0, found.stdout
    rows = read_run(path, timings=True).benchmarks
    assert [row["figure"] for row in rows] == ["memory", "floor", "call", "call", "process"]
    assert [row["hook"] for row in rows[:-1]] == ["full_backward", "plain_call", "forward", "global_forward"]


def test_small_works_are_visited_before_large_ones_and_memory_before_all() -> None:
    """Each as often as it wants to be, in rounds: what the encoder leaves in the heap disturbs nothing small."""
    command = [sys.executable, "-m", "pytest", "suites/timing", "--collect-only", "-q", "-p", "no:cacheprovider"]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    lines = [line.partition("::")[2] for line in found.stdout.splitlines() if "::" in line]
    assert lines[0] == "test_memory"
    visits = {
        name: [line for line in lines if line.endswith(f"-{name}]")] for name in ("forward-empty", "tensor-small")
    }
    rounds = range(arms.TIMES["empty"].visits)
    assert visits["forward-empty"] == [
        f"test_{name}[{visit}-forward-empty]" for visit in rounds for name in ("same", "call")
    ]
    assert visits["tensor-small"] == [f"test_call[{visit}-tensor-small]" for visit in range(arms.TIMES["small"].visits)]
    calls = [(place, line) for place, line in enumerate(lines) if line.startswith("test_call")]
    places = {end: [place for place, line in calls if line.endswith(end)] for end in ("-empty]", "-small]")}
    large = [place for place, line in enumerate(lines) if "encoder" in line or "large" in line or "each_module" in line]
    assert max(places["-empty]"]) < min(places["-small]"]) < max(places["-small]"]) < min(large)


#: Runs a test and prints how slow its gauge may be, and when somebody looks how fast the machine is.
GAUGED = """
import pytest
from suites.timing import notes
class Turns(notes.Turns):
    def __init__(self, *args):
        super().__init__(*args)
        print(f"SLOW {self.slow}")
notes.Turns = Turns
notes.Notes.look = lambda self: print("LOOKED")
pytest.main(["suites/timing", "-qsp", "no:cacheprovider", "--timing-seconds=0.01", "-k", "same and forward-WORK"])
"""


@pytest.mark.parametrize("workload", arms.TIMES)
def test_the_gauge_of_a_large_work_may_be_slower(workload: str) -> None:
    command = [sys.executable, "-c", GAUGED.replace("WORK", workload)]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    said = [line for line in found.stdout.splitlines() if "SLOW" in line]
    (time,) = [time for *what, time in arms.SAMES if what == ["forward", workload]]
    assert found.stdout.count("LOOKED") == time.visits
    assert len(said) == 1, found.stdout
    assert said[0].endswith(f"SLOW {time.slow}")
    assert (time.slow > SLOW) == (workload == "large")


def test_made_up_sessions_have_as_many_figures_as_real_ones() -> None:
    assert len(timing_session.MANY) == len(KINDS)
    assert len(timing_session.MANY_REGISTERED) == len(REGISTERED)
    assert set(timing_session.WORKLOADS) == set(arms.TIMES)
