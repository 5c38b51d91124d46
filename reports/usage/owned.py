"""Someone's Python files: where each node is, what names mean, and which are the code's own."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterable, Iterator, MutableMapping

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
#: Classes of torch that are, or have, an encoder layer.
ENCODERS = {"TransformerEncoderLayer", "TransformerEncoder", "Transformer"}
MOST_NAMES = 64
DEEP = 4  # classes that make, or are derived from, another
DEEPEST = 250  # what `ast` can write out again


class File:
    """One file."""

    def __init__(self, name: str, tree: ast.Module) -> None:
        """Read what it defines, binds and imports. Raises RecursionError."""
        self.name = name
        self.nodes: list[ast.AST] = [tree]  # parents first
        self.parents: dict[ast.AST, ast.AST] = {}
        self.classes: dict[ast.ClassDef, set[str]] = {}  # what each defines
        self.imports: dict[str, str] = {}  # "r" -> "torch.nn.modules.module.register_..."
        self.attributes: dict[str, set[str]] = {}  # each that is read or set, and what of: "weight" for a.weight.grad
        self.named: MutableMapping[str, list[ast.expr]] = {}  # what a name is bound to, anywhere
        depth: dict[ast.AST, int] = {tree: 0}
        for node in self.nodes:
            for child in ast.iter_child_nodes(node):
                if not isinstance(child, ast.expr_context):  # one object is in many places
                    self.parents[child], depth[child] = node, depth[node] + 1
                    self.nodes.append(child)
            if isinstance(node, ast.Attribute):
                self.attributes.setdefault(node.attr, set()).add(last(node.value))
            self._learn(node)
        if max(depth.values()) > DEEPEST:
            raise RecursionError

    def _learn(self, node: ast.AST) -> None:
        if isinstance(node, ast.ClassDef):
            self.classes[node] = set()
        elif isinstance(node, (*FUNCTIONS, ast.Assign)):
            scope = self.around(node, *FUNCTIONS, ast.ClassDef)
            if isinstance(scope, ast.ClassDef):
                names = [node.name] if isinstance(node, FUNCTIONS) else map(spelled, node.targets)
                self.classes[scope].update(names)
        for local, origin in _imports(node):
            if not self.of_torch(local):  # where one of two imports fails, torch's is the one that is meant
                self.imports[local] = origin
        for target, value in bindings(node):
            loops = isinstance(node, (ast.For, ast.comprehension))
            if spelled(target) and (not loops or isinstance(value, (ast.Tuple, ast.List, ast.Set, ast.Name))):
                self.named.setdefault(spelled(target), []).append(value)

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

    def words(self, node: ast.expr, depth: int = 0) -> list[str]:
        """Return the strings that an expression may be: a constant, a name bound to some, or pieces put together."""
        if isinstance(node, ast.Constant):
            return [node.value] if isinstance(node.value, str) else []
        if isinstance(node, (ast.JoinedStr, ast.BinOp)):
            parts = node.values if isinstance(node, ast.JoinedStr) else [node.left, node.right]
            pieces = itertools.product(*(self.words(part, depth) for part in parts))
            return ["".join(each) for each in itertools.islice(pieces, MOST_NAMES)]
        several: list[ast.expr] = []
        if isinstance(node, ast.Name) and depth < 3:
            several, depth = self.named.get(node.id, []), depth + 1
        elif isinstance(node, (ast.Tuple, ast.List, ast.Set)):  # what a loop goes through
            several = node.elts
        elif isinstance(node, (ast.FormattedValue, ast.IfExp)):
            several = [node.value] if isinstance(node, ast.FormattedValue) else [node.body, node.orelse]
        return [word for each in several[:MOST_NAMES] for word in self.words(each, depth)]


def _imports(node: ast.AST) -> Iterator[tuple[str, str]]:
    if isinstance(node, ast.Import):
        yield from ((each.asname or each.name.partition(".")[0], each.name) for each in node.names)
    elif isinstance(node, ast.ImportFrom):
        origin = f"{'.' * node.level}{node.module or ''}"
        yield from ((each.asname or each.name, f"{origin}.{each.name}") for each in node.names)


def bindings(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Yield what a node binds, and to what: in a loop, to what it goes through."""
    if isinstance(node, (ast.For, ast.comprehension)):
        yield node.target, node.iter
    elif isinstance(node, ast.Assign):
        yield from ((target, node.value) for target in node.targets)
    elif isinstance(node, (ast.AnnAssign, ast.NamedExpr)) and node.value:
        yield node.target, node.value


def spelled(node: ast.AST | None) -> str:
    """Return "nn.Module" for a name with dots, nothing for what is none."""
    parts: list[str] = []
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        if isinstance(node, ast.Attribute):
            parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *parts[::-1]]) if isinstance(node, ast.Name) else ""


def last(node: ast.AST | None) -> str:
    """Return the last part of a name with dots."""
    return spelled(node).rpartition(".")[2]


class Owned:
    """What the files of one package or folder define among themselves."""

    def __init__(self, files: Iterable[File]) -> None:
        """Take them all."""
        self.classes: dict[str, list[tuple[File, ast.ClassDef]]] = {}
        for file in files:
            for node in file.classes:
                self.classes.setdefault(node.name, []).append((file, node))

    def method(self, file: File, inside: ast.AST | None, name: str, *, above: bool = False) -> bool:
        """Say whether a class, or one that it is derived from, has such a method; above: only the latter."""
        waiting = [(file, inside)] if isinstance(inside, ast.ClassDef) else []
        for where, node in waiting:  # grows while it is read
            if name in where.classes[node] and not (above and node is inside):
                return True
            for base in node.bases:
                waiting += [one for one in self.named(where, spelled(base)) if one not in waiting]
        return False

    def named(self, file: File, name: str) -> list[tuple[File, ast.ClassDef]]:
        """Return the classes that a name may be: of this file, or imported from another of these files."""
        here = [node for node in file.classes if node.name == name]
        root, _, rest = name.partition(".")
        if here or root not in file.imports or file.of_torch(name):
            return [(file, node) for node in here[-1:]]
        return self.classes.get(rest.rpartition(".")[2] if rest else file.imported(name), [])

    def encodes(self, file: File, name: str) -> bool:
        """Say whether a class is torch's encoder layer, is derived from it, or makes one."""
        level = {(file, name)}
        for _ in range(DEEP):
            if any(where.imported(each) in ENCODERS and where.of_torch(each) for where, each in level):
                return True
            found = [one for where, each in level for one in self.named(where, each)]
            level = {(there, spelled(each)) for there, node in found for each in node.bases}
            level |= {
                (there, spelled(each.func))
                for there, node in found
                for each in ast.walk(node)
                if isinstance(each, ast.Call)
            }
        return False

    def called_after(self, variable: str, method: str) -> bool:
        """Say whether a variable is called after a class that has such a method: runner, after FlexibleRunner."""
        after = [some for name, some in self.classes.items() if name.lower().endswith(variable.lower())]
        return len(variable) > 3 and any(method in file.classes[node] for some in after for file, node in some)
