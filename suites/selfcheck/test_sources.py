"""Who says what a clause says: every quoted source holds the quoted words, and every sentence can be read alone."""

from __future__ import annotations

import importlib
import inspect
import json
import re
from pathlib import Path

import pytest
import torch

from fixtures.judge.clause import CLAUSES, LEVELS
from suites.deviations import DEVIATIONS
from suites.selfcheck.everything import import_suites

import_suites()
SUITES = Path(__file__).resolve().parents[1]
#: Sources that are not installed with torch -> when they were looked up, and words found there.
LOOKED_UP = json.loads((SUITES / "sources.json").read_text("utf-8"))
QUOTED = re.compile(r'(?P<where>[^"]+?) "(?P<words>[^"]+)"')
DOCUMENTS = ("docs: ", "note: ", "release ", "https://docs.pytorch.org/", "tutorial: ")
HINTS = ("test: ", "code: ", "https://github.com/pytorch/pytorch/")
FEWEST_WORDS = 3
#: First words that need the sentence before.
LEANING = {
    "It",
    "Its",
    "So",
    "They",
    "Their",
    "He",
    "She",
    "This",
    "That",
    "These",
    "Those",
    "Such",
    "Both",
    "And",
    "But",
}


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


SOURCES = sorted({source for one in CLAUSES.values() for source in one.source})
QUOTES = [source for source in SOURCES if split(source)[1]]


@pytest.mark.parametrize("name", CLAUSES)
def test_the_level_has_its_source(name: str) -> None:
    clause = CLAUSES[name]
    assert clause.level in LEVELS, f"level= is one of {', '.join(LEVELS)}"
    if clause.level == "documented":
        assert clause.docs != "contradicts", "the documentation says otherwise: level is observed or implied"
        quoted = [source for source in clause.source if source.startswith(DOCUMENTS) and split(source)[1]]
        assert quoted, 'a documented clause quotes the words that say it: docs: torch.x.y "these words"'
    if clause.level == "implied":
        assert any(source.startswith(HINTS) for source in clause.source), f"implied by what? one of {HINTS}"


@pytest.mark.parametrize("source", QUOTES)
def test_the_quoted_words_are_there(source: str) -> None:
    where, words = split(source)
    kind, _, path = where.partition(": ")
    assert len(words.split()) >= FEWEST_WORDS, "a quote has three words or more"
    if kind == "docs":
        assert folded(words) in documentation(path)
    elif kind == "code":
        assert folded(words) in code_words((Path(torch.__file__).parents[1] / path).read_text("utf-8"))
    else:
        assert words in LOOKED_UP[where]["says"], "look it up, and add the words to suites/sources.json"


def test_what_was_looked_up_is_quoted() -> None:
    listed = {(where, words) for where, entry in LOOKED_UP.items() for words in entry["says"]}
    assert listed == {split(source) for source in QUOTES if not source.startswith(("docs: ", "code: "))}
    assert list(LOOKED_UP) == sorted(LOOKED_UP)
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\d", entry["looked_up"]) for entry in LOOKED_UP.values())


@pytest.mark.parametrize("source", [one for one in SOURCES if one.startswith("docs: ")])
def test_documented_names_exist(source: str) -> None:
    assert documentation(split(source)[0].removeprefix("docs: ")), "it has no docstring"


@pytest.mark.parametrize("name", CLAUSES)
def test_every_sentence_can_be_read_alone(name: str) -> None:
    clause = CLAUSES[name]
    in_force = [one for one in clause.readings if not one.wrong]
    deviations = [one for one in DEVIATIONS if one.clause == name]
    for sentence in {clause.says, *(one.says for one in (*in_force, *deviations))}:
        assert sentence.split()[0] not in LEANING, f"leans on another sentence: {sentence}"
        assert sentence.endswith("."), f"no full stop: {sentence}"
    for one in in_force:
        assert one.headline or one.says != clause.says, (
            f"{one.name}: the headline is false under it, and is what it says"
        )
    for one in deviations:
        assert one.harm != "none", f"{one.name}: harm= says what the deviation does to code that relies on the clause"
