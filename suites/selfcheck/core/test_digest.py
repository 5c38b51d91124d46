"""What is in the digest of a clause, and what is not: words and names are out, what a helper does is in."""

from __future__ import annotations

import ast
import importlib
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from fixtures.clause import digest as digests
from fixtures.clause import source
from fixtures.clause.clause import CLAUSES
from fixtures.clause.digest import NoDigest
from suites.selfcheck.all_clauses import import_suites
from suites.table import APART

import_suites()
SUITES = Path(__file__).resolve().parents[2]
HEAD = """\
from functools import partial

from hypothesis import given, strategies as st

from fixtures.clause.clause import Reading, clause
from fixtures.clause.rows import Row, each
"""
MARK = '@clause("demo.trap.one", says="It is so.", source="measured", about="register_hook")\n'
TEST = "def test_one(subject):\n    assert h()\n"
HELPER = "def h(a=1):\n    return a\n"

Digest = Callable[..., str]


def forget() -> None:
    """Let go of what was read of files: here they change."""
    for cached in (digests.parsed, digests.lambdas, digests.file_of, digests.definition):
        cached.cache_clear()
    for cached in (source._functions, source._tree):
        cached.cache_clear()


@pytest.fixture
def digest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Digest]:
    """A function from the text of a file of clauses, and of another file, to the digest of its only clause."""
    monkeypatch.setattr(digests, "ROOT", str(tmp_path))
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(digests, "PACKAGE", "trap")
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    (tmp_path / "trap").mkdir()

    def of(text: str, other: str = "", name: str = "demo.trap.one") -> str:
        for path, content in (("test_trap.py", HEAD + text), ("other.py", other), ("__init__.py", "")):
            (tmp_path / "trap" / path).write_text(textwrap.dedent(content), encoding="utf-8")
        for module in ("trap", "trap.test_trap", "trap.other"):
            sys.modules.pop(module, None)
        forget()
        importlib.invalidate_caches()
        for known in [known for known in CLAUSES if known.startswith("demo.")]:
            del CLAUSES[known]
        importlib.import_module("trap.test_trap")
        return CLAUSES[name].digest()

    yield of
    for known in [known for known in CLAUSES if known.startswith("demo.")]:
        del CLAUSES[known]
    forget()


TABLE = """
@each(
    Row("demo.trap.one", "It is so.", "measured", about="register_hook", number=1),
    Row("demo.trap.two", "It is so too.", "measured", about="register_hook", number=2),
    n=lambda row: st.just(row.number),
)
def both(subject, n, *, row):
    assert n == row.number
"""
#: What is changed, from what to what, in which text: it does something else, so it must be measured again.
MATTERS = {
    "a default argument of a helper": (HELPER + MARK + TEST, "a=1", "a=2"),
    "a helper by partial": ("def g(a):\n    return a\nh = partial(g, 1)\n" + MARK + TEST, "return a", "return -a"),
    "a table of functions": (
        HELPER + 'T = {"h": h}\n' + MARK + TEST.replace("h()", 'T["h"]()'),
        "return a",
        "return 0",
    ),
    "a table filled later": (
        HELPER + 'T = {}\nT["h"] = h\n' + MARK + TEST.replace("h()", 'T["h"]()'),
        "return a",
        "return 0",
    ),
    "a base class": (
        "class A:\n    def m(self):\n        return 1\nclass B(A):\n    pass\n" + MARK + TEST.replace("h()", "B().m()"),
        "return 1",
        "return 2",
    ),
    "what a function closes over": (
        "def make(n):\n    def g():\n        return n\n    return g\nh = make(3)\n" + MARK + TEST,
        "make(3)",
        "make(4)",
    ),
    "a decorator": (
        "def deco(f):\n    return lambda: f()\n@deco\ndef h():\n    return 1\n" + MARK + TEST,
        "lambda: f()",
        "lambda: not f()",
    ),
    "two names swapped in an expression": (
        MARK + "def test_one(subject):\n    a, b = 1, 2\n    assert a - b\n",
        "a - b",
        "b - a",
    ),
    "a local that hides a helper": (
        HELPER + MARK + "def test_one(subject):\n    h = lambda: 2\n    assert h()\n",
        "    h = lambda",
        "    g = lambda",
    ),
    "a strategy": (MARK + "@given(n=st.integers(0, 1))\ndef test_one(subject, n):\n    assert n\n", "(0, 1)", "(0, 2)"),
    "a reading's range": (
        MARK.replace(")\n", ', readings=(Reading("a", ">=2.0", "A."), Reading("b", "<2.0", "B.")))\n') + TEST + HELPER,
        '"<2.0"',
        '"<1.9"',
    ),
    "a wrong value": (MARK.replace(")\n", ', value=1, wrong={"w": 2})\n') + TEST + HELPER, '"w": 2', '"w": 3'),
    "a witness": (
        MARK.replace(")\n", ', witness={"n": 1})\n')
        + "@given(n=st.just(1))\ndef test_one(subject, n):\n    assert n\n",
        '{"n": 1}',
        '{"n": 2}',
    ),
    "what is needed": (MARK.replace(")\n", ', needs="torch.a")\n') + TEST + HELPER, "torch.a", "torch.b"),
    "a value of its row": (TABLE, "number=1", "number=3"),
    "the strategy of a table": (TABLE, "st.just(row.number)", "st.just(row.number + 1)"),
    "the test of a table": (TABLE, "n == row", "n != row"),
}
#: The same clause in other words.
WORDS = {
    "the sentence": (HELPER + MARK + TEST, "It is so.", "So it is."),
    "the source": (HELPER + MARK + TEST, '"measured"', '"docs: torch.nn"'),
    "the sentence of a reading, and its name": (
        MARK.replace(")\n", ', readings=(Reading("a", ">=2.0", "A."), Reading("b", "<2.0", "B.")))\n') + TEST + HELPER,
        'Reading("a", ">=2.0", "A.")',
        'Reading("other", ">=2.0", "Other.")',
    ),
    "the name of a helper": (HELPER + MARK + TEST, "h(", "helper("),
    "the name of a test": (HELPER + MARK + TEST, "test_one", "test_it"),
    "the name of a local": (MARK + "def test_one(subject):\n    a = 1\n    assert a\n", "a ", "b "),
    "a comment": (HELPER + MARK + TEST, "    return a", "    # why\n    return a"),
    "a docstring": (HELPER + MARK + TEST, "    return a", '    """Why."""\n    return a'),
    "an annotation": (HELPER + MARK + TEST, "def h(a=1)", "def h(a: int = 1) -> int"),
    "another helper": (HELPER + MARK + TEST, "def h", "def g():\n    return 3\ndef h"),
    "another row": (TABLE, "number=2", "number=3"),
    "the words of a row": (TABLE, "It is so.", "So it is."),
    "the name of a table": (TABLE, "def both", "def every_row"),
}


