"""What the README shows is what was measured."""

from pathlib import Path

from reports.__main__ import main

ROOT = Path(__file__).resolve().parents[2]


def test_the_table_of_chapters_is_up_to_date() -> None:
    assert main(["chapters", str(ROOT / "README.md"), "--check"]) == 0


def test_an_old_table_would_be_noticed(tmp_path: Path) -> None:
    old = tmp_path / "README.md"
    old.write_text("<!-- chapters -->\nold\n<!-- /chapters -->\n", "utf-8")
    assert main(["chapters", str(old), "--check"]) == 1
    assert "old" in old.read_text("utf-8")
