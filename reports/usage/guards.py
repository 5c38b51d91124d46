"""On which releases of torch a piece of someone's code runs: its guards, as the releases that they let through.

A guard is worked out for each release: true, false, or None where it hangs on something else. Understood are
comparisons of the version of torch, `hasattr`, a test of a signature, and flags and functions that hold such a test.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise

from packaging.version import InvalidVersion, Version

from reports.usage.owned import FUNCTIONS, File, last

#: (API, option) -> whether a release has it; None for what no table knows.
Has = Callable[[str, str, Version], "bool | None"]
COMPARE = {
    ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge, ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}  # fmt: skip
SIGNS = {"<": "lt", "<=": "le", ">": "gt", ">=": "ge", "==": "eq", "!=": "ne"}
TORCH = re.compile(r"(?i:torch\.(version\.)?__version__|TORCH_?VERSION)|(version|get_distribution)\(['\"]torch['\"]")
#: TORCH_GREATER_EQUAL_2_1 as a flag, is_torch_greater_or_equal("2.1") as a function.
LEAST = r"(?i:torch\w*?_?(?:ge|geq|gte|greater_or_equal|greater_equal|at_?least|min|min_version)(?:_than)?"
AT_LEAST, ASKS = re.compile(LEAST + r"_?v?(\d+)_(\d+))"), re.compile(LEAST + "$)")
CAUGHT = {"AttributeError", "ImportError", "ModuleNotFoundError", "TypeError", "Exception", "BaseException"}
DEPTH = 8


class Guards:
    """What the names of someone's files mean as guards."""

    def __init__(self, has: Has) -> None:
        """Know nothing yet but the releases."""
        self.has = has
        self.flags: dict[str, ast.expr | None] = {}

    def learn(self, file: File) -> None:
        """Take the flags and functions of a file that may be guards; names that stand for two things mean nothing."""
        for node in file.nodes:
            if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
                self._flag(node.targets[0].id, node.value)
            elif isinstance(node, FUNCTIONS) and not node.args.args:
                body = [each for each in node.body if not isinstance(each, (ast.Expr, ast.Import, ast.ImportFrom))]
                if len(body) == 1 and isinstance(body[0], ast.Return) and body[0].value:
                    self._flag(node.name, body[0].value)

    def _flag(self, name: str, value: ast.expr) -> None:
        if name in self.flags:
            known = self.flags[name]
            self.flags[name] = known if known is not None and ast.dump(known) == ast.dump(value) else None
        elif isinstance(value, (ast.Compare, ast.BoolOp, ast.UnaryOp, ast.Call, ast.Attribute, ast.Subscript)):
            self.flags[name] = value

    def lets(self, test: ast.expr | None, release: Version, depth: int = 0) -> bool | None:
        """Say whether a test is true on a release."""
        if depth > DEPTH:
            return None
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            inner = self.lets(test.operand, release, depth + 1)
            return None if inner is None else not inner
        if isinstance(test, ast.BoolOp):
            parts = [self.lets(each, release, depth + 1) for each in test.values]
            decisive = isinstance(test.op, ast.Or)
            return decisive if decisive in parts else None if None in parts else not decisive
        if isinstance(test, ast.Compare) and len(test.ops) == 1:
            return self._compared(test.left, test.ops[0], test.comparators[0], release)
        name = last(test.func if isinstance(test, ast.Call) else test)
        if isinstance(test, ast.Call) and (test.args or test.keywords):
            return self._asked(name, test.args, release)
        if name in self.flags:
            return self.lets(self.flags[name], release, depth + 1)
        found = AT_LEAST.search(name)
        return release.release[:2] >= (int(found[1]), int(found[2])) if found else None

    def _compared(self, left: ast.expr, sign: ast.cmpop, right: ast.expr, release: Version) -> bool | None:
        if isinstance(sign, (ast.In, ast.NotIn)) and isinstance(left, ast.Constant):
            asked = re.search(r"(?:signature|getfullargspec)\((?:\w+\.)*(\w+)\)", ast.unparse(right))
            found = self.has(asked[1], str(left.value), release) if asked else None
            return None if found is None else found == isinstance(sign, ast.In)
        for one, other, turned in ((left, right, False), (right, left, True)):
            wanted = _numbers(other)
            if wanted and type(sign) in COMPARE and self._is_version(one):
                size = len(wanted) if isinstance(other, ast.Tuple) else 3
                pair = [(*each, 0, 0)[:size] for each in (release.release, wanted)]
                return COMPARE[type(sign)](*(pair[::-1] if turned else pair))
        return None

    def _is_version(self, node: ast.expr, depth: int = 0) -> bool:
        """Say whether an expression is the version of torch, parsed or cut into numbers."""
        if TORCH.search(ast.unparse(node)):
            return True
        flags = [self.flags.get(each.id) for each in ast.walk(node) if isinstance(each, ast.Name)]
        return depth < DEPTH and any(flag is not None and self._is_version(flag, depth + 1) for flag in flags)

    def _asked(self, name: str, given: list[ast.expr], release: Version) -> bool | None:
        """Say what a call says: hasattr(m, "x"), is_torch_version(">=", "2.0")."""
        words = [each.value for each in given if isinstance(each, ast.Constant) and isinstance(each.value, str)]
        if words and name == "hasattr":
            return self.has(words[0], "", release)
        numbers = [found for each in given if (found := _numbers(each))]
        if not numbers or "vision" in name or "torch" not in (name + " ".join(words)).lower():
            return None
        signs = [SIGNS[word] for word in words if word in SIGNS]
        signs += [each.attr for each in given if isinstance(each, ast.Attribute) and each.attr in SIGNS.values()]
        signs += ["ge"] if ASKS.search(name) else []
        mine, theirs = ((*each, 0, 0)[:3] for each in (release.release, numbers[0]))
        return getattr(operator, signs[0])(mine, theirs) if signs else None


