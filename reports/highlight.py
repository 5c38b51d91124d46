"""Light colouring of Python text, worked out once when the page is built."""

from __future__ import annotations

import keyword
import re

KINDS = ("keyword", "string", "comment", "number", "decorator", "name")
_TOKENS = re.compile(
    r"""
    (?P<comment>\#[^\n]*)
  | (?P<string>[rRbBfFuU]{0,2}(?:
        '{3}(?:\\.|[^\\])*?'{3}|"{3}(?:\\.|[^\\])*?"{3}|'(?:\\.|[^\\'\n])*'|"(?:\\.|[^\\"\n])*"))
  | (?P<decorator>(?m:^)[ \t]*@[\w.]+)
  | (?P<number>\b\d[\d_]*(?:\.\d+)?(?:[eE][+-]?\d+)?\b)
  | (?P<keyword>\b(?:KEYWORDS)\b)
  | (?<=\bdef[ ])(?P<name>\w+)
    """.replace("KEYWORDS", "|".join(keyword.kwlist)),
    re.VERBOSE | re.DOTALL,
)
_WIDEST = 0xFFFF


def marks(text: str) -> list[int]:
    """Return what to colour as gap, length, kind, gap, length, kind …: short, and text stays text."""
    if text and ord(max(text)) > _WIDEST:
        return []  # JavaScript counts such signs twice, so the places would not fit
    found: list[int] = []
    end = 0
    for match in _TOKENS.finditer(text):
        found += [match.start() - end, match.end() - match.start(), KINDS.index(match.lastgroup or "name")]
        end = match.end()
    return found
