"""Which hook APIs someone's Python code uses, with which options and where. The code is parsed, never run."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from fixtures.clause.since import SINCE
from fixtures.families import KINDS
from fixtures.state.kinds import KINDS as STATE_KINDS
from reports.usage.files import Sources, read_sources
from reports.usage.guards import Guard, Guards, caught
from reports.usage.hooks import Sight, seen
from reports.usage.options import ANY, Options
from reports.usage.owned import File, last, spelled
from reports.usage.project import Owned
from reports.usage.values import Has

#: The dicts that hooks are kept in, and which concerns are of them.
DICTS = {name: "" for name in (*SINCE, "_state_dict_hooks", "_load_state_dict_pre_hooks") if name[0] == "_"}
DICTS |= dict.fromkeys(("_forward_hooks", "_forward_pre_hooks"), "module_dicts")
DICTS["_backward_hooks"] = "module_dicts|tensor_dict"
#: API -> the kinds of hook it registers; which of several it is, an option says: without it the first.
KINDS_OF: dict[str, list[str]] = {}
for one in KINDS.values():
    for spelling in filter(None, (one.api, one.everywhere)):
        KINDS_OF.setdefault(spelling, []).append(one.name)
for name, one in STATE_KINDS.items():
    KINDS_OF.setdefault(one.api, []).append(name)
NODE_HOOK = KINDS["node"].api
CHOOSES = {"register_multi_grad_hook": "mode"}
APIS = frozenset(KINDS_OF) | frozenset(DICTS) | {"allow_mutation_on_saved_tensors", "register_comm_hook"}
OPTIONS = frozenset({each.name for kind in KINDS.values() for each in kind.options} | {"with_module", "mode"})
#: The options that are also taken by position, behind the hook.
SECOND = {"register_full_backward_hook": "prepend", "register_full_backward_pre_hook": "prepend"}
#: How many arguments torch's own take, where it is not one to four.
TAKES = {"retain_grad": (0, 0), "save_on_cpu": (0, 2), "register_comm_hook": (2, 2)}
TAKES |= {"register_hook": (1, 1), NODE_HOOK: (1, 1), "register_hooks": (2, 2)}
#: What register_hook is called on where it is a hook of a node, and what hands such a node on.
NODES = {"grad_fn", "next_functions", "node", "Node", "grad_acc", "grad_accumulator"}
HANDS_ON = ("list", "iter", "next", "enumerate", "reversed", "tuple", "zip", "getattr")
#: Other libraries whose modules and tensors have methods of the same names.
OTHERS = {"paddle", "mxnet", "oneflow", "mindspore", "jittor", "tensorflow", "keras", "megengine", "chainer", "thinc"}
#: What a file has that uses a hook, makes an encoder layer or an optimizer, or says on which torch something is there.
NAMED = "|".join(
    sorted({*DICTS, "retain_grad", "saved_tensors_hooks", "allow_mutation_on_", "save_on_cpu", "TransformerEncoder"})
)
GUARD = (
    r"(?i:^[ \t]*(\w+ *=|return) .*(torch\w*[\W_]*version|version\(.torch|torch_\w*(greater|ge|min)))"
    r"|nn\.Transformer|hasattr\(torch|skip(if|If|Unless|unless)\(|^ *class \w+\(.*Optim"
)
WORTH = re.compile(rf"register_(\w*hook|prehook|[^\w])|{NAMED}|{GUARD}".encode(), re.MULTILINE)


@dataclass(frozen=True, order=True)
class Use:
    """One place where an API is used: on which releases, and what can be seen of it."""

    file: str
    line: int
    api: str
    column: int = 0
    cell: int = 0  # of a notebook, counted from 1; the line is that in the cell
    lines: tuple[int, ...] = field(default=(), compare=False)  # of the file, where a comment may stand
    options: tuple[str, ...] = field(default=(), compare=False)
    unsure: bool = field(default=False, compare=False)  # called with **options: any may be among them
    seen: Mapping[str, bool] = field(default_factory=dict, compare=False)  # word -> whether it holds; else it is open
    guards: tuple[Guard, ...] = field(default=(), compare=False, repr=False)
    caught: bool = field(default=False, compare=False)  # what a release lacks is caught

    @property
    def order(self) -> tuple[str, int, int, int, str]:
        """Where it comes among others: as in the file, cell behind cell."""
        return self.file, self.cell, self.line, self.column, self.api

    @property
    def place(self) -> str:
        """Where it is, in words."""
        return f"{self.file}, cell {self.cell}, line {self.line}" if self.cell else f"{self.file}:{self.line}"

    @property
    def kinds(self) -> set[str]:
        """The kinds of hook that it may be of, in the words of concerns."""
        kinds = KINDS_OF.get(self.api) or DICTS.get(self.api, "").split("|")
        known = self.api in CHOOSES and CHOOSES[self.api] not in self.options and not self.unsure
        return set(kinds[:1] if known else kinds)


@dataclass
class Code:
    """What was found in someone's files."""

    guards: Guards
    sources: Sources
    root: Path
    uses: list[Use] = field(default_factory=list)

    def accepts(self, use: Use, *names: str) -> bool:
        """Say whether a comment on a line of a call accepts a clause, or that an API is missing."""
        said = " ".join(self.sources.accepted.get((use.file, line), "") for line in use.lines)
        return bool({"all", *names} & {*said.replace(",", " ").split()})


