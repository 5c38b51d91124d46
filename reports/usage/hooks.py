"""What code shows of one use of a hook: which words of `fixtures/judge/concern.py` hold, and which do not."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from reports.usage.guards import conditions
from reports.usage.owned import FUNCTIONS, File, bindings, last, spelled

#: Parts of an nn.TransformerEncoderLayer, and what they are derived from.
ENCODER = {"TransformerEncoderLayer", "Linear", "Dropout", "LayerNorm", "MultiheadAttention", "Module"}
TENSORS = re.compile(r"(^|_)(tensor|param|parameter|p|t|grad|x|y|weight|var|variable|leaf|output|outputs)s?\d*$")
#: Names for a whole model, which is no part of a layer; and where a module stands that was handed in, one of many, or
#: that is called as a part of an encoder layer is. What else stands in a known place, as self.head, is left open.
WHOLE = re.compile(r"self|cls|(\w*_)?(model|net|network|unet|transformer)(_\w+)?")
PARTS = re.compile(r"self_attn|linear[12]|norm[12]|dropout[12]?")
HANDED = re.compile(
    r".*(?<!model)(?<!net)\._?(layer|module|sub_?module|modules|target_(layer|module)s?)"
    rf"|(?!self\.|cls\.).*\.({PARTS.pattern})"
)
#: Models that are not made of torch's encoder layers.
ELSEWHERE = re.compile(r"transformers\b.*(Model|ForCausalLM)")
PARAMETERS = {"parameters", "named_parameters"}
#: What a hook touches that is there for a backward pass; what switches gradients on.
GRADIENT = {"register_hook", "retain_grad", "requires_grad_", "grad_fn"}
SWITCHES = re.compile(r"enable_grad\(\)|set_grad_enabled\(True\)")
#: What may be asked of any module; other functions know some.
PLAIN = ("isinstance", "hasattr", "len", "type")
ASKED = ("autograd.grad", "torch.autograd.grad")
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
    others: bool  # the project depends on transformers

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
        tensor = name == "_backward_hooks" and bool(TENSORS.search(last(owner)))
        words |= {"tensor_dict": tensor and "_post_accumulate_grad_hooks" not in use.dicts, "module_dicts": not tensor}
    if owner is not None and _is_parameter(owner, use):
        words["inner"] = False
    if owner is not None and (_is_other(owner, use) or _for_gradients(hook, owner, use)):
        words["encoder_part"] = False
    elif owner is not None and _is_any(owner, use):
        words["encoder_part"] = True
    return words | (_does(hook) if hook is not None else {})


def _is_parameter(owner: ast.expr, use: Sight) -> bool:
    loops = [loop for loop in use.chain if isinstance(loop, ast.For)]
    over = [loop for loop in loops if isinstance(owner, ast.Name) and owner.id in _names(loop.target)]
    return last(owner) in ("weight", "bias") or any(PARAMETERS & _attributes(loop.iter) for loop in over)


def _is_other(owner: ast.expr, use: Sight) -> bool:
    """Say whether a module is seen to be no part of an encoder layer: one's own, of another class, or by its name."""
    text = spelled(owner)
    if text in ("self", "cls") or (isinstance(owner, ast.Call) and spelled(owner.func) == "super"):
        return True  # a module registers hooks on itself
    if any(_no_parts(each, use.file) for each in _classes(text, use)):
        return True
    loops = [loop.target for loop in use.chain if isinstance(loop, ast.For) and text in _names(loop.target)]
    beside = {name for target in loops for name in _names(target) - {text}}  # for name, module in named_modules()
    for each in _asked(use):
        if isinstance(each, (ast.Call, ast.Compare)) and beside & _names(each):
            words = [one.value for one in ast.walk(each) if isinstance(one, ast.Constant)]
            inside = not isinstance(each, ast.Compare) or isinstance(each.ops[0], (ast.In, ast.Eq))
            if words and inside and not any(PARTS.search(str(word)) for word in words):
                return True
    made = [value for value in use.file.named.get(text, ()) if isinstance(value, ast.Call)]
    return bool(made) and all(_no_part(spelled(value.func), use.file) for value in made)


def _asked(use: Sight) -> Iterator[ast.AST]:
    """Yield what is in the tests around a use that must be true."""
    waiting = [*use.guards]
    for test, wanted in waiting:  # grows while it is read
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            waiting.append((test.operand, not wanted))
        elif isinstance(test, ast.BoolOp):
            waiting += [(each, wanted) for each in test.values if isinstance(test.op, ast.And) == wanted]
        elif wanted:
            yield from ast.walk(test)


