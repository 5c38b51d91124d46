"""Which hook APIs someone's Python code uses, with which options and where. The code is parsed, never run."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from packaging.version import Version

from fixtures.families import KINDS
from fixtures.judge.unstated import SINCE, UNSTATED
from reports.data.clause import NODE_HOOK
from reports.usage.files import Sources, read_sources
from reports.usage.guards import Guard, Guards, caught
from reports.usage.hooks import Sight, seen
from reports.usage.owned import FUNCTIONS, File, last, spelled
from reports.usage.project import Owned
from reports.usage.values import Has

#: The dicts that hooks are kept in, and which concerns are of them.
DICTS = {name: "" for name in (*SINCE, "_state_dict_hooks", "_load_state_dict_pre_hooks") if name[0] == "_"}
DICTS |= dict.fromkeys(("_forward_hooks", "_forward_pre_hooks"), "module_dicts")
DICTS["_backward_hooks"] = "module_dicts|tensor_dict"
#: API -> the kind of hook it registers.
KIND_OF = {name: kind.name for kind in KINDS.values() for name in (kind.api, kind.everywhere) if name}
APIS = frozenset(KIND_OF) | frozenset(UNSTATED) | frozenset(DICTS)
OPTIONS = frozenset({each.name for kind in KINDS.values() for each in kind.options} | {"with_module", "mode"})
#: The options that are also taken by position, behind the hook.
SECOND = {"register_full_backward_hook": "prepend", "register_full_backward_pre_hook": "prepend"}
#: How many arguments torch's own take, where it is not one to four.
TAKES = {"retain_grad": (0, 0), "save_on_cpu": (0, 2), "register_comm_hook": (2, 2)}
TAKES |= {"register_hook": (1, 1), NODE_HOOK: (1, 1), "register_hooks": (2, 2)}
#: What register_hook is called on where it is a hook of a node, and what hands such a node on.
NODES = ("grad_fn", "next_functions", "node", "Node", "grad_acc", "grad_accumulator")
HANDS_ON = ("list", "iter", "next", "enumerate", "reversed", "tuple", "zip", "getattr")
#: Other libraries whose modules and tensors have methods of the same names.
OTHERS = {"paddle", "mxnet", "oneflow", "mindspore", "jittor", "tensorflow", "keras", "megengine", "chainer", "thinc"}
#: What a file has that uses a hook, makes an encoder layer or an optimizer, or says on which torch something is there.
NAMED = "|".join(sorted({*DICTS, "retain_grad", "saved_tensors_hooks", "save_on_cpu", "TransformerEncoder"}))
GUARD = (
    r"(?i:^[ \t]*(\w+ *=|return) .*(torch\w*[\W_]*version|version\(.torch|torch_\w*(greater|ge|min)))"
    r"|nn\.Transformer|hasattr\(torch|skip(if|If|Unless|unless)\(|^ *class \w+\(.*Optim"
)
WORTH = re.compile(rf"register_(\w*hook|prehook|[^\w])|{NAMED}|{GUARD}".encode(), re.MULTILINE)
DEPTH = 5


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
    def kinds(self) -> set[str]:
        """The kinds of hook that it may be of, in the words of concerns."""
        return {KIND_OF[self.api]} if self.api in KIND_OF else set(DICTS.get(self.api, "").split("|"))

    def on(self, release: Version, guards: Guards) -> bool:
        """Say whether the use may run on a release."""
        return not any(guards.shuts(each, release) for each in self.guards)


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
    code.uses = sorted({use for each in sources.read for use in Reader(each, owned, code.guards, sources).uses()})
    return code


class Reader:
    """Reads one file."""

    def __init__(self, file: File, owned: Owned, guards: Guards, sources: Sources) -> None:
        """Take the file, and what its neighbours define."""
        self.file, self.owned, self.guards, self.sources = file, owned, guards, sources
        roots = {origin.lstrip(".").partition(".")[0] for origin in file.imports.values()}
        self.others = {local for local, origin in file.imports.items() if origin.partition(".")[0] in OTHERS}
        self.foreign = bool(roots & OTHERS) and not any("torch" in origin for origin in file.imports.values())

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
        if isinstance(node, (ast.Name, ast.Attribute)):
            name = self.file.imported(node.id) if isinstance(node, ast.Name) else self._of(node.value, node.attr)
            if name in APIS and not self._is_own(node) and (call is None or fits(name, call)):
                found = [name]
        elif isinstance(node, ast.Subscript) and self._is_dict(node.value):
            found = [word for word in self.owned.words(self.file, node.slice) if word in DICTS]
        elif isinstance(node, ast.Call) and node.args:
            func = node.func
            if last(func) in ("methodcaller", "attrgetter"):
                found = [word for each in node.args for word in self.owned.words(self.file, each)]
            elif last(func) in ("getattr", "setattr", "delattr") and node.args[1:]:
                found = [self._of(node.args[0], word) for word in self.owned.words(self.file, node.args[1])]
            elif (
                isinstance(func, ast.Attribute)
                and func.attr in ("get", "pop", "setdefault")
                and self._is_dict(func.value)
            ):
                found = [word for word in self.owned.words(self.file, node.args[0]) if word in DICTS]
        return (name for name in found if name in APIS)

    def _is_dict(self, node: ast.AST | None, depth: int = 0) -> bool:
        """Say whether an expression is what an object keeps its attributes in: m.__dict__, vars(m), a name for one."""
        if last(node) == "__dict__" or (isinstance(node, ast.Attribute) and node.attr == "__dict__"):
            return True
        if isinstance(node, ast.Call):
            return spelled(node.func) == "vars" and bool(node.args)
        values = self.file.values(node) if isinstance(node, ast.Name) and depth < DEPTH else []
        return any(self._is_dict(one.value, depth + 1) for one in values)

    def _calls(self, node: ast.AST, name: str, call: ast.Call | None) -> Iterator[tuple[ast.AST, ast.Call | None]]:
        """Yield where a mention of an API is called, through partials and other names; itself where it is not."""
        parent = self.file.parents.get(node)
        if call is not None or name in DICTS:
            yield node, call
            return
        if isinstance(parent, ast.Call) and last(parent.func) in ("partial", "partialmethod"):
            yield node, parent
            return
        child = node
        while isinstance(parent, (ast.IfExp, ast.BoolOp, ast.NamedExpr)) and child is not getattr(parent, "test", None):
            child, parent = parent, self.file.parents.get(parent)
        target = parent.targets[0] if isinstance(parent, ast.Assign) else getattr(child, "target", None)
        binder = parent if isinstance(parent, ast.Assign) else child
        calls = self.file.calls.get(spelled(target), ()) if target is not None else ()
        mine = [each for each in calls if any(one.node is binder for one in self.file.values(each.func))]
        yield from [(each if child is node else node, each) for each in mine] or [(node, None)]

    def _use(self, node: ast.AST, place: ast.AST, name: str, call: ast.Call | None) -> Use:
        guards = self.guards.around(self.file, place)
        if place is not node:
            guards += self.guards.around(self.file, node)
        options, unsure = self._options(call, name) if call else ([], False)
        words = seen(Sight(node, name, call, guards, self.file, self.owned))
        line, end = getattr(place, "lineno", 0), getattr(call or place, "end_lineno", 0)
        cell, in_cell = self.sources.place(self.file.name, line)
        safe = isinstance(getattr(node, "ctx", None), ast.Store)  # what is not there is made
        if isinstance(node, ast.Call):  # or has a default
            how = node.func.attr if isinstance(node.func, ast.Attribute) else last(node.func)
            safe = how in ("setattr", "get", "setdefault") or len(node.args) > (1 if how == "pop" else 2)
        chain = self.file.chain(place)
        lines = (*range(line, max(end, line) + 1),)
        return Use(
            self.file.name, in_cell, name, getattr(place, "col_offset", 0), cell, lines, tuple(sorted(options)), unsure,
            words, guards, safe or caught(chain),
        )  # fmt: skip

    def _options(self, call: ast.Call, name: str) -> tuple[set[str], bool]:
        """Return the options that a call gives, on or off, and whether there may be others."""
        given = {SECOND[name]} if name in SECOND and len(call.args) > 1 else set()
        unsure = False
        for keyword in call.keywords:
            known = {keyword.arg} if keyword.arg else self._dict(call, keyword.value)
            given |= known or set()
            unsure |= known is None
        return given & OPTIONS, unsure

    def _dict(self, call: ast.Call, node: ast.AST | None, depth: int = 0) -> set[str] | None:
        """Return the keys of a dict of options; None where code does not show them."""
        if isinstance(node, ast.Dict):
            keys = [self.owned.words(self.file, each) for each in node.keys if each]
            pairs = zip(node.keys, node.values, strict=True)
            inner = [self._dict(call, value, depth) for key, value in pairs if key is None]
            return None if None in inner else {word for some in (*keys, *filter(None, inner)) for word in some}
        if isinstance(node, ast.Call) and spelled(node.func) == "dict" and not node.args:
            return {each.arg or "" for each in node.keywords}
        if isinstance(node, ast.IfExp):
            both = [self._dict(call, each, depth) for each in (node.body, node.orelse)]
            return None if None in both else set()
        values = self.file.values(node) if isinstance(node, (ast.Name, ast.Attribute)) and depth < DEPTH else []
        wrapper = next((each for each in self.file.chain(call) if isinstance(each, FUNCTIONS)), None)
        kwarg = wrapper.args.kwarg if wrapper else None
        if wrapper and kwarg and spelled(node) == kwarg.arg:
            return self._handed(wrapper)
        return self._dict(call, values[0].value, depth + 1) if len(values) == 1 else None

    def _handed(self, wrapper: ast.AST) -> set[str] | None:
        """Return what the calls of an own function hand on as **options; None where nothing here calls it."""
        name = wrapper.name  # type: ignore[attr-defined]
        names = (name, f"self.{name}", f"cls.{name}")
        calls = [each for some in names for each in self.file.calls.get(some, ())]
        given = {keyword.arg for each in calls for keyword in each.keywords if keyword.arg}
        return given & OPTIONS or None

    def _of(self, owner: ast.expr, name: str) -> str:
        """Return what an attribute goes by in torch: "Node.register_hook" for that of a grad_fn."""
        if name == "register_hooks" and not self._is_saved(owner):
            return ""
        return NODE_HOOK if name == "register_hook" and self._is_node(owner) else name

    def _is_saved(self, owner: ast.AST) -> bool:
        """Say whether something is what a node saved: node._raw_saved_self, by its name or one bound to it."""
        values = [one.value for _, one in self.owned.values(self.file, owner)]
        return any("saved" in ast.unparse(each) for each in (owner, *values) if isinstance(each, ast.expr))

    def _is_node(self, owner: ast.AST | None, depth: int = 0) -> bool:
        """Say whether an expression is a node of autograd: a grad_fn, what is in next_functions, or a name for one."""
        while isinstance(owner, ast.Subscript):
            owner = owner.value
        if isinstance(owner, ast.Call) and last(owner.func) in HANDS_ON:
            names = self.owned.words(self.file, owner.args[1]) if owner.args[1:] else []  # of getattr
            return bool({*NODES} & {*names}) or any(self._is_node(each, depth) for each in owner.args[:2])
        if not isinstance(owner, (ast.Name, ast.Attribute)) or depth > DEPTH:
            return False
        if (owner.attr if isinstance(owner, ast.Attribute) else owner.id) in NODES:
            return True
        return any(self._is_node(one.value, depth + 1) for _, one in self.owned.values(self.file, owner))

    def _is_own(self, node: ast.Name | ast.Attribute) -> bool:
        """Say whether what is called is someone's own, although it is named as torch's is."""
        if isinstance(node, ast.Name):
            asked = isinstance(self.file.parents[node], (ast.Compare, ast.UnaryOp, ast.If))
            return asked or not (self.file.of_torch(node.id) and isinstance(node.ctx, ast.Load))
        owner = node.value
        if isinstance(owner, ast.Call):
            inside = self.file.around(node, ast.ClassDef)
            return spelled(owner.func) == "super" and self.owned.method(self.file, inside, node.attr, above=True)
        name = spelled(owner)
        if name.partition(".")[0] in self.others:
            return True
        if isinstance(owner, ast.Name) and name in ("self", "cls"):
            return self.owned.method(self.file, self.file.around(node, ast.ClassDef), node.attr)
        if isinstance(owner, ast.Name) and node.attr == "register_hook" and self.owned.called_after(name, node.attr):
            return True
        made = [each.value.func for each in self.file.values(owner) if isinstance(each.value, ast.Call)]
        if any(spelled(each).partition(".")[0] in self.others for each in made):
            return True
        classes = [one for each in made for one in self.owned.named(self.file, spelled(each))]
        return any(self.owned.method(where, each, node.attr) for where, each in classes)


def fits(name: str, call: ast.Call) -> bool:
    """Say whether a call has as many arguments as torch's own takes; what has others is the code's own."""
    least, most = TAKES.get(name, (1, 4))
    return least <= len(call.args) + len(call.keywords) <= most
