"""What `affects` says of the code that it reads: what is left out, the order of places, what a comment accepts."""

from __future__ import annotations

import json

import pytest

from suites.selfcheck.affects.test_answers import ask, plain

LEGACY = "m.register_backward_hook(f)\n"


pytestmark = pytest.mark.usefixtures("read_once")


def test_options_that_cannot_be_read_are_named(code, capsys):
    source = "def g(m, kw):\n    m.register_forward_hook(f, **kw)\n    m.register_state_dict_pre_hook(f, **kw)\n"
    found = plain(code, capsys, "--from", "2.0", source=source)
    assert found["uses"][0]["unsure"]
    assert found["skipped"] == [
        "them.py:2: the options that register_forward_hook is given cannot be read; not every release has always_call="
    ]
    assert ask(code, capsys, "--from", "2.0")[2] == ""
    status, _, err = ask(code, capsys, "--from", "2.0", source=source)
    assert (status, err) == (0, f"left out: {found['skipped'][0]}\n")
    accepted = source.replace("kw)\n", "kw)  # hook-conformance: missing.register_forward_hook\n")
    for text, first in ((source, "2.1"), (accepted, "2.0")):
        assert ask(code, capsys, "--from", first, source=text)[2] == ""
    own = "class A(B):\n  def register_forward_hook(self, f, **kw):\n    super().register_forward_hook(f, **kw)\n"
    assert ask(code, capsys, "--from", "1.13", source=own)[2] == ""


def test_what_code_hands_to_checkpoint_is_known(code, capsys):
    """Full backward hooks under checkpoint() are an error before torch 1.10."""
    given = "from torch.utils.checkpoint import checkpoint\nclass A:\n def forward(self, x):\n  "
    hooked = "\n def g(self):\n  self.a.register_full_backward_hook(f)\n"
    for called, found in (
        ("return checkpoint(self.a, x)", True),
        ("for m in self.a: x = checkpoint(m, x)", True),
        ("return checkpoint(self.b, self.a)", False),
        ("return self.checkpoint(self.a, x)", False),
    ):
        text = given + called + hooked.replace("self.a.", "for m in self.a: m." if "for" in called else "self.a.")
        names = [one["clause"] for one in plain(code, capsys, "--from", "1.8", source=text)["findings"]]
        assert ("backward.modes.checkpoint" in names) is found, called


def test_hidden_folders_are_not_read(code, capsys):
    """Those of tools are left out without a word, and others are named once."""
    for folder in (".venv", "__pycache__", "src", ".agents", ".agents/deep", ".github", ".mine", "src/.more", ".empty"):
        (code / folder).mkdir()
        (code / folder / ("a.yml" if folder == ".github" else "a.py")).write_text(LEGACY)
    (code / ".empty" / "a.py").unlink()
    (code / ".mine" / "pyvenv.cfg").touch()
    status, out, err = ask(code, capsys, "--from", "2.0", source=None)
    assert status == 1
    assert "; 1 file, 1 use of hooks" in out
    lines = [f"left out: {each}: is a folder with a dot, and not read" for each in (".agents", "src/.more")]
    assert err.splitlines() == lines
    assert plain(code, capsys, source=None)["skipped"] == [each.removeprefix("left out: ") for each in lines]


def test_places_are_in_the_order_of_the_file(code, capsys):
    source = "x.register_hook(f)\nm.register_full_backward_hook(f, prepend=True)\nm.register_hook(f)\n" + LEGACY
    assert [use["line"] for use in plain(code, capsys, source=source)["uses"]] == [1, 2, 3, 4]
    (code / "them.py").unlink()
    cells = [{"cell_type": "code", "source": text} for text in ("\n\n" + LEGACY, LEGACY)]
    out = ask(code, capsys, "--from", "2.0", source=json.dumps({"cells": cells}), name="a.ipynb")[1]
    assert "a.ipynb, cell 1, line 3, a.ipynb, cell 2, line 1: register_backward_hook" in out


def test_a_comment_accepts_the_call_that_it_stands_at(code, capsys):
    """Neither the ones before, nor the later ones of the file."""
    lines = [
        "# hook-conformance: all",
        LEGACY,
        "m.register_backward_hook(",
        "  f,  # hook-conformance: all",
        ")",
        LEGACY,
    ]
    found = plain(code, capsys, "--from", "2.0", source="\n".join(lines))["findings"]
    assert [[use["line"] for use in one["uses"]] for one in found] == [[2, 7]]


def test_a_base_of_another_library_may_be_a_module(code, capsys):
    """Also where a class of these files has its name."""
    (code / "base.py").write_text("class Base: pass  # no retain_grad\n", encoding="utf-8")
    sets = "(Base):\n def __init__(self):\n  self._forward_hooks = {}\n"
    for origin, found in (("base", 0), (".base", 0), ("library.thing", 1)):
        uses = plain(code, capsys, source=f"from {origin} import Base\nclass A{sets}")["uses"]
        assert len(uses) == found, origin
