"""Which calls run forward hooks, and what may come out of one; and edits in place by a forward hook."""

import warnings
from collections import namedtuple
from typing import List, Tuple

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.about import apis
from fixtures.clause.clause import clause
from fixtures.draw.contract import by_contract
from fixtures.draw.plans import NUMBERS, available
from fixtures.draw.values import MAYBE_VALUES, SIGNATURES, VALUES, function_of, takes
from fixtures.families import MODULE_KINDS
from fixtures.judge.subject import Subject
from fixtures.model.contract import Contract
from fixtures.stages.make import make
from suites.hooking import FEW, PRE_OR_NOT, UP_TO_TWO, in_turn, kinds_of, numbered, result
from suites.names import FORWARD_HOOK

ABOUT = "register_forward_hook"

FORWARD = "docs: torch.nn.Module.forward"
#: The kind of hook that is "last": one of two that a module does not take together.
LAST = by_contract(lambda contract: st.sampled_from(available(contract, ("full_backward", "backward"))))


def placed(contract: Contract) -> List[Tuple[str, str]]:
    """Where a hook can be put ("*": it is global), and its kind; global ones must leave nothing behind."""
    kinds = ("forward_pre", "forward", *available(contract, ("full_backward_pre",)), "last")
    everywhere = ("forward_pre", "forward") if contract.global_forward_hooks else ()
    return [(place, kind) for place in ("outer", "inner") for kind in kinds] + [("*", kind) for kind in everywhere]


Pair = namedtuple("Pair", "first second")


@clause(
    "output.calls.forward_runs_none",
    says="A direct call of module.forward() runs no hook for that module; modules that it calls run theirs.",
    source=f'{FORWARD} "the registered hooks while the latter silently ignores them"',
    asked="hook never called because i used model.forward(x) directly nothing "
    "printed silent bypass forward hook uncalled model.forward(x) directly",
    about=apis(MODULE_KINDS, everywhere=True),
    value=("inner",),
    wrong={"never all": ("outer", "inner"), "never none at all": ()},
    witness={"hooks": [("outer", "forward"), ("inner", "forward")], "last": "backward", "ways": ["forward"]},
)
@given(
    hooks=st.lists(by_contract(lambda contract: st.sampled_from(placed(contract))), min_size=1, max_size=6),
    last=LAST,
    ways=st.lists(st.sampled_from(["call", "forward"]), min_size=1, max_size=4),
)
def test_forward_runs_none(subject: Subject, hooks, last, ways) -> None:
    import torch
    from torch.nn.modules import module as torch_module

    inner, ran, handles = torch.nn.Tanh(), [], []
    outer = torch.nn.Sequential(inner)
    names = {outer: "outer", inner: "inner"}
    for number, (place, kind) in enumerate(hooks):
        register = f"register_{{}}{last if kind == 'last' else kind}_hook"
        owner = {"outer": outer, "inner": inner, "*": torch_module}[place]
        function = getattr(owner, register.format("module_" if place == "*" else ""))
        handles.append(function(lambda module, *given, number=number: ran.append((number, names[module]))))
    seen = []
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for way in ways:
                ran.clear()
                (outer if way == "call" else outer.forward)(make.ones((), requires_grad=True)).backward()
                seen.append(sorted(ran))
    finally:
        for handle in handles:
            handle.remove()
    for way, found in zip(ways, seen):
        called = ("outer", "inner") if way == "call" else subject.value
        assert found == [
            (number, name) for number, (place, _) in enumerate(hooks) for name in sorted(called) if place in (name, "*")
        ]


