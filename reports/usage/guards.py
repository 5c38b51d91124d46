"""On which releases of torch a piece of someone's code runs: its guards, as the releases that they let through.

A guard is asked for each release: true, false, or None where it hangs on something else. Understood are comparisons of
the version of torch, `hasattr`, a look into a signature, and flags and functions of these files that hold such a test.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from packaging.requirements import InvalidRequirement, Requirement
from packaging.version import InvalidVersion, Version

from reports.usage.owned import FUNCTIONS, spelled

#: (API, option) -> whether a release has it; None for what no table knows.
Has = Callable[[str, str, Version], "bool | None"]
COMPARE = {
    ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge, ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}  # fmt: skip
NAMES = ("lt", "le", "gt", "ge", "eq", "ne")
BY_NAME = {"<": "lt", "<=": "le", ">": "gt", ">=": "ge", "==": "eq", "!=": "ne"}
TORCH = re.compile(r"(?i:torch\.(version\.)?__version__|TORCH_?VERSION)")
#: TORCH_GREATER_EQUAL_2_1 as a flag, is_torch_greater_or_equal("2.1") as a function.
LEAST = r"(?i:torch\w*?_?(?:ge|geq|gte|greater_or_equal|greater_equal|at_?least|min|min_version)(?:_than)?"
AT_LEAST, ASKS = re.compile(LEAST + r"_?v?(\d+)_(\d+))"), re.compile(LEAST + "$)")
CAUGHT = {"AttributeError", "ImportError", "ModuleNotFoundError", "TypeError", "Exception", "BaseException"}
DEPTH = 8


@dataclass
class Guards:
    """What the names of someone's files mean as guards."""

    has: Has
    flags: dict[str, ast.expr] = field(default_factory=dict)
    seen: list[str] = field(default_factory=list)

    def learn(self, nodes: Iterable[ast.AST]) -> None:
        """Take the flags and functions of a file that may be guards; names that stand for two things mean nothing."""
        for node in nodes:
            if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
                self._flag(node.targets[0].id, node.value)
            elif isinstance(node, FUNCTIONS) and not node.args.args:
                body = [each for each in node.body if not isinstance(each, (ast.Expr, ast.Import, ast.ImportFrom))]
                if len(body) == 1 and isinstance(body[0], ast.Return) and body[0].value:
                    self._flag(node.name, body[0].value)

    def _flag(self, name: str, value: ast.expr) -> None:
        test = isinstance(value, (ast.Compare, ast.BoolOp, ast.UnaryOp, ast.Call, ast.Attribute, ast.Subscript))
        known = self.flags.get(name)
        if known is not None and ast.dump(known) != ast.dump(value):
            self.flags[name] = ast.Constant(None)
        elif test:
            self.flags[name] = value

    def lets(self, test: ast.expr, release: Version, depth: int = 0) -> bool | None:
        """Say whether a test is true on a release."""
        if depth > DEPTH:
            return None
        again = depth + 1
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            inner = self.lets(test.operand, release, again)
            return None if inner is None else not inner
        if isinstance(test, ast.BoolOp):
            parts = [self.lets(each, release, again) for each in test.values]
            decisive = isinstance(test.op, ast.Or)
            return decisive if decisive in parts else None if None in parts else not decisive
        if isinstance(test, ast.Compare) and len(test.ops) == 1:
            return self._compared(test, release, again)
        if isinstance(test, ast.Call):
            return self._asked(test, release, again)
        name = spelled(test).rpartition(".")[2] if isinstance(test, (ast.Name, ast.Attribute)) else ""
        if name in self.flags:
            return self.lets(self.flags[name], release, again)
        if name and (found := AT_LEAST.search(name)):
            return release.release[:2] >= (int(found[1]), int(found[2]))
        return None

    def _compared(self, test: ast.Compare, release: Version, depth: int) -> bool | None:
        left, right, how = test.left, test.comparators[0], type(test.ops[0])
        if how in (ast.In, ast.NotIn) and isinstance(left, ast.Constant) and isinstance(left.value, str):
            found = self._signature(right, left.value, release)
            return None if found is None else found == (how is ast.In)
        if how not in COMPARE:
            return None
        for one, other, turned in ((left, right, False), (right, left, True)):
            wanted = _version_in(other)
            if wanted is not None and self._is_version(one, depth):
                mine = release.release[: len(wanted)] if isinstance(other, ast.Tuple) else (*release.release, 0, 0)[:3]
                theirs = wanted if isinstance(other, ast.Tuple) else (*wanted, 0, 0)[:3]
                return COMPARE[how](*((theirs, mine) if turned else (mine, theirs)))
        return None

    def _is_version(self, node: ast.expr, depth: int) -> bool:
        """Say whether an expression is the version of torch, parsed or cut into numbers."""
        if depth > DEPTH:
            return False
        text = ast.unparse(node)
        if TORCH.search(text) and "cuda" not in text and "vision" not in text:
            return True
        if ("version(" in text or "get_distribution(" in text) and re.search(r"['\"]torch['\"]", text):
            return True
        inner = [each.id for each in ast.walk(node) if isinstance(each, ast.Name)]
        return any(name in self.flags and self._is_version(self.flags[name], depth + 1) for name in inner)

    def _signature(self, where: ast.expr, option: str, release: Version) -> bool | None:
        text = ast.unparse(where)
        found = re.search(r"(?:signature|getfullargspec)\((?:\w+\.)*(\w+)\)", text)
        return self.has(found[1], option, release) if found else None

    def _asked(self, call: ast.Call, release: Version, depth: int) -> bool | None:
        name = spelled(call.func).rpartition(".")[2]
        words = [each.value for each in call.args if isinstance(each, ast.Constant) and isinstance(each.value, str)]
        if name == "hasattr" and words:
            return self.has(words[0], "", release)
        if name in ("bool", "callable") and call.args:
            return self.lets(call.args[0], release, depth)
        if name == "getattr" and len(call.args) == 3 and words:
            return self.has(words[0], "", release)
        numbers = [found for each in call.args if (found := _version_in(each))]
        mine = (*release.release, 0, 0)[:3]
        if numbers and "torch" in (name + " ".join(words)).lower() and "vision" not in name:
            signs = [BY_NAME[word] for word in words if word in BY_NAME]
            signs += [
                each.attr for each in call.args if isinstance(each, ast.Attribute) and each.attr in BY_NAME.values()
            ]
            if signs or ASKS.search(name):
                return getattr(operator, signs[0] if signs else "ge")(mine, (*numbers[0], 0, 0)[:3])
        if name == "RequirementCache" or "requirement" in name.lower():
            return _required(words, release)
        if name in self.flags and not call.args:
            return self.lets(self.flags[name], release, depth)
        return None


