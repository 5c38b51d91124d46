"""Which hook APIs someone's Python code uses, with which options and where. The code is parsed, never run."""

from __future__ import annotations

import ast
import json
import os
import re
import warnings
from collections import ChainMap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from packaging.version import Version

from fixtures.families import KINDS
from fixtures.judge.unstated import SINCE, UNSTATED
from reports.data.clause import NODE_HOOK
from reports.data.strict import BadInput, read_bytes
from reports.usage.guards import Guards, Has, caught, conditions
from reports.usage.hooks import Sight, seen
from reports.usage.owned import File, Owned, last, spelled

#: The dicts that hooks are kept in, and which concerns are of them.
DICTS = {name: "" for name in (*SINCE, "_state_dict_hooks", "_load_state_dict_pre_hooks") if name[0] == "_"}
DICTS |= dict.fromkeys(("_forward_hooks", "_forward_pre_hooks"), "module_dicts")
DICTS["_backward_hooks"] = "module_dicts|tensor_dict"
#: API -> the kind of hook it registers.
KIND_OF = {name: kind.name for kind in KINDS.values() for name in (kind.api, kind.everywhere) if name}
APIS = frozenset(KIND_OF) | frozenset(UNSTATED) | frozenset(DICTS)
OPTIONS = frozenset({each.name for kind in KINDS.values() for each in kind.options} | {"with_module", "mode"})
#: How many arguments torch's own take, where it is not one to four.
TAKES = {"retain_grad": (0, 0), "save_on_cpu": (0, 2), "register_comm_hook": (2, 2)}
TAKES |= {"register_hook": (1, 1), NODE_HOOK: (1, 1), "register_hooks": (2, 2)}
#: What register_hook is called on where it is a hook of a node.
NODES = ("grad_fn", "next_functions", "node", "Node")
#: What a file has that uses a hook, makes an encoder layer, or says on which torch something is there.
NAMED = "|".join(
    sorted({*DICTS, "retain_grad", "saved_tensors_hooks", "save_on_cpu", "TransformerEncoder", "nn.Transformer"})
)
GUARD = r"(?i:^[ \t]*(\w+ *=|return) .*(torch\w*[\W_]*version|version\(.torch|torch_\w*(greater|ge|min)))"
WORTH = re.compile(rf"register_(\w*hook|prehook|[^\w])|{NAMED}|{GUARD}".encode(), re.MULTILINE)


@dataclass(frozen=True, order=True)
class Use:
    """One place where an API is used: on which releases, and what can be seen of it."""

    file: str
    line: int
    api: str
    options: tuple[str, ...] = field(default=(), compare=False)
    unsure: bool = field(default=False, compare=False)  # called with **options: any may be among them
    seen: Mapping[str, bool] = field(default_factory=dict, compare=False)  # word -> whether it holds; else it is open
    guards: tuple[tuple[ast.expr, bool], ...] = field(default=(), compare=False, repr=False)
    caught: bool = field(default=False, compare=False)  # what a release lacks is caught

    @property
    def kinds(self) -> set[str]:
        """The kinds of hook that it may be of, in the words of concerns."""
        return {KIND_OF[self.api]} if self.api in KIND_OF else set(DICTS.get(self.api, "").split("|"))

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
    accepted: dict[tuple[str, int], str] = field(default_factory=dict)  # what a comment on a line accepts

    def accepts(self, use: Use, name: str) -> bool:
        """Say whether a comment accepts a clause, or that an API is missing."""
        said = self.accepted.get((use.file, use.line), "")
        return said in ("all", name) or name in said.replace(",", " ").split()


def read_code(path: Path, has: Has) -> Code:
    """Return the uses of hook APIs in a file or in all Python files of a folder. Raises BadInput."""
    code = Code(Guards(has))
    read: list[File] = []
    fault = ""
    for file in _files(path, code.skipped):
        name = file.relative_to(path).as_posix() if path.is_dir() else file.as_posix()
        try:
            found = _parsed(file, name, code, whole=file is path)
        except BadInput as problem:
            fault = problem.fault
            code.skipped.append(f"{name}: {fault}")
            continue
        code.files += 1
        if found is not None:
            read.append(found)
            code.guards.learn(found)
    if not code.files:
        if path.is_dir() and code.skipped:
            fault = f"holds no Python file that can be read ({code.skipped[0]})"
        raise BadInput(path, "", fault or "holds no Python file", "name a file or a folder of Python code")
    owned = Owned(read)
    constants = {name: values for each in read for name, values in each.named.items() if name.isupper()}
    for each in read:
        each.named = ChainMap(each.named, constants)
    code.uses = sorted({use for each in read for use in Reader(each, owned).uses()})
    return code