@clause(
    "output.calls.super_forward",
    says="Calling super().forward() in forward does not run the module's forward hooks and pre-hooks again.",
    source=f'{FORWARD} "the registered hooks while the latter silently ignores them"',
    asked="subclass layer calling parent implementation hook fires twice "
    "inheritance double count hook called twice super().forward",
    device="none",
    about=("register_forward_hook", "register_forward_pre_hook"),
    value=False,
    wrong={"never twice": True},
    witness={"depth": 1, "pres": [False], "calls": 1},
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
    numbered(module, kinds_of(pres), ran)
    for _ in range(calls):
        module("x")
    assert ran == in_turn(kinds_of(pres)) * calls * (depth + 1 if subject.value else 1)


@clause(
    "output.calls.grad_mode",
    says="A no_grad() decorator on forward does not hold in the module's own forward hooks and pre-hooks.",
    source="measured",
    asked="torch.no_grad decorated layer frozen encoder hook computations still tracked requires_grad memory leak",
    about=("register_forward_hook", "register_forward_pre_hook"),
    value="caller",
    wrong={"never forward's": "forward"},
    witness={"pres": [True, False], "caller": True, "inner": False},
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
    for kind in kinds_of(pres):
        getattr(module, f"register_{kind}_hook")(lambda *given: modes.append(torch.is_grad_enabled()))
    with torch.set_grad_enabled(caller):
        module(make.ones(1))
        after = torch.is_grad_enabled()
    of_hooks = {"caller": caller, "forward": inner}[subject.value]
    assert (modes, after) == ([of_hooks] * sum(pres) + [inner] + [of_hooks] * (len(pres) - sum(pres)), caller)


@clause(
    "output.calls.only_none_keeps",
    says="If a forward hook returns False, 0 or [], that replaces the output: only None does not.",
    where=("there is no backward hook", "no later hook replaces it"),
    see=("backward.structures.legacy_first",),
    source="measured",
    asked="hook accidentally returned falsy value and activations became bool next layer crashes",
    device="none",
    value=lambda given: given is None,
    wrong={"never keep": lambda given: not given},
    witness={"returned": [0]},
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
    says="An output that is None is given to each forward hook as None, until one of them replaces it.",
    see=("backward.structures.no_output",),
    source="measured",
    asked="layer without return statement hook got nonetype object has no attribute shape loss computed inside",
    device="none",
    value="as None",
    wrong={"never skipped": "skipped"},
    witness={"returned": ["new"], "inside": False},
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
    says="Forward hooks and the caller get the same object that forward or an earlier forward hook returned.",
    where="there is no backward hook or backward pre-hook",
    see=("backward.objects.views",),
    source="measured",
    asked="is activation in hook a copy or reference identity is check stored features change later "
    "clone activation overwritten changed later by an inplace layer relu stored kept output clone",
    value=True,
    wrong={"never a copy": False},
    witness={"shapes": ["list"], "replace": [False]},
)
@given(
    shapes=st.lists(
        st.sampled_from(["tensor", "tuple", "list", "dict", "pair", "nested", "generator", "text", "object"]),
        min_size=1,
        max_size=3,
    ),
    replace=st.lists(st.booleans(), min_size=1, max_size=4),
)
def test_same_object(subject: Subject, shapes, replace) -> None:
    import torch

    def tensors(shape):
        one = make.ones(1)
        made = {"tensor": one, "tuple": (one,), "list": [one], "dict": {"y": one}, "pair": Pair(one, 2)}
        made.update({"text": "y", "object": object()})
        return {**made, "nested": ([one], {"y": (one,)}), "generator": iter([one])}[shape]

    module, given, made = torch.nn.Identity(), [], []

    def hook(module, args, output):
        given.append(output)
        made.append(tensors(shapes[len(made) % len(shapes)]) if replace[len(made)] else None)
        return made[-1]

    for _ in replace:
        module.register_forward_hook(hook)
    due = tensors(shapes[0])
    given.append(module(due))
    for replacement, output in zip([None, *made], given):
        due = due if replacement is None else replacement
        assert (output is due) == subject.value


@clause(
    "output.calls.arity",
    says="def hook(module, args) can be registered as forward hook: a call of the module then raises TypeError.",
    source="measured",
    asked="callback without output parameter takes 2 positional arguments but 3 were given wrong signature crash",
    device="none",
    value=3,
    wrong={"never two": 2},
    witness={"signature": (2, 0, False), "before": 0, "after": 0},
)
@given(signature=SIGNATURES, before=UP_TO_TWO, after=UP_TO_TWO)
def test_arity(subject: Subject, signature, before, after) -> None:
    import torch

    ran, module = [], torch.nn.Identity()
    numbered(module, ["forward"] * before, ran)
    module.register_forward_hook(function_of(signature))
    numbered(module, ["forward"] * after, ran, first=before)
    ran.append(result(lambda: module("x"), TypeError))
    fits = takes(signature, subject.value)
    assert ran == list(range(before + after if fits else before)) + (["x"] if fits else ["TypeError"])


#: What is added in place, one hook after another.
ADDED = st.lists(NUMBERS, min_size=1, max_size=4)


@clause(
    "output.calls.edited_in_place",
    says="Later forward hooks of the module and the caller see what a forward hook changed in the output in place.",
    where=("there is no backward hook", "no hook replaces it"),
    source="measured",
    asked="modify activation with zero_ or mul_ without return does it affect next layer and subsequent callbacks",
    value=True,
    wrong={"never lost": False},
    witness={"shape": "list", "added": [9]},
)
@given(shape=st.sampled_from(["tensor", "list", "dict", "tensor in tuple"]), added=ADDED)
def test_edited_in_place(subject: Subject, shape, added) -> None:
    import torch

    module, seen = torch.nn.Identity(), []
    made = {"tensor": make.zeros(()), "list": [], "dict": {}, "tensor in tuple": (make.zeros(()),)}[shape]
    total, edit = {
        "tensor": (lambda held: held.item(), lambda held, by: held.add_(by)),
        "list": (sum, lambda held, by: held.append(by)),
        "dict": (lambda held: sum(held.values()), lambda held, by: held.update({len(held): by})),
        "tensor in tuple": (lambda held: held[0].item(), lambda held, by: held[0].add_(by)),
    }[shape]
    for by in added:

        def hook(module, args, output, by=by):
            seen.append(total(output))
            edit(output, by)

        module.register_forward_hook(hook)
    seen.append(total(module(made)))
    assert seen == [sum(added[:number]) if subject.value else 0 for number in range(len(added) + 1)]


@clause(
    "output.calls.input_edited_late",
    says="A forward hook that changes the input in place changes what forward returned only if both share memory.",
    where="forward returns a tensor",
    source=f'{FORWARD_HOOK} "modify the input inplace but it will not have effect on forward"',
    asked="modify x after layer computed no effect on result unless identity view inplace relu dropout eval",
    value=("same", "view"),
    wrong={"never seen": ()},
    witness={"does": "same", "added": [8]},
)
@given(does=st.sampled_from(["product", "copy", "same", "view"]), added=ADDED)
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
    x = make.ones(1)
    seen.append((module(x).item(), x.item()))
    edited = [1 + sum(added[:number]) for number in range(len(added) + 1)]
    kept = edited if does in subject.value else [2 if does == "product" else 1] * len(edited)
    assert seen == list(zip(edited[:-1], kept)) + [(kept[-1], edited[-1])]
