"""The index of the search: for each stem the texts that have it, with whole weights, made from all their words."""

from __future__ import annotations

import functools
import json
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reports.data.claims import CLAIMS
from reports.data.clause import Clause, Clauses
from reports.data.uncovered import named
from reports.search.answers import ANSWERS, Answer
from reports.search.words import plain, stem, tokens
from reports.symptoms.programs import program
from reports.symptoms.symptom import Symptom
from reports.symptoms.symptoms import SYMPTOMS

HERE = Path(__file__).parent
#: How much a word counts in each kind of text; "asked" has everyday words for each clause, "messages" what torch
#: printed. Tried on 180 queries: only the order of size matters.
COLUMNS = {"asked": 5, "sentence": 4, "id": 2, "readings": 2, "source": 2, "messages": 3, "apis": 1}
#: What asking counts, here and on the page, in whole numbers.
NUMBERS = {
    # a word as it was typed, another spelling of it, the suite's word for it; how many spellings are tried
    "typed": 5, "spelled": 4, "renamed": 3, "most_begun": 8, "most_slips": 4,
    # of so many parts of a mark each special word that only one side names takes one, up to so many
    "parts": 5, "most_special": 3,
    # an answer is shown where it is among the first so many
    "among": 3,
    # what people see is shown where a cause has its clause among the first so many, or where none has one
    "led": 5,
    # what a word of no text could count
    "unknown": 61,
    # From which part, in hundredths of what its words could count at most, a question is close: with the word hook;
    # with other words of hooks; with one; with none, where it is sure, and where all are words of torch.
    "close": 35, "alone": 50, "one": 48, "sure": 93, "names": 80,
    # the first two for what people see
    "fits": 27, "fits_alone": 50,
}  # fmt: skip
SATURATION, LENGTH = 6.0, 0.5  # the two parameters of BM25
PRIOR = {"documented": 1.1, "implied": 1.05}
TAUGHT = 1.2  # what decides a claim of tutorials is everyday
SIGNS = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
LEVELS = len(SIGNS) - 1
BEGIN = 8  # words by which a text that torch prints is known
RARE = 2  # weights below this much of a level are left out: they change no order near the top


@dataclass(frozen=True)
class Text:
    """What can be found: its words by column, and the sentence whose special words a question should name."""

    columns: Mapping[str, str]
    special: str = ""
    prior: float = 1


@functools.cache
def texts(name: str) -> Any:
    """Return one of the files next to this one."""
    return json.loads((HERE / f"{name}.json").read_text(encoding="utf-8"))


@functools.cache
def asking() -> dict[str, Any]:
    """Return what the search knows of words, whatever it looks in, as plain data."""
    words = texts("words")
    words = {**words, "kinds": f"{words['kinds']} {words['special']}"}  # what a text should have if a question names it
    return {
        "numbers": NUMBERS,
        "stop": words["stop"].split(),
        **{
            kind: sorted({stem(word) for word in words[kind].split()})
            for kind in ("hooks", "names", "torch", "elsewhere", "kinds")
        },
        "renamings": [[list(map(stem, plain(asked))), _stems(said)] for asked, said in words["renamings"].items()],
    }


def made(clauses: Clauses) -> dict[str, Any]:
    """Return the index of clauses, and behind them of answers, as the page embeds it; find.js and ask.py ask it."""
    return {
        **_index([*map(_of_clause, clauses.values()), *map(_of_answer, ANSWERS)]),
        "asking": asking(),
        "named": [*named(), *_silent()],
        "answers": [{"says": one.says, "text": program(one.program)} for one in ANSWERS],
    }


@functools.cache
def of_symptoms() -> dict[str, Any]:
    """Return the index of what people see."""
    causes = [[cause.clause for cause in one.causes if cause.clause] for one in SYMPTOMS]
    return {**_index([_of_symptom(one) for one in SYMPTOMS]), "causes": causes}


def _silent() -> list[dict[str, Any]]:
    """Return what is said of texts about hooks that torch prints and that no clause speaks of, by their first words."""
    found = {
        " ".join(plain(max(one["text"].split("…"), key=len))[:BEGIN]): one["file"]
        for one in texts("said")
        if not one["clause"]
    }
    return [
        {
            "says": f"torch prints this in {file}; no clause speaks of it.",
            "phrases": [words],
            "unless": [],
            "alone": True,
        }
        for words, file in found.items()
    ]


