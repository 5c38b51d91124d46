"""Which options a call gives that hands on a dict: what the dict is made with, and what is put into it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from reports.usage.guards import Guards, caught
from reports.usage.owned import FUNCTIONS, LOOPS, Binding, File, last, spelled, where
from reports.usage.project import Owned, given_to

DEPTH = 5
PUTS = ("update", "setdefault")  # methods that put options into a dict
#: Dicts that are put together from others.
SUMS: dict[type[ast.AST], Callable[[Any], Sequence[ast.expr]]] = {
    ast.BinOp: lambda node: (node.left, node.right),
    ast.BoolOp: lambda node: node.values,
}
#: Stands for keys that code does not show.
ANY = "**"
Keys = set[str]


def both(some: Iterable[Keys]) -> Keys:
    """Return the keys of several dicts."""
    return {key for keys in some for key in keys}


class Options:
    """The options of one call, which registers by an API."""

    def __init__(
        self, owned: Owned, guards: Guards, apis: frozenset[str], file: File, call: ast.Call, api: str
    ) -> None:
        """Take the call."""
        self.owned, self.guards, self.apis = owned, guards, apis
        self.file, self.call, self.api = file, call, api

    def keys(self) -> Keys:
        """Return the names that it gives by keyword, and ANY where there may be others."""
        return self._keywords(self.file, self.call.keywords)

    def _keywords(self, file: File, keywords: list[ast.keyword], depth: int = 0) -> Keys:
        return both({each.arg} if each.arg else self._of(file, each.value, depth) for each in keywords)

    def _of(self, file: File, node: ast.AST | None, depth: int = 0) -> Keys:
        """Return the keys of a dict."""
        match node:
            case ast.Constant(value=None):
                return set()  # `kw or {}`
            case ast.Dict():
                pairs = zip(node.keys, node.values, strict=True)
                return both(self._word(file, key) if key else self._of(file, of, depth) for key, of in pairs)
            case ast.BinOp(op=ast.BitOr()) | ast.BoolOp():
                return both(self._of(file, each, depth) for each in SUMS[type(node)](node))
            case ast.IfExp():
                return both(self._where(file, each, depth) for each in (node.body, node.orelse))
            case ast.Name() | ast.Attribute() if depth < DEPTH:
                return self._named(file, node, depth + 1)
            case ast.arg() if depth < DEPTH and (given := given_to(file, node)):
                return both(self._of(file, each, depth + 1) for each in given)
        return self._made(file, node, depth) if isinstance(node, ast.Call) else {ANY}

    def _made(self, file: File, call: ast.Call, depth: int) -> Keys:
        """Return the keys of a dict that a call makes."""
        match call:
            case ast.Call(func=ast.Name(id="dict")):
                made = [self._of(file, each, depth) for each in call.args]
                return both([*made, self._keywords(file, call.keywords, depth)])
            case ast.Call(func=ast.Attribute(attr="fromkeys"), args=[keys, *_]):
                return self._word(file, keys)
            case ast.Call(func=ast.Attribute(value=owner, attr="copy"), args=[]):
                return self._of(file, owner, depth)
            case ast.Call(args=[owner]) if last(call.func) in ("copy", "deepcopy"):
                return self._of(file, owner, depth)
        return {ANY}

    def _word(self, file: File, node: ast.AST) -> Keys:
        return {*self.owned.words(file, node)} or {ANY}

    def _where(self, file: File, node: ast.AST, depth: int, what: ast.AST | None = None) -> Keys:
        """Return the keys that a node gives; none where the release of torch decides whether it is come to."""
        found = self._of(file, node, depth)
        more = {*self.guards.around(file, what or node)} - {*self.guards.around(self.file, self.call)}
        tried = caught(file.chain(what or node)) and not caught(self.file.chain(self.call))
        return found & {ANY} if tried or any(map(self.guards.asks, more)) else found

    def _named(self, file: File, node: ast.Name | ast.Attribute, depth: int) -> Keys:
        """Return the keys of a dict by its name: of all that it may be, and of what is put into it."""
        name, wrapper = spelled(node), file.around(node, *FUNCTIONS)
        bound, taken = file.whole(node), {*self._taken(file, name)}
        puts = [*self._puts(file, node, min((where(one.node) for one in bound), default=(0, 0)), depth)]
        if isinstance(wrapper, FUNCTIONS) and wrapper.args.kwarg and name == wrapper.args.kwarg.arg:
            calls = [each for start in ("", "self.", "cls.") for each in file.calls.get(start + wrapper.name, ())]
            handed = {each.arg or ANY for one in calls for each in one.keywords} if calls else {ANY}
            found = both([set() if wrapper.name == self.api else handed, *puts])
        else:
            made = [(file, one) for one in bound] or self.owned.values(file, node)
            found = both([*(self._bound(there, one, node, depth) for there, one in made), *puts]) if made else {ANY}
        return found - taken

    def _bound(self, file: File, one: Binding, node: ast.AST, depth: int) -> Keys:
        if not isinstance(one.node, LOOPS):
            return self._where(file, one.value, depth, one.node) if one.value is not None else {ANY}
        names = one.node.target.elts if isinstance(one.node.target, ast.Tuple) else [one.node.target]
        place = next((at for at, each in enumerate(names) if spelled(each) == spelled(node)), 0)
        found: list[Keys] = []
        for row in self._rows(file, one.node.iter):
            cells = row.elts if isinstance(row, ast.Tuple) and len(names) > 1 else [row]
            named = {word for each in cells for word in self.owned.words(file, each)} & self.apis
            if not named or self.api in named:  # a row of another API is for that one
                found.append(self._of(file, cells[place], depth) if place < len(cells) else {ANY})
        return both(found) if found else {ANY}

    def _rows(self, file: File, node: ast.AST | None) -> list[ast.AST]:
        """Return what a loop goes through, as far as it is written there."""
        match node:
            case ast.Tuple() | ast.List():
                return [*node.elts]
            case ast.Dict():
                pairs = zip(node.keys, node.values, strict=True)
                return [ast.Tuple([key, value], ast.Load()) for key, value in pairs if key]
            case ast.Call(func=ast.Attribute(value=owner, attr="items"), args=[]):
                return self._rows(file, owner)
            case ast.Name() | ast.Attribute():
                found = self.owned.values(file, node)
                of = found[0][1].value if len(found) == 1 else None
                return self._rows(found[0][0], of) if isinstance(of, (ast.Tuple, ast.List, ast.Dict)) else []
        return []

    def _puts(self, file: File, node: ast.Name | ast.Attribute, since: tuple[int, int], depth: int) -> Iterator[Keys]:
        """Yield what is put into a dict by its name; where all is in one scope, since it was bound, before the call."""
        name, scope = spelled(node), file.scope(node)

        def counts(put: ast.AST) -> bool:
            return scope is not file.within.get(node) or since < where(put) < where(self.call)

        for put in (each.node for each in file.bound.get((scope, name), ()) if counts(each.node)):
            if isinstance(put, ast.AugAssign):
                yield self._where(file, put.value, depth, put)
            elif isinstance(put, ast.Assign):
                for target in put.targets:
                    if isinstance(target, ast.Subscript) and spelled(target) == name:
                        yield self._where(file, ast.Dict([target.slice], [put.value]), depth, put)
        for each in (call for how in PUTS for call in file.calls.get(f"{name}.{how}", ())):
            if file.home(each, file.within[each], name) is scope and counts(each):
                given = each.args[:1]
                keys = given if last(each.func) == "update" else [ast.Dict([one], [one]) for one in given]
                yield both(self._where(file, one, depth, each) for one in keys)
                yield self._keywords(file, each.keywords, depth)

    def _taken(self, file: File, name: str) -> Iterator[str]:
        """Yield the keys that are taken out of a dict somewhere: where, is not asked."""
        deleted = (each.targets for each in file.nodes if isinstance(each, ast.Delete))
        keys = [
            one.slice for some in deleted for one in some if isinstance(one, ast.Subscript) and spelled(one) == name
        ]
        popped = [each.args[0] for each in file.calls.get(f"{name}.pop", ()) if each.args]
        yield from (word for key in (*keys, *popped) for word in self.owned.words(file, key))
