"""Which hook APIs someone's Python code uses, with which options and where. The code is parsed, never run."""

from __future__ import annotations

import ast
import os
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from fixtures.families import KINDS
from reports.data.about import NODE_HOOK
from reports.data.strict import BadInput, read_bytes
from reports.usage.owned import File, Owned, read_file

#: Names of torch that register hooks and of which no clause speaks yet count as uses too.
FURTHER = frozenset(
    {
        "register_multi_grad_hook",
        "register_load_state_dict_pre_hook",
        "register_load_state_dict_post_hook",
        "register_state_dict_pre_hook",
        "register_state_dict_post_hook",
        "_register_load_state_dict_pre_hook",
        "_register_state_dict_hook",
        "register_step_pre_hook",
        "register_step_post_hook",
        "register_comm_hook",
        "register_module_module_registration_hook",
        "register_module_parameter_registration_hook",
        "register_module_buffer_registration_hook",
        "saved_tensors_hooks",
        "save_on_cpu",
        NODE_HOOK,
        "register_prehook",
        "_forward_hooks",
        "_forward_pre_hooks",
        "_backward_hooks",
        "_backward_pre_hooks",
    }
)
#: What register_hook is called on where it is a hook of a node.
NODES = ("grad_fn", "next_functions", "node", "Node")
#: The options of the kinds that plans have, and those of further names.
OPTIONS = frozenset({each.name for kind in KINDS.values() for each in kind.options} | {"with_module", "mode"})


@dataclass(frozen=True, order=True)
class Use:
    """One place where an API is used."""

    file: str
    line: int
    api: str
    options: frozenset[str] = field(default=frozenset(), compare=False)
    unsure: bool = field(default=False, compare=False)  # called with **options: any may be among them

    @property
    def place(self) -> str:
        """The place, as editors and terminals understand it."""
        return f"{self.file}:{self.line}"

    def has(self, option: str) -> bool:
        """Say whether the use has, or may have, an option; every use has the empty one."""
        return not option or option in self.options or self.unsure


@dataclass
class Code:
    """What was found in someone's files."""

    uses: list[Use] = field(default_factory=list)
    files: int = 0
    skipped: list[str] = field(default_factory=list)
    names: set[str] = field(default_factory=set)  # every name in the code
    keywords: set[tuple[str, str]] = field(default_factory=set)  # (what is called, keyword given)
    asks: bool = False  # autograd.grad is used

    def mentions(self, name: str, option: str) -> bool:
        """Say whether the code uses a name at all, with an option where one is meant."""
        return (name, option) in self.keywords if option else name in self.names


def read_code(path: Path, apis: frozenset[str]) -> Code:
    """Return the uses of these APIs in a file or in all Python files of a folder. Raises BadInput."""
    read: list[File] = []
    code = Code()
    fault = "holds no Python file"
    for file in _files(path, code.skipped):
        name = file.relative_to(path).as_posix() if path.is_dir() else file.as_posix()
        tree, fault = _parsed(file)
        if tree is None:
            code.skipped.append(f"{name}: {fault}")
        else:
            read.append(read_file(name, tree))
    if not read:
        if path.is_dir() and code.skipped:
            fault = f"holds no Python file that can be read ({code.skipped[0]})"
        raise BadInput(path, "", fault, "name a file or a folder of Python code")
    owned = Owned(read)
    for each in read:
        _read(each, owned, apis | FURTHER, code)
    code.files = len(read)
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
        yield from (Path(parent, name) for name in sorted(names) if name.endswith(".py"))


def _parsed(path: Path) -> tuple[ast.Module | None, str]:
    """Return the code of a file, or why there is none."""
    try:
        raw = read_bytes(path)
    except BadInput as problem:
        return None, problem.fault
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # other people's escapes in strings
            return ast.parse(raw), ""
    except (SyntaxError, ValueError) as problem:
        line = getattr(problem, "lineno", None)
        return None, f"is not Python 3 ({getattr(problem, 'msg', problem)}" + (f", line {line})" if line else ")")
    except (RecursionError, MemoryError):
        return None, "is nested too deep to be read"


def _read(file: File, owned: Owned, apis: frozenset[str], code: Code) -> None:
    called: set[ast.AST] = set()
    code.asks = code.asks or _asks(node for node, _ in file.nodes)
    for node, inside in file.nodes:
        if isinstance(node, ast.Call):
            name = _called(file, node.func)
            own = _is_own(file, owned, node.func, inside)
            code.keywords |= {(name, keyword.arg) for keyword in node.keywords if keyword.arg}
            called.add(node.func)
            if name in ("getattr", "hasattr") and len(node.args) > 1 and isinstance(node.args[1], ast.Constant):
                name, own = str(node.args[1].value), False
            if name in apis and not own:
                code.uses.append(Use(file.name, node.lineno, name, _options(node), _unsure(node)))
        elif isinstance(node, (ast.Name, ast.Attribute)):
            name = _called(file, node)
            code.names.add(name)
            is_use = isinstance(node, ast.Attribute) or file.of_torch(node.id)
            if is_use and name in apis and node not in called and not _is_own(file, owned, node, inside):
                code.uses.append(Use(file.name, node.lineno, name))
        elif isinstance(node, ast.ImportFrom):
            code.names.update(each.name for each in node.names)


def _is_own(file: File, owned: Owned, node: ast.AST, inside: ast.ClassDef | None) -> bool:
    """Say whether what is called is someone's own, although it is named as torch's is."""
    if isinstance(node, ast.Name):
        return owned.function(file, node.id)
    if not isinstance(node, ast.Attribute):
        return False
    owner = node.value
    if isinstance(owner, ast.Call):
        above = isinstance(owner.func, ast.Name) and owner.func.id == "super"
        return above and owned.method(file, inside, node.attr, above=True)
    return isinstance(owner, ast.Name) and owner.id in ("self", "cls") and owned.method(file, inside, node.attr)


def _asks(nodes: Iterable[ast.AST]) -> bool:
    """Say whether autograd.grad is used: by that name, or imported from torch.autograd."""
    return any(
        (isinstance(node, ast.Attribute) and (node.attr, owner_of(node)) == ("grad", "autograd"))
        or (
            isinstance(node, ast.ImportFrom)
            and node.module == "torch.autograd"
            and "grad" in [each.name for each in node.names]
        )
        for node in nodes
    )


def _called(file: File, node: ast.AST) -> str:
    """Return what a name or an attribute goes by in torch: "Node.register_hook" for that of a grad_fn."""
    if isinstance(node, ast.Name):
        return file.imported(node.id)
    if not isinstance(node, ast.Attribute):
        return ""
    return NODE_HOOK if node.attr == "register_hook" and owner_of(node) in NODES else node.attr


def owner_of(node: ast.Attribute) -> str:
    """Return the last name of what an attribute is taken from, behind calls and brackets."""
    owner: ast.AST = node.value
    while isinstance(owner, (ast.Call, ast.Subscript)):
        owner = owner.func if isinstance(owner, ast.Call) else owner.value
    return owner.id if isinstance(owner, ast.Name) else owner.attr if isinstance(owner, ast.Attribute) else ""


def _options(call: ast.Call) -> frozenset[str]:
    """Return the options that a call turns on, or may turn on."""
    off = [keyword for keyword in call.keywords if isinstance(keyword.value, ast.Constant) and not keyword.value.value]
    return frozenset(keyword.arg for keyword in call.keywords if keyword.arg in OPTIONS and keyword not in off)


def _unsure(call: ast.Call) -> bool:
    return any(keyword.arg is None for keyword in call.keywords)
