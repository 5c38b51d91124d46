"""The mutator: every small change of a function, as code that can take the place of the function's own for a while.

A mutant is named by its function, the kind of change and the source text that is changed, never by a line:
`fixtures.graph.engine.Engine.run: never: edge is not None`. `#2` is the second place of the same text in a function.
"""

import ast
import contextlib
import copy
import inspect
import re
import signal
import sys
import threading
import types
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

#: A comparison -> what takes its place.
FLIPPED = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Lt: ast.LtE,
    ast.Gt: ast.GtE,
    ast.LtE: ast.Lt,
    ast.GtE: ast.Gt,
}
LIMITS = (ast.Lt, ast.Gt, ast.LtE, ast.GtE)
#: In what else than a dict of hooks the order is of no matter, or the number of items fixed.
COUNTED = ("enumerate", "range", "zip")
LONGEST = 100
#: A change of a tree: the field of a node, or the place in a list, and what is put there.
Change = tuple[Any, Any, Any]
#: A file and the number of a line in it.
Line = tuple[str, int]


class Hung(BaseException):
    """A mutant does not come to an end. Nothing in between may catch this."""


@dataclass(frozen=True)
class Mutant:
    """A function with one change, in these lines of its file."""

    name: str
    file: str
    lines: range
    function: Any = field(repr=False, compare=False)
    code: types.CodeType = field(repr=False, compare=False)

    @contextlib.contextmanager
    def on(self) -> Iterator[None]:
        """Have the function changed for a while. It is whole again afterwards, whatever happens inside."""
        before = self.function.__code__
        self.function.__code__ = self.code
        try:
            yield
        finally:
            self.function.__code__ = before

    def enter(self, stack: contextlib.ExitStack) -> None:
        """The same, until the stack ends."""
        stack.enter_context(self.on())


