"""Which hook APIs someone's Python code uses, with which options and where. The code is parsed, never run."""

from __future__ import annotations

import ast
import os
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from reports.apis import NODE_HOOK, api_name, owner_of
from reports.strict import BadInput, read_bytes

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
OPTIONS = ("prepend", "with_kwargs", "always_call", "with_module", "mode")
OWN = ("self", "cls", "super")


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
    files = list(_files(path))
    trees: list[tuple[str, ast.Module]] = []
    code = Code()
    for file in files:
        name = file.relative_to(path).as_posix() if path.is_dir() else file.as_posix()
        tree, fault = _parsed(file)
        if tree is None:
            code.skipped.append(f"{name}: {fault}")
        else:
            trees.append((name, tree))
    if not trees:
        fault = code.skipped[0] if code.skipped else "holds no Python file"
        raise BadInput(path, "", fault, "name a file or a folder of Python code")
    defined = {node.name for _, tree in trees for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    for name, tree in trees:
        _read(name, tree, apis | FURTHER, defined, code)
    code.files = len(trees)
    code.uses.sort()
    return code


def _files(path: Path) -> Iterator[Path]:
    if not path.is_dir():
        yield path
        return
    for parent, folders, names in os.walk(path):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name != "__pycache__")
        yield from (Path(parent, name) for name in sorted(names) if name.endswith(".py"))


def _parsed(path: Path) -> tuple[ast.Module | None, str]:
    """Return the code of a file, or why there is none."""
    raw = read_bytes(path)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # other people's escapes in strings
            return ast.parse(raw), ""
    except (SyntaxError, ValueError) as problem:
        line = getattr(problem, "lineno", None)
        return None, f"is no Python of version 3 ({getattr(problem, 'msg', problem)}" + (
            f", line {line})" if line else ")"
        )
    except (RecursionError, MemoryError):
        return None, "is nested too deep to be read"


def _read(file: str, tree: ast.Module, apis: frozenset[str], defined: set[str], code: Code) -> None:
    called: set[ast.AST] = set()
    nodes = list(ast.walk(tree))
    code.asks = code.asks or _asks(nodes)
    for node in nodes:
        if isinstance(node, ast.Call):
            name, owner = _called(node.func)
            code.keywords |= {(name, keyword.arg) for keyword in node.keywords if keyword.arg}
            called.add(node.func)
            if name in ("getattr", "hasattr") and len(node.args) > 1 and isinstance(node.args[1], ast.Constant):
                name, owner = str(node.args[1].value), "?"
            if name in apis and not (owner in OWN and name in defined):
                code.uses.append(Use(file, node.lineno, name, _options(node), _unsure(node)))
        elif isinstance(node, (ast.Name, ast.Attribute)):
            name, owner = _called(node)
            code.names.add(name)
            is_use = name in apis and node not in called and isinstance(node, ast.Attribute)
            if is_use and not (owner in OWN and name in defined):
                code.uses.append(Use(file, node.lineno, name))
        elif isinstance(node, ast.ImportFrom):
            code.names.update(each.name for each in node.names)


def _asks(nodes: list[ast.AST]) -> bool:
    """Say whether autograd.grad is used: by that name, or imported from torch.autograd."""
    return any(
        (isinstance(node, ast.Attribute) and _called(node) == ("grad", "autograd"))
        or (
            isinstance(node, ast.ImportFrom)
            and node.module == "torch.autograd"
            and "grad" in [each.name for each in node.names]
        )
        for node in nodes
    )


def _called(node: ast.AST) -> tuple[str, str]:
    """Return the last name of what is called, and the name it is an attribute of: ("register_hook", "grad_fn")."""
    if isinstance(node, ast.Name):
        return node.id, "self"  # a name of the code's own, or imported
    if not isinstance(node, ast.Attribute):
        return "", ""
    owner = owner_of(node)
    return api_name(owner, node.attr), owner


def _options(call: ast.Call) -> frozenset[str]:
    """Return the options that a call turns on, or may turn on."""
    off = [keyword for keyword in call.keywords if isinstance(keyword.value, ast.Constant) and not keyword.value.value]
    return frozenset(keyword.arg for keyword in call.keywords if keyword.arg in OPTIONS and keyword not in off)


def _unsure(call: ast.Call) -> bool:
    return any(keyword.arg is None for keyword in call.keywords)
