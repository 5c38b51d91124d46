"""A line of an answer as a program: it runs the user's own model, and fails where it does not find the difference."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from fixtures.hooked import screen
from fixtures.hooked.records import Answer
from fixtures.run import model, script
from fixtures.stages.own import ask, user

NETS = """
import torch
from torch import nn

class Inner(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 4)

    def forward(self, x):
        return self.layer(x)

def hooked():
    net = nn.Sequential(Inner(), nn.Linear(4, 4))
    net[0].register_forward_hook(lambda *_: None)
    net[1].register_forward_pre_hook(lambda *_: None)
    net[1].weight.register_hook(lambda grad: grad + 1)
    net[1].weight.register_hook(lambda grad: None)
    return net, torch.ones(2, 4)

def plain():
    return nn.Sequential(Inner(), nn.Linear(4, 4)), torch.ones(2, 4)

def inside():
    net = nn.Linear(4, 4)
    net.register_forward_hook(lambda _, __, output: output.register_hook(lambda grad: None) and None)
    return net, torch.ones(2, 4)

class Within(Inner):
    def forward(self, x):
        handle = self.layer.register_forward_hook(lambda *_: None)
        x = self.layer(x)
        handle.remove()
        return x

def within():
    return Within(), torch.ones(2, 4)

def twice(model, args, kwargs):
    output = model(*args)
    (output + model(*args)).sum().backward()
    return output
"""
OWN = "nets_for_a_script:twice"


@pytest.fixture(autouse=True)
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(sys, "excepthook", sys.excepthook)
    monkeypatch.setattr(model, "said", lambda *_: {})
    (tmp_path / "nets_for_a_script.py").write_text(NETS, "utf-8")


def answer(way: str, name: str) -> screen.Report:
    function = user.function(f"nets_for_a_script.py:{name}")
    ways: Any = {way: user.function(way) if ":" in way else None}
    return screen.Report(f"nets_for_a_script.py:{name}", *ask.ask(function, ways, lambda _: None))


def status(text: str) -> Any:
    """With what the program ends."""
    with pytest.raises(SystemExit) as ended:
        exec(compile(text, "script", "exec"), {"__name__": "__main__"})
    return int(ended.value.code or 0)


#: A way, a function and what its first line says; how the program is changed so that nothing differs any more.
LINES = {
    "copy": ("hooked", "never: 1.weight: tensor", "copy.deepcopy(model)", "model"),
    "fx": ("hooked", "only while tracing: 0: forward", "torch.fx.symbolic_trace(model)", "model"),
    "checkpoint": (
        "plain",
        "more often (2 for 1): 0: forward",
        "return original(",
        "return (lambda f, *xs, **_: f(*xs))(",
    ),
    "autocast": ("hooked", "given", "torch.bfloat16", "torch.float32, enabled=False"),
    OWN: ("hooked", "more often (2 for 1): 0: forward", "run(way, False)", "run(eager, False)"),
}


@pytest.mark.parametrize("way", LINES)
def test_a_program_shows_its_line_and_fails_without_it(way: str, capsys: pytest.CaptureFixture[str]) -> None:
    name, verdict, old, new = LINES[way]
    text = script.script(answer(way, name), 1)
    assert text.startswith(f'"""[{way}] {verdict}')
    assert "fixtures" not in text
    assert status(text) == 0
    assert capsys.readouterr().out.endswith("does as said above\n")
    assert old in text
    assert status(text.replace(old, new)) == 1


def test_which_of_two_hooks() -> None:
    report = answer("copy", "hooked")
    report.answers = [each for each in report.answers if each.hook and each.hook.number == 1]
    text = script.script(report, 1)
    assert "tensor no. 2" in text
    assert "table[own[1]] = table[own[1]], noting" in text
    assert status(text) == 0


def test_a_line_without_a_program(capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["nets_for_a_script.py:hooked", "--run", "eager,copy", "--script"]
    assert model.model([*asked, "9"]) == 2
    assert capsys.readouterr().err == f"{model.PROG}: --script: the answer has 2 lines that begin with [\n"
    assert model.model([*asked, "2"]) == 2
    assert "that line says: with a copy of the module\n" in capsys.readouterr().err
    assert model.model([*asked, "1"]) == 0
    Path("my-nets.py").write_text(NETS, "utf-8")
    assert model.model(["my-nets.py:hooked", *asked[1:], "1"]) == 2
    assert "Python cannot import my-nets: give the file a name" in capsys.readouterr().err
    report = answer("parallel", "within")
    with pytest.raises(script.NoScript, match="about a hook that is put while the model runs"):
        script.script(report, 1)
    report = answer("eager", "inside")
    report.answers = [Answer("eager", report.hooks[1], "never")]
    with pytest.raises(script.NoScript, match="no hook that is put on one module or parameter"):
        script.script(report, 1)
