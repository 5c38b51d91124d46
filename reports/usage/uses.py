"""Which hook APIs someone's Python code uses, with which options and where. The code is parsed, never run."""

from __future__ import annotations

import ast
import itertools
import json
import os
import re
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from packaging.version import Version

from fixtures.families import KINDS
from fixtures.judge.unstated import UNSTATED
from reports.data.about import NODE_HOOK
from reports.data.strict import BadInput, read_bytes
from reports.usage.guards import Guards, Has, caught, conditions
from reports.usage.hooks import Hooked, hooked
from reports.usage.owned import File, Owned, read_file, spelled

#: The dicts that hooks are kept in.
DICTS = {
    "_forward_hooks": "module_dicts",
    "_forward_pre_hooks": "module_dicts",
    "_backward_hooks": "module_dicts|tensor_dict",
    "_backward_pre_hooks": "",
    "_post_accumulate_grad_hooks": "",
    "_state_dict_hooks": "",
    "_state_dict_pre_hooks": "",
    "_load_state_dict_pre_hooks": "",
    "_load_state_dict_post_hooks": "",
    "_optimizer_step_pre_hooks": "",
    "_optimizer_step_post_hooks": "",
}
#: API -> the kind of hook it registers.
KIND_OF = {name: kind.name for kind in KINDS.values() for name in (kind.api, kind.everywhere) if name}
EVERYWHERE = frozenset(kind.everywhere for kind in KINDS.values() if kind.everywhere)
APIS = frozenset(KIND_OF) | frozenset(UNSTATED) | frozenset(DICTS)
OPTIONS = frozenset({each.name for kind in KINDS.values() for each in kind.options} | {"with_module", "mode"})
#: How many arguments torch's own take by position, where it is not the hook alone and what follows are options.
TAKES = {"retain_grad": (0, 0), "register_comm_hook": (2, 2), "register_multi_grad_hook": (2, 3), "save_on_cpu": (0, 2)}
TAKES |= {"saved_tensors_hooks": (2, 2), "disable_saved_tensors_hooks": (1, 2), "register_hooks": (2, 2)}
TAKES |= {"register_hook": (1, 1), NODE_HOOK: (1, 1), "register_prehook": (1, 1)}
TAKES |= {"register_post_accumulate_grad_hook": (1, 1), "register_backward_hook": (1, 1)}
ARGUMENTS = {"hook", "tensors", "fn", "state", "pin_memory", "device_type", "pack_hook", "unpack_hook", "error_message"}
#: What register_hook is called on where it is a hook of a node.
NODES = ("grad_fn", "next_functions", "node", "Node")
INDIRECT = ("partial", "partialmethod", "methodcaller", "attrgetter")
MOST_NAMES = 64
#: What a file has that uses a hook, or says on which torch something is there.
NAMED = "|".join(sorted({*DICTS, "retain_grad", "saved_tensors_hooks", "save_on_cpu"}))
GUARD = r"(?i:^[ \t]*(\w+ *=|return) .*(torch\w*[\W_]*version|version\(.torch|torch_\w*(greater|ge|min)))"
WORTH = re.compile(rf"register_(\w*hook|prehook|[^\w])|{NAMED}|{GUARD}".encode(), re.MULTILINE)


@dataclass(frozen=True, order=True)
class Use:
    """One place where an API is used: on which releases, and what can be seen of it."""

    file: str
    line: int
    api: str
    options: frozenset[str] = field(default=frozenset(), compare=False)
    unsure: bool = field(default=False, compare=False)  # called with **options: any may be among them
    hooked: Hooked = field(default_factory=Hooked, compare=False)
    guards: tuple[tuple[ast.expr, bool], ...] = field(default=(), compare=False, repr=False)
    caught: bool = field(default=False, compare=False)  # what a release lacks is caught

    @property
    def place(self) -> str:
        """The place, as editors and terminals understand it."""
        return f"{self.file}:{self.line}"

    def has(self, option: str) -> bool:
        """Say whether the use has an option; every use has the empty one."""
        return not option or option in self.options

    def on(self, release: Version, guards: Guards) -> bool:
        """Say whether the use may run on a release."""
        return all(guards.lets(test, release) in (None, wanted) for test, wanted in self.guards)


