"""What a piece of someone's code is worth on a release of torch: versions, flags, functions that return one.

It is worked out from the text: nothing is run. What cannot be worked out is `Unknown`.
"""

from __future__ import annotations

import ast
import contextlib
import operator
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from packaging.version import InvalidVersion, Version

from reports.usage.owned import FUNCTIONS, LOOPS, File, last, spelled
from reports.usage.project import Owned

#: (API, option) -> whether a release has it; None for what no table knows.
Has = Callable[[str, str, Version], "bool | None"]
Params = Mapping[str, Any]
COMPARE: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge, ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}  # fmt: skip
SIGNS = {"<": "lt", "<=": "le", ">": "gt", ">=": "ge", "==": "eq", "!=": "ne"}
COUNT = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.FloorDiv: operator.floordiv}
TORCH = re.compile(r"(?i:torch\.(version\.)?__version__|TORCH_?VERSION)$")
#: TORCH_GREATER_EQUAL_2_1 as a flag, is_torch_greater_or_equal("2.1") as a function.
LEAST = r"(?i:torch\w*?_?(?:ge|geq|gte|greater_or_equal|greater_equal|at_?least|min|min_version)(?:_than)?"
AT_LEAST, ASKS = re.compile(LEAST + r"_?v?(\d+)_(\d+))"), re.compile(LEAST + "$)")
#: What code asks torch for in place of its version, and the release that brought it.
STANDINS = {
    "compile": (2, 0), "_dynamo": (2, 0), "_inductor": (2, 0), "_functorch": (2, 0), "func": (2, 0), "vmap": (2, 0),
    "compiler": (2, 1), "export": (2, 1), "inference_mode": (1, 9), "float8_e4m3fn": (2, 1), "asarray": (1, 11),
    "scaled_dot_product_attention": (2, 0), "set_default_device": (2, 0), "get_default_device": (2, 3), "mps": (2, 0),
    "uint16": (2, 3), "accelerator": (2, 6),
}  # fmt: skip
TEXT = {"split", "rsplit", "startswith", "endswith", "strip", "rstrip", "replace", "partition", "removesuffix"}
PARTS = {"major", "minor", "micro", "patch", "release", "version", "base_version", "public", "groups"}
PLAIN: dict[str, Callable[..., Any]] = {
    "int": int, "float": float, "str": str, "tuple": tuple, "list": tuple, "set": tuple, "len": len, "bool": bool,
    "any": any, "all": all, "callable": bool,
}  # fmt: skip
SIMPLE: dict[type[ast.AST] | type[None], Callable[[Callable[[Any], Any], Any], Any]] = {
    ast.Constant: lambda of, node: node.value,
    **dict.fromkeys((ast.Tuple, ast.List, ast.Set), lambda of, node: tuple(map(of, node.elts))),
    **dict.fromkeys((ast.NamedExpr, ast.Starred, ast.FormattedValue), lambda of, node: of(node.value)),
    ast.UnaryOp: lambda of, node: {ast.Not: operator.not_, ast.USub: operator.neg}[type(node.op)](of(node.operand)),
    ast.IfExp: lambda of, node: of(node.body if of(node.test) else node.orelse),
    ast.JoinedStr: lambda of, node: "".join(str(of(each)) for each in node.values),
    ast.BinOp: lambda of, node: COUNT[type(node.op)](of(node.left), of(node.right)),
    ast.Slice: lambda of, node: slice(*(of(each) if each else None for each in (node.lower, node.upper))),
    ast.Subscript: lambda of, node: of(node.value)[of(node.slice)],
}
DEPTH = 40
FAULTS = (ValueError, TypeError, IndexError, KeyError, AttributeError, OverflowError, ArithmeticError, RecursionError)


class Unknown(Exception):
    """What code does not show."""


class Torch(str):
    """The version of torch as text, which compares as a version."""


class Thing:
    """Something that is there: a function, a class, a module."""


