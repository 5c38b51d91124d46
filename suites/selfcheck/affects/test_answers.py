"""affects: what differs between the releases that someone's code supports; the code is parsed and never run."""

from __future__ import annotations

import json
import os
import re

import pytest

from reports.__main__ import main
from reports.data.clause import need
from reports.data.strict import validate
from reports.usage.affects import affects
from reports.usage.lacks import Lacking
from reports.usage.uses import read_code
from suites.selfcheck.affects.score_affects import Form, answer, columns, effect, forms, packages, recorded

LEGACY = "m.register_backward_hook(f)\n"


@pytest.mark.parametrize("form", list(forms()), ids=lambda form: form.name)
def test_a_labelled_form(form: Form) -> None:
    assert answer(form.code) == (form.uses, form.said)


def ask(code, capsys, *arguments, source: str | None = LEGACY, name="them.py") -> tuple[int, str, str]:
    """Return the exit status, what was printed and what was complained of."""
    if source is not None:
        (code / name).write_text(source, encoding="utf-8")
    status = main(["affects", str(code), *arguments])
    out, err = capsys.readouterr()
    return status, out, err


def plain(code, capsys, *arguments, source: str | None = LEGACY):
    """Return the answer as data."""
    found = json.loads(ask(code, capsys, *arguments, "--format", "json", source=source)[1])
    validate(found, "answers.schema.json#/$defs/affects", code, "")
    return found


METADATA = {
    "pyproject.toml": '[project]\nname = "them"\ndependencies = ["numpy", "torch>=2.1"]\n',
    "setup.cfg": "[options]\ninstall_requires =\n    numpy\n    torch>=2.1  # hooks\n",
    "setup.py": "from setuptools import setup\nsetup(install_requires=['torch >= 2.1', 'torchvision>=0.2'])\n",
    "PKG-INFO": "Metadata-Version: 2.1\nName: them\nRequires-Dist: torch>=2.1; python_version > '3.8'\n",
    "requirements.txt": "-r more.txt\ntorchvision\ntorch>=2.1\n",
}


@pytest.mark.parametrize("name", METADATA)
def test_the_range_is_that_of_the_metadata(code, capsys, name):
    (code / name).write_text(METADATA[name], encoding="utf-8")
    found = plain(code, capsys)
    assert (found["releases"][0], found["why"]) == ("2.1", f"as torch>=2.1 ({name}) admits")
    inner = code / "src"
    inner.mkdir()
    (inner / "a.py").write_text(LEGACY)
    assert plain(inner, capsys, source=None)["releases"][0] == "2.1"


@pytest.mark.parametrize(
    ("said", "first", "last"),
    [
        ('[project.optional-dependencies]\ntorch = ["torch>=2.3,<2.6"]', "2.3", "2.5"),
        ('[project]\ndependencies = ["torch!=2.0.0,>=2.0"]', "2.0", "2.15"),
        ('[tool.poetry.dependencies]\ntorch = "^1.13"', "1.13", "1.13"),
        ('[tool.poetry.dependencies]\ntorch = {version = ">=2.4,<2.6", optional = true}', "2.4", "2.5"),
        ('[project]\ndependencies = ["torch", "torchaudio>=2.1"]', "1.4", "2.15"),
        ("[project\n", "1.4", "2.15"),
        ('[project]\ndependencies = ["torch>>2"]', "1.4", "2.15"),
    ],
)
def test_what_metadata_say_of_torch(code, capsys, said, first, last):
    (code / "pyproject.toml").write_text(said, encoding="utf-8")
    found = plain(code, capsys)["releases"]
    assert (found[0], found[-1]) == (first, last)


def test_metadata_that_admit_no_release_are_said(code, capsys):
    (code / "pyproject.toml").write_text('[project]\ndependencies = ["torch>=9"]', encoding="utf-8")
    status, out, err = ask(code, capsys)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert "no recorded release is in torch>=9 (pyproject.toml)" in err


def test_every_release_between_counts(code, capsys):
    """Pre-hooks alone warned from 2.8 to 2.13 only: the two ends say the same."""
    found = plain(code, capsys, "--from", "2.7", "--to", "2.15", source="m.register_full_backward_pre_hook(f)")
    spans = {one["clause"]: [(s["from"], s["to"]) for s in one["spans"]] for one in found["unsure"]}
    assert spans["backward.modes.pre_warning_without_input"] == [("2.7", "2.7"), ("2.8", "2.13"), ("2.14", "2.15")]


