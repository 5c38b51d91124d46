"""Which hook APIs a clause speaks of, read from its test: the functions of the suite are parsed, never run.

An API goes by the last part of its name, `register_forward_hook`. A plan names kinds of hook and a direct test calls
torch; both are followed through the constants and helpers of the suite.
"""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from fixtures.families import HOOK_KINDS, KINDS, MODULE_KINDS, TENSOR_KINDS

ROOT = Path(__file__).resolve().parents[2]
#: kind of hook in a plan -> the API that registers it.
METHODS = {kind: KINDS[kind].api for kind in HOOK_KINDS}
#: ... and where it is on every module ("*"), the global API.
GLOBAL = {kind.api: kind.everywhere for kind in KINDS.values() if kind.everywhere}
CONSTANTS = {"MODULE_KINDS": MODULE_KINDS, "TENSOR_KINDS": TENSOR_KINDS, "HOOK_KINDS": HOOK_KINDS}
API = re.compile(
    r"_?register_\w*hook|register_prehook|retain_grad|saved_tensors_hooks|save_on_cpu|disable_saved_tensors_hooks"
    r"|_(?:forward|forward_pre|backward_pre)_hooks(?:_with_kwargs|_always_called)?"
)  # not _backward_hooks: tensors have a dict of that name as modules have, and clauses speak of that of tensors

DOCS = re.compile(r"docs: ([\w.]+)")
NODES = ("grad_fn", "next_functions", "node", "Node")  # what register_hook is called on where it is a hook of a node
NODE_HOOK = "Node.register_hook"


def need(text: str) -> tuple[str, str]:
    """Return the name of what is needed, as APIs go by, and its option: ("register_forward_hook", "prepend")."""
    path, _, option = text.removesuffix(")").partition("(")
    owner, _, last = path.rpartition(".")
    return api_name(owner.rpartition(".")[2], last), option


def api_name(owner: str, name: str) -> str:
    """Return what an attribute of an owner goes by: only the hooks of nodes share their name with others."""
    return NODE_HOOK if name == "register_hook" and owner in NODES else name


def is_api(name: str) -> bool:
    """Say whether a name is one by which hooks are registered or held."""
    return name == NODE_HOOK or API.fullmatch(name) is not None


def owner_of(node: ast.Attribute) -> str:
    """Return the last name of what an attribute is taken from, behind calls and brackets."""
    owner: ast.AST = node.value
    while isinstance(owner, (ast.Call, ast.Subscript)):
        owner = owner.func if isinstance(owner, ast.Call) else owner.value
    return _name(owner)


@dataclass(frozen=True)
class Subject:
    """The APIs that a clause is about: `every` one of them must meet, or any is enough; and whether it asks grad()."""

    apis: frozenset[str]
    every: bool
    asks: bool = False


def subject(name: str, clause: Mapping[str, Any]) -> Subject:
    """Return what a clause is about: the hooks of its witness, or what it needs, quotes, draws or tests."""
    found = _read(name, clause["file"], clause["code"])
    named = {need(text)[0] for text in clause["needs"]}
    named |= {need(match[1])[0] for source in clause["source"] if (match := DOCS.match(source))}
    about = frozenset(filter(is_api, named))
    if found.how == "witness" or not about & found.apis:
        return Subject(found.apis or about, found.how != "drawn", found.asks)
    return Subject(about & found.apis, False, found.asks)


def touched(name: str, clause: Mapping[str, Any]) -> frozenset[str]:
    """Return every API that the witness of a clause uses, else every one that its drawn plans or its test may use."""
    return _read(name, clause["file"], clause["code"]).apis


class _Found(NamedTuple):
    apis: frozenset[str]
    how: str  # the "witness" has them all, a "test" calls them all, "drawn" plans have some
    asks: bool


@functools.cache
def _read(name: str, file: str, code: str) -> _Found:
    """Return the APIs that a test uses; what a run file calls code may be none, or too deep to be read."""
    try:
        return _walked(*(_tests().get(name) or (file, _first(ast.parse(code)))))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return _Found(frozenset(), "test", False)


