"""What code shows of one use of a hook: which words of `fixtures/judge/concern.py` hold, and which do not."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from reports.usage.owned import FUNCTIONS, File, spelled

#: Parts of an nn.TransformerEncoderLayer, and what they are derived from.
ENCODER = {"TransformerEncoderLayer", "Linear", "Dropout", "LayerNorm", "MultiheadAttention", "Module"}
TENSORS = re.compile(r"(^|_)(tensor|param|parameter|p|t|grad|x|y|weight|var|variable|leaf|output|outputs)s?\d*$")
#: Names for a whole model, which is no part of a layer. What stands in a known place, as self.norm, is left open too.
WHOLE = re.compile(r"self|cls|(\w*_)?(model|net|network|unet|transformer)")
PARAMETERS = ("parameters", "named_parameters")


@dataclass(frozen=True)
class Hooked:
    """Word -> whether it holds; what is missing is open."""

    words: Mapping[str, bool] = field(default_factory=dict)


def hooked(
    node: ast.expr,
    name: str,
    call: ast.Call | None,
    chain: list[ast.AST],
    guards: Iterable[tuple[ast.expr, bool]],
    file: File,
    named: Mapping[str, list[ast.expr]],
    dicts: set[str],
) -> Hooked:
    """Return what is seen of a use: of its hook, of what it is registered on, of what stands around."""
    words: dict[str, bool] = {}
    owner = _owner(node)
    words["everywhere"] = name.startswith("register_module_")
    words["own"] = not words["everywhere"]
    words["optimizer"] = "optim" in ast.unparse(owner).lower() if owner is not None else False
    if _is_parameter(owner, chain):
        words["inner"] = False
    if _is_other(owner, guards, named):
        words["encoder_part"] = False
    elif isinstance(owner, ast.Name) and not WHOLE.fullmatch(owner.id):
        words["encoder_part"] = True  # a module that is handed in, or one of many
    if name == "_backward_hooks":
        tensor = bool(TENSORS.search(spelled(owner).rpartition(".")[2])) if owner is not None else False
        words.update(tensor_dict=tensor and "_post_accumulate_grad_hooks" not in dicts, module_dicts=not tensor)
    elif name.endswith("_hooks"):
        words["module_dicts"] = True
    words["all_dicts"] = "_backward_pre_hooks" not in dicts and (name == "_backward_hooks" or len(dicts) > 1)
    function = _function(call.args[0], file, 0) if call and call.args else None
    if function is not None:
        words.update(_does(function))
    return Hooked(words)


def _owner(node: ast.expr) -> ast.expr | None:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return node.func.value
    if isinstance(node, ast.Call) and node.args:
        return node.args[0]
    return node.value if isinstance(node, (ast.Attribute, ast.Subscript)) else None


def _is_parameter(owner: ast.expr | None, chain: Iterable[ast.AST]) -> bool:
    if isinstance(owner, ast.Attribute) and owner.attr in ("weight", "bias"):
        return True
    return isinstance(owner, ast.Name) and any(
        isinstance(loop, ast.For)
        and any(isinstance(each, ast.Name) and each.id == owner.id for each in ast.walk(loop.target))
        and any(isinstance(each, ast.Attribute) and each.attr in PARAMETERS for each in ast.walk(loop.iter))
        for loop in chain
    )


def _is_other(
    owner: ast.expr | None,
    guards: Iterable[tuple[ast.expr, bool]],
    named: Mapping[str, list[ast.expr]],
) -> bool:
    """Say whether a module is seen to be no part of an encoder layer: one's own, or of another class."""
    if owner is None:
        return False
    text = spelled(owner)
    if text.partition(".")[0] in ("self", "cls") and text.count(".") == 0:
        return True  # a module registers hooks on itself
    if isinstance(owner, ast.Call) and spelled(owner.func) == "super":
        return True
    for test, wanted in guards:
        while isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            test, wanted = test.operand, not wanted
        for each in ast.walk(test) if wanted else ():
            if isinstance(each, ast.Call) and spelled(each.func) == "isinstance" and len(each.args) == 2:
                classes = each.args[1].elts if isinstance(each.args[1], ast.Tuple) else [each.args[1]]
                names = {spelled(one).rpartition(".")[2] for one in classes}
                if spelled(each.args[0]) == text and all(name[:1].isupper() and name not in ENCODER for name in names):
                    return True
    made = [value for value in named.get(text, ()) if isinstance(value, ast.Call)] if "." not in text else []
    made_of = {spelled(value.func).rpartition(".")[2] for value in made}
    return bool(made_of) and all(name[:1].isupper() and name not in ENCODER for name in made_of)


def _function(node: ast.expr, file: File, depth: int) -> ast.Lambda | ast.FunctionDef | None:
    """Return the hook itself, through partials and functions that make one."""
    if depth > 3:
        return None
    if isinstance(node, ast.Lambda):
        return node
    if isinstance(node, ast.Call):
        name = spelled(node.func).rpartition(".")[2]
        if name == "partial" and node.args:
            return _function(node.args[0], file, depth + 1)
        maker = _function(node.func, file, depth + 1)
        if not isinstance(maker, ast.FunctionDef):
            return None
        inner = {one.name: one for one in ast.walk(maker) if isinstance(one, ast.FunctionDef) and one is not maker}
        for each in ast.walk(maker):
            if isinstance(each, ast.Return) and isinstance(each.value, (ast.Name, ast.Lambda)):
                return each.value if isinstance(each.value, ast.Lambda) else inner.get(each.value.id)
        return None
    name = spelled(node).rpartition(".")[2]
    found = [each for each, _ in file.nodes if isinstance(each, ast.FunctionDef) and each.name == name]
    return found[0] if len(found) == 1 else None


def _does(function: ast.Lambda | ast.FunctionDef) -> dict[str, bool]:
    """Return whether a hook returns something, raises, and changes what it is given in place."""
    body = [function.body] if isinstance(function, ast.Lambda) else function.body
    nodes = [node for each in body for node in _inside(each)]
    last = {each.arg for each in (*function.args.args, *function.args.posonlyargs)}
    edits = any(
        (isinstance(node, (ast.AugAssign, ast.Assign)) and _of(node, last))
        or (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr.endswith("_")
            and not node.func.attr.startswith("_")
            and spelled(node.func.value).partition(".")[0] in last
        )
        for node in nodes
    )
    given = [node.value for node in nodes if isinstance(node, ast.Return) and node.value is not None]
    returns = isinstance(function, ast.Lambda) or any(ast.unparse(value) != "None" for value in given)
    return {"returns": returns, "raises": any(isinstance(node, ast.Raise) for node in nodes), "edits": edits}


def _of(node: ast.AugAssign | ast.Assign, names: set[str]) -> bool:
    targets = [node.target] if isinstance(node, ast.AugAssign) else node.targets
    return any(
        spelled(each).partition(".")[0] in names
        and (isinstance(each, ast.Subscript) or (isinstance(node, ast.AugAssign) and isinstance(each, ast.Name)))
        for each in targets
    )


def _inside(node: ast.AST) -> Iterable[ast.AST]:
    """Yield a node and all below it, but for what functions in it do."""
    yield node
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, (*FUNCTIONS, ast.Lambda)):
            yield from _inside(child)
