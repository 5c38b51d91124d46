"""The examples of the clauses: a program each in reports/examples/, written by `python -m suites.examples --write`."""

from __future__ import annotations

from pathlib import Path

EXAMPLES = Path(__file__).parent / "examples"


def path_of(clause: str) -> str:
    """Return where the example of a clause stands, from the root of the repository."""
    return f"{EXAMPLES.parent.name}/{EXAMPLES.name}/{clause}.py"


def program(clause: str, says: str, folder: Path = EXAMPLES) -> str:
    """Return the example of a clause; nothing where there is none, or it was written for another sentence."""
    path = folder / f"{clause}.py"
    if not path.is_file():
        return ""
    text = path.read_text(encoding="utf-8")
    return text if text.startswith(f'"""{clause}: {says}\n') else ""


class Lines:
    """Lines stored once: the programs have most of theirs in common."""

    def __init__(self) -> None:
        self.places: dict[str, int] = {}

    @property
    def values(self) -> list[str]:
        """All lines, in the order of their places."""
        return list(self.places)

    def packed(self, text: str) -> list[list[int]]:
        """Return a text as [first place, how many lines from there], as often as needed."""
        found: list[list[int]] = []
        for line in text.split("\n"):
            place = self.places.setdefault(line, len(self.places))
            if found and place == sum(found[-1]):
                found[-1][1] += 1
            else:
                found.append([place, 1])
        return found
