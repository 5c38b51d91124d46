"""Which calls run forward hooks, what may come out of one, and edits in place."""

from collections import namedtuple

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause import Reading, clause
from fixtures.contract import contract_for, installed_version
from fixtures.draw import NUMBERS, available
from fixtures.subject import Subject
from fixtures.values import MAYBE_VALUES, SIGNATURES, VALUES, function_of, takes

FORWARD_HOOK = "docs: torch.nn.Module.register_forward_hook"
#: The kinds of hook that this torch has, in the order in which one call and its backward() run them.
KINDS = ("forward_pre", "forward", "full_backward_pre", "full_backward")
KNOWN = available(contract_for(installed_version()), KINDS)
#: One to four hooks, each a forward pre-hook (True) or a forward hook.
PRE_OR_NOT = st.lists(st.booleans(), min_size=1, max_size=4)
FEW = st.integers(1, 4)

Pair = namedtuple("Pair", "first second")


@clause(
    "output.calls.forward_runs_none",
    says="Calling module.forward() runs no hook of any kind, however often; calling the module runs them all.",
    source="docs: torch.nn.Module.forward",
    readings=(
        Reading("none", "", "Hooks belong to the call of the module.", value=("call",)),
        Reading("never all", "never", "Hooks belong to forward.", value=("call", "forward")),
    ),
    witness={"kinds": ["forward"], "ways": ["forward"]},
    covers=("module_forward.call.direct_forward",),
)
@given(
    kinds=st.lists(st.sampled_from(KNOWN), min_size=1, max_size=5),
    ways=st.lists(st.sampled_from(["call", "forward"]), min_size=1, max_size=4),
)
def test_forward_runs_none(subject: Subject, kinds, ways) -> None:
    import torch

    ran, module = [], torch.nn.Tanh()
    for number, kind in enumerate(kinds):
        getattr(module, f"register_{kind}_hook")(lambda *given, number=number: ran.append(number))
    due = sorted(range(len(kinds)), key=lambda number: KINDS.index(kinds[number]))
    for way in ways:
        ran.clear()
        (module if way == "call" else module.forward)(torch.ones((), requires_grad=True)).backward()
        assert ran == (due if way in subject.value else [])


@clause(
    "output.calls.super_forward",
    says="super().forward() inside forward does not run the hooks again, however many classes pass it on.",
    source="measured",
    readings=(
        Reading("once", "", "One call of the module, one run of its hooks.", value=False),
        Reading("never twice", "never", "Each forward runs them.", value=True),
    ),
    witness={"depth": 1, "pres": [False], "calls": 1},
    covers=("module_forward.call.super_forward",),
)
@given(depth=FEW, pres=PRE_OR_NOT, calls=FEW)
def test_super_forward(subject: Subject, depth, pres, calls) -> None:
    import torch

    def derived(base):
        class Wrapped(base):
            def forward(self, x):
                return super().forward(x)

        return Wrapped

    kind = torch.nn.Identity
    for _ in range(depth):
        kind = derived(kind)
    ran, module = [], kind()
    for number, pre in enumerate(pres):
        register = module.register_forward_pre_hook if pre else module.register_forward_hook
        register(lambda *given, number=number: ran.append(number))
    due = sorted(range(len(pres)), key=lambda number: not pres[number])
    for _ in range(calls):
        module("x")
    assert ran == due * calls * (depth + 1 if subject.value else 1)


@clause(
    "output.calls.train_and_eval",
    says="Forward hooks run in training and in evaluation alike, with or without gradients.",
    source="measured",
    readings=(
        Reading(
            "always",
            "",
            "Neither train() nor no_grad() matters.",
            value=[(True, True), (True, False), (False, True), (False, False)],
        ),
        Reading("never training only", "never", "They are for training.", value=[(True, True)]),
    ),
    witness={"pres": [False], "states": [(False, True)], "inside": False},
    covers=("module_forward.fwd.train_eval",),
)
@given(
    pres=PRE_OR_NOT,
    states=st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=4),
    inside=st.booleans(),
)
def test_train_and_eval(subject: Subject, pres, states, inside) -> None:
    import torch

    seen, child = [], torch.nn.Linear(1, 1)
    net = torch.nn.Sequential(child)
    module = child if inside else net
    for pre in pres:
        register = module.register_forward_pre_hook if pre else module.register_forward_hook
        register(lambda module, *given: seen.append((module.training, torch.is_grad_enabled())))
    for state in states:
        with torch.set_grad_enabled(state[1]):
            assert net.train(state[0])(torch.ones(1)).requires_grad == state[1]
    assert seen == [state for state in states if state in subject.value for _ in pres]


