"""What clauses about state dicts and about registering share: sources, needs, and what a trace says of the program."""

from dataclasses import replace
from typing import Any, Dict, List, NamedTuple, Optional, Sequence

from hypothesis import strategies as st

from fixtures.draw.contract import contract_drawn_for
from fixtures.draw.state import programs
from fixtures.play.trace import Trace
from fixtures.state.grammar import Duplicate, Load, Off, On, Put, Rename, Save, Set, Tree
from fixtures.state.kinds import KINDS
from fixtures.state.plan import StatePlan

# --- sources -----------------------------------------------------------------------------------

SAVE_PRE = "docs: torch.nn.Module.register_state_dict_pre_hook"
SAVE_POST = "docs: torch.nn.Module.register_state_dict_post_hook"
SAVE_OWN = "docs: torch.nn.Module._register_state_dict_hook"
LOAD_PRE = "docs: torch.nn.Module.register_load_state_dict_pre_hook"
LOAD_OWN = "docs: torch.nn.Module._register_load_state_dict_pre_hook"
LOAD_POST = "docs: torch.nn.Module.register_load_state_dict_post_hook"
OPTIMIZER_SAVE_PRE = "docs: torch.optim.Optimizer.register_state_dict_pre_hook"
OPTIMIZER_SAVE_POST = "docs: torch.optim.Optimizer.register_state_dict_post_hook"
OPTIMIZER_LOAD_PRE = "docs: torch.optim.Optimizer.register_load_state_dict_pre_hook"
OPTIMIZER_LOAD_POST = "docs: torch.optim.Optimizer.register_load_state_dict_post_hook"
OF_PARAMETERS = "docs: torch.nn.modules.module.register_module_parameter_registration_hook"
OF_BUFFERS = "docs: torch.nn.modules.module.register_module_buffer_registration_hook"
OF_MODULES = "docs: torch.nn.modules.module.register_module_module_registration_hook"
AFFECTED = f'{LOAD_POST} "are affected by modifications the hook makes"'

# --- what a clause needs -----------------------------------------------------------------------

NEEDS = {name: kind.need for name, kind in KINDS.items() if kind.since}
ASSIGN = "torch.nn.Module.load_state_dict(assign)"
EXTRA = "torch.nn.Module.set_extra_state"
TRANSIENT = "torch.nn.Module.register_buffer(persistent)"

# --- programs ---------------------------------------------------------------------------------


@st.composite
def crowded(draw: Any, on: Sequence[str] = ("root", "a", "c"), acts: Sequence[Any] = (), **options: Any) -> StatePlan:
    """Programs with modules two levels deep and two hooks or more, all on one module; the outermost is saved or loaded.

    With some `acts` one of the hooks does one of them, and the others do nothing.
    """
    options["least"] = max(2, options.get("least", 2))
    program = draw(programs(on=on, **{**options, "most": max(2, options.get("most", 4))}))
    spot, numbers = draw(st.sampled_from(on)), draw(st.tuples(*[st.integers(0, 5)] * 3))
    doing = draw(st.sampled_from([hook.label for hook in program.hooks])) if acts else ""
    act = (draw(st.sampled_from(acts)),) if acts else ()
    a, b, c = (Tree(name, (("w", number),)) for name, number in zip("abc", numbers))

    def moved(step: Any) -> Any:
        if isinstance(step, On):
            does = act if step.label == doing else () if acts else step.do
            return replace(step, on=spot, do=does)
        return replace(step, on="root") if isinstance(step, (Save, Load)) else step

    tree = replace(program.tree, children=(replace(a, children=(c,)), b))
    steps = [moved(step) for step in program.steps if not isinstance(step, Set)]
    if "share" in options["steps"]:
        steps.insert(len(program.hooks), Set("root", "z", "module", value=spot))
    return StatePlan(tree, tuple(steps))


def anywhere(acts: Sequence[Any] = (), **options: Any) -> Any:
    """Programs of all sorts, and twice as many in which hooks crowd on one module; one of them may do some `acts`."""
    return st.one_of(programs(**options), crowded(**options), crowded(acts=acts, **options))