def _walked(file: str, test: ast.FunctionDef | None) -> _Found:
    if test is None:
        return _Found(frozenset(), "test", False)
    marks = _marks(test)
    drawn = [*marks["given"].args, *marks["given"].keywords] if "given" in marks else []
    if "plan" not in [argument.arg for argument in test.args.args]:
        walk = _Walk(file).read_all([*drawn, *test.body, *test.args.defaults])
        return _Found(walk.apis(plans=False), "drawn" if walk.spells else "test", walk.asks)
    witnesses = [
        keyword.value
        for call in ast.walk(marks.get("clause", ast.Pass()))
        if isinstance(call, ast.Call)
        for keyword in call.keywords
        if keyword.arg == "witness"
    ]
    walk = _Walk(file).read_all(witnesses)
    if walk.apis(plans=True, witness=True):
        return _Found(walk.apis(plans=True, witness=True), "witness", walk.asks)
    return _Found(_Walk(file).read_all(drawn).apis(plans=True), "drawn", walk.asks)


def _first(module: ast.Module) -> ast.FunctionDef | None:
    return next((node for node in module.body if isinstance(node, ast.FunctionDef)), None)


def _marks(test: ast.FunctionDef) -> dict[str, ast.Call]:
    return {_name(mark.func): mark for mark in test.decorator_list if isinstance(mark, ast.Call)}


@functools.cache
def _tests() -> Mapping[str, tuple[str, ast.FunctionDef]]:
    """Return the tests of this checkout by the clause they check, each with its file."""
    found: dict[str, tuple[str, ast.FunctionDef]] = {}
    for path in sorted((ROOT / "suites").glob("*/test_*.py")):
        for node in _parsed(path).body:
            mark = _marks(node).get("clause") if isinstance(node, ast.FunctionDef) else None
            if mark and mark.args and isinstance(mark.args[0], ast.Constant) and isinstance(node, ast.FunctionDef):
                found[str(mark.args[0].value)] = (path.relative_to(ROOT).as_posix(), node)
    return found


@functools.cache
def _parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def _name(node: ast.AST) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def _draws(file: str) -> bool:
    """Say whether clauses have from this file of the fixtures what they draw from."""
    path = ROOT / file
    return file.startswith("fixtures/") and path.is_file() and "@st.composite" in path.read_text(encoding="utf-8")


@functools.cache
def _module(file: str) -> Mapping[str, tuple[str, ast.AST]]:
    """Return what stands at the top of a file of the suite: name -> (file, definition)."""
    found: dict[str, tuple[str, ast.AST]] = {}
    path = ROOT / file
    if not (file.startswith(("suites/", "fixtures/")) and path.is_file()):
        return found
    for node in _parsed(path).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            found[node.name] = (file, node)
        elif isinstance(node, ast.Assign):
            found.update({name: (file, node.value) for target in node.targets if (name := _name(target))})
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            found[_name(node.target)] = (file, node.value)
        elif isinstance(node, ast.ImportFrom) and node.module:
            other = node.module.replace(".", "/") + ".py"
            if node.module.startswith("suites.") or _draws(other):
                known = _module(other)
                found.update({each.asname or each.name: known[each.name] for each in node.names if each.name in known})
    return found