def read_code(path: Path, has: Has, root: Path | None = None) -> Code:
    """Return the uses of hook APIs in a file or in all Python files of a folder. Raises BadInput."""
    real = Path(os.path.realpath(path))
    root = root or (real if real.is_dir() else real.parent)
    sources = read_sources(path, WORTH, root)
    owned = Owned(sources.read)
    code = Code(Guards(has, owned, APIS), sources, root)
    found = {use for each in sources.read for use in Reader(each, owned, code.guards, sources).uses()}
    code.uses = sorted(found, key=lambda use: use.order)
    return code


class Reader:
    """Reads one file."""

    def __init__(self, file: File, owned: Owned, guards: Guards, sources: Sources) -> None:
        """Take the file, and what its neighbours define."""
        self.file, self.owned, self.guards, self.sources = file, owned, guards, sources
        self.others = {local for local, origin in file.imports.items() if origin.partition(".")[0] in OTHERS}
        self.foreign = bool(self.others) and not any("torch" in origin for origin in file.imports.values())

    def uses(self) -> Iterator[Use]:
        """Yield the uses of this file."""
        for node in self.file.nodes if not self.foreign else ():
            parent = self.file.parents.get(node)
            call = parent if isinstance(parent, ast.Call) and parent.func is node else None
            for name in self._names(node, call):
                for place, called in self._calls(node, name, call):
                    yield self._use(node, place, name, called)

    def _names(self, node: ast.AST, call: ast.Call | None) -> Iterator[str]:
        """Yield the APIs that a node means; what it calls has to fit."""
        found: list[str] = []
        match node:
            case ast.Name() | ast.Attribute():
                name = self.file.imported(node.id) if isinstance(node, ast.Name) else self._of(node.value, node.attr)
                least, most = TAKES.get(name, (1, 4))
                fits = call is None or least <= len(call.args) + len(call.keywords) <= most
                found = [name] if name in APIS and fits and not self._is_own(node) else []
            case (
                ast.Subscript(value=owner, slice=key)
                | ast.Call(func=ast.Attribute(value=owner, attr=("get" | "pop" | "setdefault")), args=[key, *_])
            ):
                known = [word for word in self.owned.words(self.file, key) if word in DICTS]
                found = known if known and self._is_dict(owner) else []
            case ast.Call(args=[owner, key, *_]) if last(node.func) in ("getattr", "setattr", "delattr"):
                found = [self._of(owner, word) for word in self.owned.words(self.file, key)]
            case ast.Call() if last(node.func) in ("methodcaller", "attrgetter"):
                found = [word for each in node.args for word in self.owned.words(self.file, each)]
        return (name for name in found if name in APIS)

    def _is_dict(self, node: ast.AST) -> bool:
        """Say whether an expression is what an object keeps its attributes in: m.__dict__, vars(m), a name for one."""
        return self._is_any(node, lambda each: last(each) == "__dict__" or last(getattr(each, "func", None)) == "vars")

    def _calls(self, node: ast.AST, name: str, call: ast.Call | None) -> Iterator[tuple[ast.AST, ast.Call | None]]:
        """Yield where a mention of an API is called, through partials and other names; itself where it is not."""
        child, parent = node, self.file.parents.get(node)
        if call is None and isinstance(parent, ast.Call) and last(parent.func) in ("partial", "partialmethod"):
            call = parent
        if call is not None or name in DICTS:
            yield node, call
            return
        while isinstance(parent, (ast.IfExp, ast.BoolOp, ast.NamedExpr)) and child is not getattr(parent, "test", None):
            child, parent = parent, self.file.parents.get(parent)
        binder = parent if isinstance(parent, ast.Assign) else child
        target = binder.targets[0] if isinstance(binder, ast.Assign) else getattr(binder, "target", None)
        calls = self.file.calls.get(spelled(target), ()) if target is not None else ()
        mine = [each for each in calls if any(one.node is binder for one in self.file.values(each.func))]
        yield from [(each if child is node else node, each) for each in mine] or [(node, None)]

    def _use(self, node: ast.AST, place: ast.AST, name: str, call: ast.Call | None) -> Use:
        guards = tuple(one for each in dict.fromkeys((place, node)) for one in self.guards.around(self.file, each))
        options, unsure = self._options(call, name) if call else ([], False)
        safe = isinstance(getattr(node, "ctx", None), ast.Store)  # what is not there is made
        if isinstance(node, ast.Call):  # or has a default
            how = last(node.func)
            safe = how in ("setattr", "get", "setdefault") or len(node.args) > (1 if how == "pop" else 2)
            safe |= how == "getattr" and any(_asks_for(one, node) for one in guards)
        words, owned = seen(Sight(node, name, call, guards, self.file, self.owned)), f"Optimizer.{name}"
        api = owned if words["optimizer"] and owned in APIS else name  # what a module has by the same name
        line, end = getattr(place, "lineno", 0), getattr(call or place, "end_lineno", 0)
        cell, in_cell = self.sources.place(self.file.name, line)
        return Use(
            self.file.name, in_cell, api, getattr(place, "col_offset", 0), cell, (*range(line, max(end, line) + 1),),
            tuple(sorted(options)), unsure, words, guards,
            safe or caught(self.file.chain(place)),
        )  # fmt: skip

    def _options(self, call: ast.Call, name: str) -> tuple[set[str], bool]:
        """Return the options that a call gives, on or off, and whether there may be others."""
        given = Options(self.owned, self.guards, APIS, self.file, call, name).keys()
        second = {SECOND[name]} if name in SECOND and len(call.args) > 1 else set()
        return (given | second) & OPTIONS, ANY in given

    def _is_any(self, owner: ast.AST, holds: Callable[[ast.AST], bool]) -> bool:
        """Say whether something holds of an expression, of what it may be bound to, or of what hands it on."""

        def inside(node: ast.AST) -> list[ast.expr]:
            handed = isinstance(node, ast.Call) and last(node.func) in HANDS_ON
            return node.args[:2] if handed else [node.value] if isinstance(node, ast.Subscript) else []  # type: ignore[attr-defined]

        return self.owned.shows(self.file, owner, holds, any, inside)

    def _of(self, owner: ast.expr, name: str) -> str:
        """Return what an attribute goes by in torch: "Node.register_hook" for that of a grad_fn, next_functions."""
        if name == "register_hooks":  # of what a node saved: node._raw_saved_self
            saved = self._is_any(owner, lambda each: isinstance(each, ast.expr) and "saved" in ast.unparse(each))
            return name if saved else ""
        if name == "register_hook" and self._is_any(
            owner, lambda each: bool({last(each), getattr(each, "value", "")} & NODES)
        ):
            return NODE_HOOK
        return name

    def _is_own(self, node: ast.Name | ast.Attribute) -> bool:
        """Say whether what is called is someone's own, although it is named as torch's is."""
        if isinstance(node, ast.Name):
            asked = isinstance(self.file.parents[node], (ast.Compare, ast.UnaryOp, ast.If))
            return asked or not (self.file.of_torch(node.id) and isinstance(node.ctx, ast.Load))
        owner, inside = node.value, self.file.around(node, ast.ClassDef)
        if isinstance(owner, ast.Call):
            return spelled(owner.func) == "super" and self.owned.method(self.file, inside, node.attr, above=True)
        name = spelled(owner)
        if isinstance(owner, ast.Name) and name in ("self", "cls"):
            return self.owned.method(self.file, inside, node.attr)
        if isinstance(owner, ast.Name) and node.attr == "register_hook" and self.owned.called_after(name, node.attr):
            return True
        made = [spelled(each.value.func) for each in self.file.values(owner) if isinstance(each.value, ast.Call)]
        if any(each.partition(".")[0] in self.others for each in (name, *made)):
            return True
        classes = [one for each in made for one in self.owned.named(self.file, each)]
        return any(self.owned.method(where, each, node.attr) for where, each in classes)


def _asks_for(guard: Guard, read: ast.Call) -> bool:
    """Say whether a guard is hasattr() of just what is read by getattr(), whatever its name is."""
    test = guard.test
    if not (guard.wanted and isinstance(test, ast.Call) and last(test.func) == "hasattr"):
        return False
    return [*map(ast.unparse, test.args)] == [*map(ast.unparse, read.args)]