@st.composite
def anew(draw: Any, **options: Any) -> StatePlan:
    """Programs that load other numbers, 6 and more, into all tensors of the outermost module."""
    program = draw(anywhere(steps=("load",), runs=1, plain=True, **options))
    more = tuple((key, number) for number, key in enumerate(keys(program.tree), 6))
    load = Load(strict=draw(st.booleans()), form="dict", more=more)
    return StatePlan(program.tree, (*program.hooks, Save(), load))


@st.composite
def copied(draw: Any, **options: Any) -> StatePlan:
    """Programs that load a copy of the outermost module, after its hooks are registered."""
    program = draw(programs(does=(), steps=("load",), plain=True, **options))
    return StatePlan(program.tree, (*program.hooks, Duplicate(), Save("copied"), Load("copied")))


@st.composite
def removing(draw: Any, hooked: Any, on: str = "root") -> StatePlan:
    """Programs that save and load, remove some of the hooks of another program, and save and load again."""
    program = draw(hooked)
    every = [hook.label for hook in program.hooks]
    gone = draw(st.lists(st.sampled_from(every), min_size=1, unique=True))
    run = (Save(on), Load(on))
    return StatePlan(program.tree, (*program.hooks, *run, *map(Off, gone), *run))


def available(kinds: Sequence[str]) -> List[str]:
    """Those of these kinds that the torch has for which programs are drawn."""
    return [kind for kind in kinds if kind in contract_drawn_for().state_kinds]


def quiet(program: StatePlan) -> StatePlan:
    """The same program with hooks that do nothing."""
    return replace(program, steps=tuple(replace(one, do=()) if isinstance(one, On) else one for one in program.steps))


# --- what a trace says -------------------------------------------------------------------------


class GivenToLoad(NamedTuple):
    """What a load pre-hook is given, but for its module."""

    kind: str
    state_dict: Any
    prefix: str
    metadata: Any
    strict: bool
    missing: List[str]
    unexpected: List[str]
    errors: int


def given_to_load(trace: Trace) -> List[GivenToLoad]:
    """What load pre-hooks were given, call by call."""
    return [GivenToLoad(*one[-len(GivenToLoad._fields) :]) for one in seen(trace)]


def called(trace: Trace) -> List[str]:
    """The labels of the hooks that were called, in order."""
    return [event.what for event in trace if event.what[0] == "h" and event.what != "holds"]


def seen(trace: Trace) -> List[Any]:
    """What hooks were given, call by call."""
    return [event.seen for event in trace if event.what[0] == "h" and event.what != "holds"]


def events(trace: Trace, what: str) -> List[Any]:
    """What was noted of steps of one sort."""
    return [event.seen for event in trace if event.what == what]


def prefixes(tree: Tree, prefix: str = "") -> Dict[str, str]:
    """The names of a module and of those in it, outside in, each with the prefix of its keys."""
    found = {tree.name: prefix}
    for child in tree.children:
        found.update(prefixes(child, f"{prefix}{child.name}."))
    return found


def numbers(tree: Tree, of: Optional[Sequence[str]] = None) -> Dict[str, Any]:
    """The tensors of a tree as they are saved, in order: all of them, or those of some modules."""
    found = {}
    for one in tree.all():
        held = [*one.parameters, *((each.name, each.value) for each in one.buffers if each.persistent)]
        if of is None or one.name in of:
            found.update({prefixes(tree)[one.name] + name: value for name, value in held if value is not None})
    return found


def keys(tree: Tree, of: Optional[Sequence[str]] = None) -> List[str]:
    """The keys of the tensors of a plain tree, in the order in which they are saved."""
    return list(numbers(tree, of))


def under(prefix: str, found: Dict[str, Any]) -> Dict[str, Any]:
    """What a dict has of the module with this prefix."""
    return {key: one for key, one in found.items() if key.startswith(prefix)}


def of_parameter(key: str) -> bool:
    """Whether a key is that of a parameter: `n` is the only buffer that is drawn."""
    return key.split(".")[-1] != "n"


def shown(found: Dict[str, Any]) -> Dict[str, Any]:
    """The same as a trace shows what is in a module."""
    return {key: f"Parameter({one})" if of_parameter(key) else one for key, one in found.items()}


