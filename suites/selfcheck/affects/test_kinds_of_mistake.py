"""The kinds of mistake that `affects` made on packages it had not seen: small inputs, and what is to be said of them.

Kinds that are about code alone are forms in `labelled/`.
"""

# ruff: noqa: E501 (a row of a table is one line)

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import pytest

from reports.__main__ import main
from reports.data.strict import validate
from reports.usage import uses

LEGACY = "m.register_backward_hook(f)\n"
PRE = "m.register_full_backward_pre_hook(f)\n"


pytestmark = pytest.mark.usefixtures("read_once")


def put(folder: Path, files: dict[str, str]) -> None:
    """Write files."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")


def ask(path, capsys, *arguments) -> tuple[int, str, str]:
    """Return the exit status, what was printed and what was complained of."""
    status = main(["affects", str(path), *arguments])
    out, err = capsys.readouterr()
    return status, out, err


def answer(path, capsys, *arguments):
    """Return the answer as data, in the form that is promised."""
    found = json.loads(ask(path, capsys, *arguments, "--format", "json")[1])
    validate(found, "answers.schema.json#/$defs/affects", path, "")
    return found


def project(dependencies: str = "", more: str = "") -> dict[str, str]:
    return {"pyproject.toml": f'[project]\nname = "them"\ndependencies = [{dependencies}]\n{more}'}


def poetry(torch: str, more: str = "") -> dict[str, str]:
    return {"pyproject.toml": f'[tool.poetry]\nname = "them"\n[tool.poetry.dependencies]\ntorch = {torch}\n{more}'}


def setup(text: str) -> dict[str, str]:
    return {"setup.py": f"from setuptools import setup\n{text}\n"}


ALL = [f"1.{minor}" for minor in range(4, 14)] + [f"2.{minor}" for minor in range(16)]
RANGES = {
    "a list of Poetry": (poetry("[{version = '~2.1', markers = \"sys_platform == 'linux'\"}, {version = '^2.13'}]"), "2.1 2.13 2.14 2.15"),
    "alternatives of Poetry": (poetry('"^1.13 || ~2.14.1"'), "1.13 2.14"),
    "a tilde of Poetry": (poetry('"~2.1"'), "2.1"),
    "several constraints of Poetry": (poetry('">=2.1, <2.3"'), "2.1 2.2"),
    "a caret on nought": (poetry('"^1.13.1"'), "1.13"),
    "an extra only narrows": (
        project('"torch>=2.1.2,!=2.9.*"', '[project.optional-dependencies]\nold = ["torch<2.3"]'),
        " ".join(each for each in ALL[11:] if each != "2.9"),
    ),
    "an extra where torch is asked for without a bound": (
        project('"torch"', '[project.optional-dependencies]\nold = ["torch<2.3"]'), " ".join(ALL)
    ),
    "a local version": (project('"torch==2.1.0+cpu"'), "2.1"),
    "a build of one day": (project('"torch==2.2.0.dev20231010"'), "2.2"),
    "the name of a wheel": (project('"torch @ https://download.pytorch.org/whl/cu118/torch-2.1.0%2Bcu118-cp311-cp311-linux_x86_64.whl"'), "2.1"),
    "two lines both hold": (project('"torch>=2.1", "torch<2.3"'), "2.1 2.2"),
    "a marker": ({"PKG-INFO": "Metadata-Version: 2.1\nName: them\nVersion: 1\nRequires-Dist: torch==2.1.0; sys_platform == 'win32'\nRequires-Dist: torch==2.3.0; sys_platform != 'win32'\n"}, "2.1 2.3"),
    "a pin for development": ({"requirements-dev.txt": "torch==2.13.0\n"}, " ".join(ALL)),
    "hashes": ({"requirements.txt": "torch==2.1.0 \\\n    --hash=sha256:aaaa \\\n    --hash=sha256:bbbb\nnumpy\n"}, "2.1"),
    "another file of requirements": ({"requirements.txt": "-r base.txt\n", "base.txt": "torch==2.1.0  # as everywhere\n"}, "2.1"),
    "a description in setup.py": (setup('setup(description="torch hooks", keywords=["torch==9"], install_requires=["torch==2.1.0"])'), "2.1"),
    "a list for tests": (setup('tests_require = ["torch==2.1"]\nsetup(tests_require=tests_require)'), " ".join(ALL)),
    "only a description": (setup('setup(description="torch==2.1")'), " ".join(ALL)),
    "an f-string": (setup('LEAST = "2.14"\nsetup(install_requires=[f"torch>={LEAST}"])'), "2.14 2.15"),
    "a list under a name": (setup('needs = ["numpy"]\nneeds.append("torch==2.1.0")\nsetup(install_requires=needs)'), "2.1"),
    "a file that setup.py reads": (
        setup('def read():\n    with open("needs.txt") as file:\n        return file.read().splitlines()\nsetup(install_requires=read())')
        | {"needs.txt": "torch==2.1.0\n"}, "2.1"
    ),
    "dynamic dependencies": (
        {"pyproject.toml": '[project]\nname = "them"\ndynamic = ["dependencies"]\n[tool.setuptools.dynamic]\ndependencies = {file = ["needs.txt"]}', "needs.txt": "torch==2.1.0\n"},
        "2.1",
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", RANGES)
def test_the_range(code, capsys, kind):
    files, wanted = RANGES[kind]
    put(code, {"them.py": LEGACY, **files})
    assert answer(code, capsys)["releases"] == wanted.split()


UNREAD = {
    "a version from the environment": ({"requirements.txt": "torch==${TORCH}\n"}, "requirements.txt"),
    "an f-string": (setup('import os\nsetup(install_requires=[f"torch=={os.environ[0]}"])'), "setup.py"),
    "a path": (poetry('{path = "../torch"}'), "pyproject.toml"),
    "a group": (project("", '[dependency-groups]\ngpu = ["torch>=2.1"]'), "group gpu"),
    "a group of Poetry": ({"pyproject.toml": '[tool.poetry]\nname = "them"\n[tool.poetry.group.dev.dependencies]\ntorch = "2.1"'}, "group dev"),
    "a file that is no TOML": ({"pyproject.toml": "[project\n"}, "pyproject.toml"),
    "a table of the wrong kind": ({"pyproject.toml": "[project]\ndependencies = 3\n"}, "pyproject.toml"),
    "a pin for development": ({"requirements-dev.txt": "torch==2.13.0\n"}, "requirements-dev.txt"),
    "an environment of conda": (project() | {"environment.yml": "dependencies:\n- pytorch=2.1\n"}, "environment.yml"),
}  # fmt: skip


@pytest.mark.parametrize("kind", UNREAD)
def test_a_range_that_cannot_be_read_is_said(code, capsys, kind):
    files, named = UNREAD[kind]
    put(code, {"them.py": LEGACY, **files})
    _, out, err = ask(code, capsys)
    assert err.count("\n") == 1
    assert named in err
    assert "name the releases with --from and --to" in err
    assert out.startswith("torch 1.4 to 2.15, all that are recorded: no bound on torch was found in metadata (--from")


PYTHONS = {
    "a project": ({"pyproject.toml": '[project]\nname = "them"\nrequires-python = ">=3.11,<3.13"\n'}, "1.13", "2.15"),
    "next to torch": (project('"torch"', 'requires-python = ">=3.9,<3.10"\n'), "1.7", "2.8"),
    "Poetry": (poetry('"*"', 'python = "^3.12"\n'), "2.2", "2.15"),
    "two of Poetry": (poetry('"*"', 'python = "~3.7 || ~3.9"\n'), "1.4", "2.8"),
    "setup.cfg": ({"setup.cfg": "[options]\npython_requires = >=3.10.2\n"}, "1.11", "2.15"),
    "setup.py": (setup("setup(python_requires='>=3.10')"), "1.11", "2.15"),
    "PKG-INFO": ({"PKG-INFO": "Metadata-Version: 2.1\nName: them\nRequires-Python: >=3.14\n"}, "2.9", "2.15"),
    "a bound on torch": (project('"torch>=1.9"', 'requires-python = ">=3.12"\n'), "1.9", "2.15"),
    "a Python to come": (project("", 'requires-python = ">=3.99"\n'), "1.4", "2.15"),
    "no version": (project("", 'requires-python = "three"\n'), "1.4", "2.15"),
}  # fmt: skip


@pytest.mark.parametrize("kind", PYTHONS)
def test_without_a_bound_releases_count_that_have_a_wheel(code, capsys, kind):
    files, first, last = PYTHONS[kind]
    put(code, {"them.py": LEGACY, **files})
    found = answer(code, capsys)
    assert (found["releases"][0], found["releases"][-1]) == (first, last)
    assert ("that have a wheel for Python" in found["why"]) == ((first, last) not in (("1.4", "2.15"), ("1.9", "2.15")))
    assert ask(code, capsys)[2] == ""


def test_a_package_among_others_has_its_own_metadata(tmp_path, capsys):
    site = tmp_path / "site-packages"
    for name, asked in (
        ("aaa", "Requires-Dist: torch==2.1.0\n"),
        ("them", ""),
        ("zzz", "Requires-Dist: torch>=2.14\n"),
    ):
        put(site, {
            f"{name}/a.py": LEGACY, f"{name}-1.dist-info/RECORD": f"{name}/a.py,sha256=a,1\n",
            f"{name}-1.dist-info/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n{asked}",
        })  # fmt: skip
    put(tmp_path, project('"torch==2.3.0"'))
    found = {name: answer(site / name, capsys)["releases"] for name in ("aaa", "them", "zzz")}
    assert found == {"aaa": ["2.1"], "them": ALL, "zzz": ["2.14", "2.15"]}


def test_a_flag_of_another_file_is_the_one_that_is_imported(code, capsys):
    flag = 'import torch\nfrom packaging.version import Version\nNEW = Version(torch.__version__) >= Version("{}")\n'
    use = "from .{} import NEW\nif NEW:\n    m.register_full_backward_pre_hook(f)\n"
    put(code, {"old.py": flag.format("1.12"), "new.py": flag.format("2.0")})
    put(
        code,
        {
            "a.py": use.format("old"),
            "b.py": use.format("new"),
        },
    )
    found = [one for one in answer(code, capsys, "--from", "1.13")["findings"] if one["clause"].startswith("missing.")]
    assert [use["file"] for one in found for use in one["uses"]] == ["a.py"]


MATTERS_IF = {
    "a parameter": ("for n, p in model.named_parameters():\n    p.register_hook(f)\n", "inner"),
    "a weight": ("layer.weight.register_hook(f)\n", "inner"),
    "a hook that returns nothing": ("def f(g):\n    seen.append(g)\nx.register_hook(f)\n", "returns"),
    "a lambda that returns nothing": ("x.register_hook(lambda g: seen.append(g))\n", "returns"),
    "a method that returns nothing": ("class A:\n    def f(self, g):\n        return None\n    def h(self, x):\n        x.register_hook(self.f)\n", "returns"),
    "a hook that is made": ("def make(n):\n    def f(g):\n        seen[n] = g\n    return f\nx.register_hook(make(1))\n", "returns"),
    "a hook that raises nothing": ("def f(g):\n    seen.append(g)\nx.register_hook(f)\n", "raises"),
    "a hook that leaves its gradient": ("def f(g):\n    return g * 2\nx.register_hook(f)\n", "edits"),
}  # fmt: skip
WORDS = {
    "inner": "the tensor is no parameter",
    "returns": "returns something",
    "raises": "raises an",
    "edits": "in place",
}


@pytest.mark.parametrize("kind", MATTERS_IF)
def test_what_the_code_shows_not_to_be_so_is_not_counted(code, capsys, kind):
    source, word = MATTERS_IF[kind]
    said = WORDS[word] if word != "edits" else "the hook changes the gradient in place"
    put(code, {"them.py": "x.register_hook(unknown)\n"})
    assert any(said in one["if"] for one in answer(code, capsys, "--from", "1.13")["unsure"])
    put(code, {"them.py": source})
    assert not any(said in one["if"] for one in answer(code, capsys, "--from", "1.13")["unsure"])


def test_a_baseline_counts_uses_and_knows_their_releases(code, capsys, tmp_path):
    known = str(tmp_path / "known.json")
    put(code, {"them.py": LEGACY})
    assert ask(code, capsys, "--from", "2.0", "--write-baseline", known)[0] == 1
    assert ask(code, capsys, "--from", "2.1", "--baseline", known)[0] == 0
    assert ask(code, capsys, "--from", "1.13", "--baseline", known)[0] == 1
    put(code, {"them.py": LEGACY + "\n" + LEGACY})
    assert [
        use["line"]
        for one in answer(code, capsys, "--from", "2.0", "--baseline", known)["findings"]
        for use in one["uses"]
    ] == [3]


def test_files_are_named_from_the_root_of_the_repository(code, capsys):
    put(code, {"src/a, b:c%/them 1.py": LEGACY, "src/bad.py": "print 'register_hook'\n"})
    out = ask(code / "src", capsys, "--from", "2.0", "--format", "github")[1]
    assert out.startswith(
        "::warning file=src/a%2C b%3Ac%25/them 1.py,line=1,title=backward.legacy.warnings::warning, 2.0"
    )
    assert "\n::warning::left out: src/bad.py: is no Python" in out
    (run,) = json.loads(ask(code / "src", capsys, "--from", "2.0", "--format", "sarif")[1])["runs"]
    place = run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]
    assert run["originalUriBaseIds"][place["uriBaseId"]]["uri"] == code.as_uri() + "/"
    assert place["uri"] == "src/a%2C%20b%3Ac%25/them%201.py"
    (rule,) = run["tool"]["driver"]["rules"]
    assert rule["shortDescription"]["text"]
    assert run["results"][0]["ruleIndex"] == 0
    assert "src/bad.py" in run["invocations"][0]["toolExecutionNotifications"][0]["message"]["text"]
    assert "left out: src/bad.py" in ask(code / "src", capsys, "--from", "2.0", "--format", "markdown")[1]


@pytest.mark.parametrize("form", ["text", "markdown", "sarif", "github"])
def test_unsure_is_listed_in_every_form(code, capsys, form):
    put(code, {"them.py": "x.register_hook(f)\n"})
    with_it, without = (ask(code, capsys, "--from", "2.0", "--format", form, *more)[1] for more in (["--unsure"], []))
    assert "gradient.inplace.base" in with_it
    assert "gradient.inplace.base" not in without
    if form == "text":
        assert max(map(len, with_it.split("\n"))) < 200


CELLS = {
    "a magic of another language": (["%%bash\nfor x in *; do m.register_backward_hook(f); done"], []),
    "a magic that runs the cell": (["%%time\nm.register_backward_hook(f)"], [(1, 2)]),
    "a magic that runs the line": (["%time m.register_backward_hook(f)"], [(1, 1)]),
    "what a command gives": (["x = !ls\nm.register_backward_hook(f)"], [(1, 2)]),
    "a question": (["torch.nn?\n?torch\nm.register_backward_hook(f)"], [(1, 3)]),
    "a command alone in a block": (["if True:\n    !pip install torch\nm.register_backward_hook(f)"], [(1, 3)]),
    "a command that goes on": (["!pip install \\\n    torch \\\n    numpy\nm.register_backward_hook(f)"], [(1, 4)]),
    "a cell that is no Python": (["this is no Python", "m.register_backward_hook(f)"], [(2, 1)]),
    "a remainder at the start of a line": (["x = (5\n  % 3)\nm.register_backward_hook(f)"], [(1, 3)]),
    "a name of a cell before": (["r = m.register_backward_hook", "\nr(f)"], [(2, 2)]),
}


@pytest.mark.parametrize("kind", CELLS)
def test_cells_of_a_notebook(code, capsys, kind):
    cells, wanted = CELLS[kind]
    put(code, {"a.ipynb": json.dumps({"cells": [{"cell_type": "code", "source": each} for each in cells]})})
    assert [(use["cell"], use["line"]) for use in answer(code, capsys, "--from", "2.0")["uses"]] == wanted


FOLLOWED = "".join(
    f"    {a} = {a} + {b} if {a} > {b} else {c}\n" for a, b, c in zip("abcdefgh", "bcdefgha", "cdefghab", strict=True)
)
SLOW = {
    "values from each other": f"import torch\nfor i in range(9):\n{FOLLOWED}    if a > 1 and b > 2 and h == 3:\n        {PRE}",
    "many names": "".join(f"def f{i}(m):\n    r{i} = m.register_backward_hook\n    r{i}(g)\n" for i in range(700)),
    "many rebindings": "x = m\n" + "".join(f"x = x.a{i} if x else x\n" for i in range(300)) + "x.linear1.register_forward_hook(f)\n",
    "strings from strings": "".join(f"a{i} = a{i + 1} + a{i + 1}\n" for i in range(40)) + "getattr(m, a0)(f)\nx.retain_grad()\n",
}  # fmt: skip


@pytest.mark.parametrize("kind", SLOW)
def test_slow_inputs_are_answered_in_5_seconds(code, capsys, kind):
    put(code, {"them.py": SLOW[kind]})
    began = time.process_time()
    assert ask(code, capsys, "--from", "1.13")[0] in (0, 1)
    assert time.process_time() - began < 5


def test_a_link_to_itself_is_one_line(code):
    import subprocess

    (code / "loop").symlink_to("loop")
    done = subprocess.run(
        [sys.executable, "-m", "reports", "affects", str(code / "loop")], capture_output=True, text=True
    )
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert "Traceback" not in done.stderr


def test_what_optimizers_and_modules_call_alike_is_told_apart(code, monkeypatch):
    """Once clauses speak of both; a step hook and one of all optimizers have names of their own."""
    shared = "register_state_dict_pre_hook"
    monkeypatch.setattr(uses, "APIS", uses.APIS | {f"Optimizer.{shared}"})
    text = "import torch\nfrom torch.optim.optimizer import register_optimizer_step_pre_hook\n"
    text += "opt = torch.optim.SGD(m.parameters(), lr=1)\n"
    text += f"opt.{shared}(f)\nm.{shared}(f)\nopt.register_step_pre_hook(f)\nregister_optimizer_step_pre_hook(f)\n"
    put(code, {"a.py": text})
    found = uses.read_code(code, lambda api, option, release: None).uses
    names = [f"Optimizer.{shared}", shared, "register_step_pre_hook", "register_optimizer_step_pre_hook"]
    assert [one.api for one in sorted(found)] == names
    assert [one.seen["everywhere"] for one in sorted(found)] == [False, False, False, True]
    assert [one.kinds for one in sorted(found)][2:] == [{"step_pre"}] * 2