@clause(
    "output.calls.grad_mode",
    says="A hook runs in the caller's grad mode, not in that of a decorated forward.",
    source="measured",
    readings=(
        Reading("the caller's", "", "What is set around forward ends with forward.", value="caller"),
        Reading("never forward's", "never", "What is set around forward covers the hooks.", value="forward"),
    ),
    witness={"pres": [True, False], "caller": True, "inner": False},
    covers=("module_forward.fwd.grad_mode",),
)
@given(pres=PRE_OR_NOT, caller=st.booleans(), inner=st.booleans())
def test_grad_mode(subject: Subject, pres, caller, inner) -> None:
    import torch

    modes, around = [], torch.enable_grad() if inner else torch.no_grad()

    class Decorated(torch.nn.Module):
        @around
        def forward(self, x):
            modes.append(torch.is_grad_enabled())
            return x

    module = Decorated()
    for pre in pres:
        register = module.register_forward_pre_hook if pre else module.register_forward_hook
        register(lambda *given: modes.append(torch.is_grad_enabled()))
    with torch.set_grad_enabled(caller):
        module(torch.ones(1))
        after = torch.is_grad_enabled()
    of_hooks = {"caller": caller, "forward": inner}[subject.value]
    assert (modes, after) == ([of_hooks] * sum(pres) + [inner] + [of_hooks] * (len(pres) - sum(pres)), caller)


@clause(
    "output.calls.only_none_keeps",
    says="Only None keeps the output: whatever else a hook returns, false or not, is the output as it is.",
    source=FORWARD_HOOK,
    readings=(
        Reading("replace", "", "0, False, '' and () are outputs like any other.", value=lambda given: given is None),
        Reading("never keep", "never", "A false value keeps the output.", value=lambda given: not given),
    ),
    witness={"returned": [0]},
    covers=("module_forward.fwd.falsy_replaces", "module_forward.fwd.cannot_set_none"),
)
@given(returned=st.lists(MAYBE_VALUES, min_size=1, max_size=4))
def test_only_none_keeps(subject: Subject, returned) -> None:
    import torch

    seen, module = [], torch.nn.Identity()

    def hook(module, args, output):
        seen.append(output)
        return returned[len(seen) - 1]

    for _ in returned:
        module.register_forward_hook(hook)
    output = due = "x"
    seen.append(module(due))
    for value, output in zip(returned, seen):
        assert output is due
        due = due if subject.value(value) else value
    assert seen[-1] is due


@clause(
    "output.calls.none_output",
    says="An output that is None reaches every hook as None, until one of them replaces it.",
    source="measured",
    readings=(
        Reading("as None", "", "None is an output like any other.", value="as None"),
        Reading("never skipped", "never", "Without an output there is nothing to hook.", value="skipped"),
    ),
    witness={"returned": ["new"], "inside": False},
    covers=("module_forward.fwd.none_output",),
)
@given(returned=st.lists(st.one_of(st.none(), st.none(), VALUES), min_size=1, max_size=4), inside=st.booleans())
def test_none_output(subject: Subject, returned, inside) -> None:
    import torch

    seen, module = [], torch.nn.Identity()
    for value in returned:
        module.register_forward_hook(lambda module, args, output, value=value: seen.append(output) or value)
    out = (torch.nn.Sequential(module) if inside else module)(None)
    given, due = None, []
    for value in returned if subject.value == "as None" else []:
        due.append(given)
        given = given if value is None else value
    assert (seen, out) == (due, given)


@clause(
    "output.calls.same_object",
    says="A hook is given the very object that forward or the hook before returned; the caller gets the last.",
    source="measured",
    readings=(
        Reading("itself", "", "Nothing is copied.", value=True),
        Reading("never a copy", "never", "Containers are rebuilt.", value=False),
    ),
    witness={"shapes": ["list"], "replace": [False]},
    covers=("module_forward.fwd.nontensor_outputs", "module_forward.fwd.any_type"),
)
@given(
    shapes=st.lists(
        st.sampled_from(["tensor", "tuple", "list", "dict", "pair", "nested", "generator"]), min_size=1, max_size=3
    ),
    replace=st.lists(st.booleans(), min_size=1, max_size=4),
)
def test_same_object(subject: Subject, shapes, replace) -> None:
    import torch

    def make(shape):
        one = torch.ones(1)
        made = {"tensor": one, "tuple": (one,), "list": [one], "dict": {"y": one}, "pair": Pair(one, 2)}
        return {**made, "nested": ([one], {"y": (one,)}), "generator": iter([one])}[shape]

    module, given, made = torch.nn.Identity(), [], []

    def hook(module, args, output):
        given.append(output)
        made.append(make(shapes[len(made) % len(shapes)]) if replace[len(made)] else None)
        return made[-1]

    for _ in replace:
        module.register_forward_hook(hook)
    due = make(shapes[0])
    given.append(module(due))
    for replacement, output in zip([None, *made], given):
        due = due if replacement is None else replacement
        assert (output is due) == subject.value


