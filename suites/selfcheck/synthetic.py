"""Made-up results with the variety of real ones, for the tests of the reports."""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import json
import random
from collections import Counter
from pathlib import Path

from reports.data import verdicts
from reports.data.cell import Cell
from reports.data.table import NAME
from reports.data.wording import kept, worded

TORCHES = (*(f"1.{minor}.0" for minor in range(4, 13)), "1.13.1", *(f"2.{minor}.0" for minor in range(16)))
CHAPTERS = (
    "ordering",
    "input_replacement",
    "output_replacement",
    "tensor_gradient",
    "retain_grad",
    "backward",
    "together",
)
#: What only the clauses of a chapter are about.
ABOUT = {"tensor_gradient": ["register_hook"], "tutorial": ["register_full_backward_hook"]}
SUBJECTS = (
    "A forward hook",
    "A pre-hook",
    "A full backward hook",
    "A tensor hook",
    "A hook on a shared module",
    "A global hook",
)
BEHAVIOURS = (
    "runs after forward and sees the input tuple and the output",
    "runs in the order of registration, each seeing what the one before returned",
    "that returns a value replaces what the caller sees",
    "that raises leaves the module usable for the next call",
    "removed by another hook during a call still runs in that call",
    "is kept by a deep copy of the module and called with the copy",
)
CODE = '''@clause(
    "{id}",
    says="{says}",
    source="docs: torch.nn.Module.register_forward_hook",
)
@given(plan=plans(hooks=["forward"], depth=3))
def test_{name}(plan, mode):
    """{says}."""
    stage = Stage(plan, mode=mode)  # one recorder for all hooks
    trace = stage.run()
    expected = predict(plan, CONTRACT)
    assert trace == expected, diff(trace, expected)
    for event in trace:
        if event.kind == "forward_hook" and event.depth > 2:
            assert event.values == (1.0, 2.0, -3), "values are exact integers"
'''
PLAN = """Plan(
    net=Chain(Affine(k=2, c=1, name="a"), Affine(k=3, c=0, name="b")),
    hooks=[ForwardHook(on="a", does=Replace(k=2, c=5)), TensorHook(on="a.out", does=Observe())],
    script=[Forward(x=3), Backward()],
)"""
REPRODUCER = """import torch

lin = torch.nn.Linear(1, 1, bias=False)
seen = []
lin.register_forward_hook(lambda module, args, out: seen.append(out.item()))
out = lin(torch.ones(1, 1, requires_grad=True))
out.sum().backward()
print("expected", [2.0])
print("observed", seen)
"""

SCRIPT = '''"""The hook of {name} is not called.

Documentation: {documented} every time.
    https://docs.pytorch.org/docs/stable/hooks.html#{name}
torch: passes it over.
See also: https://github.com/pytorch/pytorch/issues/1, https://github.com/pytorch/pytorch/issues/2
As documented: {awake}
Doubt: the page is silent.
"""

import torch

documented, observed = 1, torch.zeros(0).numel()
print("documented:", documented)
'''


def digest(clause):
    """Return the digest of a clause's text."""
    text = json.dumps([clause["says"], clause["readings"], clause["code"]])
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def clause(number, rng, chapter=None):
    """Return the id and one clause."""
    chapter = chapter or CHAPTERS[number % len(CHAPTERS)]
    says = f"{rng.choice(SUBJECTS)} {rng.choice(BEHAVIOURS)}"
    topic = rng.choice(("forward", "pre", "tensor", "full"))
    name = f"{chapter}.{topic}.{says.split()[-1]}_{number}"
    found = {
        "says": says[:100], "source": [rng.choice(SOURCES)], "readings": _readings(rng, chapter),
        "needs": rng.choice(([], [], ["torch.nn.Module.register_full_backward_hook"])),
        "about": ["register_forward_hook", *ABOUT.get(chapter, [])],
        "docs": "contradicts" if rng.random() < 0.06 else "",
        "note": "Measured on every version; the note on autograd is silent here." if rng.random() < 0.2 else "",
        "code": CODE.format(id=name, says=says, name=name.split(".")[2]),
        "file": f"suites/{chapter}/test_forward.py", "line": 10 + number, "digest": "",
    }  # fmt: skip
    found.update(level=LEVELS[number % 3], deviations=_deviations(name))
    for place, reading in enumerate(found["readings"][1:]):
        reading.update(says_the_same=(number + place) % 3 == 0, effect=EFFECTS[(number + place) % 3])
    found["digest"] = digest(found)
    return name, found


#: Of a reading whose headline is true the effect says nothing.
EFFECTS = ("none", "silent", "error")
LEVELS = ("documented", "implied", "observed")


