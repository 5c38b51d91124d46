"""Made-up verdicts, cell by cell, for the tests of what reads the committed ones."""

from __future__ import annotations

import re

from suites.selfcheck import synthetic

TORCHES = ("1.13.1", "2.0.1", "2.14.0", "2.15.0")


CALLED = re.compile(r"register_\w*hook|retain_grad")


def clause(
    name, code="", needs=(), readings=("always",), source=("measured",), effects=None, deviations=(), about=None
):
    """Return one clause that carries this test; its sentence is not true under the readings that have effects.

    It is about what the test calls, unless that is given.
    """
    base = next(iter(synthetic.clauses(1).values()))
    effects = effects or {}
    reported = [
        {
            "name": each,
            "torch": "",
            "says": f"Is {each}.",
            "says_the_same": each not in effects,
            "effect": effects.get(each, "none"),
        }
        for each in readings
    ]
    bugs = [
        {
            "name": each,
            "torch": "",
            "cause": f"what is {each}",
            "verdict": "deviates",
            "says": f"Is {each}.",
            "effect": effect,
            "reason": f"Why {each}.",
            "ref": "measured",
        }
        for each, effect in deviations
    ]
    return {
        **base, "says": f"Says {name}.", "readings": reported, "deviations": bugs,
        "about": list(about or {*CALLED.findall(code)}), "needs": list(needs), "code": code, "source": list(source),
        "docs": "", "note": "", "file": "suites/none.py",
    }  # fmt: skip


def bug(name, reading="always"):
    """Return a cell with a declared deviation."""
    return ("deviates", reading, {"declared": True, "deviation": name})


def write(folder, table, cells, torches=TORCHES):
    """Write verdicts: clause -> one (verdict, reading, more) for each torch, None where nothing was measured."""
    reported = {
        torch: {
            name: {"eager": _entry(*found[place], digest=table[name]["digest"])}
            for name, found in cells.items()
            if found[place] is not None
        }
        for place, torch in enumerate(torches)
    }
    return synthetic.write_cells(folder, table, reported)


def _entry(verdict, reading, more=None, *, digest):
    return {"verdict": verdict, "reading": reading, "digest": digest, **(more or {})}