@clause(
    "output.calls.edited_in_place",
    says="An edit of the output in place by a hook that returns None is seen by later hooks and the caller.",
    source=FORWARD_HOOK,
    readings=(
        Reading("seen", "", "Every hook is given the output itself.", value=True),
        Reading("never lost", "never", "Every hook is given a copy.", value=False),
    ),
    witness={"shape": "list", "added": [9]},
    covers=("module_forward.fwd.output_inplace",),
)
@given(
    shape=st.sampled_from(["tensor", "list", "dict", "tensor in tuple"]),
    added=st.lists(NUMBERS, min_size=1, max_size=4),
)
def test_edited_in_place(subject: Subject, shape, added) -> None:
    import torch

    module, seen = torch.nn.Identity(), []
    made = {"tensor": torch.zeros(()), "list": [], "dict": {}, "tensor in tuple": (torch.zeros(()),)}[shape]

    def total(output):
        if shape in ("tensor", "tensor in tuple"):
            return (output if shape == "tensor" else output[0]).item()
        return sum(output if shape == "list" else output.values())

    def edit(output, by):
        if shape in ("tensor", "tensor in tuple"):
            (output if shape == "tensor" else output[0]).add_(by)
        elif shape == "list":
            output.append(by)
        else:
            output[len(output)] = by

    for by in added:
        module.register_forward_hook(lambda module, args, output, by=by: seen.append(total(output)) or edit(output, by))
    seen.append(total(module(made)))
    assert seen == [sum(added[:number]) if subject.value else 0 for number in range(len(added) + 1)]


@clause(
    "output.calls.input_edited_late",
    says="An edit of the input in a forward hook comes too late for forward, unless the output is that input.",
    source=("measured", FORWARD_HOOK),
    readings=(
        Reading("late", "", "What was computed stays; what aliases the input changes.", value=("same", "view")),
        Reading("never seen", "never", "No edit of the input reaches the output.", value=()),
    ),
    witness={"does": "same", "added": [8]},
    covers=("module_forward.fwd.input_mutation_late", "module_forward.fwd.input_mutation_aliased"),
)
@given(
    does=st.sampled_from(["product", "copy", "same", "view"]),
    added=st.lists(NUMBERS, min_size=1, max_size=4),
)
def test_input_edited_late(subject: Subject, does, added) -> None:
    import torch

    class Does(torch.nn.Module):
        def forward(self, x):
            return {"product": x * 2, "copy": x.clone(), "same": x, "view": x.view(1, 1)[0]}[does]

    module, seen = Does(), []

    def hook(module, args, output):
        seen.append((args[0].item(), output.item()))
        args[0].add_(added[len(seen) - 1])

    for _ in added:
        module.register_forward_hook(hook)
    x = torch.ones(1)
    seen.append((module(x).item(), x.item()))
    edited = [1 + sum(added[:number]) for number in range(len(added) + 1)]
    kept = edited if does in subject.value else [2 if does == "product" else 1] * len(edited)
    assert seen == list(zip(edited[:-1], kept)) + [(kept[-1], edited[-1])]


@clause(
    "output.calls.arity",
    says="A forward hook that cannot take (module, inputs, output) raises TypeError at the call, not before.",
    source="measured",
    readings=(
        Reading("three", "", "A hook takes the module, the inputs and the output.", value=3),
        Reading("never two", "never", "A hook may leave out the inputs.", value=2),
    ),
    witness={"signature": (2, 0, False), "before": 0, "after": 0},
    covers=("module_forward.fwd.arity_short",),
)
@given(signature=SIGNATURES, before=st.integers(0, 2), after=st.integers(0, 2))
def test_arity(subject: Subject, signature, before, after) -> None:
    import torch

    ran, module = [], torch.nn.Identity()
    for number in range(before):
        module.register_forward_hook(lambda module, args, output, number=number: ran.append(number))
    module.register_forward_hook(function_of(signature))
    for number in range(before, before + after):
        module.register_forward_hook(lambda module, args, output, number=number: ran.append(number))
    try:
        ran.append(module("x"))
    except TypeError as error:
        ran.append(type(error).__name__)
    fits = takes(signature, subject.value)
    assert ran == list(range(before + after if fits else before)) + (["x"] if fits else ["TypeError"])
