"""Made-up verdicts, cell by cell, for the tests of what reads the committed ones."""

from __future__ import annotations

import json

from suites.selfcheck import synthetic

TORCHES = ("1.13.1", "2.0.1", "2.14.0", "2.15.0")


def clause(name, code="", needs=(), readings=("always",), source=("measured",)):
    """Return one clause that carries this test."""
    base = next(iter(synthetic.clauses(1).values()))
    return {
        **base, "says": f"Says {name}.", "readings": [{"name": each, "torch": "", "says": ""} for each in readings],
        "needs": list(needs), "code": code, "source": list(source), "docs": "", "note": "", "file": "suites/none.py",
    }  # fmt: skip


def write(folder, table, cells, torches=TORCHES):
    """Write verdicts: clause -> one (verdict, reading) for each torch, None where nothing was measured."""
    synthetic.write_verdicts(folder, table, torches)
    for place, torch in enumerate(torches):
        path = folder / "{}.{}.json".format(*synthetic.minor_of(torch))
        document = json.loads(path.read_text("utf-8"))
        document["cells"] = {
            name: {"eager": {"verdict": found[place][0], "reading": found[place][1], "digest": table[name]["digest"]}}
            for name, found in cells.items()
            if found[place] is not None
        }
        path.write_text(json.dumps(document), encoding="utf-8")
    return folder
