"""Plans of shapes that several files of clauses use, most of them with hooks of one kind around forward."""

from functools import partial
from typing import Any, Iterable, List, Sequence, Tuple

from hypothesis import strategies as st

from fixtures.draw.plans import FACTORS, NUMBERS, plans
from fixtures.plan.grammar import (
    OPS,
    Backward,
    Chain,
    Drop,
    Forward,
    Hook,
    Input,
    Leaf,
    Plan,
    Raise,
    Remove,
    Reuse,
    Scale,
    walk,
)

RUN = (Forward(), Backward((2,)))


def plans_with(*also: str, **limits: Any) -> Any:
    """`plans`, within limits; `also` names what they may have besides."""
    return plans(**dict.fromkeys(also, True), **limits)


#: The same with one or two inputs and outputs.
wider = partial(plans_with, inputs=(1, 2), outputs=(1, 2))


# --- parts of a plan, for the strategies of clauses --------------------------------------------


def one_leaf(draw: Any, name: str = "m0") -> Leaf:
    """A module of one multiplication."""
    return Leaf(name, "scale", (draw(NUMBERS),))


def alone(draw: Any, op: str = "scale") -> Tuple[Leaf, Tuple[Input, ...]]:
    """A module of one operation with one input, and that input."""
    return Leaf("m0", op, tuple(draw(NUMBERS) for _ in OPS[op][2])), (Input(draw(NUMBERS)),)


def tower(draw: Any, depth: int) -> Any:
    """A module of one multiplication in containers, each in the next: m0, m1 and so on."""
    net: Any = one_leaf(draw, f"m{depth - 1}")
    for level in reversed(range(depth - 1)):
        net = Chain(f"m{level}", (net,))
    return net


#: What a hook does that only looks, and one that multiplies.
LOOKS = st.just(())
SCALES = st.builds(lambda by: (Scale(by),), FACTORS)


def scale_maybe(draw: Any) -> Tuple[Scale, ...]:
    """What a hook does that multiplies, or only observes."""
    return (Scale(draw(FACTORS)),) if draw(st.booleans()) else ()


def scaling(draw: Any, kind: str, on: str = "m0", most: int = 3, first: int = 0) -> List[Hook]:
    """One to `most` hooks on a module that multiply."""
    count = draw(st.integers(1, most))
    return [Hook(kind, on, f"h{first + number}", (Scale(draw(FACTORS)),)) for number in range(count)]


def one_raises(draw: Any, kind: str) -> List[Hook]:
    """One to four hooks on m1, one of which raises; the others multiply."""
    number = draw(st.integers(1, 4))
    culprit = draw(st.integers(0, number - 1))
    return [
        Hook(kind, "m1", f"h{index}", (Raise(),) if index == culprit else (Scale(draw(FACTORS)),))
        for index in range(number)
    ]


def starts(plan: Plan) -> List[int]:
    """The gradient that each backward pass begins with."""
    return [step.grads[0] or 0 for step in plan.steps if isinstance(step, Backward)]


# --- what hooks do, taken together -------------------------------------------------------------


def product(hooks: Iterable[Hook]) -> int:
    """What the hooks multiply by, taken together."""
    factor = 1
    for hook in hooks:
        for action in hook.do:
            factor *= action.by
    return factor


def in_line(hooks: Sequence[Hook]) -> List[Hook]:
    """Hooks of one kind in the order of a call: global ones, then the module's own, prepended ones in front."""
    own: List[Hook] = []
    for hook in hooks:
        if hook.on != "*":
            own.insert(0 if hook.prepend else len(own), hook)
    return [hook for hook in hooks if hook.on == "*"] + own


def around_modules(net: Any) -> List[Tuple[str, str]]:
    """(kind of hook around forward, module) in the order of one call of a network."""
    modules = {module.name: module for module in walk(net)}

    def around(name: str) -> List[Tuple[str, str]]:
        inside = [one for child in getattr(modules[name], "children", ()) for one in around(child.name)]
        return [("forward_pre", name), *inside, ("forward", name)]

    return around(net.name)


def called_around(plan: Plan) -> List[str]:
    """The labels of hooks around forward in the order of all calls, where none is removed and no call fails."""
    there: List[Hook] = []
    called: List[str] = []
    for step in plan.steps:
        if isinstance(step, Hook):
            there.append(step)
        for kind, name in around_modules(plan.net) if isinstance(step, Forward) else ():
            own = [hook for hook in there if hook.kind == kind and hook.on in ("*", name)]
            called += [hook.label for hook in in_line(own)]
    return called


def until_one_raises(hooks: Sequence[Hook]) -> List[str]:
    """The labels of the hooks up to the one that raises."""
    labels = [hook.label for hook in hooks]
    culprit = next(hook.label for hook in hooks if hook.do == (Raise(),))
    return labels[: labels.index(culprit) + 1]


def left_by_scaling(plan: Plan) -> List[int]:
    """What each forward of a pass-through module returns, while its hooks, which multiply, are there."""
    there, expected = {}, []
    for step in plan.steps:
        if isinstance(step, Hook):
            there[step.label] = step
        if isinstance(step, Remove):
            del there[step.label]
        if isinstance(step, Forward):
            expected.append(plan.inputs[0].value * product(there.values()))
    return expected