def _numbers(node: ast.expr) -> tuple[int, ...] | None:
    """Return the numbers of "2.0", Version("2.0"), (2, 0) and 2."""
    if isinstance(node, ast.Call) and node.args:
        return _numbers(node.args[0])
    if not isinstance(node, (ast.Constant, ast.Tuple, ast.List)):
        return None
    try:
        value = ast.literal_eval(node)
        if isinstance(value, (tuple, list)):
            return tuple(value) if all(type(each) is int for each in value) else None
        return Version(str(value).split("+")[0]).release if type(value) in (str, int, float) else None
    except (ValueError, TypeError, InvalidVersion):
        return None


def conditions(chain: list[ast.AST]) -> Iterator[tuple[ast.expr, bool]]:
    """Yield the tests around a node, and what each must be; `chain` is the node and all that it is inside of."""
    for child, parent in pairwise(chain):
        if isinstance(parent, (ast.If, ast.IfExp)) and child is not parent.test:
            yield parent.test, child is parent.body or (isinstance(parent.body, list) and child in parent.body)
        elif isinstance(parent, ast.BoolOp):
            before = parent.values[: parent.values.index(child)]  # type: ignore[arg-type]
            yield from ((each, isinstance(parent.op, ast.And)) for each in before)
        for block in ("body", "orelse"):
            statements = getattr(parent, block, None)
            if isinstance(statements, list) and child in statements:
                yield from _before(statements[: statements.index(child)])


def _before(statements: Iterable[ast.stmt]) -> Iterator[tuple[ast.expr, bool]]:
    """Yield what must be for a block to come so far: no early return was taken, and what was asserted holds."""
    leaves = (ast.Return, ast.Raise, ast.Continue, ast.Break)
    for each in statements:
        if isinstance(each, ast.Assert):
            yield each.test, True
        elif isinstance(each, ast.If) and isinstance((each.orelse or each.body)[-1], leaves):
            yield each.test, bool(each.orelse)


def caught(chain: list[ast.AST]) -> bool:
    """Say whether what a release lacks is caught by a `try` around, or silenced by contextlib.suppress."""
    for child, parent in pairwise(chain):
        for handler in parent.handlers if isinstance(parent, ast.Try) and child in parent.body else ():
            classes = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
            named = handler.type is None or {last(each) for each in classes} & CAUGHT
            if named and not isinstance(handler.body[-1], ast.Raise):
                return True
        if isinstance(parent, ast.With) and any("suppress(" in ast.unparse(item) for item in parent.items):
            return True
    return False
