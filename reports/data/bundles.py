"""What is worth sending to PyTorch: scripts of reports/upstream that belong into one issue or pull request."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from pathlib import Path

from reports.data.disagreements import UPSTREAM, Disagreement, read_scripts
from reports.data.strict import BadInput, parse, read_bytes

STRENGTH = {
    "bug": "a wrong result, or an error that nothing announces",
    "documentation": "torch does what its authors chose: the page says otherwise, or leaves it out",
    "doubtful": "weak: it may be refused, and what was said upstream speaks against it",
}
FORM = 'write "name", "strength", "title", "scripts", "text" and "said"'


@dataclass(frozen=True)
class Said:
    """What was said upstream before."""

    number: int
    what: str
    repository: str = "pytorch/pytorch"

    @property
    def address(self) -> str:
        """The page of the issue; that of a pull request is found there, too."""
        return f"https://github.com/{self.repository}/issues/{self.number}"


@dataclass(frozen=True)
class Bundle:
    """One issue or pull request that somebody could send."""

    name: str
    strength: str
    title: str
    text: str
    scripts: tuple[Disagreement, ...]
    said: tuple[Said, ...]


def read_bundles(folder: Path = UPSTREAM) -> list[Bundle]:
    """Return the bundles in their order. Raises BadInput for one that is not whole, or names no script."""
    path = folder / "bundles.json"
    scripts = {one.clause: one for one in read_scripts(folder)}
    made = []
    for one in parse(read_bytes(path), path, ""):
        try:
            said = tuple(Said(**each) for each in one.pop("said"))
            made.append(Bundle(scripts=tuple(scripts[name] for name in one.pop("scripts")), said=said, **one))
        except (KeyError, TypeError) as problem:
            raise BadInput(path, str(one.get("name", "")), f"is no bundle ({problem})", FORM) from None
    return made


def program(one: Disagreement) -> str:
    """Return a script without its docstring and its last check: what one pastes into an issue."""
    tree = ast.parse(one.code)
    lines = one.code.splitlines()
    first = tree.body[1].lineno - 1
    last = tree.body[-1]
    end = last.lineno - 1 if isinstance(last, ast.If) else len(lines)
    return "\n".join(lines[first:end]).strip() + "\n"
