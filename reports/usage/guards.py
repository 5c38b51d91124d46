"""On which releases of torch a piece of someone's code runs: its guards, as the releases that they let through.

A guard is worked out for each release: true, false, or None where it hangs on something else. Understood are tests,
early returns, `try`, assertions, and the ways of pytest and unittest to skip.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Any, NamedTuple

from packaging.version import Version

from reports.usage.owned import FUNCTIONS, File, arguments, last
from reports.usage.project import Owned
from reports.usage.values import NO_PARAMS, Has, Params, Values, passed_to

CAUGHT = {"AttributeError", "ImportError", "ModuleNotFoundError", "TypeError", "Exception", "BaseException"}
LEAVES = (ast.Return, ast.Raise, ast.Continue, ast.Break)
SKIPS = {"skip", "skipTest", "xfail", "exit", "_exit", "quit", "abort"}
IF, UNLESS = {"skipif", "skipIf", "xfail"}, {"skipUnless"}
DEPTH = 4
#: Releases that tell a question about torch from one about something else.
PROBES = tuple(Version(f"{major}.{minor}") for major, last_one in ((1, 14), (2, 40)) for minor in range(last_one))


class Guard(NamedTuple):
    """A test, or a `try`, and what it must be; `params` are those of the function that has it."""

    file: File
    test: ast.AST
    wanted: bool
    params: tuple[tuple[str, Any], ...] = ()


class Guards:
    """What guards mean in someone's files."""

    def __init__(self, has: Has, owned: Owned, apis: frozenset[str]) -> None:
        """Know the releases and the files."""
        self.owned = owned
        self.values = Values(has, owned, apis, self.runs)
        self.memo: dict[ast.AST, tuple[Guard, ...]] = {}
        self.asks = functools.cache(lambda guard: len({self.lets(guard, each) for each in PROBES}) > 1)

    def lets(self, guard: Guard, release: Version) -> bool | None:
        """Say whether a test is true, or a `try` comes to its end, on a release."""
        return self.values.lets(guard.file, guard.test, release, dict(guard.params))

    def shut(self, guards: Iterable[Guard], release: Version) -> bool:
        """Say whether one lets a release not through. One that shuts all of them out is no question about torch."""
        return any(self.lets(each, release) not in (None, each.wanted) and self.asks(each) for each in guards)

    def runs(self, file: File, node: ast.AST, release: Version, params: Params) -> bool | None:
        """Say whether a node may run on a release; None where that hangs on something else."""
        given = tuple(params.items())
        known = [
            (each, self.lets(each._replace(params=each.params + given), release)) for each in self.around(file, node)
        ]
        found = {None if lets is None else lets == each.wanted for each, lets in known}
        return False if False in found else None if None in found else True

    def around(self, file: File, node: ast.AST) -> tuple[Guard, ...]:
        """Return what must be for a node to run."""
        if node not in self.memo:
            self.memo[node] = ()  # where it is needed to work out itself
            self.memo[node] = tuple(self._around(file, file.chain(node)))
        return self.memo[node]

    def _around(self, file: File, chain: list[ast.AST]) -> Iterator[Guard]:
        for child, parent in pairwise(chain):
            yield from self._asked(file, child, parent)
            if isinstance(parent, (*FUNCTIONS, ast.ClassDef)) and isinstance(child, ast.stmt):
                yield from (guard for each in parent.decorator_list for guard in self._skips(file, each))
            marks = parent.body if isinstance(parent, (ast.ClassDef, ast.Module)) else []
            for one in (
                each for each in marks if isinstance(each, ast.Assign) and last(each.targets[0]) == "pytestmark"
            ):
                some = one.value.elts if isinstance(one.value, ast.List) else [one.value]
                yield from (guard for each in some for guard in self._skips(file, each))
            for block in (getattr(parent, name, None) for name in ("body", "orelse")):
                if isinstance(block, list) and child in block:
                    for each in block[: block.index(child)]:
                        yield from self._passed(file, each)

    def _asked(self, file: File, child: ast.AST, parent: ast.AST) -> Iterator[Guard]:
        """Yield what a node asks for what is inside."""
        match parent:
            case ast.If() | ast.IfExp() if child is not parent.test:
                body = parent.body if isinstance(parent.body, list) else [parent.body]
                yield Guard(file, parent.test, child in body)
            case ast.BoolOp():
                before = parent.values[: parent.values.index(child)]  # type: ignore[arg-type]
                yield from (Guard(file, each, isinstance(parent.op, ast.And)) for each in before)
            case ast.Try() if child not in parent.finalbody and _catches(parent):
                if not isinstance(child, ast.ExceptHandler) or _catches(parent, child):
                    yield Guard(file, parent, not isinstance(child, ast.ExceptHandler))
            case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp() if child not in parent.generators:
                yield from (Guard(file, test, True) for loop in parent.generators for test in loop.ifs)
            case ast.match_case(pattern=ast.MatchSingleton() as pattern):
                yield Guard(file, file.parents[parent].subject, bool(pattern.value))  # type: ignore[attr-defined]

    def _passed(self, file: File, each: ast.stmt) -> Iterator[Guard]:
        """Yield what must be for code to come past a statement: nothing left there, and what was asserted holds."""
        if isinstance(each, ast.Assert):
            yield Guard(file, each.test, True)
        elif isinstance(each, ast.If):
            for block, other, wanted in ((each.body, each.orelse, False), (each.orelse, each.body, True)):
                if block and _leaves(block[-1]):
                    yield Guard(file, each.test, wanted)
                    if len(other) == 1:
                        yield from self._passed(file, other[0])
        elif isinstance(each, ast.Try) and _catches(each):
            if all(_leaves(one.body[-1]) and not isinstance(one.body[-1], ast.Raise) for one in each.handlers):
                yield Guard(file, each, True)
        elif isinstance(each, (ast.Expr, ast.Assign)) and isinstance(each.value, ast.Call):
            call = each.value
            least = [one.value for one in call.keywords if one.arg == "minversion"] + call.args[1:]
            if last(call.func) == "importorskip" and least and self.owned.words(file, call.args[0]) == ["torch"]:
                text = f"torch.__version__ >= Version({ast.unparse(least[0])})"
                yield Guard(file, ast.parse(text, mode="eval").body, True)

    def _skips(self, file: File, node: ast.AST, params: Params = NO_PARAMS, depth: int = 0) -> Iterator[Guard]:
        """Yield what a decorator demands: skipif, skipUnless, or an own one that has such a test inside."""
        called = node if isinstance(node, ast.Call) else None
        func = called.func if called else node
        if called and called.args and last(func) in IF | UNLESS:
            yield Guard(file, called.args[0], last(func) in UNLESS, tuple(params.items()))
            return
        found = [(there, one.value) for there, one in self.owned.values(file, func)] if depth < DEPTH else []
        if isinstance(func, ast.Call):  # unittest.skipIf(test, "why")(function)
            found = [(file, func)]
        for there, value in found:
            if isinstance(value, FUNCTIONS):
                given = passed_to(value, called).items() if called else ()
                constants = {name: each.value for name, each in given if isinstance(each, ast.Constant)}
                yield from self._inside(there, value, constants, depth)
            elif value is not None and not isinstance(value, (ast.alias, ast.ClassDef)):
                yield from self._skips(there, value, params, depth + 1)

    def _inside(self, file: File, function: ast.AST, given: dict[str, Any], depth: int) -> Iterator[Guard]:
        """Yield what an own decorator demands: what is around the calls of the function that it is given."""
        for node in ast.walk(function):
            if isinstance(node, ast.Return) and file.within[node] is function and isinstance(node.value, ast.Call):
                yield from self._skips(file, node.value, given, depth + 1)
            names = {each.arg for each in arguments(node)} - given.keys() if isinstance(node, FUNCTIONS) else ()
            calls = [each for name in names for each in file.calls.get(name, ()) if function in file.chain(each)]
            if len(calls) == 1:
                chain = file.chain(calls[0])
                for guard in self._around(file, chain[: chain.index(function)]):
                    yield guard._replace(params=tuple(given.items()))