@contextlib.contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Raise Hung once this much processor time is used up, and again, should something catch it and go on."""

    def late(*_: Any) -> None:
        raise Hung

    before = signal.signal(signal.SIGVTALRM, late)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds, 1.0)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def functions(module: types.ModuleType) -> Iterator[types.FunctionType]:
    """The functions that stand in the file of a module, those of its classes too, below properties and decorators."""
    classes = [one for one in vars(module).values() if isinstance(one, type)]
    for owner in (module, *classes):
        for value in list(vars(owner).values()):
            value = value.fget if isinstance(value, property) else getattr(value, "__func__", value)
            value = inspect.unwrap(value) if callable(value) else value
            if isinstance(value, types.FunctionType) and value.__code__.co_filename == module.__file__:
                yield value


def mutants(chosen: Iterable[types.FunctionType]) -> list[Mutant]:
    """Every mutant of these functions, in the order of the source text."""
    made: list[Mutant] = []
    trees: dict[str, ast.Module] = {}
    for function in dict.fromkeys(chosen):
        file = inspect.getsourcefile(function) or ""
        if file not in trees:
            with open(file, encoding="utf-8") as opened:
                trees[file] = ast.parse(opened.read())
        made += _of_function(function, file, _alone(trees[file], function.__qualname__))
    return made


def _alone(tree: ast.Module, path: str) -> ast.Module:
    """A module, or a class in it, that holds nothing but this function."""
    *classes, name = path.split(".")
    body: list[ast.stmt] = tree.body
    for one in classes:
        body = next(node.body for node in body if isinstance(node, ast.ClassDef) and node.name == one)
    # Of several functions of one name the last counts: the others are overloads.
    found = [node for node in body if isinstance(node, ast.FunctionDef) and node.name == name][-1]
    alone: ast.stmt = copy.deepcopy(found)
    alone.decorator_list = []  # type: ignore[attr-defined]
    for one in reversed(classes):
        alone = ast.ClassDef(one, [], [], [alone], [])
    return ast.fix_missing_locations(ast.Module([alone], []))


def _of_function(function: types.FunctionType, file: str, tree: ast.Module) -> Iterator[Mutant]:
    own, path = function.__code__, function.__qualname__
    same, seen = _code(tree, file, path), Counter[str]()
    for text, at, (where, key, new) in _changes(_function_in(tree)):
        seen[text] += 1
        old = where[key] if isinstance(where, list) else getattr(where, key)
        _put(where, key, new)
        try:
            code = _code(tree, file, path)
        except SyntaxError:  # a name that is nonlocal further in is bound no more
            continue
        finally:
            _put(where, key, old)
        # A function that has lost its only super() cannot take the place of the other.
        if code != same and code.co_freevars == own.co_freevars:
            name = f"{function.__module__}.{path}: {text}" + (f" #{seen[text]}" if seen[text] > 1 else "")
            yield Mutant(name, file, range(at.lineno, (at.end_lineno or at.lineno) + 1), function, code)


def _put(where: Any, key: Any, value: Any) -> None:
    if isinstance(where, list):
        where[key] = value
    else:
        setattr(where, key, value)


def _function_in(tree: ast.Module) -> ast.FunctionDef:
    node: Any = tree
    while not isinstance(node, ast.FunctionDef):
        node = node.body[0]
    return node


def _code(tree: ast.Module, file: str, path: str) -> types.CodeType:
    code = compile(tree, file, "exec", dont_inherit=True)
    for name in path.split("."):
        code = next(one for one in code.co_consts if isinstance(one, types.CodeType) and one.co_name == name)
    return code


def _text(node: ast.AST) -> str:
    text = re.sub(r"\s+", " ", ast.unparse(node))
    return text if len(text) <= LONGEST else text[:LONGEST] + "…"


def _changes(function: ast.FunctionDef) -> Iterator[tuple[str, Any, Change]]:
    """Every change of a function, those of functions inside it too: kind and text, the node that is changed, change."""
    bound = Counter(
        one.id for one in ast.walk(function) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)
    )
    bound.update(one.arg for one in ast.walk(function) if isinstance(one, ast.arg))
    # Where a test is always and never true, its opposite says nothing new.
    tests = [one.test for one in ast.walk(function) if isinstance(one, (ast.If, ast.IfExp))]
    for node in ast.walk(function):
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, None)
            for place, statement in enumerate(block if isinstance(block, list) else ()):
                if _can_go(statement, bound):
                    change = block, place, ast.copy_location(ast.Pass(), statement)
                    yield f"left out: {_text(statement)}", statement, change
        for kind, at, change in _of_node(node):
            if kind not in ("opposite", "without not") or node not in tests:
                yield f"{kind}: {_text(at)}", at, change


def _can_go(statement: ast.stmt, bound: Counter[str]) -> bool:
    """Whether a statement does something that can be left out; without its only value a name just raises."""
    if isinstance(statement, ast.Expr):
        return not isinstance(statement.value, (ast.Constant, ast.Yield, ast.YieldFrom))
    if isinstance(statement, (ast.AugAssign, ast.Delete)):
        return True
    if isinstance(statement, (ast.Assign, ast.AnnAssign)) and statement.value is not None:
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        names = [one.id for target in targets for one in ast.walk(target) if _stored(one)]  # type: ignore[attr-defined]
        return all(bound[name] > 1 for name in names)
    return False


def _stored(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)


def _of_node(node: ast.AST) -> Iterator[tuple[str, ast.expr, Change]]:
    """The changes of one node: (kind, what is changed, change)."""
    if isinstance(node, (ast.If, ast.IfExp)):
        yield "always", node.test, (node, "test", _constant(True, node.test))
    if isinstance(node, (ast.If, ast.IfExp, ast.While)):
        yield "never", node.test, (node, "test", _constant(False, node.test))
    elif isinstance(node, ast.comprehension):
        for place, test in enumerate(node.ifs):
            yield "always", test, (node.ifs, place, _constant(True, test))
        yield from _of_loop(node)
    elif isinstance(node, ast.For):
        yield "nothing", node.iter, (node, "iter", ast.copy_location(ast.Tuple([], ast.Load()), node.iter))
        yield from _of_loop(node)
    elif isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in FLIPPED:
        kind = "limit" if type(node.ops[0]) in LIMITS else "opposite"
        yield kind, node, (node, "ops", [FLIPPED[type(node.ops[0])]()])
    elif isinstance(node, ast.BoolOp):
        yield "and/or", node, (node, "op", ast.Or() if isinstance(node.op, ast.And) else ast.And())
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield "without not", node, (node, "operand", _negated(node.operand))
    elif isinstance(node, ast.Return) and node.value is not None and not isinstance(node.value, ast.Constant):
        yield "returns None", node.value, (node, "value", _constant(None, node.value))


def _of_loop(node: Any) -> Iterator[tuple[str, ast.expr, Change]]:
    """Another order, and the first item alone."""
    called = node.iter.func if isinstance(node.iter, ast.Call) else None
    if isinstance(called, ast.Name) and called.id in COUNTED:
        return
    for kind, code in (("reversed", "list(0)[::-1]"), ("first only", "list(0)[:1]")):
        made: Any = ast.parse(code, mode="eval").body
        made.value.args = [node.iter]
        yield kind, node.iter, (node, "iter", ast.copy_location(made, node.iter))


def _negated(node: ast.expr) -> ast.expr:
    return ast.copy_location(ast.UnaryOp(ast.Not(), node), node)


def _constant(value: Any, at: ast.AST) -> ast.Constant:
    return ast.copy_location(ast.Constant(value), at)


def lines_of(run: Callable[[], Any], files: frozenset[str]) -> set[Line]:
    """The lines of some files that are executed, in threads that are started meanwhile, too."""
    seen: set[Line] = set()

    def local(frame: types.FrameType, event: str, _: Any) -> Any:
        if event == "line":
            seen.add((frame.f_code.co_filename, frame.f_lineno))
        return local

    def enter(frame: types.FrameType, event: str, _: Any) -> Any:
        return local if frame.f_code.co_filename in files else None

    before, of_threads = sys.gettrace(), threading.gettrace()
    threading.settrace(enter)
    sys.settrace(enter)
    try:
        run()
    finally:
        sys.settrace(before)
        threading.settrace(of_threads)  # type: ignore[arg-type] # typeshed leaves None out
    return seen