def test_text_says_where_what_since_when_and_what_instead(code, capsys):
    made = "nn.TransformerEncoderLayer(8, 2, batch_first=True)"
    source = f"from torch import nn\nm = {made}.linear1\nm.register_forward_hook(f)\n"
    status, out, _ = ask(code, capsys, "--from", "2.0", source=source)
    assert status == 1
    assert "them.py:3: register_forward_hook\n  silent, 2.0 to 2.4: " in out
    assert "[output.layers.fast_path]\n    2.5 to 2.15: " in out
    assert "\n    instead: call the model with gradients enabled.\n" in out
    assert "1 difference concerns it, worst: silent; an upgrade breaks or changes this: 1\n" in out


def test_nothing_differs(code, capsys):
    status, out, _ = ask(code, capsys, "--from", "2.14")
    assert status == 0
    assert "nothing that it uses differs" in out


def test_what_hangs_on_data_is_counted_and_listed_when_asked(code, capsys):
    source = "x.register_hook(f)"
    status, out, _ = ask(code, capsys, "--from", "2.0", source=source)
    assert status == 0
    assert "more may concern it, by what code does not show (--unsure lists them)" in out
    assert "the tensor is a view" not in out
    assert "more may concern it" in ask(code, capsys, "--from", "2.0", "--format", "markdown", source=source)[1]
    assert (
        "\n  if the tensor is no parameter and the tensor is a view and "
        in ask(code, capsys, "--from", "2.0", "--unsure", source=source)[1]
    )


def test_what_is_missing_is_said_once_with_its_places(code, capsys):
    source = "m.register_full_backward_pre_hook(f)\nn.register_full_backward_pre_hook(f)\n"
    status, out, _ = ask(code, capsys, "--from", "1.12", "--to", "2.0", source=source)
    assert status == 1
    assert "them.py:1, them.py:2: register_full_backward_pre_hook\n  error, 1.12 to 1.13: torch has no" in out
    assert "\n    instead: ask for torch>=2.0 in the metadata, or use it only where torch has it.\n" in out
    source = "m.register_forward_hook(f, always_call=True)\n"
    (found,) = plain(code, capsys, "--from", "2.0", "--to", "2.0", source=source)["findings"]
    assert found["instead"] == "ask for torch>=2.1 in the metadata, or give always_call= only where torch has it."


UPGRADE, OLDER = "an upgrade breaks or changes this", "missing or wrong on older releases only"
MODULES = "torch.nn.modules.module.register_module_full_backward_hook(f)\n"


def test_what_an_upgrade_breaks_is_told_from_what_older_releases_lack(code, capsys):
    """A warning begins in 2.8; torch 1.7 has no such hook, and 1.8 raises for another order of inputs."""
    whens = {one["clause"]: one["when"] for one in plain(code, capsys, "--from", "1.7", source=MODULES)["findings"]}
    assert whens["backward.modes.warning_without_input"] == "upgrade"
    assert whens["backward.firing.independent_output"] == "older"
    assert whens["missing.register_module_full_backward_hook"] == "older"
    out = ask(code, capsys, "--from", "1.7", source=MODULES)[1]
    parts = re.split(rf"\n\n({UPGRADE}|{OLDER}) \((\d+)\)\n", out)
    upgrade, older = dict(zip(parts[1::3], parts[3::3], strict=True)).values()
    for name, when in whens.items():
        assert (f"[{name}]" in upgrade, f"[{name}]" in older) == (when == "upgrade", when == "older")
    number = [[*whens.values()].count(when) for when in ("upgrade", "older")]
    assert [int(each) for each in parts[2::3]] == number
    assert f"; {UPGRADE}: {number[0]}; {OLDER}: {number[1]}\n" in out
    for form in ("markdown", "sarif", "github"):
        printed = ask(code, capsys, "--from", "1.7", "--format", form, source=MODULES)[1]
        said = [printed.count(each) for each in (UPGRADE, OLDER)]
        assert said == [each + (form == "markdown") for each in number], form


def test_an_api_that_goes_is_what_an_upgrade_breaks(code):
    """No release has dropped one: the table is changed."""
    table = Lacking(recorded()[0])
    table.lacking["register_backward_hook", ""] = {(2, 15)}
    (code / "them.py").write_text(LEGACY, encoding="utf-8")
    found = affects(recorded()[0], columns(), read_code(code, table.has), table, "them.py", "as asked").findings
    assert (found[0].clause, found[0].when) == ("missing.register_backward_hook", "upgrade")