def _deviations(name):
    """Return the declared deviation of a clause that has a cell with one."""
    if random.Random(name).random() <= 0.95:
        return []
    return [{
        "name": "another value", "torch": ">=2.3", "cause": "views and bases", "verdict": "deviates",
        "effect": "silent",
        "says": "The hook is given another value.", "reason": "A view was taken for its base.",
        "ref": "https://github.com/pytorch/pytorch/issues/1",
    }]  # fmt: skip


SOURCES = (
    "docs: torch.nn.Module.register_forward_hook", "docs: torch.Tensor.register_hook", "measured",
    "note: autograd.html#backward-hooks-execution", "https://github.com/pytorch/pytorch/pull/85849",
    "release 2.0: retain_grad now keeps the gradient after all hooks",
)  # fmt: skip


def _readings(rng, chapter):
    if chapter == "tutorial":
        low = rng.choice(("1.8", "2.0", "2.1"))
        if rng.random() < 0.5:
            return [{"name": "true", "torch": "", "says": ""}, {"name": "false", "torch": "never", "says": ""}]
        return [{"name": "true", "torch": "<" + low, "says": ""}, {"name": "false", "torch": ">=" + low, "says": ""}]
    luck = rng.random()
    if luck < 0.65:
        return [{"name": "always", "torch": "", "says": ""}]
    if luck < 0.9:
        return [
            {"name": "in its place", "torch": "<2.0", "says": "It runs where it was registered, among the others."},
            {"name": "last of all", "torch": ">=2.0", "says": "It runs after every other hook, whenever registered."},
        ]
    return [
        {"name": "as a hook", "torch": "<1.10", "says": "It is a hook like any other."},
        {"name": "as it was then", "torch": ">=1.10,<2.0", "says": "It runs in its place but sees the first value."},
        {"name": "last of all", "torch": ">=2.0", "says": "It runs after every other hook."},
        {"name": "first of all", "torch": "never", "says": "It runs before every other hook."},
    ]


def clauses(count, seed=0, claims=0):
    """Return a clause table with this many clauses, the last ones claims of tutorials."""
    rng = random.Random(seed)
    made = (clause(n, rng, "tutorial" if n >= count - claims else None) for n in range(count))
    return dict(made)


def evidence(number=0, torch=""):
    """Return the evidence of a deviation."""
    before = [f"{line:02d} forward a ({line * 2},)" for line in range(6)]
    after = [*before[:2], f"02 forward a ({40 + number},)", "02b tensor_hook a.out 7", *before[3:]]
    message = "behaves as torch < 2.0" + (f", seen on {torch}" if torch else "")
    return {"plan": PLAN, "expected": before, "observed": after, "message": message, "reproducer": REPRODUCER}


def minor_of(torch):
    """Return (1, 13) for "1.13.1"."""
    return tuple(int(part) for part in torch.split(".")[:2])


def force(readings, torch):
    """Return the name of the reading in force; only the ranges written above are understood."""
    for reading in readings:
        if reading["torch"] != "never" and all(_holds(part, torch) for part in reading["torch"].split(",") if part):
            return reading["name"]
    return None


def _holds(part, torch):
    bound = minor_of(part.strip("<>="))
    return minor_of(torch) >= bound if part.startswith(">=") else minor_of(torch) < bound


def cell(name, found, torch, mode="eager"):
    """Return the cell of a clause on a torch; the same for the same arguments."""
    luck = random.Random(name).random()
    reading, verdict, reported, note = force(found["readings"], torch), "conforms", None, ""
    holds = []
    if luck < 0.12 and minor_of(torch) < (1, 8):
        verdict = "absent"
    elif luck > 0.95 and minor_of(torch) >= (2, 3):
        verdict, reported = "deviates", evidence(int(luck * 1000), torch)
        holds = [each["name"] for each in found["readings"] if each["name"] != reading][:1]
    elif 0.5 < luck < 0.51 and minor_of(torch) == (1, 12):
        verdict, note = "crashed", "the process ended with signal 11"
    elif 0.6 < luck < 0.61 and minor_of(torch) == (2, 5):
        verdict, note = "hung", "no new line for 120 seconds"
    if verdict in ("absent", "crashed", "hung"):
        reading = None
    refuted = [each["name"] for each in found["readings"] if each["name"] != reading] if verdict == "conforms" else []
    return {
        "type": "cell", "clause": name, "mode": mode, "verdict": verdict, "reading": reading, "refuted": refuted,
        "holds": holds, "declared": verdict == "deviates", "seconds": 0.25, "note": note, "evidence": reported,
        "deviation": "another value" if verdict == "deviates" else None,
    }  # fmt: skip


