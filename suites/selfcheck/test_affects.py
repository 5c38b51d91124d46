"""affects: which clauses differ for the hooks that someone's code uses; the code is parsed and never run."""

from __future__ import annotations

import json
import os

import pytest

from reports.__main__ import main
from reports.data.strict import validate
from reports.usage.uses import read_code
from suites.selfcheck import measured

MODULE, TORCH = "torch.nn.Module", "torch.nn.modules.module"
SAME, ALWAYS = [("conforms", "always")] * 4, ("conforms", "always")
CHANGED = [("conforms", "old")] * 2 + [("conforms", "new")] * 2
ADDED = [("absent", None)] + [ALWAYS] * 3

#: clause -> (what it is about, what else it needs, cells)
CLAUSES = {
    "a.b.tensor": (["register_hook"], (), CHANGED),
    "a.b.same": (["register_hook"], (), SAME),
    "a.b.kept": (["retain_grad"], (), [ALWAYS] * 3 + [("hung", None)]),
    "a.b.asked": (["register_hook", "autograd.grad"], (), CHANGED),
    "a.b.both": (["register_hook", "retain_grad"], (), CHANGED),
    "a.b.keywords": (
        ["register_forward_hook(with_kwargs)"],
        (f"{MODULE}.register_forward_hook(with_kwargs)",),
        ADDED,
    ),
    "a.b.keywords_order": (
        ["register_forward_hook(with_kwargs)"],
        (f"{MODULE}.register_forward_hook(with_kwargs)",),
        [("absent", None), *CHANGED[1:]],
    ),
    "a.b.pre": (["register_full_backward_pre_hook"], (f"{MODULE}.register_full_backward_pre_hook",), ADDED),
    "a.b.inference": (["register_hook"], ("torch.inference_mode",), CHANGED),
    "a.b.everywhere": (["register_module_forward_hook"], (), CHANGED),
}
READINGS = ("always", "new", "old")


@pytest.fixture
def room(tmp_path):
    """Give recorded verdicts as in CLAUSES, and a way to ask about code."""
    table = {
        name: measured.clause(name, needs=needs, readings=READINGS, harms={"old": "silent"}, about=about)
        for name, (about, needs, _) in CLAUSES.items()
    }
    return Room(tmp_path, measured.write(tmp_path / "verdicts", table, {n: c for n, (_, _, c) in CLAUSES.items()}))


class Room:
    """A folder for someone's code, beside recorded verdicts."""

    def __init__(self, path, verdicts):
        self.verdicts, self.code = verdicts, path / "code"
        self.code.mkdir()

    def ask(self, source, *arguments, name="them.py"):
        (self.code / name).parent.mkdir(exist_ok=True)
        (self.code / name).write_text(source, encoding="utf-8")
        return self.call(self.code, *(arguments or ("--from", "1.13", "--to", "2.15")))

    def call(self, path, *arguments):
        return main(["affects", str(path), *arguments, "--verdicts", str(self.verdicts)])


def told(room, capsys, source, first="2.0"):
    """Return the exit status and the answer."""
    status = room.ask(source, "--from", first, "--format", "json")
    answer = json.loads(capsys.readouterr().out)
    validate(answer, "answers.schema.json#/$defs/affects", room.code, "")
    return status, answer


def changed(room, capsys, source):
    """Return clause -> the lines concerned."""
    return {each["clause"]: [use["line"] for use in each["uses"]] for each in told(room, capsys, source)[1]["changes"]}


