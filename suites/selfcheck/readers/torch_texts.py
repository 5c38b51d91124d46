"""What torch's Python code says of hooks when it raises or warns, read from its files: a hole of a text is an ….

`python -m suites.selfcheck.readers.torch_texts` names those of the installed torch that reports/search/said.json lacks:
somebody reads the clauses and torch's source, and writes the clause that says when it comes, or none.
"""

from __future__ import annotations

import ast
import importlib.util
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from reports.search.index import texts

ASIDE = ("testing", "test", "_inductor", "_dynamo")  # what users of torch do not meet as text, or meet as a traceback
SPEAKS = re.compile(r"\bhooks?\b")
LEAST, MOST = 25, 220


def said() -> dict[str, str]:
    """Return each text that speaks of hooks, without what follows its first 220 characters, with its file."""
    found = importlib.util.find_spec("torch")
    assert found is not None
    assert found.origin is not None
    root = Path(found.origin).parent
    return {
        text: path.relative_to(root).as_posix()
        for path in sorted(root.rglob("*.py"), reverse=True)  # of one text the first file
        if not set(ASIDE) & set(path.relative_to(root).parts)
        for source in [path.read_text(encoding="utf-8", errors="ignore")]
        if SPEAKS.search(source)
        for text in of_tree(ast.parse(source))
    }


def of_tree(tree: ast.AST) -> Iterator[str]:
    """Yield the texts that this code raises, asserts or warns."""
    for node in ast.walk(tree):
        shown: Any = None
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and node.exc.args:
            shown = node.exc.args[0]
        elif isinstance(node, ast.Assert):
            shown = node.msg
        elif isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "warn" and node.args:
            shown = node.args[0]
        text = re.sub(r"\s+", " ", "".join(_parts(shown))).strip()
        if SPEAKS.search(text) and len(text.replace("…", "")) > LEAST:
            yield text if len(text) <= MOST else text[:MOST].rsplit(" ", 1)[0]


def _parts(node: Any) -> Iterator[str]:
    if isinstance(node, ast.Constant):
        yield node.value if isinstance(node.value, str) else ""
    elif isinstance(node, ast.FormattedValue):
        yield "…"
    elif node is not None:
        for each in ast.iter_child_nodes(node):
            yield from _parts(each)


if __name__ == "__main__":
    print(json.dumps(sorted(said().keys() - {one["text"] for one in texts("said")}), indent=1, ensure_ascii=False))
    sys.exit()
