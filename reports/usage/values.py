"""What a piece of someone's code is worth on a release of torch: versions, flags, functions that return one.

It is worked out from the text: nothing is run. What cannot be worked out is `Unknown`.
"""

from __future__ import annotations

import ast
import contextlib
import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from packaging.version import InvalidVersion, Version

from reports.usage.owned import FUNCTIONS, LOOPS, File, last, spelled
from reports.usage.project import Owned

#: (API, option) -> whether a release has it; None for what no table knows.
Has = Callable[[str, str, Version], "bool | None"]
Params = Mapping[str, Any]
NO_PARAMS: Params = MappingProxyType({})
#: Comparisons that tell releases apart, as text and as a name in `operator`; and all comparisons of Python.
SIGNS = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq, "!=": operator.ne,
}  # fmt: skip
NAMED_SIGNS = {each.__name__: each for each in SIGNS.values()}
COMPARE: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge, ast.Eq: operator.eq,
    ast.NotEq: operator.ne, ast.Is: operator.is_, ast.IsNot: operator.is_not,
    ast.In: lambda left, right: left in right, ast.NotIn: lambda left, right: left not in right,
}  # fmt: skip
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
THING = object()  # something that is there: a function, a class, a module
FAULTS = (ValueError, TypeError, IndexError, KeyError, AttributeError, OverflowError, ArithmeticError, RecursionError)


class Unknown(Exception):
    """What code does not show."""


class Torch(str):
    """The version of torch as text, which compares as a version."""


@dataclass(frozen=True)
class Names:
    """What `in` asks for: the options of an API, or the attributes of something."""

    api: str = ""


@dataclass
class Values:
    """What code is worth, each piece worked out once."""

    has: Has
    owned: Owned
    apis: frozenset[str]
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
                signs = [COMPARE[type(each)] for each in node.ops]
                return all(self._compare(*each, release) for each in zip(sides, signs, sides[1:], strict=False))
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
            case ast.Try():  # whether it comes to its end
                known = {self.there(*each, release) for each in mentioned(node.body, self.apis)}
                return _known(False if False in known else True if True in known else None)
        return SIMPLE[type(node)](lambda each: self.value(file, each, release, params), node)

    def _compare(self, left: Any, sign: Callable[[Any, Any], Any], right: Any, release: Version) -> bool:
        if isinstance(right, Names) and sign in (COMPARE[ast.In], COMPARE[ast.NotIn]):
            api, option = (right.api, left) if right.api else (left, "")
            return _known(self.has(api, option, release)) == (sign is COMPARE[ast.In])
        if sign in SIGNS.values() and any(isinstance(each, (Version, Torch)) for each in (left, right)):
            left, right = Version(_text(left)), Version(_text(right))
        return sign(left, right)

    def _named(self, file: File, node: ast.Name | ast.Attribute, release: Version, params: Params) -> Any:
        name = spelled(node)
        if name in params:
            return params[name]
        if found := self.owned.values(file, node):
            return self.choose([(there, one.node, one.value) for there, one in found], release, {}, name)
        if TORCH.search(name):
            return _torch(release)
        if isinstance(node, ast.Attribute):
            of = Names() if node.attr == "__dict__" else self.value(file, node.value, release, params)
            if isinstance(of, Names) or (node.attr == "version" and isinstance(of, Torch)):
                return of  # get_distribution("torch").version
            if node.attr in PARTS and isinstance(of, Version):
                return of.release if node.attr in ("version", "release") else getattr(of, node.attr)
        return _by_name(name, release)

    def choose(
        self, found: Sequence[tuple[File, ast.AST, ast.AST | None]], release: Version, params: Params, name: str = ""
    ) -> Any:
        """Return what is bound or returned on a release: what all that may run there agree on."""
        kept: list[Any] = []
        for file, node, value in found:
            runs = self.runs(file, node, release, params)
            if runs is False:
                continue
            if isinstance(value, ast.alias) and (value.name == "__version__" or not file.of_torch(name)):
                of_torch = TORCH.search(name) or file.of_torch(name)  # else a flag of somebody else
                return _torch(release) if of_torch else _by_name(name, release)
            if isinstance(value, (*FUNCTIONS, ast.ClassDef, ast.alias)):
                kept.append(THING)
            elif isinstance(value, (ast.arg, ast.Dict)) or isinstance(node, LOOPS) or _grows(file, name):
                raise Unknown
            else:
                kept.append(self.value(file, _known(value), release, params))
            if runs and isinstance(node, ast.Return):
                break
        if not kept or any(type(each) is not type(kept[0]) or each != kept[0] for each in kept):
            raise Unknown
        return kept[0]

    def _called(self, file: File, node: ast.Call, release: Version, params: Params) -> Any:
        name, given = last(node.func), node.args

        def of(each: ast.expr) -> Any:
            return NAMED_SIGNS.get(last(each)) or self.value(file, each, release, params)

        if isinstance(node.func, ast.Attribute) and name in TEXT | {"keys", "get"}:
            owner = of(node.func.value)
            if isinstance(owner, str) and name in TEXT:
                return getattr(str(owner), name)(*map(of, given))
            return _known(owner if isinstance(owner, Names) else None)
        if name in ("hasattr", "getattr") and len(given) > 1:
            there = self._had(given[0], of(given[1]), release)
            return _known(there) if name == "hasattr" else THING if _known(there) else of(given[2])
        if name in ("signature", "getfullargspec", "dir", "vars") and given:
            return Names("" if name in ("dir", "vars") else last(given[0]))
        for there, one in self.owned.values(file, node.func)[-1:]:
            if isinstance(one.value, FUNCTIONS):
                return self._returned(there, one.value, node, of, release)
        if name == "map" and len(given) == 2:
            return tuple(map(PLAIN[spelled(given[0])], of(given[1])))
        return self._outer(name, [*map(of, given)], release)

    def _outer(self, name: str, values: list[Any], release: Version) -> Any:
        """Return what a function of somebody else gives."""
        if name in ("version", "get_distribution") and values == ["torch"]:
            return _torch(release)
        if name in PLAIN and values:
            return values[0] if isinstance(values[0], Names) else PLAIN[name](*values)
        if name in NAMED_SIGNS and len(values) == 2:
            return self._compare(values[0], NAMED_SIGNS[name], values[1], release)
        if len(values) == 1 and ("ersion" in name or name == "parse") and not ASKS.search(name):
            return Version(_text(values[0]))
        return _by_name(name, release, values)

    def _returned(
        self, file: File, function: ast.AST, call: ast.Call, of: Callable[[ast.expr], Any], release: Version
    ) -> Any:
        """Return what a function of the code gives."""
        params = {}
        for name, value in passed_to(function, call).items():
            with contextlib.suppress(Unknown):
                params[name] = of(value)
        returns = (each for each in ast.walk(function) if isinstance(each, ast.Return))
        try:
            return self.choose(
                [(file, each, each.value) for each in returns if file.within[each] is function], release, params
            )
        except Unknown:
            return _by_name(last(call.func), release, [*params.values()])

    def there(self, name: str, option: str, release: Version) -> bool | None:
        """Say whether a release has something of torch: a hook API, or what code asks for in place of a version."""
        return release.release[:2] >= STANDINS[name] if name in STANDINS else self.has(name, option, release)

    def _had(self, owner: ast.expr, word: Any, release: Version) -> bool | None:
        if spelled(owner) in ("torch", "torch.nn.functional", "F"):
            return self.there(word, "", release)
        there = self.has(f"Optimizer.{word}", "", release) if "ptim" in ast.unparse(owner) else None
        return self.has(word, "", release) if there is None else there


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


