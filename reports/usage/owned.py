"""Someone's Python files: where each node is, and what names are bound to, by the scopes of Python."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any, NamedTuple

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
IMPORTS = (ast.Import, ast.ImportFrom)
LOOPS = (ast.For, ast.AsyncFor, ast.comprehension)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
#: What binds names for what is inside.
BLOCKS = (*LOOPS, *FUNCTIONS, ast.Lambda, ast.With, ast.AsyncWith, ast.ExceptHandler, ast.match_case)
DEEPEST = 250  # what `ast` can write out again


class Binding(NamedTuple):
    """What binds a name: a parameter, None where code does not show it, or in a loop what the loop goes through."""

    value: ast.AST | None
    node: ast.AST


class File:
    """One file."""

    def __init__(self, name: str, tree: ast.Module) -> None:
        """Read what it defines, binds and imports. Raises RecursionError."""
        self.name, self.tree = name, tree
        self.parts = tuple(part for part in name.removesuffix(".py").split("/") if part != "__init__")
        self.package = self.parts if name.endswith("__init__.py") else self.parts[:-1]
        self.nodes: list[ast.AST] = [tree]  # parents first
        self.parents: dict[ast.AST, ast.AST] = {}
        self.within: dict[ast.AST, ast.AST] = {tree: tree}  # the scope in which each is worked out
        self.imports: dict[str, str] = {}  # "r" -> "torch.nn.modules.module.register_..."
        self.attributes: dict[str, set[str]] = {}  # each that is read or set, and what of: "weight" for a.weight.grad
        self.strings: set[str] = set()
        self.calls: dict[str, list[ast.Call]] = {}
        self.classes: dict[ast.ClassDef, set[str]] = {}  # what each defines
        self.declared: dict[tuple[ast.AST, str], ast.AST] = {}  # as global or nonlocal: where to look for it
        self.bound: dict[tuple[ast.AST, str], list[Binding]] = {}
        for node in self.nodes:
            for child in ast.iter_child_nodes(node):
                if not isinstance(child, ast.expr_context):  # one object is in many places
                    self.parents[child], self.within[child] = node, self._scope(node, child)
                    self.nodes.append(child)
        if len(self.chain(self.nodes[-1])) > DEEPEST:
            raise RecursionError
        for node in self.nodes:
            self._learn(node)
        found = [(target, value, node) for node in self.nodes for target, value in bindings(node)]
        for target, value, node in sorted(found, key=lambda one: isinstance(one[0], (ast.Attribute, ast.Subscript))):
            self._bind(target, value, node)
        for some in self.bound.values():
            some.sort(key=lambda one: where(one.node))

    def _scope(self, node: ast.AST, child: ast.AST) -> ast.AST:
        """Return where a child is worked out: decorators, defaults and the first iterator are outside."""
        body = isinstance(child, ast.stmt) if isinstance(node, (*FUNCTIONS, ast.ClassDef)) else False
        if body or isinstance(node, COMPREHENSIONS) or (isinstance(node, ast.Lambda) and child is node.body):
            return node
        if isinstance(node, ast.comprehension) and child is node.iter:
            around = self.parents[node]
            return self.within[around] if around.generators[0] is node else around  # type: ignore[attr-defined]
        return self.within[node]

    def _learn(self, node: ast.AST) -> None:
        match node:
            case ast.Attribute():
                self.attributes.setdefault(node.attr, set()).add(last(node.value))
            case ast.Constant(value=str(text)):
                self.strings.add(text)
            case ast.Call():
                self.calls.setdefault(spelled(node.func), []).append(node)
            case ast.ClassDef():
                self.classes[node] = set()
            case ast.AnnAssign(target=ast.Name(id=name), value=None):
                if isinstance(around := self.within[node], ast.ClassDef):
                    self.classes[around].add(f"self.{name}")  # what it sets, somewhere
            case ast.Global() | ast.Nonlocal():
                scope = self.within[node]
                there = self.tree if isinstance(node, ast.Global) else self.within[scope]
                self.declared |= {(scope, name): there for name in node.names}

    def _bind(self, target: ast.expr | str, value: ast.AST | None, node: ast.AST) -> None:
        name = target if isinstance(target, str) else spelled(target)
        scope = node if isinstance(value, ast.arg) else self.within[node]
        while isinstance(node, ast.NamedExpr) and isinstance(scope, COMPREHENSIONS):
            scope = self.within[scope]
        if isinstance(value, ast.alias) and not self.of_torch(name):  # of two imports torch's is the one that is meant
            start = "" if isinstance(node, ast.Import) else f"{'.' * node.level}{node.module or ''}."  # type: ignore[attr-defined]
            self.imports[name] = start + value.name
        if isinstance(target, (ast.Attribute, ast.Subscript)) or (scope, name) in self.declared:
            scope = self.home(node, scope, name)
        if isinstance(scope, ast.ClassDef):
            self.classes[scope].add(name)
        self.bound.setdefault((scope, name), []).append(Binding(value, node))

    def home(self, node: ast.AST, scope: ast.AST, name: str) -> ast.AST:
        """Return the scope that a name of this scope belongs to; of what is set on self, the class."""
        root, dot, _ = name.partition(".")
        if dot and root in ("self", "cls") and (inside := self.around(node, ast.ClassDef)):
            return inside
        first = scope
        while scope is not self.tree:
            if (scope, root) in self.declared:
                scope = first = self.declared[scope, root]
            elif (scope, root) in self.bound and (scope is first or not isinstance(scope, ast.ClassDef)):
                return scope
            else:
                scope = self.within[scope]
        return scope

    def values(self, node: ast.AST) -> list[Binding]:
        """Return what a name with or without dots may be bound to where it is read."""
        name = spelled(node)
        if not name or node not in self.within:
            return []
        scope = self.home(node, self.within[node], name)
        found = self.bound.get((scope, name), [])
        return self._reaching(node, found) if len(found) > 1 and scope is self.within[node] else found

    def scope(self, node: ast.AST) -> ast.AST:
        """Return the scope that a name with or without dots belongs to where it is read."""
        return self.home(node, self.within.get(node, self.tree), spelled(node))

    def whole(self, node: ast.AST) -> list[Binding]:
        """Return what a name may be bound to, without what is put into it."""
        name, scope = spelled(node), self.scope(node)
        found = [one for one in self.bound.get((scope, name), ()) if not _puts(one.node, name)]
        return self._reaching(node, found) if len(found) > 1 and scope is self.within.get(node) else found

    def _reaching(self, node: ast.AST, found: list[Binding]) -> list[Binding]:
        """Leave out what is bound later, in another branch, or bound again before the name is read."""
        chain = self.chain(node)
        around = set(chain)
        blocks = {(up, _block(up, child)) for child, up in pairwise(chain)}
        loops = {each for each in chain if isinstance(each, (*LOOPS, ast.While))}
        kept: list[Binding] = []
        for one in found:
            up = self.parents.get(one.node, self.tree)
            block, before = (up, _block(up, one.node)), where(one.node) < where(node)
            if one.node in around:  # a loop, a function or a block that binds it, or the statement that reads it
                if isinstance(one.node, BLOCKS) and getattr(one.node, "iter", None) not in around:
                    kept = [one]
            elif before or loops & set(self.chain(one.node)):
                if block in blocks and before and not isinstance(one.node, LOOPS):
                    kept = [one]
                elif block in blocks or not (isinstance(up, ast.If) and up in around):
                    kept.append(one)
        return kept

    def imported(self, name: str) -> str:
        """Return what a name of this file goes by where it was defined."""
        return self.imports.get(name, name).rpartition(".")[2]

    def of_torch(self, name: str) -> bool:
        """Say whether what is spelled "nn.Module" here comes from torch."""
        return self.imports.get(name.partition(".")[0], "").partition(".")[0] == "torch"

    def chain(self, node: ast.AST) -> list[ast.AST]:
        """Return a node and all that it is inside of."""
        found = [node]
        while found[-1] in self.parents:
            found.append(self.parents[found[-1]])
        return found

    def around(self, node: ast.AST, *kinds: type[ast.AST]) -> ast.AST | None:
        """Return the nearest of some kinds that a node is inside of."""
        return next((each for each in self.chain(node)[1:] if isinstance(each, kinds)), None)


def _puts(node: ast.AST, name: str) -> bool:
    """Say whether a statement puts something into what a name is bound to: d["key"] = 1, d |= other."""
    targets = node.targets if isinstance(node, ast.Assign) else ()
    into = (each for each in targets if isinstance(each, ast.Subscript) and spelled(each) == name)
    return isinstance(node, ast.AugAssign) or any(into)


def _block(up: ast.AST, child: ast.AST) -> str:
    """Return in which list of statements of a node a child is."""
    blocks = ((name, getattr(up, name, None)) for name in ("body", "orelse", "finalbody"))
    return next((name for name, block in blocks if isinstance(block, list) and child in block), "")


def bindings(node: ast.AST) -> Iterator[tuple[ast.expr | str, ast.AST | None]]:
    """Yield what a node binds, and to what: in a loop, to what it goes through."""
    pairs = [each for each in BINDS.get(type(node), lambda node: [])(node) if each[0]]
    for target, value in pairs:  # grows while it is read
        if isinstance(target, (ast.Tuple, ast.List)):
            loop = isinstance(node, LOOPS)
            pairs += [(each, _item(value, place, loop)) for place, each in enumerate(target.elts)]
        else:
            yield target, value


def _item(value: ast.AST | None, place: int, loop: bool) -> ast.AST | None:
    """Return what is at a place of a tuple; in a loop, of each tuple that it goes through."""
    items = value.elts if isinstance(value, (ast.Tuple, ast.List)) else []
    if loop:
        column = [row.elts[place] for row in items if isinstance(row, ast.Tuple) and place < len(row.elts)]
        return ast.Tuple(column, ast.Load()) if column else value
    if items:
        return items[place] if place < len(items) else None
    return ast.Subscript(value, ast.Constant(place), ast.Load()) if isinstance(value, ast.expr) else None


def arguments(node: ast.AST) -> list[ast.arg]:
    """Return the parameters of a function."""
    return [each for each in ast.iter_child_nodes(node.args) if isinstance(each, ast.arg)]  # type: ignore[attr-defined]


#: What binds names, and how; a name that is None is none.
BINDS: dict[type[ast.AST], Callable[[Any], list[tuple[Any, ast.AST | None]]]] = {
    **dict.fromkeys(LOOPS, lambda node: [(node.target, node.iter)]),
    **dict.fromkeys((ast.NamedExpr, ast.AnnAssign), lambda node: [(node.target, node.value)] * bool(node.value)),
    **dict.fromkeys((ast.With, ast.AsyncWith), lambda node: [(each.optional_vars, None) for each in node.items]),
    **dict.fromkeys((ast.ExceptHandler, ast.MatchAs, ast.MatchStar), lambda node: [(node.name, None)]),
    **dict.fromkeys(FUNCTIONS, lambda node: [(node.name, node), *((each.arg, each) for each in arguments(node))]),
    **dict.fromkeys(IMPORTS, lambda node: [(each.asname or each.name.partition(".")[0], each) for each in node.names]),
    ast.Assign: lambda node: [(target, node.value) for target in node.targets],
    ast.AugAssign: lambda node: [(node.target, None)],
    ast.Lambda: lambda node: [(each.arg, each) for each in arguments(node)],
    ast.ClassDef: lambda node: [(node.name, node)],
}


def where(node: ast.AST) -> tuple[int, int]:
    """Return where a node begins."""
    first = getattr(node, "target", node) if isinstance(node, ast.comprehension) else node
    return getattr(first, "lineno", 0), getattr(first, "col_offset", 0)


def spelled(node: ast.AST | None) -> str:
    """Return "nn.Module" for a name with dots, nothing for what is none."""
    parts: list[str] = []
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        if isinstance(node, ast.Attribute):
            parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *parts[::-1]]) if isinstance(node, ast.Name) else ""


def last(node: ast.AST | None) -> str:
    """Return the last part of a name with dots: "c" for a.b.c, for a().c and for a.c[0]."""
    while isinstance(node, ast.Subscript):
        node = node.value
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