@dataclass(frozen=True)
class Names:
    """What `in` asks for: the options of an API, or the attributes of something."""

    api: str = ""


@dataclass
class Values:
    """What code is worth, each piece worked out once."""

    has: Has
    owned: Owned
    #: Says whether a node may run on a release, by the guards around it.
    runs: Callable[[File, ast.AST, Version, Params], bool | None]
    memo: dict[Any, Any] = field(default_factory=dict)
    depth: int = 0

    def lets(self, file: File, test: ast.AST, release: Version, params: Params) -> bool | None:
        """Say whether a test is true on a release."""
        try:
            return bool(self.value(file, test, release, params))
        except Unknown:
            return None

    def value(self, file: File, node: ast.AST | None, release: Version, params: Params) -> Any:
        """Return what an expression is worth. Raises Unknown."""
        key = (node, release, *sorted(params.items(), key=str))
        if key not in self.memo:
            self.memo[key] = Unknown  # where it is needed to work out itself
            self.depth += 1
            try:
                if self.depth < DEPTH:
                    self.memo[key] = self._value(file, node, release, params)
            except (Unknown, InvalidVersion, *FAULTS):
                pass
            finally:
                self.depth -= 1
        if self.memo[key] is Unknown:
            raise Unknown
        return self.memo[key]

    def _value(self, file: File, node: ast.AST | None, release: Version, params: Params) -> Any:
        match node:
            case ast.BoolOp():
                parts = [self.lets(file, each, release, params) for each in node.values]
                decisive = isinstance(node.op, ast.Or)
                return decisive if decisive in parts else _known(None if None in parts else not decisive)
            case ast.Compare():
                sides = [self.value(file, each, release, params) for each in (node.left, *node.comparators)]
                return all(self._compare(*each, release) for each in zip(sides, node.ops, sides[1:], strict=False))
            case ast.GeneratorExp() | ast.ListComp() if len(node.generators) == 1:
                (loop,) = node.generators
                through = self.value(file, loop.iter, release, params)
                inner = ({**params, spelled(loop.target): each} for each in through)
                kept = (one for one in inner if all(self.value(file, test, release, one) for test in loop.ifs))
                return tuple(self.value(file, node.elt, release, one) for one in kept)
            case ast.Name() | ast.Attribute():
                return self._named(file, node, release, params)
            case ast.Call():
                return self._called(file, node, release, params)
        return SIMPLE[type(node)](lambda each: self.value(file, each, release, params), node)

    def _compare(self, left: Any, sign: ast.cmpop, right: Any, release: Version) -> bool:
        if isinstance(sign, (ast.In, ast.NotIn)):
            if isinstance(right, Names):
                api, option = (right.api, left) if right.api else (left, "")
                return _known(self.has(api, option, release)) == isinstance(sign, ast.In)
            return (left in right) == isinstance(sign, ast.In)
        if isinstance(sign, (ast.Is, ast.IsNot)):
            return (left is right) == isinstance(sign, ast.Is)
        if isinstance(left, (Version, Torch)) or isinstance(right, (Version, Torch)):
            left, right = Version(_text(left)), Version(_text(right))
        return COMPARE[type(sign)](left, right)

    def _named(self, file: File, node: ast.Name | ast.Attribute, release: Version, params: Params) -> Any:
        name = spelled(node)
        if name in params:
            return params[name]
        if found := self.owned.values(file, node):
            return self.choose([(there, one.node, one.value) for there, one in found], release, {}, name)
        if TORCH.search(name):
            return _torch(release)
        if isinstance(node, ast.Attribute):
            if node.attr == "__dict__":
                return Names()
            of = self.value(file, node.value, release, params)
            if isinstance(of, Names):
                return of
            if node.attr in PARTS and isinstance(of, Version):
                return of.release if node.attr in ("version", "release") else getattr(of, node.attr)
            if node.attr == "version" and isinstance(of, Torch):  # get_distribution("torch").version
                return of
        if asked := AT_LEAST.search(name.rpartition(".")[2]):
            return release.release[:2] >= (int(asked[1]), int(asked[2]))
        raise Unknown

    def choose(
        self, found: list[tuple[File, ast.AST, ast.AST | None]], release: Version, params: Params, name: str = ""
    ) -> Any:
        """Return what is bound or returned on a release: what all that may run there agree on."""
        kept: list[Any] = []
        for file, node, value in found:
            runs = self.runs(file, node, release, params)
            if runs is False:
                continue
            if isinstance(value, (*FUNCTIONS, ast.ClassDef, ast.alias)):
                if isinstance(value, ast.alias) and (value.name == "__version__" or not file.of_torch(name)):
                    return self._outside(file, value, name, release)
                kept.append(THING)
            elif (
                value is None or isinstance(value, (ast.arg, ast.Dict)) or isinstance(node, LOOPS) or _grows(file, name)
            ):
                raise Unknown
            else:
                kept.append(self.value(file, value, release, params))
            if runs and isinstance(node, ast.Return):
                break
        if not kept or any(type(each) is not type(kept[0]) or each != kept[0] for each in kept):
            raise Unknown
        return kept[0]

    def _outside(self, file: File, value: ast.alias, name: str, release: Version) -> Any:
        """Return what a flag of somebody else is worth, by its name. Raises Unknown."""
        if TORCH.search(name) or (file.of_torch(name) and value.name == "__version__"):
            return _torch(release)
        if asked := AT_LEAST.search(name):
            return release.release[:2] >= (int(asked[1]), int(asked[2]))
        raise Unknown

    def _called(self, file: File, node: ast.Call, release: Version, params: Params) -> Any:
        name, given = last(node.func), node.args
        if isinstance(node.func, ast.Attribute) and node.func.attr in TEXT | {"keys", "get"}:
            of = self.value(file, node.func.value, release, params)
            if isinstance(of, str) and node.func.attr in TEXT:
                return getattr(str(of), node.func.attr)(*(self.value(file, each, release, params) for each in given))
            return _known(of if isinstance(of, Names) else None)
        if name in ("hasattr", "getattr") and len(given) > 1:
            return self._had(file, node, release, params)
        if name in ("signature", "getfullargspec", "dir", "vars") and given:
            return Names("" if name in ("dir", "vars") else last(given[0]))
        if name == "map" and len(given) == 2:
            return tuple(map(PLAIN[spelled(given[0])], self.value(file, given[1], release, params)))
        found = [(each, one.value) for each, one in self.owned.values(file, node.func)]
        for there, function in found[-1:]:
            if isinstance(function, FUNCTIONS):
                given_to = self.passed(file, function, node, release, params)
                return self._returned(there, function, node, given_to, release)
        signs = {known: sign for sign, known in SIGNS.items()}  # operator.ge may be handed on
        values = [signs.get(last(each)) or self.value(file, each, release, params) for each in given]
        return self._outer(node, values, release)

    def _had(self, file: File, node: ast.Call, release: Version, params: Params) -> Any:
        """Return what hasattr and getattr give."""
        owner, word, default = node.args[0], self.value(file, node.args[1], release, params), node.args[2:]
        if spelled(owner) in ("torch", "torch.nn.functional", "F") and word in STANDINS:
            there: bool | None = release.release[:2] >= STANDINS[word]
        else:
            there = self.has(f"Optimizer.{word}", "", release) if "ptim" in ast.unparse(owner) else None
            there = self.has(word, "", release) if there is None else there
        if last(node.func) == "hasattr" or _known(there):
            return _known(there) if last(node.func) == "hasattr" else THING
        return self.value(file, default[0] if default else None, release, params)

    def _outer(self, node: ast.Call, values: list[Any], release: Version) -> Any:
        """Return what a function of somebody else gives."""
        name = last(node.func)
        if name in ("version", "get_distribution") and values == ["torch"]:
            return _torch(release)
        if name in PLAIN and values:
            return values[0] if isinstance(values[0], Names) else PLAIN[name](*values)
        if name in SIGNS.values() and len(values) == 2:
            sign = next(sign for sign, made in COMPARE.items() if made is getattr(operator, name))
            return self._compare(values[0], sign(), values[1], release)
        if len(values) == 1 and ("ersion" in name or name == "parse") and not ASKS.search(name):
            return Version(_text(values[0]))
        return self._asked(node, name, release, values)

    def passed(self, file: File, function: ast.AST, call: ast.Call, release: Version, params: Params) -> dict[str, Any]:
        """Return what is known of what a call gives to the parameters of a function of the code, and of defaults."""
        args: ast.arguments = function.args  # type: ignore[attr-defined]
        plain = [each.arg for each in (*args.posonlyargs, *args.args)]
        pairs = dict(zip(plain[::-1], args.defaults[::-1], strict=False)) | dict(zip(plain, call.args, strict=False))
        pairs |= {each.arg: each.value for each in call.keywords if each.arg}
        found = {}
        for name, value in pairs.items():
            with contextlib.suppress(Unknown):
                found[name] = self.value(file, value, release, params)
        return found

    def _returned(self, file: File, function: ast.AST, call: ast.Call, params: Params, release: Version) -> Any:
        returns = [
            each for each in ast.walk(function) if isinstance(each, ast.Return) and file.within[each] is function
        ]
        try:
            return self.choose([(file, each, each.value) for each in returns], release, params)
        except Unknown:
            return self._asked(call, last(call.func), release, [*params.values()])

    def _asked(self, call: ast.Call, name: str, release: Version, values: list[Any]) -> bool:
        """Say what a function is worth that is told by its name: is_torch_version(">=", "2.0"). Raises Unknown."""
        words = [each for each in values if isinstance(each, str)]
        numbers = [each for each in map(_numbers, values) if each]
        signs = [SIGNS[word] for word in words if word in SIGNS] + ["ge"] * bool(ASKS.search(name))
        if asked := AT_LEAST.search(name):
            return release.release[:2] >= (int(asked[1]), int(asked[2]))
        if not signs or not numbers or "vision" in name or "torch" not in (name + " ".join(words)).lower():
            raise Unknown
        mine, theirs = ((*each, 0, 0)[:3] for each in (release.release, numbers[0]))
        return getattr(operator, signs[0])(mine, theirs)


