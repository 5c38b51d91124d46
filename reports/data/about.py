"""What clauses are about, as their records say: hook APIs by the names that answers have for them, and options.

"register_forward_hook(prepend)" is an API with an option; records of older run files say nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

NODE_HOOK = "Node.register_hook"


def need(text: str) -> tuple[str, str]:
    """Return a dotted name as APIs go by, and its option: ("register_forward_hook", "prepend")."""
    path, _, option = text.removesuffix(")").partition("(")
    owner, _, last = path.rpartition(".")
    name = f"{owner.rpartition('.')[2]}.{last}"
    return name if name in (NODE_HOOK, "autograd.grad") else last, option


def about(clause: Mapping[str, Any]) -> frozenset[tuple[str, str]]:
    """Return the APIs that a clause is about, each with the option that it needs, or none."""
    return frozenset(need(text) for text in clause.get("about", ()))


def apis(clause: Mapping[str, Any]) -> frozenset[str]:
    """Return the APIs alone."""
    return frozenset(api for api, _ in about(clause))


def asked_as(clause: Mapping[str, Any]) -> frozenset[str]:
    """Return what a question for the clause may name: its APIs, and each with its option in brackets."""
    return apis(clause) | {f"{api}({option})" for api, option in about(clause) if option}


def known_apis(clauses: Mapping[str, Mapping[str, Any]]) -> frozenset[str]:
    """Return every API that some clause is about."""
    return frozenset(api for clause in clauses.values() for api in apis(clause))