@dataclass
class Code:
    """What was found in someone's files."""

    guards: Guards
    uses: list[Use] = field(default_factory=list)
    files: int = 0
    skipped: list[str] = field(default_factory=list)
    accepted: dict[str, dict[int, str]] = field(default_factory=dict)  # file -> line -> what a comment there accepts


def read_code(path: Path, has: Has) -> Code:
    """Return the uses of hook APIs in a file or in all Python files of a folder. Raises BadInput."""
    code = Code(Guards(has))
    read: list[File] = []
    fault = "holds no Python file"
    for file in _files(path, code.skipped):
        name = file.relative_to(path).as_posix() if path.is_dir() else file.as_posix()
        tree, fault = _parsed(file, name, code, whole=file is path)
        if fault:
            code.skipped.append(f"{name}: {fault}")
            continue
        code.files += 1
        if tree is not None:
            file_read = read_file(name, tree)
            code.guards.learn(node for node, _ in file_read.nodes)
            read.append(file_read)
    if not code.files:
        if path.is_dir() and code.skipped:
            fault = f"holds no Python file that can be read ({code.skipped[0]})"
        raise BadInput(path, "", fault or "holds no Python file", "name a file or a folder of Python code")
    owned = Owned(read)
    for each in read:
        code.uses += sorted(set(_Reader(each, owned).uses()))
    code.uses.sort()
    return code


def _files(path: Path, skipped: list[str]) -> Iterator[Path]:
    """Yield a file, or all Python files of a folder; a folder inside that cannot be read is listed as skipped."""

    def left_out(problem: OSError) -> None:
        name = Path(problem.filename).relative_to(path).as_posix()
        skipped.append(f"{name}: cannot be read ({problem.strerror})")

    if not path.is_dir():
        yield path
        return
    for parent, folders, names in os.walk(path, onerror=left_out):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name != "__pycache__")
        yield from (Path(parent, name) for name in sorted(names) if name.endswith((".py", ".ipynb")))


def _parsed(path: Path, name: str, code: Code, *, whole: bool) -> tuple[ast.Module | None, str]:
    """Return the code of a file, or why there is none; one that has no word for a hook or a guard is not parsed."""
    try:
        raw = read_bytes(path)
    except BadInput as problem:
        return None, problem.fault
    if not whole and not WORTH.search(raw):
        return None, ""
    try:
        if path.suffix == ".ipynb":
            raw = _notebook(raw)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # other people's escapes in strings
            tree = ast.parse(raw)
    except (SyntaxError, ValueError, KeyError, TypeError, AttributeError) as problem:
        line = getattr(problem, "lineno", None)
        what = "no notebook" if path.suffix == ".ipynb" else "no Python of version 3"
        return None, f"is {what} ({getattr(problem, 'msg', problem)}" + (f", line {line})" if line else ")")
    except (RecursionError, MemoryError):
        return None, "is nested too deep to be read"
    for number, line in enumerate(raw.decode("utf-8", "replace").splitlines(), 1):
        if "hook-conformance:" in line:
            code.accepted.setdefault(name, {})[number] = line.rpartition("hook-conformance:")[2].strip()
    return tree, ""


def _notebook(raw: bytes) -> bytes:
    """Return the Python of a notebook, cell behind cell; commands to the notebook itself are left out."""
    lines: list[str] = []
    for cell in json.loads(raw)["cells"]:
        if cell["cell_type"] == "code":
            source = cell["source"]
            text = source if isinstance(source, str) else "".join(source)
            lines += ["" if line.lstrip()[:1] in ("%", "!") else line for line in text.split("\n")]
    return "\n".join(lines).encode()