@dataclass
class _Walk:
    """Collects the words of an expression and of all of the suite that it uses."""

    file: str
    found: set[str] = field(default_factory=set)
    words: set[str] = field(default_factory=set)
    everywhere: set[str] = field(default_factory=set)
    spelled: set[str] = field(default_factory=set)
    seen: set[tuple[str, str, frozenset[str]]] = field(default_factory=set)
    asks: bool = False

    @property
    def spells(self) -> bool:
        """Whether names of methods are made from kinds."""
        return bool(self.spelled & {"register_{", "register_module_{"})

    def read_all(self, nodes: Iterable[ast.AST]) -> _Walk:
        """Read all of these."""
        for node in nodes:
            self.read(node)
        return self

    def apis(self, *, plans: bool, witness: bool = False) -> frozenset[str]:
        """Return the APIs met; a kind counts where it stands in a plan or spells the name of a method."""
        found = {word for word in self.words | self.found if is_api(word)}
        kinds = {METHODS[word] for word in self.words if word in METHODS}
        if plans or "register_{" in self.spelled:
            found |= kinds
        if "register_module_{" in self.spelled:
            found |= {GLOBAL[kind] for kind in kinds if kind in GLOBAL}
        if "*" in self.words:
            everywhere = {GLOBAL[name] for name in found if name in GLOBAL}
            found = everywhere | {name for name in found if witness is False or name not in GLOBAL}
        return frozenset(found | {GLOBAL[METHODS[kind]] for kind in self.everywhere if METHODS.get(kind) in GLOBAL})

    def read(self, node: ast.AST, without: Iterable[ast.AST] = ()) -> None:
        """Read a node and all below it, but for some."""
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            self.words.add(node.value)
        elif isinstance(node, ast.JoinedStr):
            self.spelled.add(ast.unparse(node)[2:].partition("{")[0] + "{")
        elif isinstance(node, ast.Attribute):
            self.found.add(api_name(owner_of(node), node.attr))
            self.asks = self.asks or (node.attr == "grad" and _name(node.value) == "autograd")
        elif isinstance(node, ast.Call):
            without = self.call(node, without)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            self.follow(node.id, frozenset())
        for child in ast.iter_child_nodes(node):
            if child not in without:
                self.read(child)

    def call(self, node: ast.Call, without: Iterable[ast.AST]) -> list[ast.AST]:
        """Read what a call says by itself; return the parts of it that are thereby done."""
        name = _name(node.func)
        if name == "Retain" or (name == "plans" and _says(node, "retain")):
            self.found.add("retain_grad")
        if name == "plans" and _says(node, "everywhere"):
            self.words.add("*")
        if name == "Hook" and len(node.args) > 1:
            kind, on = node.args[:2]
            if isinstance(kind, ast.Constant) and isinstance(on, ast.Constant) and on.value == "*":
                self.everywhere.add(str(kind.value))
                return [*without, kind, on]
        if isinstance(node.func, ast.Name):
            self.follow(name, _given(node, _module(self.file).get(name)))
            return [*without, node.func]
        return [*without]

    def follow(self, name: str, given: frozenset[str]) -> None:
        """Read the definition of a name; the defaults of arguments that the caller gave do not count."""
        self.words.update(CONSTANTS.get(name, ()))
        self.asks = self.asks or name == "Ask"
        known = _module(self.file).get(name)
        if known is None or (*known[:1], name, given) in self.seen:
            return
        self.seen.add((known[0], name, given))
        file, node = known
        here, self.file = self.file, file
        defaults = [default for each, default in _defaults(node) if each in given]
        inner = node.args if isinstance(node, ast.FunctionDef) else node
        if isinstance(node, ast.FunctionDef):
            self.read(inner, defaults)
            for part in node.body if name != "plans" else ():  # its arguments say what it draws
                if not _is_docstring(part):
                    self.read(part)
        else:
            self.read(node)
        self.file = here


def _says(call: ast.Call, option: str) -> bool:
    """Say whether a call sets an option to something else than False."""
    return any(
        keyword.arg == option and not (isinstance(keyword.value, ast.Constant) and keyword.value.value is False)
        for keyword in call.keywords
    )


def _is_docstring(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _defaults(node: ast.AST) -> list[tuple[str, ast.AST]]:
    """Return the arguments of a function that have a default."""
    if not isinstance(node, ast.FunctionDef):
        return []
    plain = [*node.args.posonlyargs, *node.args.args]
    pairs = [*zip(reversed(plain), reversed(node.args.defaults), strict=False)]
    pairs += [
        (one, default) for one, default in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True) if default
    ]
    return [(one.arg, default) for one, default in pairs]


def _given(call: ast.Call, known: tuple[str, ast.AST] | None) -> frozenset[str]:
    """Return the names of the arguments that a call gives."""
    names = {keyword.arg for keyword in call.keywords if keyword.arg}
    if known and isinstance(known[1], ast.FunctionDef):
        plain = [one.arg for one in known[1].args.args]
        composite = any(_name(mark) == "composite" for mark in known[1].decorator_list)
        names |= set(plain[composite : composite + len(call.args)])
    return frozenset(names)


def known_apis(clauses: Mapping[str, Mapping[str, Any]]) -> frozenset[str]:
    """Return every API that some clause is about."""
    return frozenset(api for name, clause in clauses.items() for api in subject(name, clause).apis)
