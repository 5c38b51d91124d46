"""Where a clause comes from, as text and, where there is one, a link."""

from __future__ import annotations

import re

DOCS = "https://docs.pytorch.org/docs/stable"
RELEASES = "https://github.com/pytorch/pytorch/releases/tag"
_DOCS = re.compile(r"docs: (?P<name>[A-Za-z_][\w.]*)(?P<rest>.*)", re.DOTALL)
_NOTE = re.compile(r"note: (?:notes/)?(?P<page>[\w./-]+\.html(?:#[\w.-]+)?)(?P<rest>.*)", re.DOTALL)
_RELEASE = re.compile(r"release (?P<version>\d+\.\d+(?:\.\d+)?)(?P<rest>.*)", re.DOTALL)
_LINK = re.compile(r"https://[\w.-]+(?:/[\w./~%+:@!$&'()*,;=?#-]*)?")


def link(source: str) -> str | None:
    """Return the address of a source; anything unknown stays text."""
    if match := _DOCS.fullmatch(source):
        return _docs_page(match["name"])
    if match := _NOTE.fullmatch(source):
        return f"{DOCS}/notes/{match['page']}"
    if match := _RELEASE.fullmatch(source):
        version = match["version"]
        return f"{RELEASES}/v{version}{'.0' if version.count('.') == 1 else ''}"
    found = _LINK.match(source)
    return found[0] if found else None


def _docs_page(name: str) -> str:
    """Return the page of a documented name: methods of Module are on the page of their class."""
    owner, _, last = name.rpartition(".")
    if owner == "torch.nn.Module" or (owner.startswith("torch.nn.") and owner.rpartition(".")[2][:1].isupper()):
        return f"{DOCS}/generated/{owner}.html#{owner}.{last}"
    return f"{DOCS}/generated/{name}.html"