def changed(program: StatePlan, tree: Tree, found: Dict[str, Any]) -> Dict[str, Any]:
    """The same once all hooks of the tree have given the parameters of their modules a value."""
    found = dict(found)
    for hook in program.hooks:
        found.update({key: act.value for key in keys(tree, [hook.on]) if of_parameter(key) for act in hook.do})
    return found


def handled(program: StatePlan) -> Tree:
    """The module that is saved or loaded first."""
    on = next(step.on for step in program.steps if isinstance(step, (Save, Load)))
    return next(one for one in program.tree.all() if one.name == on)


def inwards(program: StatePlan) -> List[str]:
    """The hooks of the module that is handled, then those of the modules in it, each with its own as registered."""
    return labels(program, list(prefixes(handled(program))))


def outwards(program: StatePlan) -> List[str]:
    """The same the other way round: the modules inside come first."""
    return labels(program, inside_out(handled(program)))


def ahead(tree: Tree, name: str) -> List[str]:
    """The modules whose turn is before that of this one."""
    names = list(prefixes(tree))
    return names[: names.index(name)]


def done(tree: Tree, name: str) -> List[str]:
    """The modules that are through when this one is: those before it, itself and those in it."""
    within = next(one for one in tree.all() if one.name == name).all()
    return [*ahead(tree, name), *(one.name for one in within)]


def places(program: StatePlan) -> Dict[str, str]:
    """Where each hook is."""
    return {hook.label: hook.on for hook in program.hooks}


def labels(program: StatePlan, names: Sequence[str]) -> List[str]:
    """The hooks of these modules, module by module, each with its own as they were registered."""
    return [hook.label for name in names for hook in program.hooks if hook.on == name]


def inside_out(tree: Tree) -> List[str]:
    """The names of the modules, each behind those in it."""
    return [*(name for child in tree.children for name in inside_out(child)), tree.name]


def reported(program: StatePlan, order: Sequence[str]) -> Dict[str, List[str]]:
    """What hooks that are called in this order add to each list, less what a later one clears."""
    does = {hook.label: hook.do for hook in program.hooks}
    found: Dict[str, List[str]] = {"missing_keys": [], "unexpected_keys": [], "error_msgs": []}
    for act in (act for label in order for act in does[label]):
        found[act.which] = [*found[act.which], act.key] if act.key else []
    return found


def culprit_of(program: StatePlan, order: Sequence[str]) -> Optional[On]:
    """The first of these hooks that does something, which is to raise."""
    return next((hook for label in order for hook in program.hooks if hook.label == label and hook.do), None)


def after_load(program: StatePlan, loaded: Optional[Sequence[str]] = None) -> Dict[str, Any]:
    """What is in the modules after a program of `anew`, of which all modules or some are loaded."""
    more = dict(program.steps[-1].more)
    return {**numbers(program.tree), **{key: more[key] for key in keys(program.tree, loaded)}}


@st.composite
def across(draw: Any) -> StatePlan:
    """Two modules, one with hooks that put something under the key of the other, which is loaded after it."""
    numbers = st.integers(0, 5)
    a, b = (Tree(name, (("w", draw(numbers)),)) for name in ("a", "b"))
    hooks = [
        On("load_own", "a", f"h{index}", (Put("b.w", draw(numbers), whole=True),))
        for index in range(draw(st.integers(1, 2)))
    ]
    return StatePlan(Tree("root", children=(a, b)), (*hooks, Save(), Load(strict=draw(st.booleans()))))


@st.composite
def renamed(draw: Any) -> StatePlan:
    """A dict that has some other key than a parameter, and hooks that rename it."""
    number, name = draw(st.integers(0, 5)), draw(st.sampled_from(("x", "old")))
    inner = draw(st.booleans())
    prefix, place = ("a.", "a") if inner else ("", "root")
    a = Tree("a", (("w", draw(st.integers(0, 5))),))
    root = Tree("root", () if inner else (("w", draw(st.integers(0, 5))),), children=(a,) if inner else ())
    load = Load(form="dict", less=(f"{prefix}w",), more=((f"{prefix}{name}", number),))
    return StatePlan(root, (On("load_own", place, "h0", (Rename(name, "w"),)), Save(), load))
