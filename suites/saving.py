"""What clauses about state dicts and about registering share: sources, needs, and what a trace says of the program."""

from dataclasses import replace
from typing import Any, Dict, List, Sequence

from hypothesis import strategies as st

from fixtures.draw.state import programs
from fixtures.play.trace import Trace
from fixtures.state.grammar import Load, On, Save, Set, Tree
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


# --- what a trace says -------------------------------------------------------------------------


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


def keys(tree: Tree) -> List[str]:
    """The keys of the tensors of a plain tree, in the order in which they are saved."""
    found = []
    for one in tree.all():
        names = [name for name, _ in one.parameters]
        names += [buffer.name for buffer in one.buffers if buffer.value is not None]
        found += [prefixes(tree)[one.name] + name for name in names]
    return found


def labels(program: StatePlan, places: Sequence[str]) -> List[str]:
    """The hooks of these modules, module by module, each with its own as they were registered."""
    return [hook.label for place in places for hook in program.hooks if hook.on == place]


def inside_out(tree: Tree) -> List[str]:
    """The names of the modules, each behind those in it."""
    return [*(name for child in tree.children for name in inside_out(child)), tree.name]


def deeds(program: StatePlan, name: str) -> List[Any]:
    """What hooks of a program do of one sort, each with the label of the hook."""
    return [(hook.label, act) for hook in program.hooks for act in hook.do if type(act).__name__ == name]
