"""A made-up target: a backend without sparse tensors, and a whole run of it."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

from suites.selfcheck import synthetic

WORDS = "torch_mine 1.2 on torch 2.14.0, mine"
TARGET: dict[str, Any] = {
    "words": WORDS,
    "title": "torch_mine 1.2",
    "lacking": ["sparse", "deepcopy"],
    "imports": ["torch_mine"],
    "setup": "import os\nos.environ['MINE'] = \"1\"\n",
    "dtype": "float32",
    "wrap": "",
    "lacks": {"sparse": "mine/torch#7: no layout"},
    "known": {},
}
NEEDS, DECLINED = "needs sparse tensors", "RuntimeError: Could not run 'aten::mul' on <mine>"
WHY = "a view is a copy, see https://example.org/mine/1"
SCRIPT = "print('it differs')\n"
APART = "no matter of hooks"


def names_in(table: Any, torch: str = "2.14.0") -> list[str]:
    """Return the clauses that hold on a torch."""
    return [name for name, one in table.items() if synthetic.cell(name, one, torch)["verdict"] == "conforms"]


def lines(table: Any, *, asked: int | None = None, **changes: Any) -> list[dict[str, Any]]:
    """Return a run in which the first four that hold on the release differ, differ without hooks, are declined, lack.

    It asked for so many clauses, and all others are as on the release.
    """
    table = dict(list(copy.deepcopy(table).items())[:asked])
    target = copy.deepcopy(TARGET)
    first, second, third, fourth = names_in(table)[:4]
    target["known"] = {first: WHY, second: "arithmetic"}
    made = synthetic.run_lines(table, "2.14.0", device="mine", whole=True, target=target, **changes)
    made[0]["torch"] = "2.14.0"
    shown = {**synthetic.evidence(), "reproducer": SCRIPT}
    for line in made[2:-1:2]:
        name = line["clause"]
        if name in (first, second):
            line.update(verdict="deviates", refuted=[], declared=True, deviation="known", note=target["known"][name])
            line.update(evidence=shown, signs=[APART] * (name == second))
        elif name in (third, fourth):
            line.update(verdict="refused", reading=None, refuted=[], note=DECLINED if name == third else NEEDS)
    made[-1] = synthetic.footer(made[2:-1:2])
    return made


def write(path: Path, table: Any, **changes: Any) -> Path:
    """Write such a run."""
    return synthetic.write_lines(path, lines(table, **changes))
