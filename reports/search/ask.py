"""Asking an index: whole numbers only, so that the page's find.js gives the same order for the same words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from reports.data.clause import Clauses
from reports.search.answers import ANSWERS, Answer
from reports.search.index import NUMBERS, SIGNS, made, of_symptoms
from reports.search.words import one_slip_away, plain, stem, tokens, within
from reports.symptoms.symptom import Symptom
from reports.symptoms.symptoms import SYMPTOMS

#: An exception's name in front of what it says.
NAMED = re.compile(r"(?:^|\s)[\w.]*(?:Error|Exception|Warning):\s+(?=\S)")


@dataclass(frozen=True)
class Found:
    """The clauses for some words, the nearest first; whether they are close; notes on parts of torch without any.

    Where they fit: an answer that is no clause, and what people see.
    """

    clauses: tuple[str, ...]
    close: bool
    notes: tuple[str, ...]
    answer: Answer | None = None
    symptoms: tuple[Symptom, ...] = ()


class Index:
    """An index, unpacked."""

    def __init__(self, data: Mapping[str, Any], words: Mapping[str, Any], beside: Index | None = None) -> None:
        self.beside = beside  # another one, which knows more words
        stems = data["stems"].split()
        self.posts = {word: _unpacked(signs) for word, signs in zip(stems, data["posts"].split(), strict=True)}
        self.said = set(stems[: data["said"]])
        self.special = dict(zip(data["special"].split(), map(_unpacked, data["places"].split()), strict=True))
        self.words = {kind: set(words[kind]) for kind in ("stop", "hooks", "names", "torch", "elsewhere")}
        self.renamings: list[tuple[list[str], list[str]]] = words["renamings"]
        self.known = {*self.posts, *(word for asked, _ in self.renamings for word in asked)}
        self.kinds = set(words["kinds"])
        if beside:
            self.known |= beside.known
            self.said |= beside.said

    def ranked(self, words: str, likely: bool = False) -> tuple[list[int], bool]:
        """Return the places of the texts for these words, the nearest first, and whether they are close.

        They are likely about hooks if something else says so.
        """
        groups = self._groups(words)
        total: dict[int, int] = {}
        hits: dict[int, int] = {}
        most = 0
        for group in groups:
            best: dict[int, int] = {}
            for word, weight in group:
                for place, level in self.posts.get(word, ()):
                    best[place] = max(best.get(place, 0), weight * level)
            most += max(best.values(), default=NUMBERS["typed"] * NUMBERS["unknown"])
            for place, score in best.items():
                total[place] = total.get(place, 0) + score
                hits[place] = hits.get(place, 0) + 1
        named = {word for group in groups for word, _ in group}
        special: dict[int, int] = {}
        for word, posts in self.special.items():
            for place, _ in posts if word not in named else ():
                special[place] = min(NUMBERS["most_special"], special.get(place, 0) + 1)
        for word in self.kinds.intersection(
            word for group in groups for word, weight in group if weight == NUMBERS["typed"]
        ):
            having = {place for place, _ in self.posts.get(word, ())}
            for place in total:
                if place not in having:
                    special[place] = min(NUMBERS["most_special"], special.get(place, 0) + 1)
        marks = {
            place: total[place] * (7 * len(groups) + 3 * hits[place]) * (NUMBERS["parts"] - special.get(place, 0))
            for place in total
        }
        places = sorted(marks, key=lambda place: (-marks[place], place))
        near = 100 * max(total.values()) // max(1, most) if places else 0
        return places, self._about_hooks(groups, near, likely)

    def _about_hooks(self, groups: list[list[tuple[str, int]]], near: int, likely: bool) -> bool:
        """Say whether words are about hooks of torch: by words of hooks and of torch, against those of other worlds."""
        close, alone = (NUMBERS[name] for name in (("fits", "fits_alone") if self.beside else ("close", "alone")))
        stems = [{word for word, _ in group} for group in groups]
        strange = sum(map(self._strange, groups))
        unsaid = sum(self._strange(group) == 1 and group[0][0] in self.known for group in groups)
        of_torch = sum(1 for each in stems if each & self.words["torch"])
        if any("hook" in word for each in stems for word in each):  # also BackwardHookFunction
            return near >= close and max(2 * of_torch, 1) >= strange - unsaid
        if likely:
            return near >= close and strange <= 1
        if near >= NUMBERS["sure"] and len(stems) > 1:
            return strange <= 1
        of_hooks = sum(1 for each in stems if each & self.words["hooks"])
        if of_hooks and (of_hooks > 1 or self.beside or any(each & self.words["names"] for each in stems)):
            return near >= alone and strange <= 1
        if of_hooks:
            return near >= NUMBERS["one"] and of_torch > 1 + strange
        enough = len(stems) > 1 if self.beside else of_torch == len(stems)
        return near >= NUMBERS["names"] and not strange and enough

    def _strange(self, group: list[tuple[str, int]]) -> int:
        """Return how strange a word is to torch's hooks: 2 is unknown, 1 is a guess, or a word of no sentence."""
        word = group[0][0]
        if word in self.words["elsewhere"]:
            return 2
        if word not in self.known:
            return 2 - (len(group) > 1)
        return int(len(group) == 1 and word not in self.said)

    def _groups(self, words: str) -> list[list[tuple[str, int]]]:
        """Return for each word of a question the stems that answer it, each with what it counts."""
        typed = list(dict.fromkeys(tokens(words)))
        telling = [word for word in typed if word not in self.words["stop"] and len(word) > 1]
        whole = [word for word in telling if "_" not in word or stem(word) in self.known]
        groups = [[(stem(word), NUMBERS["typed"])] for word in whole or telling or typed]
        said = [stem(word) for word in plain(words)]
        for group in groups:
            word = group[0][0]
            if word in self.known or "_" in word:
                continue
            spelled = self._spelled(word)
            group += [(other, NUMBERS["spelled"]) for other in spelled]
            if len(spelled) == 1:
                said = [spelled[0] if each == word else each for each in said]
        for asked, meant in self.renamings:
            if within(said, asked):
                have = [group for group in groups if len(asked) == 1 and asked[0] in (each for each, _ in group)]
                if not have:
                    groups.append([])
                (have or groups[-1:])[0].extend((word, NUMBERS["renamed"]) for word in meant)
        return groups

    def _spelled(self, word: str) -> list[str]:
        """Return the stems that a word without a clause may be: those that it begins, else those one slip away."""
        begun = [other for other in self.posts if other.startswith(word)] if len(word) > 2 else []
        if begun:
            return begun[: NUMBERS["most_begun"]]
        return (
            [other for other in self.posts if one_slip_away(word, other)][: NUMBERS["most_slips"]]
            if len(word) > 4
            else []
        )


