"""What README and docs/ show is what was measured, short, and linked."""

import re
import shlex
from pathlib import Path

from reports.__main__ import main

ROOT = Path(__file__).resolve().parents[2]
README = ROOT / "README.md"
PAGES = sorted((ROOT / "docs").glob("*.md"))
LONGEST, LONGEST_PAGE = 110, 120
#: A command that is shown with its answer.
SHOWN = re.compile(r"^\$ python -m reports (?P<arguments>.*)\n(?P<answer>(?s:.*?))^```$", re.MULTILINE)
#: A link to a file of the repository.
LINK = re.compile(r"\]\((?!https?:)([^)#]+)[^)]*\)")


def linked(page: Path) -> list[Path]:
    return [(page.parent / link).resolve() for link in LINK.findall(page.read_text("utf-8"))]


def test_the_table_of_chapters_is_up_to_date() -> None:
    assert main(["chapters", str(README), "--check"]) == 0


def test_an_old_table_would_be_noticed(tmp_path: Path) -> None:
    old = tmp_path / "README.md"
    old.write_text("<!-- chapters -->\nold\n<!-- /chapters -->\n", "utf-8")
    assert main(["chapters", str(old), "--check"]) == 1
    assert "old" in old.read_text("utf-8")


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
