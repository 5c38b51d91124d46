"""`python -m suites.table`: what readers know of all clauses and of the rules of modes, as JSON. It needs no torch."""

import gc
import importlib
import json
import pathlib
from typing import Any, Dict

from fixtures.clause.cause import deviations_of
from fixtures.clause.clause import CLAUSES
from fixtures.draw.contract import draw_for
from fixtures.model.contract import contract_for
from fixtures.rules import EXCLUSIONS, RULES
from fixtures.run.naming import SUITE
from suites.deviations import CAUSES

ROOT = pathlib.Path(__file__).resolve().parent.parent
APART = ("selfcheck", "timing")
FORMAT = 3
#: What each mode does otherwise within what clauses promise: `python -m suites.within` makes it.
WITHIN = ROOT / "suites" / "within.json"
NEWEST = "1000"  # no text of a clause depends on the torch that it is read for


def import_files() -> None:
    """Import all files of clauses, to draw for the contract that was given."""
    for path in sorted((ROOT / "suites").rglob("test_*.py")):
        module = path.relative_to(ROOT).with_suffix("").parts
        if module[1] not in APART:
            importlib.import_module(".".join(module))


def table() -> Dict[str, Any]:
    """The clauses that are imported, by their names, and what modes do otherwise than eager or are not asked."""
    clauses = {
        name: one.record(str(ROOT), [each.record() for each in deviations_of(CAUSES, one)])
        for name, one in sorted(CLAUSES.items())
    }
    fields = {"rules": ("name", "says", "torch", "ref"), "exclusions": ("name", "needs", "why", "torch")}
    modes = {
        mode: {
            kind: [{name: getattr(one, name) for name in fields[kind]} for one in found.get(mode, ())]
            for kind, found in (("rules", RULES), ("exclusions", EXCLUSIONS))
        }
        for mode in {**RULES, **EXCLUSIONS}
    }
    within = json.loads(WITHIN.read_text(encoding="utf-8"))["clauses"] if WITHIN.exists() else {}
    return {"format": FORMAT, "suite": SUITE, "clauses": clauses, "modes": modes, "within": within}


if __name__ == "__main__":
    gc.disable()  # the trees of all files are kept: looking for garbage among them takes half of the time
    draw_for(contract_for(NEWEST))
    import_files()
    print(json.dumps(table()))
    gc.freeze()  # at the end, too