def header(table, torch, **changes):
    """Return the header of a run."""
    nodes = {f"{found['file']}::test_{name}[eager]": [name, "eager"] for name, found in table.items()}
    made = {
        "type": "header", "format": 1, "suite": "0.1.0", "torch": torch + "+cpu", "python": "3.11.7",
        "platform": "Linux-x86_64", "device": "cpu", "profile": "recorded", "examples": 100, "seed": None,
        "shard": [1, 1], "modes": ["eager"], "began": "2026-11-20T07:00:00Z", "clauses": table, "nodes": nodes,
    }  # fmt: skip
    made.update(changes)
    return made


def footer(cells):
    """Return the footer that fits the cells."""
    counts = Counter(each["verdict"] for each in cells)
    return {"type": "footer", "cells": len(cells), "counts": dict(counts), "seconds": 12.5}


def run_lines(table, torch, **changes):
    """Return the lines of a finished run as objects."""
    cells = [cell(name, found, torch) for name, found in table.items()]
    lines = [header(table, torch, **changes)]
    for each in cells:
        lines += [{"type": "started", "clause": each["clause"], "mode": each["mode"]}, each]
    return [*lines, footer(cells)]


def write_lines(path, lines):
    """Write objects as JSON lines."""
    Path(path).write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return Path(path)


def write_run(path, table, torch, **changes):
    """Write a finished run file."""
    return write_lines(path, run_lines(table, torch, **changes))


def write_verdicts(folder, table, torches=TORCHES):
    """Write the committed verdict files and the clause table as a recording would."""
    cells = {
        torch: {name: {"eager": recorded_entry(cell(name, found, torch), found)} for name, found in table.items()}
        for torch in torches
    }
    return write_cells(folder, table, cells)


def write_cells(folder, table, cells):
    """Write verdicts: torch -> clause -> mode -> what is recorded of the cell, in words."""
    where = ("0.1.0", "3.11", "Linux-x86_64", "cpu")
    write_table(folder, table)
    known = verdicts.read_table(Path(folder))
    made = [verdicts.Recorded(torch, *where, as_cells(found, known)) for torch, found in cells.items()]
    verdicts.write_recorded(made, Path(folder))
    return Path(folder)


def write_table(folder, table, modes=None, within=None):
    """Write the clause table where the readers look for that of a folder of verdicts."""
    path = Path(folder).parent / NAME
    path.parent.mkdir(parents=True, exist_ok=True)
    document = {"format": 3, "suite": "0.1.0", "clauses": table, "modes": modes or {}, "within": within or {}}
    path.write_text(json.dumps(document), encoding="utf-8")
    return Path(folder)


@contextlib.contextmanager
def changing(folder, minor):
    """Give the recorded cells of a release, clause -> mode -> cell in words; they are written as they are left."""
    recorded, table = {each.minor: each for each in verdicts.read_recorded(folder)}, verdicts.read_table(folder)
    cells = json.loads(json.dumps(as_entries(recorded[minor].cells, table)))
    yield cells
    recorded[minor] = dataclasses.replace(recorded[minor], cells=as_cells(cells, table))
    verdicts.write_recorded(recorded.values(), folder)


def as_cells(entries, table):
    """Return recorded cells, clause -> mode -> cell, as the reports read them, of cells in words."""
    return {
        name: {mode: kept(Cell.of_record(each), table.clauses[name], mode, table) for mode, each in modes.items()}
        for name, modes in entries.items()
    }


def as_entries(cells, table):
    """Return recorded cells in words."""
    return {
        name: {mode: as_entry(worded(each, table.clauses[name], mode, table)) for mode, each in modes.items()}
        for name, modes in cells.items()
    }


def as_entry(cell):
    """Return a cell as plain data."""
    return {"verdict": cell.verdict, "reading": cell.reading, **cell.more}


def write_scripts(folder, table, **changes):
    """Write a script for each clause that contradicts the documentation, which agrees with its first reading."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for name, found in table.items():
        if found["docs"]:
            others = found["readings"][0]["name"] if len(found["readings"]) > 1 else "nothing"
            words = {"name": name, "documented": "a hook runs", "awake": others, **changes}
            (folder / f"{name}.py").write_text(SCRIPT.format(**words), encoding="utf-8")
    return folder


def recorded_entry(made, found):
    """Return a cell as it is recorded."""
    kept = {"verdict": made["verdict"], "reading": made["reading"], "digest": found["digest"]}
    for key in ("declared", "deviation", "holds", "evidence"):
        if made[key]:
            kept[key] = made[key]
    if made["verdict"] == "refused":  # else it was not asked at all
        kept["note"] = "It refuses."
    return kept