@pytest.mark.parametrize(
    ("source", "clauses"),
    [
        ("x.register_hook(print)", {"a.b.tensor": [1]}),
        ("\n\nx.register_hook(print)\ny.retain_grad()", {"a.b.tensor": [3], "a.b.kept": [4], "a.b.both": [3, 4]}),
        ("y.retain_grad()", {"a.b.kept": [1]}),
        ("import torch\nx.register_hook(f)\ntorch.autograd.grad(y, x)", {"a.b.tensor": [2], "a.b.asked": [2]}),
        ("from torch.autograd import grad\nx.register_hook(f)", {"a.b.tensor": [2], "a.b.asked": [2]}),
        ("from mine import grad\nx.register_hook(f)\ngrad(x)", {"a.b.tensor": [2]}),
        ("with torch.inference_mode():\n x.register_hook(f)", {"a.b.tensor": [2], "a.b.inference": [2]}),
        ("m.register_forward_hook(f)", {}),
        ("m.register_forward_hook(f, with_kwargs=True)", {"a.b.keywords_order": [1]}),
        ("m.register_forward_hook(f, with_kwargs=False)", {}),
        ("m.register_forward_hook(f, with_kwargs=some)", {"a.b.keywords_order": [1]}),
        ("m.register_forward_hook(f, **options)", {"a.b.keywords_order": [1]}),
        ("getattr(x, 'register_hook')(f)", {"a.b.tensor": [1]}),
        ("register = x.register_hook", {"a.b.tensor": [1]}),
        ("from torch.nn.modules.module import register_module_forward_hook as r", {}),
        ("torch.nn.modules.module.register_module_forward_hook(f)", {"a.b.everywhere": [1]}),
        ("class A:\n def register_hook(self): pass\n def f(self): self.register_hook()", {}),
        ("class A:\n def register_hook(self): pass\nx.register_hook(f)", {"a.b.tensor": [3]}),
        # super() is torch's, unless a class above is the code's own and has it
        ("class A(T):\n def register_hook(self, f):\n  super().register_hook(f)", {"a.b.tensor": [3]}),
        ("class A:\n def register_hook(self): pass\nclass B(A):\n def f(self): super().register_hook()", {}),
        ("class A:\n def register_hook(self): pass\nclass B(A):\n def f(self): self.register_hook()", {}),
        ("class A:\n def register_hook(self): pass\nclass B:\n def f(self): self.register_hook()", {"a.b.tensor": [4]}),
        ("class A(list):\n def register_hook(self): self[0].register_hook(f)", {"a.b.tensor": [2]}),
        ("class A:\n register_hook = print\n def f(self): self.register_hook(f)", {}),
        ("class A(B):\n def f(self):\n  def register_hook(): pass\n  self.register_hook(f)", {"a.b.tensor": [4]}),
        # a name that is imported goes by what it is there
        (f"from {TORCH} import register_module_forward_hook as r\nr(f)", {"a.b.everywhere": [2]}),
        (f"from {TORCH} import register_module_forward_hook as r\nrun(r)", {"a.b.everywhere": [2]}),
        (f"from {TORCH} import register_module_forward_hook\nregister_module_forward_hook(f)", {"a.b.everywhere": [2]}),
        ("from mine import print as register_module_forward_hook\nregister_module_forward_hook(f)", {}),
        ("def register_module_forward_hook(f): pass\nregister_module_forward_hook(f)", {}),
        ("x.grad_fn.register_hook(f)", {}),
        ("x.grad_fn.next_functions[0][0].register_hook(f)", {}),
        ("tensors[0].register_hook(f)", {"a.b.tensor": [1]}),
        ("print('register_hook')  # x.register_hook(f)", {}),
    ],
)
def test_exactly_what_the_code_uses_is_told(room, capsys, source, clauses):
    assert changed(room, capsys, source) == clauses


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("class B:\n def f(self): self.register_hook()", True),  # another class, that has nothing to do with it
        ("from torch import nn\nclass B(nn.Module):\n def f(self): self.register_hook()", True),
        ("import torch\nclass B(torch.nn.Module):\n def f(self): self.register_hook()", True),
        ("from base import Module\nclass B(Module):\n def f(self): self.register_hook()", False),
        ("from .base import Module as M\nclass B(M):\n def f(self): self.register_hook()", False),
        ("from . import base\nclass B(base.Module[int]):\n def f(self): self.register_hook()", False),
        ("from base import register_hook\nregister_hook(f)", False),
        ("from .base import register_hook as r\nr(f)", False),
    ],
)
def test_a_name_is_the_codes_own_only_where_it_comes_from_there(room, capsys, source, found):
    own = "class Module:\n def register_hook(self): pass\ndef register_hook(f): pass\n"
    (room.code / "base.py").write_text(own, encoding="utf-8")
    assert bool(changed(room, capsys, source)) is found


def test_what_one_release_does_not_have_is_told_once_with_its_places(room, capsys):
    source = "m.register_forward_hook(f, with_kwargs=True)\nm.register_full_backward_pre_hook(f)\n"
    status, answer = told(room, capsys, source, "1.13")
    assert status == 1
    assert [(one["api"], one["option"], one["torch"]) for one in answer["missing"]] == [
        ("register_forward_hook", "with_kwargs", "1.13"),
        ("register_full_backward_pre_hook", None, "1.13"),
    ]
    assert [use["line"] for one in answer["missing"] for use in one["uses"]] == [1, 2]
    assert room.ask(source, "--from", "2.14") == 0


def test_what_differs_only_with_more_than_the_code_uses_says_what_is_lacking(room, capsys):
    answer = told(room, capsys, "x.register_hook(print)")[1]
    assert answer["elsewhere"] == {
        "a.b.asked": "autograd.grad",
        "a.b.both": "retain_grad",
        "a.b.inference": "inference_mode",
    }