@pytest.mark.parametrize("what", MATTERS)
def test_what_does_something_else_is_another_clause(digest: Digest, what: str) -> None:
    text, old, new = MATTERS[what]
    assert old in text
    assert digest(text) != digest(text.replace(old, new))


@pytest.mark.parametrize("what", WORDS)
def test_the_same_in_other_words_is_the_same_clause(digest: Digest, what: str) -> None:
    text, old, new = WORDS[what]
    assert old in text
    changed = (
        text.replace(old, new) if what != "the name of a local" else text.replace("a ", "b ").replace("t a", "t b")
    )
    assert digest(text) == digest(changed)


def test_a_helper_of_another_file_counts_and_may_move(digest: Digest) -> None:
    there = digest("from trap.other import h\n" + MARK + TEST, HELPER)
    assert digest("from trap.other import h\n" + MARK + TEST, HELPER.replace("return a", "return 0")) != there
    assert digest(HELPER + MARK + TEST) == there


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (HELPER + MARK + TEST.replace("h()", 'globals()["h"]()'), "globals reaches names"),
        ("from trap import other\n" + MARK + TEST.replace("h()", "other.h()"), "is a module of suites"),
        (MARK + "def test_one(subject):\n    from trap.other import h\n    assert h()\n", "imported inside a function"),
        ("N = 0\ndef h():\n    global N\n    N = 1\n" + MARK + TEST, "who reads that name"),
        (MARK.replace(")\n", ', witness={"a": object()})\n') + TEST + HELPER, "no plain value"),
    ],
)
def test_what_cannot_be_followed_is_refused(digest: Digest, text: str, why: str) -> None:
    with pytest.raises(NoDigest, match=why):
        digest(text, HELPER)


#: Decorators that register nothing, or nothing that a test looks up.
DECORATORS = {
    "clause",
    "each",
    "given",
    "composite",
    "lru_cache",
    "dataclass",
    "staticmethod",
    "property",
    "classmethod",
}
TOP = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef, ast.Assign, ast.AnnAssign, ast.AugAssign)


def _decorator(node: ast.expr) -> str:
    called = node.func if isinstance(node, ast.Call) else node
    return called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")


def test_no_file_of_clauses_does_what_a_digest_does_not_see() -> None:
    """Tables filled by decorators or loops, and names looked up by their text, are reached by no name."""
    faults = []
    for path in sorted(SUITES.glob("*/**/*.py")):
        if path.relative_to(SUITES).parts[0] in APART:
            continue
        tree = ast.parse(path.read_text("utf-8"))
        docstring = tree.body[0] if tree.body and isinstance(tree.body[0], ast.Expr) else None
        faults += [
            f"{path.name}, line {one.lineno}: a statement at the top"
            for one in tree.body
            if one is not docstring and not isinstance(one, TOP)
        ]
        classes = [one for one in tree.body if isinstance(one, ast.ClassDef)]
        for node in (*tree.body, *(part for one in classes for part in one.body)):
            marks = [_decorator(one) for one in getattr(node, "decorator_list", ())]
            faults += [
                f"{path.name}, line {node.lineno}: the decorator {one}" for one in marks if one not in DECORATORS
            ]
        modules = [one for one in ast.walk(tree) if isinstance(one, ast.Attribute) and one.attr == "modules"]
        faults += [
            f"{path.name}, line {one.lineno}: .modules" for one in modules if getattr(one.value, "id", "") == "sys"
        ]
    assert not faults, "\n".join(faults)


def test_every_clause_has_a_digest_of_its_own() -> None:
    digests = {clause.digest() for clause in CLAUSES.values()}
    assert len(digests) == len(CLAUSES)