def on_product(kinds: Tuple[str, ...], actions: Any, looking: Tuple[str, ...] = ()) -> Any:
    """Plans with hooks on the node of a product, x0 * x1, or of a sum; those of some kinds only look."""
    hooks = st.tuples(st.sampled_from(kinds), actions)
    hooks = hooks | st.tuples(st.sampled_from(looking), st.just(())) if looking else hooks
    return st.builds(
        lambda op, values, hooks, grads: Plan(
            Leaf("m0", op),
            tuple(Input(value) for value in values),
            (
                Forward(),
                *(Hook(kind, "m0>0", f"h{place}", do) for place, (kind, do) in enumerate(hooks)),
                *(Backward((grad,), retain_graph=True) for grad in grads),
            ),
        ),
        st.sampled_from(["mul", "add"]),
        st.lists(NUMBERS, min_size=2, max_size=2),
        st.lists(hooks, min_size=1, max_size=4),
        st.lists(NUMBERS, min_size=1, max_size=2),
    )


# --- plans with hooks of one kind around forward -----------------------------------------------


@st.composite
def leaves(draw: Any, kind: str, op: str = "scale", steps: Tuple[Any, ...] = RUN, frozen: bool = False) -> Plan:
    """A module without children, with hooks that multiply."""
    width, _, names = OPS[op]
    xs = tuple(Input(draw(NUMBERS), grad=not frozen) for _ in range(width))
    hooks = scaling(draw, kind)
    return Plan(Leaf("m0", op, tuple(draw(NUMBERS) for _ in names)), xs, (*hooks, *steps))


@st.composite
def towers(draw: Any, kind: str) -> Plan:
    """Modules in modules, each with hooks that multiply."""
    depth = draw(st.integers(2, 4))
    net, hooks = tower(draw, depth), []
    for level in draw(st.permutations(range(depth))):
        hooks += scaling(draw, kind, f"m{level}", most=2, first=len(hooks))
    return Plan(net, (Input(draw(NUMBERS)),), (*hooks, Forward(), Backward()))


@st.composite
def shared(draw: Any, kind: str) -> Plan:
    """One module in two or three places of a chain, with hooks that multiply."""
    net = Chain("m0", (one_leaf(draw, "m1"),) + (Reuse("m1"),) * draw(st.integers(1, 2)))
    x = Input(draw(NUMBERS))
    return Plan(net, (x,), (*scaling(draw, kind, "m1", most=2), Forward(), Backward()))


@st.composite
def failing_once(draw: Any, kind: str) -> Plan:
    """Hooks that multiply, and one that raises until it is removed."""
    hooks = scaling(draw, kind)
    hooks.insert(draw(st.integers(0, len(hooks))), Hook(kind, "m0", "fails", (Raise(),)))
    return Plan(*alone(draw), (*hooks, Forward(), Remove("fails"), Forward()))


@st.composite
def in_front(draw: Any, kind: str) -> Plan:
    """Hooks that multiply, each put first or last, with and without keywords."""
    hooks = []
    for number in range(draw(st.integers(2, 5))):
        flags = {name: True for name in ("prepend", "with_kwargs") if draw(st.booleans())}
        hooks.append(Hook(kind, "m0", f"h{number}", (Scale(draw(FACTORS)),), **flags))
    return Plan(*alone(draw), (*hooks, Forward(draw(NUMBERS))))


@st.composite
def nested(draw: Any, kind: str, inner: bool = False) -> Plan:
    """Two pass-through modules in a container, each with one hook that scales; the input may be an `inner` tensor."""
    net = Chain("m0", (Leaf("m1", "same"), Leaf("m2", "same")))
    hooks = [Hook(kind, name, "at_" + name, (Scale(draw(FACTORS)),)) for name in ("m0", "m1", "m2")]
    x = Input(draw(NUMBERS), leaf=not inner or draw(st.booleans()))
    return Plan(net, (x,), (*draw(st.permutations(hooks)), Forward(), Backward((draw(NUMBERS),))))


@st.composite
def removed(draw: Any, kind: str) -> Plan:
    """A pass-through module; its hooks are removed one after another, with a forward after each removal."""
    hooks = [Hook(kind, "m0", f"h{number}", (Scale(draw(FACTORS)),)) for number in range(3)]
    steps: List[Any] = [Forward()]
    for label in draw(st.permutations([hook.label for hook in hooks])):
        steps += [Remove(label), Forward()]
    return Plan(*alone(draw, "same"), (*hooks, *steps))


@st.composite
def dropped(draw: Any, kind: str, on: str = "m0") -> Plan:
    """Hooks with with_kwargs=True, and before them one that removes some of them."""
    labels = [f"h{number}" for number in range(1, draw(st.integers(2, 4)))]
    victims = draw(st.lists(st.sampled_from(labels), min_size=1, unique=True))
    first = Hook(kind, on, "h0", tuple(Drop(label) for label in victims))
    others = [Hook(kind, on, label, with_kwargs=True) for label in labels]
    return Plan(*alone(draw), (first, *others, Forward(draw(NUMBERS)), Forward(draw(NUMBERS))))