def _files(path: Path, skipped: list[str]) -> Iterator[Path]:
    """Yield a file, or all Python files of a folder; a folder inside that cannot be read is listed as skipped."""
    if not path.is_dir():
        yield path
        return
    faults: list[OSError] = []
    for parent, folders, names in os.walk(path, onerror=faults.append):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name != "__pycache__")
        yield from (Path(parent, name) for name in sorted(names) if name.endswith((".py", ".ipynb")))
    skipped += [f"{Path(one.filename).relative_to(path).as_posix()}: cannot be read ({one.strerror})" for one in faults]


def _parsed(path: Path, name: str, code: Code, *, whole: bool) -> File | None:
    """Return a file, none where it has no word for a hook or a guard. Raises BadInput."""
    raw = read_bytes(path)
    if not whole and not WORTH.search(raw):
        return None
    try:
        if path.suffix == ".ipynb":
            raw = _notebook(raw)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # other people's escapes in strings
            found = File(name, ast.parse(raw))
    except (SyntaxError, ValueError, KeyError, TypeError, AttributeError) as problem:
        line = getattr(problem, "lineno", None)
        what = "no notebook" if path.suffix == ".ipynb" else "no Python of version 3"
        where = f", line {line}" if line else ""
        raise BadInput(path, "", f"is {what} ({getattr(problem, 'msg', problem)}{where})", "") from None
    except (RecursionError, MemoryError):
        raise BadInput(path, "", "is nested too deep to be read", "") from None
    for number, line in enumerate(raw.decode("utf-8", "replace").splitlines(), 1):
        if "hook-conformance:" in line:
            code.accepted[name, number] = line.rpartition("hook-conformance:")[2].strip()
    return found


def _notebook(raw: bytes) -> bytes:
    """Return the Python of a notebook, cell behind cell; commands to the notebook itself are left out."""
    lines: list[str] = []
    for cell in json.loads(raw)["cells"]:
        if cell["cell_type"] == "code":
            source = cell["source"]
            text = source if isinstance(source, str) else "".join(source)
            lines += ["" if line.lstrip()[:1] in ("%", "!") else line for line in text.split("\n")]
    return "\n".join(lines).encode()


