"""What code shows of one use of a hook: which words of `fixtures/judge/concern.py` hold, and which do not."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from reports.usage.guards import Guard
from reports.usage.owned import FUNCTIONS, LOOPS, File, arguments, last, spelled
from reports.usage.project import Owned

#: Parts of torch's encoder layer, and how modules are found that are somewhere in another.
PARTS = {"self_attn", "linear1", "linear2", "norm1", "norm2", "dropout", "dropout1", "dropout2"}
WALKS = {"modules", "named_modules", "get_submodule"}
TENSORS = re.compile(r"(^|_)(tensor|param|parameter|p|t|grad|x|y|weight|var|variable|leaf|output|outputs)s?\d*$")
#: What gives parameters, and the names that parameters of torch's own modules have.
PARAMETERS = {"parameters", "named_parameters", "Parameter", "get_parameter"}
WEIGHTS = {"weight", "bias", "in_proj_weight", "in_proj_bias"}
#: What an optimizer is called; "optimized_model" is none.
OPTIMIZER = re.compile(r"(?i:(^|_)(optim|optimizer|opt)s?(_?\d+)?$|^(\w*Optimizer|SGD|Adam\w*|RMSprop|LBFGS)$)")
#: Methods that return nothing, by the habits of Python, and those that change what they are called on.
NOTHING = {"append", "extend", "update", "add", "insert", "clear", "print", "remove", "setdefault_", "__setitem__"}
DEPTH = 5


@dataclass(frozen=True)
class Sight:
    """A use as it is in its file: where it is, how it is called, and the tests around it."""

    node: ast.AST
    name: str
    call: ast.Call | None
    guards: tuple[Guard, ...]
    file: File
    owned: Owned

    @property
    def owner(self) -> ast.expr | None:
        """What it is registered on, or whose dict it is."""
        node = self.node
        if isinstance(node, ast.Call) and last(node.func) in ("getattr", "setattr", "delattr", "hasattr", "vars"):
            return node.args[0] if node.args else None
        node = node.func if isinstance(node, ast.Call) else node
        return node.value if isinstance(node, (ast.Attribute, ast.Subscript)) else None


def seen(use: Sight) -> dict[str, bool]:
    """Return what is seen of a use: word -> whether it holds; what is missing is open."""
    owner, name, file = use.owner, use.name, use.file
    everywhere = name.startswith("register_module_")
    tensor = name == "_backward_hooks" and bool(TENSORS.search(last(owner)))
    own = last(owner) in file.attributes.get(
        "register_hook", ()
    )  # its dict has what is registered here, on every release
    words = {"everywhere": everywhere, "own": not everywhere, "module_dicts": not tensor and not own}
    looked = file.attributes.keys() | file.strings  # a name as text looks for it too
    words["tensor_dict"] = tensor and not own and "_post_accumulate_grad_hooks" not in looked
    words["all_dicts"] = name == "_backward_hooks" and "_backward_pre_hooks" not in looked
    words["optimizer"] = owner is not None and of_optimizer(owner, use)
    if name == "register_hook" and owner is not None:
        words |= {"inner": False} if _is_parameter(owner, use) else {}
    if everywhere or _is_first(owner, use):
        words["?inputs_need_no_grad"] = words["?first_needs_no_grad"] = True
    if name == "register_full_backward_pre_hook" and "register_full_backward_hook" not in looked:
        words["?alone"] = True
    return words | _hook(use) | ({"encoder_part": True} if owner is not None and _is_part(owner, use) else {})


def of_optimizer(owner: ast.expr, use: Sight) -> bool:
    """Say whether an owner is an optimizer: by its class, else by its name."""
    if isinstance(owner, ast.Call) and spelled(owner.func) == "super":
        inside = use.file.around(use.node, ast.ClassDef)
        named = [inside.name] if isinstance(inside, ast.ClassDef) else []
    else:
        named = [each for each in _classes(owner, spelled(owner), use) if each]
        values = [one.value for _, one in use.owned.values(use.file, owner)]
        named += [spelled(each.func) for each in values if isinstance(each, ast.Call)]
    above = {base.rpartition(".")[2] for each in named for _, base in use.owned.bases(use.file, each)}
    if spelled(owner) == "self" or "Module" in above:
        return any(OPTIMIZER.search(each) for each in above)
    return bool(OPTIMIZER.search(last(owner))) or any(OPTIMIZER.search(each) for each in above)


def _is_parameter(owner: ast.AST, use: Sight, depth: int = 0) -> bool:
    """Say whether a tensor is shown to be a parameter: from a loop over them, made as one, or asked for."""
    called = [each for each in ast.walk(owner) if isinstance(each, ast.Call)]
    if any(
        (each.func.attr if isinstance(each.func, ast.Attribute) else last(each.func)) in PARAMETERS for each in called
    ):
        return True
    if isinstance(owner, ast.Attribute) and owner.attr in WEIGHTS:
        return True
    if any(each.rpartition(".")[2] == "Parameter" for each in _classes(owner, spelled(owner), use)):
        return True
    values = [one.value for _, one in use.owned.values(use.file, owner)] if depth < DEPTH else []
    return bool(values) and all(each is not None and _is_parameter(each, use, depth + 1) for each in values)


def _is_first(owner: ast.AST | None, use: Sight) -> bool:
    """Say whether the hook is put on every module of a model, the first one too: in a loop without a choice."""
    loops = [one for _, one in use.owned.values(use.file, owner)] if owner is not None else []
    walks = [each for one in loops if isinstance(one.node, LOOPS) and one.value for each in ast.walk(one.value)]
    found = any(isinstance(each, ast.Attribute) and each.attr in ("modules", "named_modules") for each in walks)
    names = {spelled(one.node.target) for one in loops if isinstance(one.node, LOOPS)} | {last(owner)}
    return found and not any(names & {spelled(each) for each in ast.walk(one.test)} for one in use.guards)


def _hook(use: Sight) -> dict[str, bool]:
    """Return what is seen of the function that is registered: does it return something, raise, change its gradient?"""
    given = use.call.args[:1] + [each.value for each in use.call.keywords if each.arg == "hook"] if use.call else []
    function = _function(given[0], use) if given else None
    if function is None:
        return {}
    if isinstance(function, ast.Lambda):
        body: list[ast.AST] = [*ast.walk(function.body)]
        returned: list[ast.AST | None] = [function.body]
    else:
        body = [each for each in use.file.nodes if use.file.within.get(each) is function]
        returned = [each.value for each in body if isinstance(each, ast.Return)]
    kinds = {_something(each) for each in returned}
    words = {} if kinds - {True, False} and True not in kinds else {"returns": True in kinds}
    raised = [each for each in body if isinstance(each, ast.Raise)]
    if not raised or any(use.file.parents.get(each) is function for each in raised):
        words["raises"] = bool(raised)
    names = [each.arg for each in arguments(function) if each.arg not in ("self", "cls")]
    words["edits"] = bool(names) and any(_edits(each, names[-1]) for each in body)
    return words


def _function(given: ast.AST, use: Sight, depth: int = 0) -> ast.AST | None:
    """Return the function that is registered: a lambda, a function or method of this file, also through a partial."""
    if isinstance(given, (ast.Lambda, *FUNCTIONS)):
        return given
    if isinstance(given, ast.Call) and last(given.func) == "partial" and given.args:
        return _function(given.args[0], use, depth)
    if isinstance(given, ast.Call):  # make_hook(name), which returns one
        maker = _function(given.func, use, depth + 1) if depth < DEPTH else None
        made = [each for each in use.file.nodes if isinstance(each, ast.Return) and use.file.within[each] is maker]
        return _function(made[0].value, use, depth + 1) if len(made) == 1 and made[0].value else None
    if isinstance(given, ast.Attribute) and spelled(given.value) in ("self", "cls"):
        inside = use.file.around(use.node, ast.ClassDef)
        return next((each for each in getattr(inside, "body", ()) if getattr(each, "name", "") == given.attr), None)
    found = [one.value for one in use.file.values(given)]
    one = found[0] if len(found) == 1 else None
    return _function(one, use, depth + 1) if one is not None and depth < DEPTH else None


def _something(value: ast.AST | None) -> bool | None:
    """Say whether what is returned is something; None where a call decides it."""
    if value is None or (isinstance(value, ast.Constant) and value.value is None):
        return False
    if isinstance(value, ast.Call):
        name = value.func.attr if isinstance(value.func, ast.Attribute) else last(value.func)
        return False if name in NOTHING else None
    return None if isinstance(value, (ast.IfExp, ast.BoolOp)) else True


def _edits(node: ast.AST, name: str) -> bool:
    """Say whether a statement changes a gradient in place."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return node.func.attr[-1] == "_" != node.func.attr[0] and spelled(node.func.value) == name
    target = node.target if isinstance(node, ast.AugAssign) else None
    targets = node.targets if isinstance(node, ast.Assign) else [target]
    return any(isinstance(each, ast.Subscript) and spelled(each) == name for each in targets) or spelled(target) == name


