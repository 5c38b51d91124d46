"""JSON as it is committed: what fits into a line is one line, so that a diff shows what has changed and little else."""

from __future__ import annotations

import json
from typing import Any

WIDTH = 200


def laid_out(value: Any, indent: str = "") -> str:
    """Return JSON in one line; where that is too long, with a line for each key, and objects of a list one by one."""
    line = json.dumps(value, ensure_ascii=False)
    if len(indent) + len(line) <= WIDTH:
        return line
    if isinstance(value, dict):
        inside = indent + " "
        keys = (
            f"{inside}{json.dumps(key, ensure_ascii=False)}: {laid_out(each, inside)}" for key, each in value.items()
        )
        return "{\n" + ",\n".join(keys) + "}"
    if isinstance(value, list) and any(isinstance(each, dict) for each in value):
        return "[" + ", ".join(laid_out(each, indent) for each in value) + "]"
    return line


def in_order(value: Any) -> Any:
    """Return a value with the keys of all its objects in the order of the alphabet."""
    return json.loads(json.dumps(value, sort_keys=True))