@pytest.mark.parametrize(("first", "last"), [("1.13", "2.15"), ("1.4", "2.0"), ("2.14", "2.15"), ("2.3", "2.3")])
def test_as_many_clauses_differ_as_diff_says(code, capsys, first, last):
    found = plain(code, capsys, "--from", first, "--to", last)
    main(["diff", first, last, "--format", "json"])
    diff = json.loads(capsys.readouterr().out)
    changes, passing = diff["changes"], diff["passing"]
    assert not diff["unseen"]
    assert (found["differ"], found["passing"]) == (len(changes), len(passing))
    assert found["new"] == sum(one["kind"] == "added" for one in changes)
    assert found["clauses"] == diff["same"] + len(changes)
    main(["diff", first, last])
    (counted,) = re.findall(r"^torch .*: (\d+ of \d+ clauses differ)", capsys.readouterr().out)
    assert f"; {counted} there at all" in ask(code, capsys, "--from", first, "--to", last)[1]


def test_the_least_harm_decides_what_is_said(code, capsys):
    assert ask(code, capsys, "--from", "2.0", "--min-effect", "warning")[0] == 1
    assert ask(code, capsys, "--from", "2.0", "--min-effect", "silent")[0] == 0
    source = "m.register_full_backward_pre_hook(f)"
    assert ask(code, capsys, "--from", "1.13", "--min-effect", "error", source=source)[0] == 1


def test_a_baseline_leaves_out_what_was_there(code, capsys, tmp_path):
    known = tmp_path / "known.json"
    assert ask(code, capsys, "--from", "2.0", "--write-baseline", str(known))[0] == 1
    assert ask(code, capsys, "--from", "2.0", "--baseline", str(known), source="\n\n" + LEGACY)[0] == 0
    assert ask(code, capsys, "--from", "2.0", "--baseline", str(known), name="new.py")[0] == 1
    known.write_text('{"findings": 3}')
    status, out, err = ask(code, capsys, "--from", "2.0", "--baseline", str(known))
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert "known.json: is no answer of affects" in err


def test_forms_for_programs(code, capsys):
    found = json.loads(ask(code, capsys, "--from", "2.0", "--format", "sarif")[1])
    (result,) = found["runs"][0]["results"]
    assert found["version"] == "2.1.0"
    assert (result["ruleId"], result["level"]) == ("backward.legacy.warnings", "warning")
    place = result["locations"][0]["physicalLocation"]
    assert (place["artifactLocation"]["uri"], place["region"]) == ("them.py", {"startLine": 1, "startColumn": 1})
    out = ask(code, capsys, "--from", "2.0", "--format", "github")[1]
    assert out.startswith("::warning file=them.py,line=1,title=backward.legacy.warnings::warning, 2.0 to 2.3: ")
    assert "| them.py:1 | warning |" in ask(code, capsys, "--from", "2.0", "--format", "markdown")[1]
    assert ask(code, capsys, "--from", "2.14", "--format", "github")[1] == ""


def test_a_notebook_is_read(code, capsys):
    cells = [
        {"cell_type": "markdown", "source": ["m.register_backward_hook(f)"]},
        {"cell_type": "code", "source": ["%matplotlib inline\n", "m.register_backward_hook(f)"]},
    ]
    status, out, err = ask(code, capsys, "--from", "2.0", source=json.dumps({"cells": cells}), name="a.ipynb")
    assert (status, err) == (1, "")
    assert "a.ipynb, cell 2, line 2: register_backward_hook" in out
    for bad in ('{"retain_grad', '["retain_grad"]', '{"cells": 3, "retain_grad": 1}', '{"cells": ["retain_grad"]}'):
        ask(code, capsys, source=LEGACY)
        assert ask(code, capsys, "--from", "2.0", source=bad, name="a.ipynb")[2].startswith("left out: a.ipynb: is no")


def test_the_code_is_never_run(code, capsys):
    proof = code / "proof"
    assert ask(code, capsys, "--from", "2.0", source=f"open({str(proof)!r}, 'w')\n{LEGACY}")[0] == 1
    assert not proof.exists()


def test_a_name_is_the_codes_own_where_it_comes_from_there(code):
    own = "class Module:\n def register_hook(self): pass\ndef register_hook(f): pass\n"
    (code / "base.py").write_text(own, encoding="utf-8")
    for source, found in (
        ("class B:\n def f(self): self.register_hook(f)", True),
        ("from torch import nn\nclass B(nn.Module):\n def f(self): self.register_hook(f)", True),
        ("from base import Module\nclass B(Module):\n def f(self): self.register_hook(f)", False),
        ("from .base import Module as M\nclass B(M):\n def f(self): self.register_hook(f)", False),
        ("from . import base\nclass B(base.Module[int]):\n def f(self): self.register_hook(f)", False),
        ("class C(list):\n def register_hook(self): self[0].register_hook(f)", True),
        ("class A:\n def register_hook(self): pass\nclass B(A):\n def f(self): super().register_hook(g)", False),
        ("class A(T):\n def register_hook(self, f):\n  super().register_hook(f)", True),
        ("from .base import register_hook as r\nr(f)", False),
    ):
        (code / "them.py").write_text(source, encoding="utf-8")
        assert bool(effect(code).code.uses) is found, source