@functools.cache
def _stop() -> frozenset[str]:
    return frozenset(texts("words")["stop"].split())


def _stems(text: str) -> list[str]:
    return [stem(word) for word in tokens(text) if word not in _stop()]


@functools.cache
def _taught() -> frozenset[str]:
    return frozenset(name for claim in CLAIMS.values() for name in claim.clauses)


def _of_clause(clause: Clause) -> Text:
    lines = [" ".join(clause.where), *(one.says for one in clause.readings if not one.never)]
    said = [one["text"] for one in texts("said") if one["clause"] == clause.id]
    columns = {
        "sentence": clause.says,
        "asked": " ".join(clause.asked),
        "id": clause.id.replace(".", " "),
        "readings": " ".join(lines),
        "source": " ".join(clause.source),
        "messages": " ".join([*texts("messages")["clauses"].get(clause.id, ()), *said]),
        "apis": " ".join(sorted(clause.asked_as)),
    }
    prior = PRIOR.get(clause.level, 1) * (TAUGHT if clause.id in _taught() else 1)
    return Text(columns, f"{clause.says} {columns['id']}", prior)


def _of_answer(answer: Answer) -> Text:
    return Text({"sentence": answer.says, "asked": answer.asked}, prior=TAUGHT)


def _of_symptom(symptom: Symptom) -> Text:
    causes = " ".join(cause.says for cause in symptom.causes)
    return Text({"asked": symptom.name, "id": symptom.name, "sentence": symptom.also, "apis": causes})


def _index(found: Sequence[Text]) -> dict[str, Any]:
    weights = _weights(found)
    special = {stem(word) for word in texts("words")["special"].split()}
    marked: dict[str, list[tuple[int, float]]] = defaultdict(list)
    for place, one in enumerate(found):
        for word in special.intersection(_stems(one.special)):
            marked[word].append((place, 1))
    said = {word for one in found for word in _stems(f"{one.columns['sentence']} {one.columns.get('id', '')}")}
    stems, posts = _packed(weights, said)
    unnamed, places = _packed(marked, set(marked))
    return {
        "stems": " ".join(stems),
        "posts": " ".join(posts),
        "said": sum(word in said for word in stems),
        "special": " ".join(unnamed),
        "places": " ".join(places),
    }


def _weights(found: Sequence[Text]) -> dict[str, list[tuple[int, float]]]:
    """Return for each stem the places of the texts that have it, with the weight of BM25F."""
    counts: list[defaultdict[str, float]] = [defaultdict(float) for _ in found]
    for column, weight in COLUMNS.items():
        stems = [_stems(one.columns.get(column, "")) for one in found]
        usual = sum(map(len, stems)) / max(1, sum(map(bool, stems)))
        for place, each in enumerate(stems):
            length = 1 - LENGTH + LENGTH * len(each) / (usual or 1)
            for word, count in Counter(each).items():
                counts[place][word] += weight * count / length
    spread = Counter(word for each in counts for word in each)
    number = sum(map(bool, counts))
    weights: dict[str, list[tuple[int, float]]] = defaultdict(list)
    for place, one in enumerate(found):
        for word, count in counts[place].items():
            rarity = math.log(1 + (number - spread[word] + 0.5) / (spread[word] + 0.5))
            weights[word].append((place, rarity * count / (SATURATION + count) * one.prior))
    return weights


def _packed(weights: Mapping[str, list[tuple[int, float]]], said: Iterable[str]) -> tuple[list[str], list[str]]:
    """Return stems, those of sentences first, and for each its places as text.

    Two signs a place: how many places on, and its weight; ~ is 62 places.
    """
    most = max((weight for each in weights.values() for _, weight in each), default=1)
    stems, posts = [], []
    for word in sorted(weights, key=lambda word: (word not in said, word)):
        last, signs = -1, []
        # A word of nearly all clauses stays, with what little it counts: else it would be taken for a slip of another.
        least = min(RARE, max(weight for _, weight in weights[word]) * LEVELS / most)
        for place, weight in weights[word]:
            level = weight * LEVELS / most
            if level < least:
                continue
            gap, last = place - last - 1, place
            signs.append("~" * (gap // len(SIGNS)) + SIGNS[gap % len(SIGNS)] + SIGNS[round(level)])
        if signs:
            stems.append(word)
            posts.append("".join(signs))
    return stems, posts
