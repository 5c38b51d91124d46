"""The corners: what counts as a replacement, hooks that fail, and edits in place."""

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause import Reading, clause
from fixtures.draw import FACTORS, NUMBERS
from fixtures.plan import Backward, Chain, Forward, Hook, Input, Leaf, Plan, Raise, Scale, hooks_of
from fixtures.subject import Subject

PRE_HOOK = "docs: torch.nn.Module.register_forward_pre_hook"


@st.composite
def failing(draw) -> Plan:
    """A module in a container, with pre-hooks and forward hooks; one of the pre-hooks raises."""
    number = draw(st.integers(1, 4))
    culprit = draw(st.integers(0, number - 1))
    hooks = [
        Hook("forward_pre", "m1", f"h{index}", (Raise(),) if index == culprit else (Scale(draw(FACTORS)),))
        for index in range(number)
    ]
    hooks += [Hook("forward", "m1", "after"), Hook("forward", "m0", "parent")]
    net = Chain("m0", (Leaf("m1", "scale", (draw(NUMBERS),)),))
    return Plan(net, (Input(draw(NUMBERS)),), (*hooks, Forward(), Backward()))


@clause(
    "input.returns.raising",
    says="What a pre-hook raises leaves the call; no later hook of the module or its parents runs.",
    source="measured",
    covers=("module_forward.pre.raises",),
)
@given(plan=failing())
def test_raising(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    labels = [hook.label for hook in hooks_of(plan, "forward_pre")]
    culprit = next(hook.label for hook in hooks_of(plan) if hook.do == (Raise(),))
    assert trace.calls() == labels[: labels.index(culprit) + 1]
    assert trace.raised() == [("forward", "Boom")]


@clause(
    "input.returns.only_tuples_are_spread",
    says="Only a tuple is spread over the arguments: a list or a dict becomes one argument.",
    source=PRE_HOOK,
    readings=(
        Reading(
            "tuples",
            "",
            "A tuple of any length, and a tuple in a tuple for one tuple.",
            value=[([1, 2],), ({"by": 1},), ((1, 2),), (1, 2, 3), ()],
        ),
        Reading(
            "never lists",
            "never",
            "A list is spread like a tuple.",
            value=[(1, 2), ({"by": 1},), ((1, 2),), (1, 2, 3), ()],
        ),
    ),
    covers=(
        "module_forward.pre.list_single",
        "module_forward.pre.dict_single",
        "module_forward.pre.tuple_value_needs_nesting",
        "module_forward.pre.tuple_is_args",
        "module_forward.pre.empty_tuple",
    ),
)
def test_only_tuples_are_spread(subject: Subject) -> None:
    import torch

    class Echo(torch.nn.Module):
        def forward(self, *args):
            return args

    seen = []
    for value in ([1, 2], {"by": 1}, ((1, 2),), (1, 2, 3), ()):
        module = Echo()
        module.register_forward_pre_hook(lambda module, args, value=value: value)
        seen.append(module(0))
    assert seen == subject.value


@clause(
    "input.returns.only_none_keeps",
    says="Only None keeps the input: a value that is merely false replaces it.",
    source=PRE_HOOK,
    readings=(
        Reading("replace", "", "0, False, '' and [] are inputs like any other.", value=[0, False, "", []]),
        Reading("never keep", "never", "A false value keeps the input.", value=["x", "x", "x", "x"]),
    ),
    covers=("module_forward.pre.falsy_replaces",),
)
def test_only_none_keeps(subject: Subject) -> None:
    import torch

    seen = []
    for value in (0, False, "", []):
        module = torch.nn.Identity()
        module.register_forward_pre_hook(lambda module, args, value=value: value)
        seen.append(module("x"))
    assert seen == subject.value


@clause(
    "input.returns.named_tuple",
    says="A named tuple is spread as a tuple is, and the next pre-hook is given it as it is.",
    source="measured",
    readings=(
        Reading("a tuple", "", "Every subclass of tuple is one.", value=((1, 2), ["Pair"])),
        Reading("never one value", "never", "It becomes one argument.", value=(((1, 2),), ["tuple"])),
    ),
    covers=("module_forward.pre.namedtuple_unpacked",),
)
def test_named_tuple(subject: Subject) -> None:
    from collections import namedtuple

    import torch

    class Echo(torch.nn.Module):
        def forward(self, *args):
            return args

    kinds, module = [], Echo()
    pair = namedtuple("Pair", "x y")(1, 2)
    module.register_forward_pre_hook(lambda module, args: pair)
    module.register_forward_pre_hook(lambda module, args: kinds.append(type(args).__name__))
    assert (module(0), kinds) == subject.value


@clause(
    "input.returns.keyword_only_call",
    says="In a call with keyword arguments only a plain pre-hook is given an empty tuple.",
    source="measured",
    readings=(
        Reading("empty", "", "What it returns is added before the keywords.", value=([()], "TypeError")),
        Reading("never the keyword", "never", "It is given the values of the keywords.", value=([("x",)], "none")),
    ),
    covers=("module_forward.pre.kwargs_only_call", "module_forward.pre.kwargs_only_single_conflict"),
)
def test_keyword_only_call(subject: Subject) -> None:
    import torch

    class Echo(torch.nn.Module):
        def forward(self, x):
            return x

    seen, module, raised = [], Echo(), "none"
    handle = module.register_forward_pre_hook(lambda module, args: seen.append(args))
    module(x="x")
    handle.remove()
    module.register_forward_pre_hook(lambda module, args: "y")
    try:
        module(x="x")
    except TypeError as error:
        raised = type(error).__name__
    assert (seen, raised) == subject.value


@clause(
    "input.returns.checked_at_the_call",
    says="Registration accepts any object; one that cannot be called so raises TypeError at the call.",
    source="measured",
    readings=(
        Reading(
            "at the call",
            "",
            "Too few, too many parameters, and no function at all.",
            value=["call TypeError", "call TypeError", "call TypeError"],
        ),
        Reading(
            "never at registration",
            "never",
            "Registration looks at the hook.",
            value=["register TypeError", "register TypeError", "register TypeError"],
        ),
    ),
    covers=(
        "module_forward.pre.arity_short",
        "module_forward.pre.arity_long",
        "module_forward.pre.noncallable",
        "module_forward.prekw.missing_flag_arity",
    ),
)
def test_checked_at_the_call(subject: Subject) -> None:
    import torch

    raised = []
    for wrong in (lambda module: None, lambda module, args, kwargs: None, 5):
        module, where = torch.nn.Identity(), "register"
        try:
            module.register_forward_pre_hook(wrong)
            where = "call"
            module(1)
        except TypeError as error:
            raised.append(f"{where} {type(error).__name__}")
    assert raised == subject.value


@clause(
    "input.returns.in_place",
    says="An edit of an input in place is seen by forward and stays in the caller's tensor.",
    source=PRE_HOOK,
    readings=(
        Reading("the caller's", "", "The hook is given the caller's tensor itself.", value=(True, [9.0], [9.0])),
        Reading("never a copy", "never", "The hook is given a copy.", value=(False, [9.0], [1.0])),
    ),
    covers=("module_forward.pre.inplace_visible", "module_forward.pre.tensor_identity"),
)
def test_in_place(subject: Subject) -> None:
    import torch

    same, module, x = [], torch.nn.Identity(), torch.ones(1)

    def fill(module, args):
        same.append(args[0] is x)
        args[0].fill_(9)

    module.register_forward_pre_hook(fill)
    out = module(x)
    assert (same[0], out.tolist(), x.tolist()) == subject.value


@clause(
    "input.returns.full_hook_wraps",
    says="With a full backward hook forward is given a new tensor for an input that requires grad.",
    source="measured",
    needs="torch.nn.Module.register_full_backward_hook",
    readings=(
        Reading(
            "a new one",
            "",
            "Pre-hooks still see the caller's; forward and forward hooks do not.",
            value=[True, False, False],
        ),
        Reading("never the same", "never", "Everybody is given the caller's tensor.", value=[True, True, True]),
    ),
    covers=("module_backward.ident.full.forward_hooks_see",),
)
def test_full_hook_wraps(subject: Subject) -> None:
    import torch

    x, seen = torch.ones(1, requires_grad=True), []

    class Twice(torch.nn.Module):
        def forward(self, tensor):
            seen.append(tensor is x)
            return tensor * 2

    module = Twice()
    module.register_full_backward_hook(lambda module, grad_input, grad_output: None)
    module.register_forward_pre_hook(lambda module, args: seen.append(args[0] is x))
    module.register_forward_hook(lambda module, args, output: seen.append(args[0] is x))
    module(x)
    assert seen == subject.value


@clause(
    "input.returns.lazy_module",
    says="A pre-hook on a lazy module runs after the one that makes the weights, at the first call too.",
    source=("docs: torch.nn.modules.lazy.LazyModuleMixin", "https://github.com/pytorch/pytorch/issues/60132"),
    needs="torch.nn.LazyLinear",
    readings=(
        Reading("after it", ">=1.10", "The weights are there.", value=([(2, 3)], "none")),
        Reading(
            "the call fails",
            "<1.10",
            "The lazy module removes its own hook in the loop over the hooks: RuntimeError.",
            value=([], "RuntimeError"),
        ),
    ),
    covers=("module_forward.misc.lazy_user_hook", "module_forward.misc.lazy_own_hook"),
)
def test_lazy_module(subject: Subject) -> None:
    import torch

    shapes, module, raised = [], torch.nn.LazyLinear(2), "none"
    module.register_forward_pre_hook(lambda module, args: shapes.append(tuple(module.weight.shape)))
    try:
        module(torch.ones(1, 3))
    except RuntimeError as error:
        raised = type(error).__name__
    assert (shapes, raised) == subject.value
