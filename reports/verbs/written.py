"""What a verb that writes a file prints: the verdict counts of each torch in it, and where the file is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reports.data import forms
from reports.data.atlas import VERDICT_NAMES, Atlas
from reports.data.runfile import Run
from reports.data.strict import ANSWERS_FORMAT


@dataclass(frozen=True)
class Written:
    """A file, and verdict -> how many for each torch that was given."""

    out: Path
    torches: tuple[tuple[str, Mapping[str, int]], ...]


def of_atlas(out: Path, atlas: Atlas) -> Written:
    """Return the answer about the runs in an atlas, or about its newest torch where there is none."""
    columns = [column for column in atlas.columns if column.this_run] or [atlas.focus]
    return Written(out, tuple((column.measured, atlas.counts(column)) for column in columns))


def of_runs(out: Path, runs: list[Run]) -> Written:
    """Return the answer about these runs."""
    answer = [(run.measured, Counter(cell.verdict for cell in run.cells.values())) for run in runs]
    return Written(
        out, tuple((torch, {each: counts[each] for each in VERDICT_NAMES if counts[each]}) for torch, counts in answer)
    )


def as_text(answer: Written) -> str:
    """Return "torch 2.15.0: 97 conforms, 3 deviates" for each, and then the path."""
    lines = []
    for torch, counts in answer.torches:
        lines.append(
            f"{forms.torch_of(torch)}: "
            + (", ".join(f"{count} {name}" for name, count in counts.items()) or "no cells")
        )
    return "\n".join([*lines, str(answer.out)]) + "\n"


def as_json(answer: Written) -> str:
    """Return the answer as JSON."""
    torches = [{"torch": torch, "counts": dict(counts)} for torch, counts in answer.torches]
    return forms.as_json({"format": ANSWERS_FORMAT, "out": str(answer.out), "torches": torches})


def as_markdown(answer: Written) -> str:
    """Return the answer as a table, with a column for each verdict that there is."""
    names = [name for name in VERDICT_NAMES if any(name in counts for _, counts in answer.torches)]
    lines = [f"| {' | '.join(['torch', *names])} |", "|---" * (1 + len(names)) + "|"]
    for torch, counts in answer.torches:
        lines.append(f"| {' | '.join([forms.escaped(torch), *(str(counts.get(name, 0)) for name in names)])} |")
    return "\n".join([*lines, "", f"Written to {forms.escaped(str(answer.out))}"]) + "\n"


FORMS: Mapping[str, Any] = {"text": as_text, "json": as_json, "markdown": as_markdown}