def test_a_constant_of_another_file_names_an_api(code):
    (code / "names.py").write_text("OUTPUT = 'register_forward_hook'\n", encoding="utf-8")
    source = "from .names import *\nh = getattr(m, OUTPUT)\nh(f, prepend=True)\nx.retain_grad()\n"
    (code / "them.py").write_text(source, encoding="utf-8")
    found = [(use.line, use.api, use.options) for use in effect(code).code.uses]
    assert found == [(3, "register_forward_hook", ("prepend",)), (4, "retain_grad", ())]


@pytest.mark.parametrize(
    "source",
    [
        "print 'python 2 register_hook'",
        "register_hook = (\n",
        "\0register_hook",
        "# coding: klingon\nregister_hook",
        "register_hook" + "(" * 10_000,
        "register_hook" + ".a" * 100_000,
        "x" + ".a" * 900 + ".register_hook(f)",
        "-" * 200_000 + "register_hook",
    ],
)
def test_a_file_that_is_no_python_is_left_out_and_said(code, capsys, source):
    (code / "good.py").write_text(LEGACY)
    status, out, err = ask(code, capsys, "--from", "2.0", source=source, name="bad.py")
    assert status == 1
    assert "; 1 file, 1 use of hooks" in out
    assert err.count("\n") == 1
    assert err.startswith("left out: bad.py: is ")


def test_what_cannot_be_read_is_left_out_and_said(code, capsys, monkeypatch):
    (code / "gone.py").symlink_to("nowhere")
    os.mkfifo(code / "pipe.py")
    (code / "locked").mkdir()
    listed = os.scandir

    def scandir(path):
        if os.fspath(path).endswith("locked"):
            raise PermissionError(13, "Permission denied", os.fspath(path))
        return listed(path)

    monkeypatch.setattr(os, "scandir", scandir)
    status, out, err = ask(code, capsys, "--from", "2.0")
    assert status == 1
    assert "; 1 file, 1 use of hooks" in out
    left_out = [line.partition(": ")[2].partition(":")[0] for line in sorted(err.splitlines())]
    assert left_out == ["gone.py", "locked", "pipe.py"]


@pytest.mark.parametrize(
    ("path", "arguments", "said"),
    [
        ("bad.py", ["--from", "2.0"], "bad.py: is no Python of version 3"),
        ("bad", ["--from", "2.0"], "bad: holds no Python file that can be read (bad/a.py: is no Python of version 3"),
        ("none", ["--from", "2.0"], "there is no such file"),
        (".", ["--from", "2.0"], "holds no Python file"),
        (".", ["--to", "3"], "there is no torch version '3'"),
        (".", ["--from", "2.15", "--to", "2.0"], "2.0"),
    ],
)
def test_a_question_that_cannot_be_answered(code, capsys, path, arguments, said):
    if path.startswith("bad"):
        bad = code / (path if path.endswith(".py") else f"{path}/a.py")
        bad.parent.mkdir(exist_ok=True)
        bad.write_text("print 'python 2 register_hook'")
    assert main(["affects", str(code / path), *arguments]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert said in err


def test_the_releases_are_those_on_which_a_mode_was_measured(code, capsys):
    found = plain(code, capsys, "--mode", "checkpoint", source="m.register_forward_pre_hook(f)")
    assert found["releases"][0] == "2.1"
    assert [one["clause"] for one in found["findings"]] == ["checkpoint.again"]
    inference = plain(code, capsys, "--mode", "inference", source="x.register_hook(f)")["findings"]
    assert [(one["clause"], one["effect"]) for one in inference] == [("inference.unrecorded", "error")]
    status, out, err = ask(code, capsys, "--to", "2.0", "--mode", "checkpoint")
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert "was measured on none of these releases; it was on 2.1, " in err
    assert "there is no mode 'nope'" in ask(code, capsys, "--mode", "nope")[2]


def test_what_was_judged_of_packages_names_what_is_known() -> None:
    """They are scored by a command, for tests need no network."""
    atlas, table = recorded()
    judged = packages()
    assert len(judged) >= 6
    for package in judged:
        assert package.uses
        for names in (*package.said.values(), *package.open.values()):
            for name in names:
                assert name in atlas.clauses or need(name.removeprefix("no ").replace("=)", ")")) in table.lacking, name