class Search:
    """The index of clauses and of answers, with the names of the clauses."""

    def __init__(self, data: Mapping[str, Any], names: Iterable[str]) -> None:
        self.names = list(names)
        self.index = Index(data, data["asking"])
        symptoms = of_symptoms()
        self.symptoms, self.causes = Index(symptoms, data["asking"], self.index), symptoms["causes"]
        self.named: list[dict[str, Any]] = data["named"]

    def find(self, words: str) -> Found:
        """Return the clauses that these words are nearest to, or whose ids begin so."""
        begin = words.strip()
        begun = [name for name in self.names if name.startswith(begin)] if re.fullmatch(r"\w+\.[\w.]*", begin) else []
        if begun:
            return Found(tuple(begun), close=True, notes=())
        words = without_exception(words)
        seen = self.fitting(words)
        places, close = self.index.ranked(words, likely=bool(seen))
        notes = self.notes(words)
        close = close and not any(one.get("alone") for one in notes)
        clauses = tuple(self.names[place] for place in places if place < len(self.names))
        first = (
            next((place for place in places[: NUMBERS["among"]] if place >= len(self.names)), None) if close else None
        )
        answer = None if first is None else ANSWERS[first - len(self.names)]
        led = [one for one in seen if self._led(one, clauses)]
        return Found(clauses, close, tuple(one["says"] for one in notes), answer, tuple(led))

    def _led(self, symptom: Symptom, clauses: Iterable[str]) -> bool:
        """Say whether the nearest clauses lead to a symptom, too: its words alone may be those of another question."""
        causes = {name for name in self.causes[SYMPTOMS.index(symptom)] if name in self.names}
        return not causes or not causes.isdisjoint(list(clauses)[: NUMBERS["led"]])

    def fitting(self, words: str) -> list[Symptom]:
        """Return what people see that fits these words best, or nothing."""
        places, fits = self.symptoms.ranked(without_exception(words))
        return [SYMPTOMS[place] for place in places[:1]] if fits else []

    def notes(self, words: str) -> list[dict[str, Any]]:
        """Return what is said of parts of torch that these words name, as whole words, and that have no clause."""
        said = plain(words)

        def has(phrases: Iterable[str]) -> bool:
            return any(within(said, phrase.split()) for phrase in phrases)

        return [one for one in self.named if has(one["phrases"]) and not has(one["unless"])]


def search(clauses: Clauses) -> Search:
    """Return the search over these clauses."""
    return Search(made(clauses), clauses)


def without_exception(words: str) -> str:
    """Return what an exception or a warning says, without its name and what was printed before it."""
    return NAMED.split(words)[-1]


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