class Reader:
    """Reads one file."""

    def __init__(self, file: File, owned: Owned) -> None:
        """Take the file, and what its neighbours define."""
        self.file, self.owned = file, owned

    def uses(self) -> Iterator[Use]:
        """Yield the uses of this file."""
        for node in self.file.nodes:
            parent = self.file.parents.get(node)
            call = parent if isinstance(parent, ast.Call) and parent.func is node else None
            for name in self._names(node, call):
                for place, called in self._calls(node, name, call):
                    yield self._use(place, name, called)

    def _names(self, node: ast.AST, call: ast.Call | None) -> Iterator[str]:
        """Yield the APIs that a node means; what it calls has to fit."""
        found: list[str] = []
        if isinstance(node, (ast.Name, ast.Attribute)):
            name = self.file.imported(node.id) if isinstance(node, ast.Name) else self._of(node.value, node.attr)
            if name in APIS and not self._is_own(node) and (call is None or fits(name, call)):
                found = [name]
        elif isinstance(node, ast.Subscript) and last(node.value) == "__dict__":
            found = [word for word in self.file.words(node.slice) if word in DICTS]
        elif isinstance(node, ast.Call) and last(node.func) in ("methodcaller", "attrgetter"):
            found = [word for each in node.args for word in self.file.words(each)]
        elif isinstance(node, ast.Call) and last(node.func) in ("getattr", "setattr", "delattr") and node.args[1:]:
            found = [self._of(node.args[0], word) for word in self.file.words(node.args[1])]
        return (name for name in found if name in APIS)

    def _calls(self, node: ast.AST, name: str, call: ast.Call | None) -> Iterator[tuple[ast.AST, ast.Call | None]]:
        """Yield where a mention of an API is called, through partials and other names; itself where it is not."""
        parent = self.file.parents.get(node)
        if call is not None or name in DICTS:
            yield node, call
        elif isinstance(parent, ast.Call) and last(parent.func) in ("partial", "partialmethod"):
            yield node, parent
        elif isinstance(parent, ast.Assign) and isinstance(parent.targets[0], ast.Name):
            alias = parent.targets[0].id
            calls = [each for each in self.file.nodes if isinstance(each, ast.Call) and spelled(each.func) == alias]
            yield from [(each, each) for each in calls] or [(node, None)]
        else:
            yield node, None

    def _use(self, node: ast.AST, name: str, call: ast.Call | None) -> Use:
        chain = self.file.chain(node)
        guards = tuple(conditions(chain))
        options, unsure = self._options(call) if call else ([], False)
        words = seen(Sight(node, name, chain, guards, self.file, self.owned))
        line = getattr(node, "lineno", 0)
        safe = isinstance(getattr(node, "ctx", None), ast.Store)  # what is not there is made
        safe |= isinstance(node, ast.Call) and last(node.func) == "getattr" and len(node.args) > 2  # or has a default
        return Use(self.file.name, line, name, tuple(sorted(options)), unsure, words, guards, safe or caught(chain))

    def _options(self, call: ast.Call) -> tuple[list[str], bool]:
        """Return the options that a call turns on, or may turn on, and whether there may be others."""
        given: dict[str, ast.expr] = {}
        unsure = False
        for keyword in call.keywords:
            known = {keyword.arg: keyword.value} if keyword.arg else self._dict(keyword.value)
            given |= known or {}
            unsure |= known is None
        off = {name for name, value in given.items() if isinstance(value, ast.Constant) and not value.value}
        return [name for name in given if name in OPTIONS - off], unsure

    def _dict(self, node: ast.expr) -> dict[str, ast.expr] | None:
        if isinstance(node, ast.Name):
            values = self.file.named.get(node.id, [])
            return self._dict(values[0]) if len(values) == 1 else None
        if isinstance(node, ast.Dict):
            pairs = zip(node.keys, node.values, strict=True)
            return {str(each.value): value for each, value in pairs if isinstance(each, ast.Constant)}
        if isinstance(node, ast.Call) and spelled(node.func) == "dict" and not node.args:
            return {each.arg or "": each.value for each in node.keywords}
        return None

    def _of(self, owner: ast.expr, name: str) -> str:
        """Return what an attribute goes by in torch: "Node.register_hook" for that of a grad_fn."""
        return NODE_HOOK if name == "register_hook" and self._is_node(owner) else name

    def _is_node(self, owner: ast.expr) -> bool:
        """Say whether an expression is a node of autograd: a grad_fn, what is in next_functions, or a name for one."""
        for each in (owner, *self.file.named.get(spelled(owner), ())):
            while isinstance(each, ast.Subscript):
                each = each.value
            if (each.attr if isinstance(each, ast.Attribute) else spelled(each)) in NODES:
                return True
        return False

    def _is_own(self, node: ast.Name | ast.Attribute) -> bool:
        """Say whether what is called is someone's own, although it is named as torch's is."""
        if isinstance(node, ast.Name):
            return not self.file.of_torch(node.id)
        owner = node.value
        if isinstance(owner, ast.Call):
            inside = self.file.around(node, ast.ClassDef)
            return spelled(owner.func) == "super" and self.owned.method(self.file, inside, node.attr, above=True)
        if not isinstance(owner, ast.Name):
            return False
        if owner.id in ("self", "cls"):
            return self.owned.method(self.file, self.file.around(node, ast.ClassDef), node.attr)
        if node.attr == "register_hook" and self.owned.called_after(owner.id, node.attr):
            return True
        made = [each.func for each in self.file.named.get(owner.id, ()) if isinstance(each, ast.Call)]
        classes = [one for each in made for one in self.owned.named(self.file, spelled(each))]
        return any(self.owned.method(where, each, node.attr) for where, each in classes)


def fits(name: str, call: ast.Call) -> bool:
    """Say whether a call has as many arguments as torch's own takes; what has others is the code's own."""
    least, most = TAKES.get(name, (1, 4))
    return least <= len(call.args) + len(call.keywords) <= most