THING = Thing()


def _grows(file: File, name: str) -> bool:
    """Say whether a list is changed where it is: it is not what it was when it was bound."""
    return any(f"{name}.{how}" in file.calls for how in ("append", "extend", "insert", "add", "remove", "pop"))


def _known(value: Any) -> Any:
    if value is None:
        raise Unknown
    return value


def _torch(release: Version) -> Torch:
    return Torch(".".join(map(str, (*release.release, 0, 0)[:3])))


def _text(value: Any) -> str:
    return ".".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _numbers(value: Any) -> tuple[int, ...]:
    try:
        return Version(_text(value)).release if not isinstance(value, bool) else ()
    except InvalidVersion:
        return ()


def mentioned(nodes: list[ast.stmt], file: File, apis: frozenset[str]) -> Iterator[tuple[str, str]]:
    """Yield the APIs that statements need, with an option each: imported from torch, read, or called with an option."""
    for node in (node for each in nodes for node in ast.walk(each)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "torch":
            yield from ((each.name, "") for each in node.names)
            yield from ((part, "") for part in (node.module or "").split(".")[1:2])
        elif isinstance(node, ast.Import):
            yield from ((each.name.split(".")[1], "") for each in node.names if each.name.startswith("torch."))
        elif isinstance(node, ast.Attribute) and (node.attr in apis or spelled(node.value) == "torch"):
            yield node.attr, ""
        elif isinstance(node, ast.Call) and last(node.func) in apis:
            yield from ((last(node.func), each.arg) for each in node.keywords if each.arg)
