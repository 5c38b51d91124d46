"""What the files of one package or folder define among themselves: names of other files, strings, classes."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterable, Iterator

from reports.usage.owned import LOOPS, Binding, File, arguments, spelled

#: Classes of torch that are, or have, an encoder layer.
ENCODERS = {"TransformerEncoderLayer", "TransformerEncoder", "Transformer"}
MOST_NAMES = 64
DEEP = 4  # classes that make, or are derived from, another; files that hand a name on
Found = tuple[File, Binding]
Class = tuple[File, ast.ClassDef]


class Owned:
    """What some files define."""

    def __init__(self, files: Iterable[File]) -> None:
        """Take them all."""
        self.classes: dict[str, list[Class]] = {}
        self.modules: dict[str, list[File]] = {}  # by the last part of their names
        self.globals: dict[str, list[Found]] = {}
        self.encoding: dict[tuple[File, str], bool] = {}
        for file in files:
            self.modules.setdefault(file.parts[-1] if file.parts else "", []).append(file)
            for node in file.classes:
                self.classes.setdefault(node.name, []).append((file, node))
            for (scope, name), some in file.bound.items():
                if scope is file.tree:
                    own = [(file, one) for one in some if not isinstance(one.value, ast.alias)]
                    self.globals.setdefault(name, []).extend(own)

    def values(self, file: File, node: ast.AST, depth: int = 0) -> list[Found]:
        """Return what a name may be bound to, in this file or in the one that it is imported from."""
        name = spelled(node)
        found = [(file, one) for one in file.values(node)]
        root, _, rest = name.rpartition(".")
        if not found and root in ("self", "cls"):
            inside = file.around(node, ast.ClassDef)
            above = self.above(file, inside) if isinstance(inside, ast.ClassDef) else []
            some = ((there, there.bound.get((cls, name), there.bound.get((cls, rest), []))) for there, cls in above)
            return [(there, one) for there, each in some for one in each]
        if not found and root in file.imports:
            module = self.module(file, file.imports[root])
            found = self._of(module, rest, depth) if module else []
        elif not found and (not root or rest.isupper()):
            known = self.globals.get(rest, [])  # by `import *`, or another way that code does not show
            found = known if len({where.name for where, _ in known}) == 1 else []
        elif found and all(isinstance(one.value, ast.alias) for _, one in found):
            module = self.module(file, file.imports.get(name, "").rpartition(".")[0])
            found = (self._of(module, file.imported(name), depth) if module else []) or found
        return found

    def _of(self, module: File, name: str, depth: int) -> list[Found]:
        """Return what a file binds a name to, through files that only hand it on."""
        some = module.bound.get((module.tree, name), [])
        if depth < DEEP and some and all(isinstance(one.value, ast.alias) for one in some):
            there = self.module(module, module.imports.get(name, "").rpartition(".")[0])
            return self._of(there, module.imported(name), depth + 1) if there else [(module, one) for one in some]
        return [(module, one) for one in some]

    def module(self, file: File, origin: str) -> File | None:
        """Return the file that is imported as "..compat" or "them.compat"; None where it is not one of these."""
        rest = origin.lstrip(".")
        parts = tuple(rest.split(".")) if rest else ()
        if level := len(origin) - len(rest):
            parts = file.package[: len(file.package) - level + 1] + parts
            known = self.modules.get(parts[-1] if parts else "", ())
            return next((each for each in known if each.parts == parts), None)
        near = [
            each for each in self.modules.get(parts[-1], ()) if each.parts[-len(parts):] == parts[-len(each.parts):]
        ] if parts else []  # fmt: skip
        return near[0] if len(near) == 1 or (near and len(parts) > 1) else None

    def words(self, file: File, node: ast.AST | None, depth: int = 0) -> list[str]:
        """Return the strings that an expression may be: a constant, a name bound to some, or pieces put together."""
        if isinstance(node, ast.Constant):
            return [node.value] if isinstance(node.value, str) else []
        if isinstance(node, (ast.JoinedStr, ast.BinOp)):
            parts = node.values if isinstance(node, ast.JoinedStr) else [node.left, node.right]
            pieces = itertools.product(*(self.words(file, part, depth) for part in parts))
            return ["".join(each) for each in itertools.islice(pieces, MOST_NAMES)]
        several: list[tuple[File, ast.AST | None]] = [(file, each) for each in self._given(file, node)]
        if isinstance(node, (ast.Name, ast.Attribute)) and depth < 3:
            found = self.values(file, node)[:MOST_NAMES]
            several, depth = [(there, one.value) for there, one in found], depth + 1
            for there, one in found:  # for kind, name in (("a", "b"), ...)
                if isinstance(one.node, LOOPS) and isinstance(one.node.target, ast.Tuple):
                    names = [spelled(each) for each in one.node.target.elts]
                    rows = [row.elts for row in getattr(one.value, "elts", ()) if isinstance(row, ast.Tuple)]
                    place = names.index(spelled(node)) if spelled(node) in names else 0
                    several += [(there, row[place]) for row in rows if place < len(row)]
        elif isinstance(node, (ast.Tuple, ast.List, ast.Set)):  # what a loop goes through
            several = [(file, each) for each in node.elts]
        elif isinstance(node, (ast.FormattedValue, ast.IfExp)):
            inside = [node.value] if isinstance(node, ast.FormattedValue) else [node.body, node.orelse]
            several = [(file, each) for each in inside]
        return [word for there, each in several[:MOST_NAMES] for word in self.words(there, each, depth)][:MOST_NAMES]

    def _given(self, file: File, node: ast.AST | None) -> Iterator[ast.AST]:
        """Yield what a parameter is given where this file calls its function, or what a Literal says that it may be."""
        if isinstance(node, ast.arg):
            function = file.parents[file.parents[node]]
            names = [each.arg for each in arguments(function) if each.arg not in ("self", "cls")]
            yield from getattr(getattr(node.annotation, "slice", None), "elts", ())
            name = getattr(function, "name", "")
            for call in (each for some in (name, f"self.{name}") for each in file.calls.get(some, ())):
                yield from (each for given, each in zip(names, call.args, strict=False) if given == node.arg)
                yield from (each.value for each in call.keywords if each.arg == node.arg)

    def above(self, file: File, inside: ast.ClassDef) -> list[Class]:
        """Return a class and those of these files that it is derived from."""
        found = [(file, inside)]
        for there, node in found:  # grows while it is read
            for base in node.bases:
                found += [one for one in self.named(there, spelled(base)) if one not in found]
        return found

    def method(self, file: File, inside: ast.AST | None, name: str, *, above: bool = False) -> bool:
        """Say whether a class, or one that it is derived from, has such a method; above: only the latter."""
        classes = self.above(file, inside) if isinstance(inside, ast.ClassDef) else []
        return any(name in there.classes[node] and not (above and node is inside) for there, node in classes)

    def bases(self, file: File, name: str) -> Iterator[tuple[File, str]]:
        """Yield a class by its name and all that it is derived from, those of other libraries too."""
        yield file, name
        for there, node in (one for each in self.named(file, name) for one in self.above(*each)):
            yield from ((there, spelled(base)) for base in node.bases)

    def named(self, file: File, name: str) -> list[Class]:
        """Return the classes that a name may be: of this file, or imported from another of these files."""
        here = [node for node in file.classes if node.name == name]
        root, _, rest = name.partition(".")
        if here or root not in file.imports or file.of_torch(name):
            return [(file, node) for node in here[-1:]]
        return self.classes.get(rest.rpartition(".")[2] if rest else file.imported(name), [])

    def encodes(self, file: File, name: str) -> bool:
        """Say whether a class is torch's encoder layer, is derived from it, or makes one."""
        if (file, name) not in self.encoding:
            level = {(file, name)}
            self.encoding[file, name] = False
            for _ in range(DEEP):
                if any(there.imported(each) in ENCODERS and there.of_torch(each) for there, each in level):
                    self.encoding[file, name] = True
                found = [one for there, each in level for one in self.named(there, each)]
                level = {(there, spelled(each)) for there, node in found for each in node.bases} | {
                    (there, spelled(each.func))
                    for there, node in found
                    for each in ast.walk(node)
                    if isinstance(each, ast.Call)
                }
        return self.encoding[file, name]

    def called_after(self, variable: str, method: str) -> bool:
        """Say whether a variable is called after a class that has such a method: runner, after FlexibleRunner."""
        after = [some for name, some in self.classes.items() if name.lower().endswith(variable.lower())]
        return len(variable) > 3 and any(method in file.classes[node] for some in after for file, node in some)