def test_hooks_of_which_no_clause_speaks_are_named(room, capsys):
    status, answer = told(room, capsys, "m.register_load_state_dict_pre_hook(f)")
    assert (status, answer["unstated"]) == (0, ["register_load_state_dict_pre_hook"])


def test_hooks_of_nodes_are_not_those_of_tensors(room, capsys):
    assert told(room, capsys, "x.grad_fn.register_hook(f)")[1]["unstated"] == ["Node.register_hook"]


def test_nothing_differs(room, capsys):
    assert room.ask("x.register_hook(print)", "--from", "2.14") == 0
    assert "0 clauses differ" in capsys.readouterr().out


def test_text_and_markdown_name_file_and_line(room, capsys):
    (room.code / "pkg").mkdir()
    for form in ("text", "markdown"):
        status = room.ask("\nx.register_hook(print)", "--from", "1.13", "--format", form, name="pkg/a.py")
        out = capsys.readouterr().out
        assert status == 1
        assert "pkg/a.py:2" in out
        assert "a.b.tensor" in out
        assert "otherwise (silent): Is old." in out.replace("\\", "")
        assert "holds: Is new." not in out  # its own sentence is
        assert "holds: Says a.b.tensor." in out


def test_a_single_file_may_be_named(room, capsys):
    room.ask("x.register_hook(print)")
    capsys.readouterr()
    assert room.call(room.code / "them.py", "--from", "1.13") == 1
    assert "them.py:1" in capsys.readouterr().out


def test_the_code_is_never_run(room, capsys):
    proof = room.code / "proof"
    assert room.ask(f"open({str(proof)!r}, 'w')\nx.register_hook(print)") == 1
    assert not proof.exists()


@pytest.mark.parametrize(
    "source",
    [
        "print 'python 2'",
        "x = (\n",
        "\0",
        "# coding: klingon\n",
        "(" * 10_000,
        "x" + ".a" * 100_000,
        "-" * 200_000 + "1",
    ],
)
def test_a_file_that_is_no_python_is_left_out_and_said(room, capsys, source):
    (room.code / "good.py").write_text("x.register_hook(print)")
    assert room.ask(source, name="bad.py") == 1
    out, err = capsys.readouterr()
    assert "1 file uses 1 hook API;" in out
    assert err.count("\n") == 1
    assert err.startswith("left out: bad.py: is ")


def test_what_cannot_be_read_is_left_out_and_said(room, capsys, monkeypatch):
    (room.code / "gone.py").symlink_to("nowhere")
    os.mkfifo(room.code / "pipe.py")
    (room.code / "locked").mkdir()
    (room.code / "locked" / "a.py").write_text("x.retain_grad()")
    listed = os.scandir

    def scandir(path):
        if os.fspath(path).endswith("locked"):
            raise PermissionError(13, "Permission denied", os.fspath(path))
        return listed(path)

    monkeypatch.setattr(os, "scandir", scandir)
    assert room.ask("x.register_hook(print)", "--from", "2.0") == 1
    out, err = capsys.readouterr()
    assert "1 file uses 1 hook API;" in out
    assert sorted(err.splitlines()) == [
        "left out: gone.py: there is no such file",
        "left out: locked: cannot be read (Permission denied)",
        "left out: pipe.py: is not a regular file",
    ]


@pytest.mark.parametrize(
    ("path", "arguments", "said"),
    [
        ("bad.py", ["--from", "2.0"], "bad.py: is not Python 3"),
        ("bad", ["--from", "2.0"], "bad: holds no Python file that can be read (a.py: is not Python 3"),
        ("none", ["--from", "2.0"], "there is no such file"),
        (".", ["--from", "2.0"], "holds no Python file"),
        (".", ["--from", "2.1"], "did you mean 2.14 or 2.15?"),
        (".", ["--from", "2.0", "--to", "3"], "there is no torch version '3'"),
    ],
)
def test_a_question_that_cannot_be_answered(room, capsys, path, arguments, said):
    if path.startswith("bad"):
        bad = room.code / (path if path.endswith(".py") else f"{path}/a.py")
        bad.parent.mkdir(exist_ok=True)
        bad.write_text("print 'python 2'")
    assert room.call(room.code / path, *arguments) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert said in err


def test_hidden_folders_are_not_read(room):
    for folder in (".venv", "__pycache__", "src"):
        (room.code / folder).mkdir()
        (room.code / folder / "a.py").write_text("x.register_hook(print)")
    code = read_code(room.code, frozenset())
    assert code.files == 1
