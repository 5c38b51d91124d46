"""Words of a text as the search takes them. The same lines are in the page's find.js: both give the same order."""

from __future__ import annotations

import functools
import re

#: Endings that are left off, each with the fewest letters that must remain.
ENDINGS = (("ing", 3), ("ed", 3), ("ation", 4), ("ion", 4), ("er", 4), ("ly", 4), ("e", 2))
#: Words that end in two of these keep both: pass, call.
DOUBLED = "lsaeiou"


def plain(text: str) -> list[str]:
    """Return the words in small letters; an identifier gives its parts."""
    return re.findall(r"[a-z0-9]+", text.lower())


def tokens(text: str) -> list[str]:
    """Return the words in small letters; an identifier with underscores as a whole, and then its parts."""
    found = []
    for word in re.findall(r"[a-z0-9_]+", text.lower()):
        parts = [part for part in word.split("_") if part]
        found += (["_".join(parts)] if len(parts) > 1 else []) + parts
    return found


@functools.cache  # a page asks for some thousand words, each many times
def stem(word: str) -> str:
    """Return a word without its ending, so that "hooks", "hooked" and "hook" are one; an identifier as it is."""
    if "_" in word:
        return word
    if len(word) > 3 and word.endswith("s") and not word.endswith("ss"):
        word = word[:-2] if word.endswith(("xes", "sses", "ches", "shes")) else word[:-1]
    for ending, least in ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= least:
            word = word[: -len(ending)]
            break
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in DOUBLED:
        word = word[:-1]
    return word[:-1] + "i" if len(word) > 2 and word.endswith("y") else word


def within(words: list[str], phrase: list[str]) -> bool:
    """Say whether a phrase is in these words, word for word."""
    return any(words[at : at + len(phrase)] == phrase for at in range(len(words) - len(phrase) + 1))


def one_slip_away(one: str, other: str) -> bool:
    """Say whether one letter was left out, added or changed, or two next to each other were swapped."""
    if abs(len(one) - len(other)) > 1 or one == other:
        return False
    at = 0
    while at < min(len(one), len(other)) and one[at] == other[at]:
        at += 1
    a, b = one[at:], other[at:]
    return a[1:] == b or a == b[1:] or a[1:] == b[1:] or (a[2:] == b[2:] and a[:2] == b[:2][::-1])
