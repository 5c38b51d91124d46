"""What code shows of one use of a hook: which words of `fixtures/judge/concern.py` hold, and which do not."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from reports.usage.owned import FUNCTIONS, File, Owned, last, spelled

#: Parts of torch's encoder layer, and how modules are found that are somewhere in another.
PARTS = {"self_attn", "linear1", "linear2", "norm1", "norm2", "dropout", "dropout1", "dropout2"}
WALKS = {"modules", "named_modules", "get_submodule"}
TENSORS = re.compile(r"(^|_)(tensor|param|parameter|p|t|grad|x|y|weight|var|variable|leaf|output|outputs)s?\d*$")
DEPTH = 5
PARAMETERS = {"parameters", "named_parameters"}
Function = ast.Lambda | ast.FunctionDef


@dataclass(frozen=True)
class Sight:
    """A use as it stands in its file: `chain` is the node and all that it stands in, `guards` the tests around it."""

    node: ast.AST
    name: str
    call: ast.Call | None
    chain: list[ast.AST]
    guards: tuple[tuple[ast.expr, bool], ...]
    file: File
    dicts: set[str]
    hooked: set[str]  # what tensor hooks are registered on in this file: its dict has these on every release
    owned: Owned

    @property
    def owner(self) -> ast.expr | None:
        """What it is registered on, or whose dict it is."""
        if isinstance(self.node, ast.Call) and not isinstance(self.node.func, ast.Attribute):
            return self.node.args[0] if self.node.args else None
        node = self.node.func if isinstance(self.node, ast.Call) else self.node
        return node.value if isinstance(node, (ast.Attribute, ast.Subscript)) else None


def seen(use: Sight) -> dict[str, bool]:
    """Return what is seen of a use: word -> whether it holds; what is missing is open."""
    owner, name = use.owner, use.name
    hook = _function(use.call.args[0], use.chain) if use.call and use.call.args else None
    words = {"everywhere": name.startswith("register_module_"), "own": not name.startswith("register_module_")}
    words["all_dicts"] = name == "_backward_hooks" and "_backward_pre_hooks" not in use.dicts
    words["optimizer"] = owner is not None and "optim" in ast.unparse(owner).lower()
    if name.endswith("_hooks"):
        tensor, own = name == "_backward_hooks" and bool(TENSORS.search(last(owner))), last(owner) in use.hooked
        words["tensor_dict"] = tensor and not own and "_post_accumulate_grad_hooks" not in use.dicts
        words["module_dicts"] = not tensor and not own
    if owner is not None and _is_parameter(owner, use):
        words["inner"] = False
    if owner is not None and _is_part(owner, use):
        words["encoder_part"] = True
    return words | (_does(hook) if hook is not None else {})


def _is_parameter(owner: ast.expr, use: Sight) -> bool:
    over = _loops(owner.id, use) if isinstance(owner, ast.Name) else []
    return last(owner) in ("weight", "bias") or any(PARAMETERS & _attributes(each) for each in over)


def _loops(name: str, use: Sight) -> list[ast.expr]:
    """Return what the loops around a use go through for a name."""
    inside = [each for node in use.chain for each in (node, *getattr(node, "generators", ()))]
    loops = [each for each in inside if isinstance(each, (ast.For, ast.comprehension))]
    return [loop.iter for loop in loops if name in _names(loop.target)]


def _is_part(owner: ast.expr, use: Sight, depth: int = 0) -> bool:
    """Say whether a module is shown to be in torch's encoder layer: a part by its name, or found in what has one."""
    if isinstance(owner, ast.Name) and depth < DEPTH:
        values = _loops(owner.id, use) or use.file.named.get(owner.id, [])
        return bool(values) and all(_is_part(each, use, depth + 1) for each in values)
    if isinstance(owner, ast.Attribute) and owner.attr in PARTS:
        return _has_layer(owner.value, use)
    inside = (each for each in ast.walk(owner) if isinstance(each, ast.Attribute) and each.attr in WALKS)
    return any(_has_layer(each.value, use) for each in inside)


