"""Ways that record or compile the model first: what is planted is named, what torch does there is said, each apart."""

from __future__ import annotations

import functools
import json
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from fixtures.hooked import records, screen
from fixtures.run import apart, model
from fixtures.stages.own import traced
from fixtures.stages.own.traced import TRACED, Traced
from suites.selfcheck.model.networks import Two, asked, faults, hooked, natures, nothing

FORWARD, TENSOR = records.FORWARD, records.TENSOR
TRACING = ("only while tracing", "recorded")


@pytest.fixture(autouse=True)
def quickly(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hooks are Dynamo's, whatever compiles its graphs."""
    monkeypatch.setattr(torch, "compile", functools.partial(torch.compile, backend="aot_eager"))


def both() -> Any:
    return hooked(Two(), register_forward_hook=("a", "b"), register_hook=("a.weight", "b.weight"))


#: How a faulty torch calls a hook, and what there is to say of it.
PLANTED: dict[str, tuple[Any, str]] = {
    "not called": (lambda hook: nothing, "never"),
    "called twice": (lambda hook: lambda *given: (hook(*given), hook(*given))[1], "more often (2 for 1)"),
    "other values": (lambda hook: lambda *given: hook(*given[:-1], given[-1] * 2), "given other values"),
}
#: What the result of each way calls: all that is in the model, or hooks of parameters alone.
CALLS = {"trace": TENSOR, "fx": FORWARD, "export": TENSOR, "inductor": FORWARD}


@pytest.mark.parametrize("fault", PLANTED)
@pytest.mark.parametrize("way", CALLS)
def test_a_break_planted_in_one_way_is_named_there(monkeypatch: pytest.MonkeyPatch, way: str, fault: str) -> None:
    break_it, says = PLANTED[fault]
    original = TRACED[way].make

    def make(model: Any, args: Any, kwargs: Any) -> Any:
        made = original(model, args, kwargs)
        table = model.b._forward_hooks if CALLS[way] == FORWARD else model.b.weight._backward_hooks
        for key, hook in (table or {}).items():
            table[key] = break_it(hook)
        return made

    monkeypatch.setitem(TRACED, way, Traced(make))
    made = asked(both(), ["eager", way])
    site = "b" if CALLS[way] == FORWARD else "b.weight"
    named = [each for each in made.answers if each.verdict != TRACING[0]]
    assert [(each.way, each.hook) for each in named] == [(way, records.Hook(CALLS[way], site))]
    assert named[0].verdict == says


class Own(nn.Module):
    """A layer in a module of its user's."""

    def __init__(self) -> None:
        super().__init__()
        self.two, self.last = Two(), nn.Linear(4, 4)

    def forward(self, x: Any) -> Any:
        return self.last(self.two(x))


def test_what_is_called_while_tracing_and_what_not() -> None:
    sites = ("", "two", "two.a", "last")
    made = asked(hooked(Own(), register_forward_hook=sites, register_hook=["last.weight"]), ["trace", "fx", "export"])
    assert faults(made, "trace") == {(site, FORWARD): TRACING for site in sites}
    assert faults(made, "export") == {(site, FORWARD): TRACING for site in sites}
    assert faults(made, "fx") == {("", FORWARD): ("never", "root"), ("two", FORWARD): TRACING}


def test_backward_hooks_raise_are_dropped_or_never_end() -> None:
    full = asked(hooked(Own(), register_full_backward_hook=["two"], register_forward_hook=["last"]), ["trace", "fx"])
    assert faults(full, "trace") == {("two", records.FULL): ("raises", "raises"), ("last", FORWARD): TRACING}
    assert faults(full, "fx") == {("two", records.FULL): ("never", "not_held")}
    legacy = asked(hooked(Own(), register_backward_hook=["two", "last"]), ["fx"])
    assert faults(legacy) == {("two", records.LEGACY): ("raises", "raises")}
    assert "never ends" in legacy.answers[0].names[0]


class Blocks(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.blocks = nn.ModuleList(Own() for _ in range(3))

    def forward(self, x: Any) -> Any:
        for block in self.blocks:
            torch._dynamo.graph_break()
            x = block(x)
        return x


def test_a_graph_that_is_used_again_without_the_hook() -> None:
    function = hooked(Blocks(), register_forward_hook=["blocks.2.two"], register_hook=["blocks.0.last.weight"])
    made = asked(function, ["inductor"])
    assert faults(made) == {("blocks.2.two", FORWARD): ("never", "guards")}


def tripled(_: Any, __: Any, output: Any) -> Any:
    return output * 3


def test_a_hook_that_is_not_called_changes_what_others_are_given(monkeypatch: pytest.MonkeyPatch) -> None:
    def made() -> Any:
        model = Own()
        model.register_forward_hook(tripled)
        model.last.weight.register_hook(nothing)
        return model, (torch.ones(4, 4),)

    original = TRACED["trace"].make

    def doubled(*given: Any) -> Any:
        traced_once = original(*given)
        return lambda *inputs: traced_once(*inputs) * 2

    monkeypatch.setitem(TRACED, "trace", Traced(doubled))
    found = asked(made, ["fx", "inductor", "trace"])
    assert faults(found, "fx") == {
        ("", FORWARD): ("never", "root"),
        ("last.weight", TENSOR): ("given other values", "dropped"),
    }
    assert faults(found, "inductor") == {}
    # What it returned is a part of what was traced: the way itself is otherwise.
    assert faults(found, "trace") == {("", FORWARD): TRACING}
    assert [each.cause for each in natures(found, "trace")] == ["values"]


def test_random_numbers_are_told_from_other_values(monkeypatch: pytest.MonkeyPatch) -> None:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 64), nn.Dropout(0.5))
    original = TRACED["fx"].make

    def make(model: Any, args: Any, kwargs: Any) -> Any:
        made = original(model, args, kwargs)
        return lambda *given: (torch.rand(3), made(*given))[1]

    monkeypatch.setitem(TRACED, "trace", Traced(make))
    found = asked(hooked(model, register_hook=["0.weight"]), ["fx", "trace"])
    assert natures(found, "fx") == []
    assert [each.cause for each in natures(found, "trace")] == ["random"]


