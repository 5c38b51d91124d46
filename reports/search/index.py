"""The index of the search: for each stem the clauses that have it, with whole weights, made from all their texts."""

from __future__ import annotations

import functools
import json
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from reports.data.clause import Clause, Clauses
from reports.data.uncovered import named
from reports.search.words import plain, stem, tokens

HERE = Path(__file__).parent
#: How much a word counts in each kind of text; "asked" has everyday words for each clause, "messages" what torch
#: printed. Tried on 180 queries: only the order of size matters.
COLUMNS = {"asked": 5, "sentence": 4, "id": 2, "readings": 2, "source": 2, "messages": 2, "apis": 1}
SATURATION, LENGTH = 6.0, 0.5  # the two parameters of BM25
PRIOR = {"documented": 1.1, "implied": 1.05}
SIGNS = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
LEVELS = len(SIGNS) - 1
RARE = 2  # weights below this much of a level are left out: they change no order near the top


@functools.cache
def texts(name: str) -> Any:
    """Return one of the files next to this one."""
    return json.loads((HERE / f"{name}.json").read_text(encoding="utf-8"))


def made(clauses: Clauses) -> dict[str, Any]:
    """Return the index as plain data, as the page embeds it; `ask.Search` and find.js ask it."""
    stop = frozenset(texts("words")["stop"])
    weights = _weights(clauses, stop)
    return {
        **_packed(weights),
        "stop": sorted(stop),
        "renamings": [[list(map(stem, plain(asked))), _stems(said, stop)] for asked, said in _renamings()],
        "named": named(),
    }


def _renamings() -> Iterable[tuple[str, str]]:
    return texts("words")["renamings"].items()


def _stems(text: str, stop: frozenset[str]) -> list[str]:
    return [stem(word) for word in tokens(text) if word not in stop]


def _columns(clause: Clause) -> dict[str, str]:
    lines = [" ".join(clause.where), *(one.says for one in clause.readings if not one.never)]
    return {
        "sentence": clause.says,
        "asked": " ".join(clause.asked),
        "id": clause.id.replace(".", " "),
        "readings": " ".join(lines),
        "source": " ".join(clause.source),
        "messages": " ".join(texts("messages")["clauses"].get(clause.id, ())),
        "apis": " ".join(sorted(clause.asked_as)),
    }


def _weights(clauses: Clauses, stop: frozenset[str]) -> dict[str, list[tuple[int, float]]]:
    """Return for each stem the places of the clauses that have it, with the weight of BM25F."""
    found = [_columns(one) for one in clauses.values()]
    counts: list[defaultdict[str, float]] = [defaultdict(float) for _ in found]
    for column, weight in COLUMNS.items():
        stems = [_stems(texts_of.get(column, ""), stop) for texts_of in found]
        usual = sum(map(len, stems)) / max(1, sum(map(bool, stems)))
        for place, each in enumerate(stems):
            length = 1 - LENGTH + LENGTH * len(each) / (usual or 1)
            for word, count in Counter(each).items():
                counts[place][word] += weight * count / length
    spread = Counter(word for each in counts for word in each)
    number = sum(map(bool, counts))
    weights: dict[str, list[tuple[int, float]]] = defaultdict(list)
    for place, clause in enumerate(clauses.values()):
        for word, count in counts[place].items():
            rarity = math.log(1 + (number - spread[word] + 0.5) / (spread[word] + 0.5))
            weights[word].append((place, rarity * count / (SATURATION + count) * PRIOR.get(clause.level, 1)))
    return weights


def _packed(weights: Mapping[str, list[tuple[int, float]]]) -> dict[str, str]:
    """Return stems and their clauses as text: two signs a clause, how many places on and its weight; ~ is 62 places."""
    most = max((weight for each in weights.values() for _, weight in each), default=1)
    stems, posts = [], []
    for word in sorted(weights):
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
    return {"stems": " ".join(stems), "posts": " ".join(posts)}