def _leaves(statement: ast.stmt) -> bool:
    """Say whether code ends at a statement: it returns, raises, or skips a test."""
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        return last(statement.value.func) in SKIPS
    if isinstance(statement, ast.If) and statement.orelse:
        return _leaves(statement.body[-1]) and _leaves(statement.orelse[-1])
    return isinstance(statement, LEAVES)


def _catches(node: ast.Try, handler: ast.AST | None = None) -> bool:
    """Say whether a `try`, or one handler of it, catches what a release lacks, and does not raise it again."""
    some = [each for each in node.handlers if handler in (each, None)]
    kept = [each for each in some if handler or not isinstance(each.body[-1], ast.Raise)]
    named = [each.type.elts if isinstance(each.type, ast.Tuple) else [each.type] for each in kept]
    return any(None in classes or {last(one) for one in classes} & CAUGHT for classes in named)


def caught(chain: list[ast.AST]) -> bool:
    """Say whether what a release lacks is caught by a `try` around, or silenced by contextlib.suppress."""
    pairs = [*pairwise(chain)]
    tried = any(isinstance(up, ast.Try) and child in up.body and _catches(up) for child, up in pairs)
    items = (item for _, up in pairs if isinstance(up, ast.With) for item in up.items)
    return tried or any("suppress(" in ast.unparse(item) for item in items)