def test_hooks_that_are_put_in_forward_are_not_seen() -> None:
    def made() -> Any:
        model = Two()
        model.a.register_forward_hook(lambda _, __, output: output.register_hook(nothing) and None)
        return model, (torch.ones(4, 4),)

    unseen, others = (
        "1 of your hooks is put while the model runs, and not seen in this way",
        "the others are as in eager",
    )
    found = asked(made, ["fx", "trace"])
    assert found.unasked == {"fx": f"{unseen}; {others}", "trace": unseen}
    assert [each.way for each in found.answers] == ["trace"]
    assert screen.Report("theirs", *found).as_in_eager == []


def test_a_hook_that_is_put_in_forward_may_be_what_fails() -> None:
    def fails(grad: Any) -> None:
        pass

    def put(_: Any, x: Any) -> Any:
        x.register_hook(fails)
        return x if x.sum() > 0 else x * 2

    made = asked(hooked(Two(put), register_forward_hook=["a"]), ["fx"])
    assert made.unasked["fx"].startswith("fails without your hooks, but for those that are put while the model runs: ")


def test_a_way_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    loops = hooked(Two(lambda layer, x: layer(x) if x.sum() > 0 else x), register_forward_hook=["b"])
    assert "too: TraceError: symbolically traced variables" in asked(loops, ["fx"]).unasked["fx"]
    monkeypatch.setenv("CXX", "no_compiler")
    assert asked(loops, ["inductor"]).unasked == {"inductor": "it needs a C++ compiler (no_compiler)"}
    monkeypatch.setattr(traced, "torch", None)
    assert asked(loops, ["export"]).unasked == {"export": f"torch {torch.__version__} has no torch.export.export"}


NET = """
import torch
from torch import nn

def hooked():
    layer = nn.Linear(4, 4)
    layer.register_forward_hook(lambda *_: None)
    return layer, torch.ones(2, 4)
"""


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(model, "said", lambda *_: {})
    (tmp_path / "net_of_a_user.py").write_text(NET, "utf-8")
    return "net_of_a_user.py"


def test_each_is_asked_in_a_process_of_its_own(file: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert model.model([file, "--run", "eager,trace", "--format", "json"]) == 1
    out, err = capfd.readouterr()
    found = json.loads(out)
    assert err == "trace ...\n"
    assert [(each["ways"], each["verdict"], each["cause"]) for each in found["answers"]] == [(["trace"], *TRACING)]
    assert found["ways"] == ["eager", "trace"]
    assert list(found["seconds"]) == ["eager", "trace"]


def test_a_process_that_dies_is_a_line(
    file: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(apart, "START", "import os; os.write(2, b'why'); os._exit(3)  # {path} {parent}")
    assert model.model([file, "--run", "eager,fx"]) == 2
    assert "cannot be told: fx: its process ended with exit status 0x3: why\n" in capfd.readouterr().out


def test_a_function_of_a_test_cannot_be_asked_apart() -> None:
    with pytest.raises(model.Bad, match=r"fx is run in a process of its own: ask it of a file, .* FILE --run fx"):
        model.asked_of("theirs", "eager,fx", both())


def test_ways_are_documented() -> None:
    page = (Path(traced.__file__).parents[3] / "docs" / "model.md").read_text("utf-8")
    assert [way for way in TRACED if f"| `{way}` |" not in page] == []