def _has_layer(node: ast.expr, use: Sight, depth: int = 0) -> bool:
    """Say whether a module is shown to be torch's encoder layer, or to have one: by its class, or as it was made."""
    name = spelled(node)
    if any(use.owned.encodes(use.file, each) for each in _classes(node, name, use)):
        return True
    values = _loops(name, use) or use.file.named.get(name, [])
    if not values and isinstance(node, (ast.Attribute, ast.Subscript)) and last(node.value) != "self":
        values = [node.value]
    return depth < DEPTH and bool(values) and all(_has_layer(each, use, depth + 1) for each in values)


def _classes(node: ast.expr, name: str, use: Sight) -> Iterator[str]:
    """Yield the classes that code shows a module to be of: called, asked for around it, in an annotation, its own."""
    yield from (spelled(each.func) for each in ast.walk(node) if isinstance(each, ast.Call))
    for test, wanted in use.guards:
        if wanted != isinstance(test, ast.UnaryOp):
            asked = (each for each in ast.walk(test) if isinstance(each, ast.Call) and last(each.func) == "isinstance")
            yield from (spelled(each.args[-1]) for each in asked if name in map(spelled, each.args))
    for scope in use.chain:
        if isinstance(scope, FUNCTIONS):
            yield from (spelled(each.annotation) for each in scope.args.args if each.arg == name)
        elif isinstance(scope, ast.ClassDef) and isinstance(node, ast.Name) and name == "self":
            yield scope.name


def _names(node: ast.AST) -> set[str]:
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}


def _attributes(node: ast.AST) -> set[str]:
    return {each.attr for each in ast.walk(node) if isinstance(each, ast.Attribute)}


def _function(node: ast.expr, chain: list[ast.AST], depth: int = 0) -> Function | None:
    """Return the hook itself, through partials and functions that make one; names are looked up from inside out."""
    if isinstance(node, ast.Lambda) or depth > 3:
        return node if isinstance(node, ast.Lambda) else None
    if isinstance(node, ast.Call):
        if last(node.func) == "partial" and node.args:
            return _function(node.args[0], chain, depth + 1)
        maker = _function(node.func, chain, depth + 1)
        made = [each.value for each in ast.walk(maker) if isinstance(each, ast.Return)] if maker else []
        inner = [
            _function(each, [maker], depth + 1) for each in made if maker and isinstance(each, (ast.Name, ast.Lambda))
        ]
        return inner[0] if inner else None
    for scope in chain:
        if isinstance(scope, (*FUNCTIONS, ast.ClassDef, ast.Module)):
            found = [each for each in ast.walk(scope) if isinstance(each, ast.FunctionDef) and each.name == last(node)]
            if found:
                return found[0] if len(found) == 1 else None
    return None


def _does(function: Function) -> dict[str, bool]:
    """Return whether a hook returns something, raises, and changes what it is given in place."""
    nodes = [*_inside(function)]
    given = {each.arg for each in (*function.args.args, *function.args.posonlyargs)}
    changed: list[ast.expr] = []
    for node in nodes:
        if isinstance(node, (ast.Assign, ast.AugAssign)):
            several = node.targets if isinstance(node, ast.Assign) else [node.target]
            in_place = ast.Subscript if isinstance(node, ast.Assign) else (ast.Subscript, ast.Name)
            changed += [each for each in several if isinstance(each, in_place)]
        elif isinstance(node, ast.Call) and re.search("[^_]_$", last(node.func)):
            changed.append(node.func)
    edits = any(spelled(each).partition(".")[0] in given for each in changed)
    results = [node.value for node in nodes if isinstance(node, ast.Return) and node.value is not None]
    returns = isinstance(function, ast.Lambda) or any(ast.unparse(value) != "None" for value in results)
    return {"returns": returns, "raises": any(isinstance(node, ast.Raise) for node in nodes), "edits": edits}


def _inside(node: ast.AST) -> Iterator[ast.AST]:
    """Yield all that is in a node, but for what functions in it do."""
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, (*FUNCTIONS, ast.Lambda)):
            yield child
            yield from _inside(child)
