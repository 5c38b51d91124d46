"""What the files of one package or folder define among themselves: names of other files, strings, classes."""

from __future__ import annotations

import ast
import builtins
import functools
import itertools
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from reports.usage.owned import Binding, File, arguments, spelled

#: Classes of torch that are, or have, an encoder layer.
ENCODERS = {"TransformerEncoderLayer", "TransformerEncoder", "Transformer"}
MOST_NAMES = 64
MOST_HANDED_ON = 3  # names for names of a string
MOST_STEPS = 5  # names for names of anything else
DEEP = 4  # classes that make, or are derived from, another; files that hand a name on
#: What strings are put together from, or chosen from.
PARTS: dict[type[ast.AST] | type[None], Callable[[Any], Sequence[ast.AST]]] = {
    **dict.fromkeys((ast.Tuple, ast.List, ast.Set), lambda node: node.elts),
    ast.JoinedStr: lambda node: node.values,
    ast.BinOp: lambda node: (node.left, node.right),
    ast.FormattedValue: lambda node: (node.value,),
    ast.IfExp: lambda node: (node.body, node.orelse),
}
Found = tuple[File, Binding]
Class = tuple[File, ast.ClassDef]


class Owned:
    """What some files define."""

    def __init__(self, files: Iterable[File]) -> None:
        """Take them all."""
        self.classes: dict[str, list[Class]] = {}
        self.modules: dict[str, list[File]] = {}  # by the last part of their names
        self.globals: dict[str, list[Found]] = {}
        self.encodes = functools.cache(self._encodes)
        self.files = list(files)
        for file in self.files:
            self.modules.setdefault(file.parts[-1] if file.parts else "", []).append(file)
            for node in file.classes:
                self.classes.setdefault(node.name, []).append((file, node))
            for (scope, name), some in file.bound.items():
                if scope is file.tree:
                    own = [(file, one) for one in some if not isinstance(one.value, ast.alias)]
                    self.globals.setdefault(name, []).extend(own)

    def values(self, file: File, node: ast.AST) -> list[Found]:
        """Return what a name may be bound to, in this file or in the one that it is imported from."""
        name = spelled(node)
        root, _, rest = name.rpartition(".")
        if found := [(file, one) for one in file.values(node)]:
            return self._followed(file, name, found)
        if root in ("self", "cls"):
            inside = file.around(node, ast.ClassDef)
            above = self.above(file, inside) if isinstance(inside, ast.ClassDef) else []
            some = ((there, there.bound.get((cls, name)) or there.bound.get((cls, rest), [])) for there, cls in above)
            return [(there, one) for there, found in some for one in found]
        if root in file.imports:
            module = self.module(file, file.imports[root])
            return self._global(module, rest) if module else []
        known = self.globals.get(rest, []) if not root or rest.isupper() else []
        return known if len({there.name for there, _ in known}) == 1 else []  # by `import *`, or another way

    def _global(self, module: File, name: str, depth: int = 0) -> list[Found]:
        return self._followed(module, name, [(module, one) for one in module.bound.get((module.tree, name), [])], depth)

    def _followed(self, file: File, name: str, found: list[Found], depth: int = 0) -> list[Found]:
        """Return what a name is bound to in the file that it is imported from, through files that only hand it on."""
        if depth > DEEP or not all(isinstance(one.value, ast.alias) for _, one in found):
            return found
        module = self.module(file, file.imports.get(name, "").rpartition(".")[0])
        return (self._global(module, file.imported(name), depth + 1) if module else []) or found

    def shows(
        self, file: File, node: ast.AST, holds: Callable[[ast.AST], bool], fold: Callable[[Iterable[bool]], bool] = all,
        inside: Callable[[ast.AST], Sequence[ast.AST]] = lambda node: (), depth: int = 0,
    ) -> bool:  # fmt: skip
        """Say whether something holds of an expression, or of all (or any) that it may be bound to, or is made from."""
        if holds(node):
            return True
        found = [(there, one.value) for there, one in self.values(file, node)] if depth < MOST_STEPS else []
        found = found or [(file, each) for each in inside(node)]
        steps = (each is not None and self.shows(there, each, holds, fold, inside, depth + 1) for there, each in found)
        return bool(found) and depth < MOST_STEPS and fold(steps)

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
        parts = given_to(file, node) if isinstance(node, ast.arg) else PARTS.get(type(node), lambda node: ())(node)
        several: Iterable[tuple[File, ast.AST | None]] = [(file, each) for each in parts]
        match node:
            case ast.Constant(value=str(text)):
                return [text]
            case ast.JoinedStr() | ast.BinOp():
                pieces = itertools.product(*(self.words(there, part, depth) for there, part in several))
                return ["".join(each) for each in itertools.islice(pieces, MOST_NAMES)]
            case ast.Name() | ast.Attribute() if depth < MOST_HANDED_ON:
                several, depth = ((there, one.value) for there, one in self.values(file, node)), depth + 1
        found = (
            word for there, each in itertools.islice(several, MOST_NAMES) for word in self.words(there, each, depth)
        )
        return [*itertools.islice(found, MOST_NAMES)]

    def above(self, file: File, inside: ast.ClassDef) -> list[Class]:
        """Return a class and those of these files that it is derived from."""
        found = [(file, inside)]
        for there, node in found:  # grows while it is read
            for base in node.bases:
                found += [one for one in self.named(there, spelled(base)) if one not in found]
        return found

    def method(self, file: File, inside: ast.AST | None, name: str, *, above: bool = False) -> bool:
        """Say whether a class, or one that it is derived from, has such a method; above: only the latter.

        An attribute that it sets on self is its own where it is no module: a module sets torch's.
        """
        classes = self.above(file, inside) if isinstance(inside, ast.ClassDef) else []
        if any(name in there.classes[node] and not (above and node is inside) for there, node in classes):
            return True
        sets = not above and any(f"self.{name}" in there.classes[node] for there, node in classes)
        return sets and all(self._known(there, base) for there, node in classes for base in node.bases)

    def _known(self, file: File, base: ast.expr) -> bool:
        """Say whether a base is a class of these files or of Python: then it is no module and no tensor."""
        name = spelled(base)
        root = name.partition(".")[0]
        origin = file.imports.get(root, "")
        if not origin:
            return bool(self.named(file, name)) or hasattr(builtins, name)
        of_these = self.module(file, origin) or self.module(file, origin.rpartition(".")[0])
        return bool(of_these and self.named(file, name)) or origin.partition(".")[0] in sys.stdlib_module_names

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

    @functools.cached_property
    def batch_first(self) -> bool:
        """Whether some encoder layer is made with batch_first, without which it takes no fast path."""
        calls = (call for file in self.files for some in file.calls.values() for call in some)
        words = (each for call in calls for each in call.keywords if each.arg == "batch_first")
        return any(not (isinstance(each.value, ast.Constant) and not each.value.value) for each in words)

    def _encodes(self, file: File, name: str) -> bool:
        """Say whether a class is torch's encoder layer, derived from it or makes one, and may take the fast path."""
        level = {(file, name)}
        for _ in range(DEEP if self.batch_first else 0):
            if any(there.imported(each) in ENCODERS and there.of_torch(each) for there, each in level):
                return True
            found = [one for there, each in level for one in self.named(there, each)]
            made = [
                (there, each.func) for there, node in found for each in ast.walk(node) if isinstance(each, ast.Call)
            ]
            made += [(there, base) for there, node in found for base in node.bases]
            level = {(there, spelled(each)) for there, each in made}
        return False

    def called_after(self, variable: str, method: str) -> bool:
        """Say whether a variable is called after a class that has such a method: runner, after FlexibleRunner."""
        after = [some for name, some in self.classes.items() if name.lower().endswith(variable.lower())]
        return len(variable) > 3 and any(method in file.classes[node] for some in after for file, node in some)


def given_to(file: File, node: ast.arg) -> list[ast.AST]:
    """Return what a parameter is given where this file calls its function, or what a Literal says that it may be."""
    function = file.parents[file.parents[node]]
    names = [each.arg for each in arguments(function) if each.arg not in ("self", "cls")]
    calls = [each for some in ("", "self.") for each in file.calls.get(some + getattr(function, "name", " "), ())]
    by_place = [each for call in calls for name, each in zip(names, call.args, strict=False) if name == node.arg]
    by_name = [each.value for call in calls for each in call.keywords if each.arg == node.arg]
    return [*getattr(getattr(node.annotation, "slice", None), "elts", ()), *by_place, *by_name]
