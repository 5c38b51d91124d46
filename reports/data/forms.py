"""The three forms of an answer: text for a terminal, JSON for a program, Markdown for an issue."""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from reports.data.strict import one_line

Answer = TypeVar("Answer")
#: How the words of a target begin: "torch 2.15.0, float32", "torch_xla 2.9.0 on torch 2.9.1, xla".
OF_TARGET = re.compile(r"torch |\S+ (\S+ )?on torch ")


def escaped(text: str) -> str:
    """Return text that Markdown shows as it is: no tag, no new cell, no link."""
    for sign in "\\`*_[]|":
        text = text.replace(sign, "\\" + sign)
    return " ".join(text.replace("&", "&amp;").replace("<", "&lt;").split())


def fenced(code: str, language: str = "python") -> list[str]:
    """Return code as a Markdown block that its own backticks cannot end."""
    fence = "```"
    while fence in code:
        fence += "`"
    return [f"{fence}{language}", *code.rstrip("\n").split("\n"), fence]


def begun(text: str) -> str:
    """Return text as the beginning of a sentence; code keeps its case: forward() is not Forward()."""
    code = re.search(r"[(_=\[]|\.\w", text.partition(" ")[0])
    return text if code else text[:1].upper() + text[1:]


def torch_of(name: str) -> str:
    """Return the name of a torch as words: "torch 2.13"; that of a target says itself on which torch it was."""
    return name if OF_TARGET.match(name) else f"torch {name}"


def counted(number: int, one: str, many: str) -> str:
    """Return a number with its words: "1 cell differs", "2 cells differ"."""
    return f"{number} {one if number == 1 else many}"


def as_json(document: Any) -> str:
    """Return a document as JSON for people and programs."""
    return json.dumps(document, indent=1) + "\n"


def add_format(
    parser: argparse._ActionsContainer, forms: Mapping[str, Callable[[Any], str]], usual: str = "text"
) -> None:
    """Let the caller choose a form."""
    parser.add_argument("--format", choices=sorted(forms), default=usual, help="default: %(default)s")


def add_out(parser: argparse.ArgumentParser, default: Path | None = None, required: bool = False) -> None:
    """Let the caller choose the file to write, with strict.write_atomic, which makes its folder."""
    usual = "" if required else " (default: %(default)s)" if default else " (default: to the terminal)"
    says = f"write it there; a missing folder is made{usual}"
    parser.add_argument("--out", type=Path, default=default, required=required, metavar="FILE", help=says)


def show(answer: Answer, forms: Mapping[str, Callable[[Answer], str]], form: str) -> None:
    """Print an answer; nothing in it can act upon the terminal."""
    text = forms[form](answer)
    print("\n".join(one_line(line) for line in text.split("\n")), end="")