class _Reader:
    """Reads one file."""

    def __init__(self, file: File, owned: Owned) -> None:
        self.file, self.owned, self.parents = file, owned, file.parents
        self.named: dict[str, list[ast.expr]] = {}
        self.dicts: set[str] = set()
        for node, _ in file.nodes:
            if isinstance(node, (ast.For, ast.comprehension)):
                self._bind(node.target, node.iter, each=True)
            elif isinstance(node, ast.Assign):
                for target in node.targets:
                    self._bind(target, node.value)
            elif isinstance(node, (ast.AnnAssign, ast.NamedExpr)) and node.value:
                self._bind(node.target, node.value)
            elif isinstance(node, ast.Attribute) and node.attr in DICTS:
                self.dicts.add(node.attr)

    def _bind(self, target: ast.expr, value: ast.expr, *, each: bool = False) -> None:
        if isinstance(target, ast.Name) and not each:
            self.named.setdefault(target.id, []).append(value)
        elif isinstance(target, ast.Name) and isinstance(value, (ast.Tuple, ast.List, ast.Set)):
            self.named.setdefault(target.id, []).extend(value.elts)

    def uses(self) -> Iterator[Use]:
        """Yield the uses of this file."""
        called: set[ast.AST] = set()
        for node, inside in self.file.nodes:
            if isinstance(node, ast.Call):
                called.add(node.func)
                yield from self._call(node, inside)
            elif isinstance(node, (ast.Name, ast.Attribute)) and node not in called:
                yield from self._mention(node, inside)
            elif isinstance(node, ast.Subscript) and _is_dict_of(node.value):
                for name in self._words(node.slice):
                    if name in DICTS:
                        yield self._use(node, name, None)

    def _call(self, node: ast.Call, inside: ast.ClassDef | None) -> Iterator[Use]:
        name = self._called(node.func)
        if name in ("getattr", "setattr", "delattr") and len(node.args) > 1:
            parent = self.parents.get(node)
            outer = parent if isinstance(parent, ast.Call) and parent.func is node else None
            for word in self._words(node.args[1]):
                if word in APIS and (word in DICTS or name != "getattr" or len(node.args) == 2 or outer):
                    yield self._use(
                        node, NODE_HOOK if word == "register_hook" and self._node(node.args[0]) else word, outer
                    )
        elif name in INDIRECT and name not in ("partial", "partialmethod"):
            yield from (self._use(node, word, None) for arg in node.args for word in self._words(arg) if word in APIS)
        elif name in APIS and not self._is_own(node.func, inside) and self._fits(name, node):
            yield self._use(node, name, node)

    def _mention(self, node: ast.Name | ast.Attribute, inside: ast.ClassDef | None) -> Iterator[Use]:
        name = self._called(node)
        if name not in APIS or self._is_own(node, inside):
            return
        if isinstance(node, ast.Name) and not self.file.of_torch(node.id):
            return
        parent = self.parents.get(node)
        if isinstance(parent, ast.Call) and self._called(parent.func) in ("partial", "partialmethod"):
            yield self._use(node, name, parent)
        elif isinstance(parent, ast.Assign) and isinstance(parent.targets[0], ast.Name) and name not in DICTS:
            alias = parent.targets[0].id
            calls = [each for each, _ in self.file.nodes if isinstance(each, ast.Call) and spelled(each.func) == alias]
            yield from [self._use(each, name, each) for each in calls] or [self._use(node, name, None)]
        elif not (isinstance(parent, ast.Attribute) and name not in DICTS):  # m.register_hook.__doc__ registers nothing
            yield self._use(node, name, None)

    def _use(self, node: ast.expr, name: str, call: ast.Call | None) -> Use:
        chain: list[ast.AST] = [node]
        while chain[-1] in self.parents:
            chain.append(self.parents[chain[-1]])
        options, unsure = self._options(call) if call else (frozenset(), False)
        guards = tuple(conditions(chain, self.parents))
        seen = hooked(node, name, call, chain, guards, self.file, self.named, self.dicts)
        return Use(self.file.name, node.lineno, name, options, unsure, seen, guards, caught(chain, self.parents))

    def _options(self, call: ast.Call) -> tuple[frozenset[str], bool]:
        """Return the options that a call turns on, or may turn on, and whether there may be others."""
        given: dict[str | None, ast.expr] = {}
        unsure = False
        for keyword in call.keywords:
            if keyword.arg:
                given[keyword.arg] = keyword.value
            elif (known := self._dict(keyword.value)) is not None:
                given.update(known)
            else:
                unsure = True
        on = {name for name, value in given.items() if not (isinstance(value, ast.Constant) and not value.value)}
        return frozenset(str(name) for name in on if name in OPTIONS), unsure

    def _dict(self, node: ast.expr) -> Mapping[str | None, ast.expr] | None:
        if isinstance(node, ast.Name):
            values = self.named.get(node.id, [])
            return self._dict(values[0]) if len(values) == 1 else None
        if isinstance(node, ast.Dict):
            pairs = zip(node.keys, node.values, strict=True)
            return {str(each.value): value for each, value in pairs if isinstance(each, ast.Constant)}
        if isinstance(node, ast.Call) and spelled(node.func) == "dict" and not node.args:
            return {each.arg: each.value for each in node.keywords}
        if isinstance(node, ast.IfExp):
            one, other = self._dict(node.body), self._dict(node.orelse)
            return None if one is None or other is None else {**one, **other}
        return None

    def _words(self, node: ast.expr, depth: int = 0) -> list[str]:
        """Return the strings that an expression may be: a constant, a name bound to some, or pieces put together."""
        if isinstance(node, ast.Constant):
            return [node.value] if isinstance(node.value, str) else []
        if depth > 3:
            return []
        if isinstance(node, ast.Name):
            return [word for each in self.named.get(node.id, ())[:MOST_NAMES] for word in self._words(each, depth + 1)]
        if isinstance(node, ast.FormattedValue):
            return self._words(node.value, depth + 1)
        if isinstance(node, ast.IfExp):
            return self._words(node.body, depth + 1) + self._words(node.orelse, depth + 1)
        parts: list[ast.expr] = []
        if isinstance(node, ast.JoinedStr):
            parts = node.values
        elif isinstance(node, ast.BinOp):
            parts = [node.left, node.right]
        pieces = [self._words(part, depth + 1) for part in parts]
        return ["".join(each) for each in itertools.islice(itertools.product(*pieces), MOST_NAMES)] if pieces else []

    def _called(self, node: ast.expr) -> str:
        """Return what a name or an attribute goes by in torch: "Node.register_hook" for that of a grad_fn."""
        if isinstance(node, ast.Name):
            return self.file.imported(node.id)
        if not isinstance(node, ast.Attribute):
            return ""
        return NODE_HOOK if node.attr == "register_hook" and self._node(node.value) else node.attr

    def _node(self, owner: ast.expr, depth: int = 0) -> bool:
        """Say whether an expression is a node of autograd: a grad_fn, what is in next_functions, or a name for one."""
        while isinstance(owner, (ast.Call, ast.Subscript)):
            owner = owner.func if isinstance(owner, ast.Call) else owner.value
        name = owner.attr if isinstance(owner, ast.Attribute) else spelled(owner)
        values = self.named.get(name, ()) if isinstance(owner, ast.Name) and name not in NODES and depth < 3 else ()
        made = [each for each in values if isinstance(each, (ast.Attribute, ast.Subscript))]
        return name in NODES or any(self._node(each, depth + 1) for each in made)

    def _fits(self, name: str, call: ast.Call) -> bool:
        """Say whether a call has as many arguments as torch's own takes; what has others is the code's own."""
        if any(isinstance(each, ast.Starred) for each in call.args) or any(each.arg is None for each in call.keywords):
            return True
        least, most = TAKES.get(name, (1, 4))
        given = len(call.args) + len(call.keywords)
        own = {each.arg for each in call.keywords} - OPTIONS - ARGUMENTS
        return least <= given <= most and not own

    def _is_own(self, node: ast.expr, inside: ast.ClassDef | None) -> bool:
        """Say whether what is called is someone's own, although it is named as torch's is."""
        if isinstance(node, ast.Name):
            return not self.file.of_torch(node.id)
        if not isinstance(node, ast.Attribute):
            return False
        owner = node.value
        if isinstance(owner, ast.Call):
            above = isinstance(owner.func, ast.Name) and owner.func.id == "super"
            return above and self.owned.method(self.file, inside, node.attr, above=True)
        if isinstance(owner, ast.Name) and owner.id in ("self", "cls"):
            return self.owned.method(self.file, inside, node.attr)
        for value in self.named.get(owner.id, ()) if isinstance(owner, ast.Name) else ():
            if isinstance(value, ast.Call) and self.owned.instance(self.file, spelled(value.func), node.attr):
                return True
        return False


def _is_dict_of(node: ast.expr) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == "__dict__"
