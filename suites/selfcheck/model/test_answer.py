"""The answer: one screen, three forms, the exit status; what cannot be asked is said in one line."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from fixtures.hooked import causes, records
from fixtures.run import model, said
from reports.data.strict import SCHEMAS, BadInput, validate
from reports.data.verdicts import read_table
from reports.installed.model import hooks_as_in_eager

TWO = """
import torch
from torch import nn

def attention():
    layer = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 8, batch_first=True), 2, enable_nested_tensor=False)
    for name, each in layer.named_modules():
        if name.endswith("out_proj"):
            each.register_forward_hook(lambda *_: None)
    return layer, (torch.ones(2, 3, 8),)

def plain():
    layer = nn.Linear(4, 4)
    layer.register_forward_hook(lambda *_: None)
    return layer, torch.ones(2, 4)

def bare():
    return nn.Linear(4, 4), torch.ones(2, 4)

def fails(layer, args, kwargs):
    raise ValueError("never")

def step(layer, args, kwargs):
    return layer(*args)

def breaks():
    return nn.Linear(4, 4)(1)

def wrong():
    return nn.Linear(4, 4)
"""


@pytest.fixture(autouse=True)
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(model, "said", lambda *_: {"output.layers.attention": ("It is so.", "1.4 to 2.15")})
    path = tmp_path / "networks_of_a_user.py"
    path.write_text(TWO, "utf-8")
    return path


def test_one_screen(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert model.model([f"{file.name}:attention", "--run", "eager,eval,copy"]) == 1
    head, *lines = capsys.readouterr().out.splitlines()
    assert re.fullmatch(r"networks_of_a_user.py:attention, torch \S+: 2 hooks of yours; eager, eval, copy", head)
    assert lines == [
        "[every way] never: layers.*.self_attn.out_proj (2): forward (put at networks_of_a_user.py:9)",
        "    because MultiheadAttention uses the weights of this module and never calls it",
        "    do: hook layers.*.self_attn, or put a tensor hook on the parameters",
        "    output.layers.attention (torch 1.4 to 2.15): It is so.",
    ]


def test_the_forms_say_the_same(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = [f"{file.name}:attention", "--run", "eager", "--format"]
    assert model.model([*asked, "json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert [each["cause"] for each in found["answers"]] == ["weights"]
    assert found["answers"][0]["clauses"] == {"output.layers.attention": ["It is so.", "1.4 to 2.15"]}
    assert model.model([*asked, "markdown"]) == 1
    assert "- [eager] never: layers.*.self_attn.out_proj (2): forward" in capsys.readouterr().out


def test_the_json_fits_its_schema_which_is_closed(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ways = "eager,no_grad,copy,networks_of_a_user:fails"
    for name in ("attention", "plain", "bare"):
        assert model.model([f"{file.name}:{name}", "--run", ways, "--format", "json"]) in (0, 1, 2)
        found = json.loads(capsys.readouterr().out)
        validate(found, "model.schema.json", file, "")
        assert found["cannot_be_told"]
    with pytest.raises(BadInput, match="unknown key 'colour'"):
        validate({**found, "colour": "red"}, "model.schema.json", file, "")
    for key in found:
        with pytest.raises(BadInput, match="has no key"):
            validate({name: found[name] for name in found if name != key}, "model.schema.json", file, "")
    kinds = json.loads((SCHEMAS / "model.schema.json").read_text("utf-8"))["$defs"]["kind"]["enum"]
    others = (records.TENSOR, records.POST, records.RETAIN, records.MULTI, records.SAVED)
    assert kinds == [*records.OF_MODULES, *others, "parameter"]


def test_a_way_of_ones_own_and_nothing_to_say(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    own = "networks_of_a_user:step"
    assert model.model([f"{file.name}:plain", "--run", f"eager,no_grad,{own}"]) == 0
    assert capsys.readouterr().out.splitlines()[1:] == [f"as in eager: eager, no_grad, {own}"]


REFUSED = {
    "nowhere.py": "there is no file nowhere.py; name FILE, FILE:function or package:function",
    "nowhere": "nowhere is no file and names no function: write FILE, FILE:function or package:function",
    "nowhere:made": "there is no module nowhere here; run it where the package is, or name a file",
    "{file}": "{file} has several functions: name one, {file}:attention; it returns the model with your hooks, and its "
    "inputs",
    "{file}:none": "{file} has no function none; it has attention, plain, bare, breaks, wrong",
    "{file}:breaks": "{file}:breaks raises TypeError: linear(): argument 'input' (position 1) must be Tensor, not int "
    "({file}:27)",
    "{file}:wrong": "{file}:wrong must return (model, args), (model, args, kwargs) or (model, args, kwargs, loss), "
    "with a torch.nn.Module first; it returned Linear",
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_asked_is_said_in_one_line(file: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert model.model([name.format(file=file.name)]) == 2
    assert capsys.readouterr().err == f"{model.PROG}: {REFUSED[name].format(file=file.name)}\n"


def test_an_unknown_way_and_an_old_torch(file: Path, monkeypatch: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert model.model([file.name, "--run", "eagre"]) == 2
    assert "--run has no way eagre: choose from eager, eval" in capsys.readouterr().err
    monkeypatch.setattr("fixtures.stages.own.ask.VERSION", (1, 4))
    assert model.model([file.name]) == 2
    assert capsys.readouterr().err == f"{model.PROG}: needs torch 1.8 or newer, here is 1.4\n"


def test_each_cause_names_clauses_that_there_are() -> None:
    named = [name for each in causes.CAUSES.values() for name in each.clauses]
    named += [name for each in causes.BY_WAY.values() for name in each]
    assert set(named) - set(read_table().clauses) == set()
    name = "output.layers.attention"
    assert said.said(model.ROOT, [name], "2.15")[name][1].startswith("1.4 to 2.")


def test_a_clause_that_was_not_measured_so_on_this_torch_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    attention, early = "output.layers.attention", "modes.checkpoint.early_stop"  # the second: from torch 2.1 on
    monkeypatch.setattr(said, "_table", lambda _: {name: {"says": "It is so."} for name in (attention, early)})
    assert set(said.said(model.ROOT, [attention, early], "2.1")) == {attention, early}
    assert set(said.said(model.ROOT, [attention, early], "2.0")) == {attention}
    assert set(said.said(model.ROOT, [attention, early], "9.9")) == {attention, early}  # nobody measured it


def test_one_assertion_in_a_test_of_ones_own(file: Path) -> None:
    before = {name: each for name, each in sys.modules.items() if name.startswith("fixtures")}
    namespace: dict[str, Any] = {"__name__": "theirs"}
    exec(TWO, namespace)
    hooks_as_in_eager(namespace["plain"], run="eager,eval")
    with pytest.raises(AssertionError, match=r"theirs:attention, torch .*\n\[eager\] never: layers.*out_proj"):
        hooks_as_in_eager(namespace["attention"], run="eager")
    with pytest.raises(ValueError, match="must return"):
        hooks_as_in_eager(namespace["wrong"])
    assert {name: each for name, each in sys.modules.items() if name.startswith("fixtures")} == before
