"""What code shows of one use of a hook: which words of `fixtures/judge/concern.py` hold, and which do not."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from reports.usage.owned import FUNCTIONS, File, spelled

#: Parts of an nn.TransformerEncoderLayer, and what they are derived from.
ENCODER = {"TransformerEncoderLayer", "Linear", "Dropout", "LayerNorm", "MultiheadAttention", "Module"}
TENSORS = re.compile(r"(^|_)(tensor|param|parameter|p|t|grad|x|y|weight|var|variable|leaf|output|outputs)s?\d*$")
#: Names for a whole model, which is no part of a layer; and for a module that was handed in, one of many. What else
#: stands in a known place, as self.norm, is left open.
WHOLE = re.compile(r"self|cls|(\w*_)?(model|net|network|unet|transformer)")
HANDED = re.compile(r"(self|cls)\._?(layer|module|sub_?module|modules|target_(layer|module)s?)")
#: What a hook touches that is there for a backward pass; what switches gradients on.
GRADIENT = {"register_hook", "retain_grad", "requires_grad_", "grad_fn"}
SWITCHES = re.compile(r"enable_grad\(\)|set_grad_enabled\(True\)")
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
    function = _function(call.args[0], chain, 0) if call and call.args else None
    if _is_other(owner, guards, file, named) or _for_gradients(function, owner, chain):
        words["encoder_part"] = False
    elif owner is not None and _is_any(owner, chain):
        words["encoder_part"] = True
    if name == "_backward_hooks":
        tensor = bool(TENSORS.search(spelled(owner).rpartition(".")[2])) if owner is not None else False
        words.update(tensor_dict=tensor and "_post_accumulate_grad_hooks" not in dicts, module_dicts=not tensor)
    elif name.endswith("_hooks"):
        words["module_dicts"] = True
    words["all_dicts"] = name == "_backward_hooks" and "_backward_pre_hooks" not in dicts
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


def _is_any(owner: ast.expr, chain: Sequence[ast.AST]) -> bool:
    """Say whether a module may be any: it was handed in, or is one of many."""
    if HANDED.fullmatch(spelled(owner)):
        return True
    return isinstance(owner, ast.Name) and not WHOLE.fullmatch(owner.id) and not _known_place(owner.id, chain)


def _known_place(name: str, chain: Sequence[ast.AST]) -> bool:
    """Say whether a name is for a part of one's own: `for layer in self.decoder.layers`, attn = self.layer[0].attn."""
    around = next((each for each in chain if isinstance(each, (*FUNCTIONS, ast.Module))), None)
    for each in ast.walk(around) if around else ():
        if isinstance(each, (ast.For, ast.comprehension)):
            target, value = each.target, each.iter
        elif isinstance(each, ast.Assign):
            target, value = each.targets[0], each.value
        else:
            continue
        if isinstance(value, ast.Call) and spelled(value.func) in ("enumerate", "reversed", "list") and value.args:
            value = value.args[0]
        names = {one.id for one in ast.walk(target) if isinstance(one, ast.Name)}
        if name in names and spelled(value).startswith("self.") and not HANDED.fullmatch(spelled(value)):
            return True
    return False


def _is_other(
    owner: ast.expr | None,
    guards: Iterable[tuple[ast.expr, bool]],
    file: File,
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
                if spelled(each.args[0]) == text and all(_no_part(spelled(one), file) for one in classes):
                    return True
    made = [value for value in named.get(text, ()) if isinstance(value, ast.Call)] if "." not in text else []
    return bool(made) and all(_no_part(spelled(value.func), file) for value in made)


def _no_part(name: str, file: File) -> bool:
    """Say whether a class is none that an encoder layer has as a part: it has another name, or is not torch's."""
    last = name.rpartition(".")[2]
    return last[:1].isupper() and (last not in ENCODER or (name in file.imports and not file.of_torch(name)))


def _for_gradients(function: ast.AST | None, owner: ast.expr | None, chain: Sequence[ast.AST]) -> bool:
    """Say whether a forward hook serves a backward pass: then the module runs with gradients.

    It touches nodes or hooks of tensors, gradients are switched on around it, or the same function registers a hook for
    the backward pass on the same module.
    """
    if function is not None and _touches_gradients(function):
        return True
    for each in chain:
        if isinstance(each, ast.With) and any(SWITCHES.search(ast.unparse(item.context_expr)) for item in each.items):
            return True
    around = next((each for each in chain if isinstance(each, FUNCTIONS)), None)
    if owner is None or around is None:
        return False
    for call in ast.walk(around):
        if not isinstance(call, ast.Call):
            continue
        name = spelled(call.func).rpartition(".")[2]
        on = [call.func.value] if isinstance(call.func, ast.Attribute) and name.startswith("register_") else []
        if "backward" in name and any(ast.dump(owner) == ast.dump(each) for each in on + call.args[:1]):
            return True
        if "forward" in name and call.args and any(ast.dump(owner) == ast.dump(each) for each in on):
            other = _function(call.args[0], chain, 0)
            if other is not None and _touches_gradients(other):
                return True
    return False


def _touches_gradients(function: ast.AST) -> bool:
    return any(isinstance(each, ast.Attribute) and each.attr in GRADIENT for each in ast.walk(function))


def _function(node: ast.expr, chain: Sequence[ast.AST], depth: int) -> ast.Lambda | ast.FunctionDef | None:
    """Return the hook itself, through partials and functions that make one; names are looked up from inside out."""
    if depth > 3:
        return None
    if isinstance(node, ast.Lambda):
        return node
    if isinstance(node, ast.Call):
        if spelled(node.func).rpartition(".")[2] == "partial" and node.args:
            return _function(node.args[0], chain, depth + 1)
        maker = _function(node.func, chain, depth + 1)
        return _made(maker) if isinstance(maker, ast.FunctionDef) else None
    name = spelled(node).rpartition(".")[2]
    for scope in chain:
        if isinstance(scope, (*FUNCTIONS, ast.ClassDef, ast.Module)):
            found = [each for each in ast.walk(scope) if isinstance(each, ast.FunctionDef) and each.name == name]
            if found:
                return found[0] if len(found) == 1 else None
    return None


def _made(maker: ast.FunctionDef) -> ast.Lambda | ast.FunctionDef | None:
    """Return the function that a function makes and returns."""
    inner = {one.name: one for one in ast.walk(maker) if isinstance(one, ast.FunctionDef) and one is not maker}
    for each in ast.walk(maker):
        if isinstance(each, ast.Return) and isinstance(each.value, (ast.Name, ast.Lambda)):
            return each.value if isinstance(each.value, ast.Lambda) else inner.get(each.value.id)
    return None


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
