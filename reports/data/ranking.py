"""Which of two changes that do the same harm a reader is shown first: the one that more programs may rely on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from reports.data.atlas import is_claim

#: programs rely on what is documented, then on what torch itself tests, and last on what nobody promised
LEVELS = ("documented", "implied", "observed", "")
#: deprecated since 1.8
RARE = "register_backward_hook"


def rank(clause: str, record: Mapping[str, Any]) -> int:
    """Return the place of a clause among others, smaller ones first; claims and signatures are last, code runs without.

    Clauses of one rank stay in the order of the suite: hooks of modules, of tensors, of retain_grad() and of backward.
    """
    late = is_claim(record) or clause.endswith(".signatures")
    about = (*record["source"], *record["needs"], record["says"].replace("legacy", RARE))
    rare = any(RARE in text for text in about)
    return (8 if late else 0) + 2 * LEVELS.index(record.get("level", "")) + (1 if rare else 0)
