"""Mutants that nothing shows: `excused.json` has them by the reason: no test can, or no plan goes there."""

import json
from pathlib import Path

_TABLE: dict[str, dict[str, list[str]]] = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))


def _reasons(table: dict[str, list[str]]) -> dict[str, str]:
    return {name: why for why, names in table.items() for name in names}


#: Mutants of the model that no plan shows, and mutants of torch that no clause rejects -> why.
MODEL, TORCH = _reasons(_TABLE["model"]), _reasons(_TABLE["torch"])
