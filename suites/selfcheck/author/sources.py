"""Who says what a clause says: whether a quoted source holds the quoted words, and a sentence can be read alone."""

from __future__ import annotations

import importlib
import inspect
import json
import re
from collections.abc import Iterator
from pathlib import Path

import torch

from fixtures.clause.cause import deviations_of
from fixtures.clause.clause import DOCUMENTS, HINTS, LEVELS, Clause
from suites.deviations import CAUSES

SUITES = Path(__file__).resolve().parents[2]
#: Sources that are not installed with torch -> when they were looked up, and words found there.
LOOKED_UP = json.loads((SUITES / "sources.json").read_text("utf-8"))
QUOTED = re.compile(r'(?P<where>[^"]+?) "(?P<words>[^"]+)"')
FEWEST_WORDS = 3
#: First words that need the sentence before.
LEANING = ("It", "Its", "So", "They", "Their", "This", "That", "These", "Those", "Such", "Both", "And", "But")


def split(source: str) -> tuple[str, str]:
    """Return where a source is, and the words quoted from it."""
    found = QUOTED.fullmatch(source)
    return (found["where"], found["words"]) if found else (source, "")


def folded(text: str) -> str:
    return " ".join(text.split())


def code_words(text: str) -> str:
    """Return code as folded text in which comments and strings of several lines read on."""
    text = re.sub(r"""(?P<quote>["'])\s*\n\s*[rf]?(?P=quote)""", "", text)
    return folded(re.sub(r"^\s*(#|//|\*(?= ))", " ", text, flags=re.MULTILINE))


def named(path: str) -> object:
    """Return the object of a dotted name; fails where torch has none."""
    names = path.split(".")
    value: object = importlib.import_module(names[0])
    for place, name in enumerate(names[1:], 2):
        if not hasattr(value, name):
            value = importlib.import_module(".".join(names[:place]))
        else:
            value = getattr(value, name)
    return value


def documentation(path: str) -> str:
    """Return the docstring of a name; of a class also that of its constructor."""
    value = named(path)
    texts = [inspect.getdoc(value), inspect.getdoc(value.__init__) if inspect.isclass(value) else None]
    return folded(" ".join(text for text in texts if text))


def fault_of_level(clause: Clause) -> str:
    """Return what the level of a clause lacks, nothing where it has its source."""
    if clause.level not in LEVELS:
        return f"level= is one of {', '.join(LEVELS)}"
    if clause.level == "documented" and clause.docs == "contradicts":
        return "the documentation says otherwise: level is observed or implied"
    if clause.level == "documented" and not any(one.startswith(DOCUMENTS) and split(one)[1] for one in clause.source):
        return 'a documented clause quotes the words that say it: docs: torch.x.y "these words"'
    if clause.level == "implied" and not any(one.startswith(HINTS) for one in clause.source):
        return f"implied by what? one of {HINTS}"
    return ""


def fault_of_source(source: str) -> str:
    """Return what is wrong with a source: no such name in torch, or quoted words that are not there."""
    where, words = split(source)
    kind, _, path = where.partition(": ")
    if words and len(words.split()) < FEWEST_WORDS:
        return "a quote has three words or more"
    if kind == "docs":
        try:
            said = documentation(path)
        except (AttributeError, ImportError):
            return f"torch {torch.__version__} has no {path}"
        return "" if said and folded(words) in said else "not in the docstring"
    if not words:
        return ""
    if kind == "code":
        code = (Path(torch.__file__).parents[1] / path).read_text("utf-8")
        return "" if folded(words) in code_words(code) else "not in the file"
    if where not in LOOKED_UP or words not in LOOKED_UP[where]["says"]:
        return "look it up, and add the words to suites/sources.json"
    return ""


def faults_of_sentences(sentences: set[str]) -> Iterator[str]:
    """Yield what is wrong with what people read."""
    for sentence in sentences:
        if sentence.split()[0] in LEANING:
            yield f"leans on another sentence: {sentence}"
        if not sentence.endswith("."):
            yield f"no full stop: {sentence}"


def faults_of_clause(clause: Clause) -> Iterator[str]:
    """Yield what is wrong with what people read of a clause."""
    in_force = [one for one in clause.readings if not one.wrong]
    deviations = deviations_of(CAUSES, clause)
    yield from faults_of_sentences({clause.says, *(one.says for one in (*in_force, *deviations))})
    for one in in_force:
        if one.says == clause.says and not one.says_the_same:
            yield f"{one.name}: the headline is false under it, and is what it says"