def _required(words: Iterable[str], release: Version) -> bool | None:
    for word in words:
        try:
            found = Requirement(word)
        except InvalidRequirement:
            continue
        if found.name == "torch":
            return found.specifier.contains(str(release), prereleases=True)
    return None


def _version_in(node: ast.expr) -> tuple[int, ...] | None:
    """Return the numbers of "2.0", Version("2.0"), (2, 0) and 2."""
    if isinstance(node, ast.Call) and node.args:
        return _version_in(node.args[0])
    if isinstance(node, (ast.Tuple, ast.List)):
        numbers = [each.value for each in node.elts if isinstance(each, ast.Constant) and isinstance(each.value, int)]
        return tuple(numbers) if numbers and len(numbers) == len(node.elts) else None
    if not isinstance(node, ast.Constant):
        return None
    if isinstance(node.value, str) and re.fullmatch(r"v?\d+(\.\w+)*([+-].*)?", node.value):
        try:
            return Version(node.value.split("+")[0]).release
        except InvalidVersion:
            return None
    return (int(node.value),) if isinstance(node.value, (int, float)) and not isinstance(node.value, bool) else None


def conditions(chain: list[ast.AST], parents: Mapping[ast.AST, ast.AST]) -> Iterator[tuple[ast.expr, bool]]:
    """Yield the tests around a node, and what each must be; `chain` is the node and all that it stands in."""
    for child in chain:
        parent = parents.get(child)
        if isinstance(parent, (ast.If, ast.IfExp, ast.While)):
            body = parent.body if isinstance(parent.body, list) else [parent.body]
            if child is not parent.test:
                yield parent.test, child in body
        elif isinstance(parent, ast.BoolOp):
            for each in parent.values[: parent.values.index(child)]:  # type: ignore[arg-type]
                yield each, isinstance(parent.op, ast.And)
        for block in ("body", "orelse", "finalbody"):
            statements = getattr(parent, block, None)
            if isinstance(statements, list) and child in statements:
                yield from _before(statements[: statements.index(child)])


def _before(statements: Iterable[ast.stmt]) -> Iterator[tuple[ast.expr, bool]]:
    """Yield what must be for a block to come so far: no early return was taken, and what was asserted holds."""
    for each in statements:
        if isinstance(each, ast.Assert):
            yield each.test, True
        elif isinstance(each, ast.If):
            if _leaves(each.body) and not each.orelse:
                yield each.test, False
            elif each.orelse and _leaves(each.orelse):
                yield each.test, True


def _leaves(block: list[ast.stmt]) -> bool:
    return isinstance(block[-1], (ast.Return, ast.Raise, ast.Continue, ast.Break))


def caught(chain: Iterable[ast.AST], parents: Mapping[ast.AST, ast.AST]) -> bool:
    """Say whether what a release lacks is caught by a `try` around, or silenced by contextlib.suppress."""
    for child in chain:
        parent = parents.get(child)
        if isinstance(parent, ast.Try) and child in parent.body:
            for handler in parent.handlers:
                names = {spelled(each).rpartition(".")[2] for each in _classes(handler.type)}
                if handler.type is None or names & CAUGHT:
                    return True
        if isinstance(parent, ast.With) and any("suppress(" in ast.unparse(item.context_expr) for item in parent.items):
            return True
    return False


def _classes(node: ast.expr | None) -> list[ast.expr]:
    return [*node.elts] if isinstance(node, ast.Tuple) else [node] if node else []
