"""Asking the index: whole numbers only, so that the page's find.js gives the same order for the same words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from reports.data.clause import Clauses
from reports.search.index import SIGNS, made
from reports.search.words import one_slip_away, plain, stem, tokens, within

#: What a word counts as it was typed, what another spelling of it, what the suite's word for it.
TYPED, SPELLED, RENAMED = 5, 4, 3
MOST_BEGUN, MOST_SLIPS = 8, 4
#: Nothing is close below this part, in hundredths, of what the words could count at most; a word of no clause could
#: count as much as the rarest one.
CLOSE, UNKNOWN = 35, 61


@dataclass(frozen=True)
class Found:
    """The clauses for some words, the nearest first; whether they are close; notes on parts of torch without any."""

    clauses: tuple[str, ...]
    close: bool
    notes: tuple[str, ...]


class Search:
    """The index, unpacked."""

    def __init__(self, data: Mapping[str, Any], names: Iterable[str]) -> None:
        self.names = list(names)
        self.index = {
            word: _unpacked(signs) for word, signs in zip(data["stems"].split(), data["posts"].split(), strict=True)
        }
        self.stop = set(data["stop"])
        self.renamings: list[tuple[list[str], list[str]]] = data["renamings"]
        self.named: list[dict[str, Any]] = data["named"]
        self.known = {*self.index, *(word for asked, _ in self.renamings for word in asked)}

    def find(self, words: str) -> Found:
        """Return the clauses that these words are nearest to, or whose ids begin so."""
        begin = words.strip()
        begun = [name for name in self.names if name.startswith(begin)] if re.fullmatch(r"\w+\.[\w.]*", begin) else []
        if begun:
            return Found(tuple(begun), close=True, notes=())
        groups = self._groups(words)
        total: dict[int, int] = {}
        hits: dict[int, int] = {}
        most = 0
        for group in groups:
            best: dict[int, int] = {}
            for word, weight in group:
                for place, level in self.index.get(word, ()):
                    best[place] = max(best.get(place, 0), weight * level)
            most += max(best.values(), default=TYPED * UNKNOWN)
            for place, score in best.items():
                total[place] = total.get(place, 0) + score
                hits[place] = hits.get(place, 0) + 1
        marks = {place: total[place] * (7 * len(groups) + 3 * hits[place]) for place in total}
        places = sorted(marks, key=lambda place: (-marks[place], place))
        close = bool(places) and 100 * total[places[0]] >= CLOSE * most
        return Found(tuple(self.names[place] for place in places), close, tuple(self.notes(words)))

    def notes(self, words: str) -> list[str]:
        """Return what is said of parts of torch that these words name, as whole words, and that have no clause."""
        said = plain(words)

        def has(phrases: Iterable[str]) -> bool:
            return any(within(said, phrase.split()) for phrase in phrases)

        return [one["says"] for one in self.named if has(one["phrases"]) and not has(one["unless"])]

    def _groups(self, words: str) -> list[list[tuple[str, int]]]:
        """Return for each word of a question the stems that answer it, each with what it counts."""
        typed = list(dict.fromkeys(tokens(words)))
        kept = [word for word in typed if word not in self.stop] or typed
        groups = [[(stem(word), TYPED)] for word in kept]
        said = [stem(word) for word in plain(words)]
        for group in groups:
            word = group[0][0]
            if word in self.known or "_" in word:
                continue
            spelled = self._spelled(word)
            group += [(other, SPELLED) for other in spelled]
            if len(spelled) == 1:
                said = [spelled[0] if each == word else each for each in said]
        for asked, meant in self.renamings:
            if within(said, asked):
                have = [group for group in groups if len(asked) == 1 and asked[0] in (each for each, _ in group)]
                if not have:
                    groups.append([])
                (have or groups[-1:])[0].extend((word, RENAMED) for word in meant)
        return groups

    def _spelled(self, word: str) -> list[str]:
        """Return the stems that a word without a clause may be: those that it begins, else those one slip away."""
        begun = [other for other in self.index if other.startswith(word)] if len(word) > 2 else []
        if begun:
            return begun[:MOST_BEGUN]
        return [other for other in self.index if one_slip_away(word, other)][:MOST_SLIPS] if len(word) > 4 else []


def search(clauses: Clauses) -> Search:
    """Return the search over these clauses."""
    return Search(made(clauses), clauses)


def _unpacked(signs: str) -> list[tuple[int, int]]:
    found, place, at = [], -1, 0
    while at < len(signs):
        while signs[at] == "~":
            place += len(SIGNS)
            at += 1
        place += SIGNS.index(signs[at]) + 1
        found.append((place, SIGNS.index(signs[at + 1])))
        at += 2
    return found
