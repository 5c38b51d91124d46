"""What code shows of one use of a hook: which words of `fixtures/clause/matters_if.py` hold, and which do not."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from fixtures.families import KINDS
from reports.usage.guards import Guard
from reports.usage.owned import FUNCTIONS, LOOPS, File, arguments, last, spelled, where
from reports.usage.project import Owned, given_to

#: Parts of torch's encoder layer, and how modules are found that are somewhere in another.
PARTS = {"self_attn", "linear1", "linear2", "norm1", "norm2", "dropout", "dropout1", "dropout2"}
WALKS = {"modules", "named_modules", "get_submodule"}
CHILDREN = {"children", "named_children", "_modules"}
TENSORS = re.compile(r"(^|_)(tensor|param|parameter|p|t|grad|x|y|weight|var|variable|leaf|output|outputs)s?\d*$")
#: What gives parameters, and the names that parameters of torch's own modules have.
PARAMETERS = {"parameters", "named_parameters", "Parameter", "get_parameter"}
WEIGHTS = {"weight", "bias", "in_proj_weight", "in_proj_bias"}
#: What an optimizer is called; "optimized_model" is none.
OPTIMIZER = re.compile(r"(?i:(^|_)(optim|optimizer|opt)s?(_?\d+)?$|^(\w*Optimizer|SGD|Adam\w*|RMSprop|LBFGS)$)")
#: Methods that return nothing, by the habits of Python, and those that change what they are called on.
NOTHING = {"append", "extend", "update", "add", "insert", "clear", "print", "remove", "setdefault_", "__setitem__"}
DEPTH = 5
PRE = ("register_forward_pre_hook", "register_module_forward_pre_hook")
#: What registers a hook on everything there is.
EVERYWHERE = frozenset(kind.everywhere for kind in KINDS.values() if kind.everywhere)
ON_MODULES = frozenset(kind.api for kind in KINDS.values() if kind.owner == "torch.nn.Module")


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
    def owner(self) -> ast.expr:
        """What it is registered on, or whose dict it is; an empty name where that is not shown."""
        node = self.node
        if isinstance(node, ast.Call):
            if last(node.func) in ("getattr", "setattr", "delattr", "hasattr", "vars") and node.args:
                return node.args[0]
            node = node.func
        return node.value if isinstance(node, (ast.Attribute, ast.Subscript)) else ast.Name("", ast.Load())


def seen(use: Sight) -> dict[str, bool]:
    """Return what is seen of a use: word -> whether it holds; what is missing is open."""
    owner, name, file = use.owner, use.name, use.file
    everywhere, backward = name in EVERYWHERE, name == "_backward_hooks"
    tensor = backward and bool(TENSORS.search(last(owner)))
    own = last(owner) in file.attributes.get("register_hook", ())  # its dict has what is registered here, everywhere
    looked = file.attributes.keys() | file.strings  # a name as text looks for it too
    first = everywhere or _is_first(owner, use)
    words = {
        "everywhere": everywhere,
        "own": not everywhere,
        "module_dicts": not tensor and not own,
        "tensor_dict": tensor and not own and "_post_accumulate_grad_hooks" not in looked,
        "all_dicts": backward and "_backward_pre_hooks" not in looked,
        "optimizer": of_optimizer(owner, use),
    }
    words |= {"?inputs_need_no_grad": True, "?first_needs_no_grad": True} if first else {}
    if name == "register_full_backward_pre_hook" and "register_full_backward_hook" not in looked:
        words["?alone"] = True
    if name == "register_hook" and use.owned.shows(file, owner, lambda node: _is_parameter(node, use)):
        words["inner"] = False
    if "forward_hook" in name and _has_pre_hook(use):
        words["?pair"] = True
    if use.owned.shows(file, owner, lambda node: _is_part(node, use)):
        words["encoder_part"] = True
    return words | _made_of(owner, use) | _hook(use)


def _made_of(owner: ast.expr, use: Sight) -> dict[str, bool]:
    """Return what is seen of a module that code hands to torch: what torch.compile returned, what checkpoint runs."""
    words = {"?wrapper": True, "?compiled": False} if _is_wrapper(owner, use) else {}
    if isinstance(owner, ast.Attribute) and _is_wrapper(owner.value, use):
        words["?wrapper"] = False  # a module inside
    calls = (each for some in use.file.calls.values() for each in some if last(each.func) == "checkpoint" and each.args)
    handed = (each.args[0] for each in calls if use.file.of_torch(spelled(each.func)))
    mine = _keys(owner, use.file)
    return words | ({"?checkpoint": True} if any(mine & _keys(each, use.file) for each in handed) else {})


def _is_wrapper(owner: ast.expr, use: Sight) -> bool:
    """Say whether something is what torch.compile returned; of a name of the same function, on some way there."""
    file = use.file

    def compiles(node: ast.AST) -> bool:
        func = node.func if isinstance(node, ast.Call) else None
        return file.imported(spelled(func)) == "compile" and file.of_torch(spelled(func))

    ways = file.values(owner) if isinstance(owner, ast.Name) and file.scope(owner) is file.within.get(owner) else []
    return any(one.value and compiles(one.value) for one in ways) or use.owned.shows(file, owner, compiles)


def _keys(node: ast.AST, file: File) -> set[tuple[ast.AST, str]]:
    """Return what tells a module: its name in its scope, and that of what a loop takes it from."""
    loops = [one.value for one in file.values(node) if isinstance(one.node, LOOPS)]
    known = [each for each in (node, *loops) if each in file.within and spelled(each)]
    return {(file.scope(each), spelled(each)) for each in known}


def _has_pre_hook(use: Sight) -> bool:
    """Say whether the class around, or the function where there is none, registers forward pre-hooks, too."""
    around = use.file.around(use.node, ast.ClassDef) or use.file.around(use.node, *FUNCTIONS)
    inside = ast.walk(around) if around else use.file.nodes
    return any(last(each) in PRE for each in inside if isinstance(each, (ast.Name, ast.Attribute)))


def of_optimizer(owner: ast.expr, use: Sight) -> bool:
    """Say whether an owner is an optimizer: by its class, else by its name."""
    values = (one.value for _, one in use.owned.values(use.file, owner))
    named = {*_classes(owner, use), *(spelled(each.func) for each in values if isinstance(each, ast.Call))}
    above = {base.rpartition(".")[2] for each in named - {""} for _, base in use.owned.bases(use.file, each)}
    known = _is_self(owner) or "Module" in above
    return any(OPTIMIZER.search(each) for each in above | ({last(owner)} - {""} if not known else set()))


def _is_self(owner: ast.AST) -> bool:
    return spelled(owner.func if isinstance(owner, ast.Call) else owner) in ("self", "super")


def _is_parameter(owner: ast.AST, use: Sight) -> bool:
    """Say whether a tensor is shown to be a parameter: from a loop over them, made as one, or asked for."""
    named = {each.rpartition(".")[2] for each in _classes(owner, use)}
    return bool(named & PARAMETERS) or (isinstance(owner, ast.Attribute) and owner.attr in WEIGHTS)


def _is_first(owner: ast.AST, use: Sight) -> bool:
    """Say whether the hook is put on every module of a model, the first one too: in a loop without a choice."""
    loops = [one for _, one in use.owned.values(use.file, owner) if isinstance(one.node, LOOPS) and one.value]
    found = {last(each) for one in loops if one.value for each in ast.walk(one.value)} & {"modules", "named_modules"}
    names = {spelled(one.node.target) for one in loops if isinstance(one.node, LOOPS)} | {last(owner)}
    params: set[str] = set()
    if not found and (function := use.file.around(use.node, *FUNCTIONS, ast.Lambda)):
        params = {each.arg for each in arguments(function)} - {"self", "cls"}
        found = {"apply"} if last(owner) in params | names and _is_walked(owner, function, use.file) else found

    def chooses(test: ast.AST) -> bool:  # a flag that is handed in is for all modules alike
        asked = names | (set() if isinstance(test, ast.Name) else params)
        return bool(asked & {spelled(each) for each in ast.walk(test)}) and not _is_once(test, use.file)

    return bool(found) and not any(chooses(one.test) for one in use.guards)


def _is_once(test: ast.AST, file: File) -> bool:
    """Say whether a test asks for a mark that code sets on a module which it has hooked: hasattr(m, "_is_hooked")."""
    match test:
        case ast.Call(args=[owner, ast.Constant(value=str(mark)), *_]) if last(test.func) in ("hasattr", "getattr"):
            return mark[:1] == "_" and any(name == f"{spelled(owner)}.{mark}" for _, name in file.bound)
        case ast.UnaryOp(op=ast.Not()):
            return _is_once(test.operand, file)
    return False


def _is_walked(owner: ast.AST, function: ast.AST, file: File, depth: int = 0) -> bool:
    """Say whether a function gets all modules of a model: it is given to apply(), or calls itself for the children."""
    name = getattr(function, "name", None)
    own = [each for start in ("", "self.", "cls.") for each in file.calls.get(f"{start}{name}", ()) if name]
    inside = [each for each in own if function in file.chain(each)]
    given = [arg for each in inside for arg in (*each.args, *(one.value for one in each.keywords))]

    def is_child(node: ast.AST) -> bool:
        loops = (one.value for one in file.values(node) if isinstance(one.node, LOOPS) and one.value)
        return any(last(each) in CHILDREN for loop in loops for each in ast.walk(loop))

    def is_handed_on(node: ast.AST) -> bool:  # by a function that gets all of them, without a test
        call = next((each for each in own if node in (*each.args, *(one.value for one in each.keywords))), node)
        around = file.around(call, *FUNCTIONS)
        if not isinstance(around, FUNCTIONS) or file.parents.get(file.parents[call]) is not around or depth >= DEPTH:
            return False
        tests = [each.test for each in around.body if where(each) < where(call) and isinstance(each, ast.If)]
        return all(_is_once(each, file) for each in tests) and _is_walked(node, around, file, depth + 1)

    handed = [one for one in arguments(function) if one in [each.value for each in file.values(owner)]]
    if any(is_child(each) for each in given) and (handed or is_child(owner)):
        return True
    applied = [
        each.args[0] for some in file.calls.values() for each in some if last(each.func) == "apply" and each.args
    ]
    if handed and any(each is function or (name and last(each) == name) for each in applied):
        return True
    return any(is_handed_on(each) for one in handed for each in given_to(file, one) if each not in given)


def _hook(use: Sight) -> dict[str, bool]:
    """Return what is seen of the function that is registered: does it return, raise, register, change its gradient?"""
    given = use.call.args[:1] + [each.value for each in use.call.keywords if each.arg == "hook"] if use.call else []
    function = _function(given[0], use) if given else None
    if not isinstance(function, (ast.Lambda, *FUNCTIONS)):
        return {}
    body = [each for each in use.file.nodes if use.file.within.get(each) is function]
    returned = [each.value for each in body if isinstance(each, ast.Return)]
    kinds = {_something(each) for each in ([function.body] if isinstance(function, ast.Lambda) else returned)}
    words = {} if kinds - {True, False} and True not in kinds else {"returns": True in kinds}
    if not isinstance(function, ast.Lambda) and getattr(function.returns, "value", "") is None:
        words["returns"] = False  # it is annotated so
    raised = [each for each in body if isinstance(each, ast.Raise)]
    if not raised or any(use.file.parents.get(each) is function for each in raised):
        words["raises"] = bool(raised)
    names = [each.arg for each in arguments(function) if each.arg not in ("self", "cls")]
    words["edits"] = bool(names) and any(_edits(each, names[-1]) for each in body)
    if any(isinstance(each, ast.Attribute) and each.attr in ON_MODULES for each in body):
        words["registers"] = True
    return words


def _function(given: ast.AST | None, use: Sight, depth: int = 0) -> ast.AST | None:
    """Return the function that is registered: a lambda, a function or method of this file, also through a partial."""
    found: list[ast.AST | None] = []
    if isinstance(given, (ast.Lambda, *FUNCTIONS)) or given is None or depth > DEPTH:
        return given
    if isinstance(given, ast.Call) and last(given.func) == "partial":
        found = [*given.args[:1]]
    elif isinstance(given, ast.Call):  # make_hook(name), which returns one
        maker = _function(given.func, use, depth + 1)
        made = (each for each in use.file.nodes if isinstance(each, ast.Return) and use.file.within[each] is maker)
        found = [each.value for each in made]
    elif isinstance(given, ast.Attribute) and spelled(given.value) in ("self", "cls"):
        body = getattr(use.file.around(use.node, ast.ClassDef), "body", ())
        found = [each for each in body if getattr(each, "name", "") == given.attr][:1]
    else:
        found = [one.value for one in use.file.values(given)]
    return _function(found[0], use, depth + 1) if len(found) == 1 else None


def _something(value: ast.AST | None) -> bool | None:
    """Say whether what is returned is something; None where a call decides it."""
    if value is None or (isinstance(value, ast.Constant) and value.value is None):
        return False
    if isinstance(value, ast.Call):
        return False if last(value.func) in NOTHING else None
    return None if isinstance(value, (ast.IfExp, ast.BoolOp)) else True


def _edits(node: ast.AST, name: str) -> bool:
    """Say whether a statement changes a gradient in place."""
    match node:
        case ast.Call(func=ast.Attribute(value=owner, attr=how)):
            return how[-1] == "_" != how[0] and spelled(owner) == name
        case ast.AugAssign():
            return spelled(node.target) == name
        case ast.Assign():
            return any(isinstance(each, ast.Subscript) and spelled(each) == name for each in node.targets)
    return False


def _is_part(owner: ast.AST, use: Sight) -> bool:
    """Say whether a module is shown to be in torch's encoder layer: a part by its name, or found in what has one."""
    walked = [each for each in ast.walk(owner) if isinstance(each, ast.Attribute) and each.attr in WALKS]
    part = [owner] if isinstance(owner, ast.Attribute) and owner.attr in PARTS else walked

    def has_layer(node: ast.AST) -> bool:
        return any(use.owned.encodes(use.file, each) for each in _classes(node, use))

    def inside(node: ast.AST) -> list[ast.AST]:
        return [node.value] if isinstance(node, (ast.Attribute, ast.Subscript)) and last(node.value) != "self" else []

    return any(use.owned.shows(use.file, each.value, has_layer, inside=inside) for each in part)


def _classes(node: ast.AST, use: Sight) -> Iterator[str]:
    """Yield the classes that code shows something to be of: called, asked for around it, in an annotation, its own."""
    yield from (spelled(each.func) or last(each.func) for each in ast.walk(node) if isinstance(each, ast.Call))
    name = spelled(node)
    for guard in use.guards:
        if name and guard.wanted != isinstance(guard.test, ast.UnaryOp):
            calls = (each for each in ast.walk(guard.test) if isinstance(each, ast.Call) and each.args)
            asked = (each.args for each in calls if last(each.func) == "isinstance")
            yield from (spelled(args[-1]) for args in asked if name in map(spelled, args))
    for scope in use.file.chain(use.node):
        if isinstance(scope, FUNCTIONS):
            yield from (spelled(each.annotation) for each in arguments(scope) if each.arg == name)
        elif isinstance(scope, ast.ClassDef) and _is_self(node):
            yield scope.name
