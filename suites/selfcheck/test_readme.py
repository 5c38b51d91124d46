"""What README and docs/ show is what was measured, short, and linked."""

import re
import shlex
import shutil
from pathlib import Path

import pytest

from reports.__main__ import main
from reports.data.atlas import build
from reports.data.disagreements import known
from reports.data.strict import BadInput
from reports.data.verdicts import read_recorded, read_table
from reports.verbs import commands, tables

ROOT = Path(__file__).resolve().parents[2]
README = ROOT / "README.md"
PAGES = sorted((ROOT / "docs").glob("*.md"))
LONGEST, LONGEST_PAGE = 110, 140
#: A command that is shown with its answer.
SHOWN = re.compile(r"^\$ python -m reports (?P<arguments>.*)\n(?P<answer>(?s:.*?))^```$", re.MULTILINE)
#: A link to a file of the repository.
LINK = re.compile(r"\]\((?!https?:)([^)#]+)[^)]*\)")


def linked(page: Path) -> list[Path]:
    return [(page.parent / link).resolve() for link in LINK.findall(page.read_text("utf-8"))]


@pytest.fixture(scope="module")
def made() -> dict[str, str]:
    table = read_table()
    atlas = build(table, read_recorded())
    return tables.made(atlas, table, known(atlas))


def test_all_tables_are_as_record_writes_them(made: dict[str, str]) -> None:
    assert list(tables.changed(ROOT, made)) == []


@pytest.mark.parametrize("page", tables.PAGES)
def test_an_old_table_is_noticed_and_written(made: dict[str, str], tmp_path: Path, page: str) -> None:
    for name in tables.PAGES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    text = (ROOT / page).read_text("utf-8")
    (tmp_path / page).write_text(text.replace(" -->\n|", " -->\nold\n|"), "utf-8")
    assert tables.changed(tmp_path, made) == {tmp_path / page: text}


def test_record_without_runs_writes_the_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    for name in tables.PAGES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    shutil.copytree(ROOT / "reports" / "upstream", tmp_path / "reports" / "upstream", dirs_exist_ok=True)
    text = README.read_text("utf-8")
    (tmp_path / "README.md").write_text(text.replace("| `ordering` |", "| `order` |"), "utf-8")
    monkeypatch.setattr(commands, "ROOT", tmp_path)
    assert main(["record"]) == 0
    assert capsys.readouterr().out == f"{tmp_path / 'README.md'}\nno cell changed\n"
    assert (tmp_path / "README.md").read_text("utf-8") == text


def test_a_table_without_a_place_is_refused(made: dict[str, str]) -> None:
    with pytest.raises(BadInput, match="no page has a table of rules of a new mode"):
        tables.changed(ROOT, {**made, "rules of a new mode": ""})


def test_the_answers_shown_are_the_answers_given(capsys) -> None:
    for shown in (found := list(SHOWN.finditer(README.read_text("utf-8")))):
        main(shlex.split(shown["arguments"]))
        assert capsys.readouterr().out == shown["answer"]
    assert found


def test_pages_are_short() -> None:
    lines = {page.name: page.read_text("utf-8").count("\n") for page in (README, *PAGES)}
    assert {name: count for name, count in lines.items() if count > (LONGEST_PAGE, LONGEST)[name == README.name]} == {}


def test_links_lead_to_files_and_from_page_to_page() -> None:
    pages = [README, ROOT / "CONTRIBUTING.md", *PAGES]
    assert [(page.name, str(link)) for page in pages for link in linked(page) if not link.exists()] == []
    seen = [README]
    for page in seen:  # which grows by what is linked
        seen += [link for link in linked(page) if link in PAGES and link not in seen]
    assert set(PAGES) <= set(seen)