def _classes(text: str, use: Sight) -> Iterator[ast.expr]:
    """Yield the classes that are said of a module: asked for around it, or in its annotation."""
    for each in _asked(use):
        if isinstance(each, ast.Call) and spelled(each.func) == "isinstance" and len(each.args) == 2:
            yield from each.args[1:] if spelled(each.args[0]) == text else ()
        elif isinstance(each, ast.Compare) and ast.unparse(each.left) == f"type({text})":
            yield from each.comparators if isinstance(each.ops[0], (ast.Eq, ast.Is, ast.In)) else ()
    known = {node.name for node in use.file.classes} | {*use.file.imports} - {
        name for name, origin in use.file.imports.items() if origin.startswith("typing")
    }
    for each in (each for scope in use.chain if isinstance(scope, FUNCTIONS) for each in ast.walk(scope)):
        name = each.arg if isinstance(each, ast.arg) else spelled(getattr(each, "target", None))
        said = getattr(each, "annotation", None)
        if name == text and isinstance(said, (ast.Name, ast.Attribute)) and spelled(said).partition(".")[0] in known:
            yield said


def _no_parts(classes: ast.expr, file: File) -> bool:
    """Say whether classes are none that an encoder layer has as parts: one, a tuple, or a name for several."""
    while isinstance(classes, ast.Call) and classes.args:  # tuple(classes)
        classes = classes.args[0]
    several = file.named.get(spelled(classes), [classes])
    each = [one for some in several for one in (some.elts if isinstance(some, (ast.Tuple, ast.List)) else [some])]
    return bool(each) and all(_no_part(spelled(one), file) for one in each)


def _no_part(name: str, file: File) -> bool:
    """Say whether a class is none that an encoder layer has as a part: it has another name, or is not torch's."""
    short = name.rpartition(".")[2]
    return short[:1].isupper() and (short not in ENCODER or (name in file.imports and not file.of_torch(name)))


def _for_gradients(hook: Function | None, owner: ast.expr, use: Sight) -> bool:
    """Say whether a forward hook serves a backward pass: then the module runs with gradients.

    It touches nodes or hooks of tensors; around it, or in the function that registers it, gradients are switched on or
    asked for; or this registers a hook for the backward pass on the same module wherever this one is.
    """
    around = next((each for each in use.chain if isinstance(each, FUNCTIONS)), use.node)
    inside = [*ast.walk(around)]
    blocks = [item for each in (*use.chain, *inside) if isinstance(each, ast.With) for item in each.items]
    if (hook is not None and GRADIENT & _attributes(hook)) or any(SWITCHES.search(ast.unparse(one)) for one in blocks):
        return True
    for call in inside:
        if isinstance(call, ast.Call):
            name, first = last(call.func), call.args[:1]
            if isinstance(call.func, ast.Attribute) and (call.func.attr == "backward" or spelled(call.func) in ASKED):
                return True
            on = [call.func.value] if isinstance(call.func, ast.Attribute) and name.startswith("register_") else []
            hooks = [_function(each, use.chain) for each in first if on and "forward" in name]
            serves = "backward" in name or any(each is not None and GRADIENT & _attributes(each) for each in hooks)
            same = any(ast.dump(owner) == ast.dump(each) for each in on + first)
            if serves and same and {*conditions(use.file.chain(call))} <= {*use.guards}:
                return True
    return False


def _is_any(owner: ast.expr, use: Sight) -> bool:
    """Say whether a module may be any: it was handed in, or is one of many, and stands in no known place.

    Known places are those of `for layer in self.decoder.layers`, or of head = model.layers[-1].head.
    """
    if use.others or any(ELSEWHERE.match(origin) for origin in use.file.imports.values()):
        return False
    if not isinstance(owner, ast.Name) or WHOLE.fullmatch(owner.id):
        return bool(HANDED.fullmatch(spelled(owner)))
    chosen = [each for each in _asked(use) if isinstance(each, ast.Call) and last(each.func) not in PLAIN]
    if any(spelled(one) == owner.id for each in chosen for one in each.args):
        return False  # by code of its own
    around = next(each for each in use.chain if isinstance(each, (*FUNCTIONS, ast.Module)))
    bound = [one for each in ast.walk(around) for one in bindings(each)]
    return not any(_is_place(value) for target, value in bound if owner.id in _names(target))


def _is_place(value: ast.expr) -> bool:
    """Say whether what a name stands for is in a known place, or found by a method of its own."""
    if isinstance(value, ast.BoolOp):
        value = value.values[-1]
    if isinstance(value, ast.Call) and spelled(value.func) in ("enumerate", "reversed", "list") and value.args:
        value = value.args[0]
    if isinstance(value, ast.Call):
        return bool(re.fullmatch(r"self\._(find|get)_?\w*", spelled(value.func)))
    return "." in spelled(value) and not HANDED.fullmatch(spelled(value))


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
