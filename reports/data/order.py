"""The order in which a reader is shown clauses: that of the suite, or first what more programs may rely on."""

from __future__ import annotations

from typing import Any

from reports.data.clause import Clause

#: chapter -> what it is about; the order in which the page and the README show them.
CHAPTERS = {
    "ordering": "which hook runs before which: kinds, global and own, nested modules, branches, changes while running",
    "input": "what a forward pre-hook may put in place of a module's inputs",
    "output": "what a forward hook may put in place of a module's output, and hooks that run when forward failed",
    "gradient": "what a tensor hook may put in place of a gradient, and what a backward pass calls",
    "retain": "when retain_grad() takes its copy, of what, and what else sees it",
    "backward": "legacy, full and full pre-hooks on modules: what they are given, for which call, what they may return",
    "optimizer": "hooks around the step of an optimizer: what they are given, may change and return, and when they run",
    "handles": "registering, removing and copying: what a handle does, what hooks keep alive, hooks written wrongly",
    "state": "hooks around state_dict() and load_state_dict(), of modules and of optimizers",
    "registration": "hooks that are called when a module gets a parameter, a buffer or a module",
    "saved": "hooks of what is saved for the backward pass: what packs and unpacks it, and what that switches off",
    "several": "hooks of several tensors: once in a pass, with all gradients or with the first one",
    "built": "what torch builds on hooks, and which hooks live on when it changes, converts or copies a module",
    "programs": "real layers in a training loop: what hooks of all kinds do there together, and what they leave alone",
    "modes": "hooks where torch runs a program in another way: compiled, traced, exported, transformed, in parallel",
    "together": "plans from the whole grammar: any network, hooks and script; torch does what the contract predicts",
    "tutorial": "sentences that learners meet in widely read tutorials: is what I learned still so?",
}
#: programs rely on what is documented, then on what torch itself tests, and last on what nobody promised
LEVELS = ("documented", "implied", "observed", "")
#: deprecated since 1.8
RARE = "register_backward_hook"


def chapter_order(chapter: str) -> tuple[int, str]:
    """Return the place of a chapter: as above, unknown ones last."""
    return (list(CHAPTERS).index(chapter) if chapter in CHAPTERS else len(CHAPTERS)), chapter


def order(clause: Clause) -> tuple[Any, ...]:
    """Return the place of a clause in the suite: by its chapter, and inside of it as in the files."""
    return *chapter_order(clause.chapter), clause.file, clause.line, clause.id


def rank(clause: Clause) -> int:
    """Return the place of a clause among others, smaller ones first; claims and signatures are last, code runs without.

    Clauses of one rank stay in the order of the suite: hooks of modules, of tensors, of retain_grad() and of backward.
    """
    late = clause.is_claim or clause.id.endswith(".signatures")
    texts = (*clause.source, *clause.needs, clause.says.replace("legacy", RARE))
    rare = any(RARE in text for text in texts)
    return (8 if late else 0) + 2 * LEVELS.index(clause.level) + (1 if rare else 0)
