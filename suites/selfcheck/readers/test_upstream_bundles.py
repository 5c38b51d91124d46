"""What is worth sending to PyTorch: each script is in one bundle, and what is printed can be pasted and run."""

import json
import shutil
from pathlib import Path

import pytest

from reports.__main__ import main
from reports.data.bundles import STRENGTH, Bundle, program, read_bundles
from reports.data.disagreements import UPSTREAM, read_scripts
from reports.data.strict import BadInput

BUNDLES = read_bundles()


def test_each_script_is_in_one_bundle() -> None:
    bundled = [script.clause for bundle in BUNDLES for script in bundle.scripts]
    assert sorted(bundled) == [script.clause for script in read_scripts()]
    assert len({bundle.name for bundle in BUNDLES}) == len(BUNDLES)


@pytest.mark.parametrize("bundle", BUNDLES, ids=lambda bundle: bundle.name)
def test_a_bundle_says_how_strong_it_is_and_what_was_said(bundle: Bundle) -> None:
    assert bundle.strength in STRENGTH
    assert bundle.said
    assert len(bundle.title) < 120


def test_a_program_runs_without_its_docstring_and_its_check() -> None:
    for script in read_scripts():
        text = program(script)
        assert text.startswith("import torch") or "import torch" in text.splitlines()[:3], script.clause
        assert text.rstrip().endswith('print("observed:", observed)'), script.clause
        compile(text, script.clause, "exec")


def test_the_verb_lists_them_and_prints_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["upstream"]) == 0
    assert capsys.readouterr().out.count("\n") == len(BUNDLES) + 2
    assert main(["upstream", "asked-gradient", "--format", "markdown"]) == 0
    text = capsys.readouterr().out
    assert all(
        part in text for part in ("# autograd.grad drops", "```python", "Measured so on torch ", "/issues/35802")
    )
    assert main(["upstream", "--format", "json"]) == 0
    assert [one["name"] for one in json.loads(capsys.readouterr().out)["bundles"]] == [one.name for one in BUNDLES]
    assert main(["upstream", "asked"]) == 2
    assert "asked-gradient" in capsys.readouterr().err


def test_a_weak_claim_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["upstream", "in-place-view", "--format", "markdown"]) == 0
    text = capsys.readouterr().out
    assert "doubtful, weak" in text
    assert "Doubt: " in text


@pytest.mark.parametrize(
    "change", [{"scripts": ["no.such.script"]}, {"title": None, "more": 1}, {"said": [{"what": "x"}]}]
)
def test_a_bundle_that_is_not_whole_is_refused(tmp_path: Path, change: dict[str, object]) -> None:
    shutil.copytree(UPSTREAM, tmp_path / "upstream")
    path = tmp_path / "upstream" / "bundles.json"
    found = json.loads(path.read_text("utf-8"))
    found[0].update(change)
    path.write_text(json.dumps(found), "utf-8")
    with pytest.raises(BadInput, match=found[0]["name"]):
        read_bundles(tmp_path / "upstream")
