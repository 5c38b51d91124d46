"""Which names in someone's Python files are their own: a method or a function may be called as one of torch is."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass
class Class:
    """A class: what it defines, and what it is derived from, as it is spelled there."""

    bases: tuple[str, ...]
    methods: set[str] = field(default_factory=set)


@dataclass
class File:
    """One file: its classes and functions, and where each imported name comes from."""

    name: str
    nodes: list[tuple[ast.AST, ast.ClassDef | None]]  # each node and the class around it, parents first
    parents: dict[ast.AST, ast.AST] = field(default_factory=dict)
    classes: dict[ast.ClassDef, Class] = field(default_factory=dict)
    functions: set[str] = field(default_factory=set)
    imports: dict[str, str] = field(default_factory=dict)  # "r" -> "torch.nn.modules.module.register_..."

    def imported(self, name: str) -> str:
        """Return what a name of this file goes by where it was defined."""
        return self.imports.get(name, name).rpartition(".")[2]

    def of_torch(self, spelled: str) -> bool:
        """Say whether what is spelled "nn.Module" here comes from torch."""
        return self.imports.get(spelled.partition(".")[0], "").partition(".")[0] == "torch"


def read_file(name: str, tree: ast.Module) -> File:
    """Return what a file defines and imports."""
    found = File(name, [])
    for node, scope, inside in _walk(tree, found.parents):
        found.nodes.append((node, inside))
        if isinstance(node, ast.ClassDef):
            found.classes[node] = Class(tuple(filter(None, map(spelled, node.bases))))
        elif isinstance(node, FUNCTIONS) and isinstance(scope, ast.ClassDef):
            found.classes[scope].methods.add(node.name)
        elif isinstance(node, FUNCTIONS):
            found.functions.add(node.name)
        elif isinstance(node, ast.Assign) and isinstance(scope, ast.ClassDef):
            found.classes[scope].methods.update(each.id for each in node.targets if isinstance(each, ast.Name))
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            for local, origin in _imports(node):
                if not found.of_torch(local):  # where one of two imports fails, torch's is the one that is meant
                    found.imports[local] = origin
    return found


def _walk(
    tree: ast.Module, parents: dict[ast.AST, ast.AST]
) -> Iterator[tuple[ast.AST, ast.AST | None, ast.ClassDef | None]]:
    """Yield each node with the class or function, and with the class, that it stands in; parents first."""
    waiting: list[tuple[ast.AST, ast.AST | None, ast.ClassDef | None]] = [(tree, None, None)]
    while waiting:
        node, scope, inside = waiting.pop()
        yield node, scope, inside
        if isinstance(node, (ast.ClassDef, *FUNCTIONS)):
            scope = node
        if isinstance(node, ast.ClassDef):
            inside = node
        for child in ast.iter_child_nodes(node):
            if not isinstance(child, ast.expr_context):  # one object stands in many places
                parents[child] = node
                waiting.append((child, scope, inside))


def _imports(node: ast.Import | ast.ImportFrom) -> Iterator[tuple[str, str]]:
    for each in node.names:
        if isinstance(node, ast.ImportFrom):
            yield each.asname or each.name, f"{'.' * node.level}{node.module or ''}.{each.name}"
        else:
            root = each.name.partition(".")[0]
            yield (each.asname, each.name) if each.asname else (root, root)


def spelled(node: ast.AST) -> str:
    """Return "nn.Module" for a name with dots, nothing for what is none."""
    parts: list[str] = []
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        if isinstance(node, ast.Attribute):
            parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *parts[::-1]]) if isinstance(node, ast.Name) else ""


class Owned:
    """What the files define among themselves."""

    def __init__(self, files: Iterable[File]) -> None:
        """Take all files of one package or folder."""
        self.files = list(files)
        self.functions = {name for file in self.files for name in file.functions}
        self.classes: dict[str, list[tuple[File, ast.ClassDef]]] = {}
        for file in self.files:
            for node in file.classes:
                self.classes.setdefault(node.name, []).append((file, node))

    def function(self, file: File, name: str) -> bool:
        """Say whether a bare name is a function of these files."""
        if name in file.functions:
            return True
        return name in file.imports and not file.of_torch(name) and file.imported(name) in self.functions

    def method(self, file: File, inside: ast.ClassDef | None, name: str, *, above: bool = False) -> bool:
        """Say whether a class, or one that it is derived from, has such a method; above: only the latter."""
        waiting = [(file, inside)] if inside else []
        seen: set[ast.ClassDef] = set()
        while waiting:
            where, node = waiting.pop()
            if node in seen:
                continue
            seen.add(node)
            if name in where.classes[node].methods and not (above and node is inside):
                return True
            for base in where.classes[node].bases:
                waiting += self._named(where, base)
        return False

    def instance(self, file: File, made: str, name: str) -> bool:
        """Say whether what a call of `made` makes is of a class of these files that has such a method."""
        return any(self.method(where, node, name) for where, node in self._named(file, made))

    def _named(self, file: File, base: str) -> list[tuple[File, ast.ClassDef]]:
        """Return the classes that a base may be: of this file, or imported from another of these files."""
        here: Mapping[str, ast.ClassDef] = {node.name: node for node in file.classes}
        if base in here:
            return [(file, here[base])]
        root, _, rest = base.partition(".")
        if root not in file.imports or file.of_torch(base):
            return []
        return self.classes.get(rest.rpartition(".")[2] if rest else file.imported(base), [])