def _by_name(name: str, release: Version, values: Sequence[Any] = ()) -> bool:
    """Say what is told by its name: a flag, or a function as is_torch_version(">=", "2.0"). Raises Unknown."""
    if asked := AT_LEAST.search(name):
        return release.release[:2] >= (int(asked[1]), int(asked[2]))
    words = [each for each in values if isinstance(each, str)]
    signs = [SIGNS[each] for each in words if each in SIGNS] + [each for each in values if each in SIGNS.values()]
    signs += [operator.ge] * bool(ASKS.search(name))
    numbers = [text for text in map(_text, values) if re.match(r"v?\d", text)]
    if not signs or not numbers or "vision" in name or "torch" not in (name + " ".join(words)).lower():
        raise Unknown
    return signs[0](release, Version(numbers[0]))


def passed_to(function: ast.AST, call: ast.Call) -> dict[str, ast.expr]:
    """Return what a call gives to the parameters of a function of the code, and their defaults."""
    args: ast.arguments = function.args  # type: ignore[attr-defined]
    plain = [each.arg for each in (*args.posonlyargs, *args.args)]
    pairs = dict(zip(plain[::-1], args.defaults[::-1], strict=False)) | dict(zip(plain, call.args, strict=False))
    return pairs | {each.arg: each.value for each in call.keywords if each.arg}


def mentioned(nodes: list[ast.stmt], apis: frozenset[str]) -> Iterator[tuple[str, str]]:
    """Yield the APIs that statements need, with an option each: imported from torch, read, or called with an option."""
    for node in (node for each in nodes for node in ast.walk(each)):
        match node:
            case ast.ImportFrom(module=str(module)) if module.partition(".")[0] == "torch":
                yield from ((name, "") for name in (*module.split(".")[1:2], *(each.name for each in node.names)))
            case ast.Import():
                yield from ((each.name.split(".")[1], "") for each in node.names if each.name.startswith("torch."))
            case ast.Attribute(attr=name) if name in apis or spelled(node.value) == "torch":
                yield name, ""
            case ast.Call() if last(node.func) in apis:
                yield from ((last(node.func), each.arg) for each in node.keywords if each.arg)