def _is_part(owner: ast.AST, use: Sight, depth: int = 0) -> bool:
    """Say whether a module is shown to be in torch's encoder layer: a part by its name, or found in what has one."""
    if isinstance(owner, ast.Name) and depth < DEPTH:
        values = [one.value for _, one in use.owned.values(use.file, owner)]
        return bool(values) and all(each is not None and _is_part(each, use, depth + 1) for each in values)
    if isinstance(owner, ast.Attribute) and owner.attr in PARTS:
        return _has_layer(owner.value, use)
    inside = (each for each in ast.walk(owner) if isinstance(each, ast.Attribute) and each.attr in WALKS)
    return any(_has_layer(each.value, use) for each in inside)


def _has_layer(node: ast.AST, use: Sight, depth: int = 0) -> bool:
    """Say whether a module is shown to be torch's encoder layer, or to have one: by its class, or as it was made."""
    name = spelled(node)
    if any(use.owned.encodes(use.file, each) for each in _classes(node, name, use)):
        return True
    values: list[ast.AST | None] = [one.value for _, one in use.owned.values(use.file, node)]
    if not values and isinstance(node, (ast.Attribute, ast.Subscript)) and last(node.value) != "self":
        values = [node.value]
    known = depth < DEPTH and bool(values)
    return known and all(each is not None and _has_layer(each, use, depth + 1) for each in values)


def _classes(node: ast.AST, name: str, use: Sight) -> Iterator[str]:
    """Yield the classes that code shows something to be of: called, asked for around it, in an annotation, its own."""
    yield from (spelled(each.func) for each in ast.walk(node) if isinstance(each, ast.Call))
    for guard in use.guards:
        if guard.wanted != isinstance(guard.test, ast.UnaryOp):
            calls = (each for each in ast.walk(guard.test) if isinstance(each, ast.Call))
            asked = [each for each in calls if last(each.func) == "isinstance" and each.args]
            yield from (spelled(each.args[-1]) for each in asked if name and name in map(spelled, each.args))
    for scope in use.file.chain(use.node):
        if isinstance(scope, FUNCTIONS):
            yield from (spelled(each.annotation) for each in arguments(scope) if each.arg == name)
        elif isinstance(scope, ast.ClassDef) and isinstance(node, ast.Name) and name == "self":
            yield scope.name
