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


@dataclass(frozen=True)
class Sight:
    """A use as it is in its file: `chain` is the node and all that it is inside of, `guards` the tests around it."""

    node: ast.AST
    name: str
    chain: list[ast.AST]
    guards: tuple[tuple[ast.expr, bool], ...]
    file: File
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
    owner, name, attributes = use.owner, use.name, use.file.attributes
    everywhere = name.startswith("register_module_")
    tensor = name == "_backward_hooks" and bool(TENSORS.search(last(owner)))
    own = last(owner) in attributes.get("register_hook", ())  # its dict has what is registered here, on every release
    words = {"everywhere": everywhere, "own": not everywhere, "module_dicts": not tensor and not own}
    words["tensor_dict"] = tensor and not own and "_post_accumulate_grad_hooks" not in attributes
    words["all_dicts"] = name == "_backward_hooks" and "_backward_pre_hooks" not in attributes
    words["optimizer"] = owner is not None and "optim" in ast.unparse(owner).lower()
    return words | ({"encoder_part": True} if owner is not None and _is_part(owner, use) else {})


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
            yield from (spelled(each.args[-1]) for each in asked if name and name in map(spelled, each.args))
    for scope in use.chain:
        if isinstance(scope, FUNCTIONS):
            yield from (spelled(each.annotation) for each in scope.args.args if each.arg == name)
        elif isinstance(scope, ast.ClassDef) and isinstance(node, ast.Name) and name == "self":
            yield scope.name


def _names(node: ast.AST) -> set[str]:
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
