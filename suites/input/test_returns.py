"""The corners: what counts as a replacement, hooks that fail, and edits in place."""

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import Reading, clause
from fixtures.draw.plans import NUMBERS
from fixtures.draw.values import MAYBE_VALUES, SIGNATURES, VALUES, function_of, takes
from fixtures.judge.subject import Subject
from fixtures.plan.grammar import Backward, Chain, Forward, Hook, Input, Plan, hooks_of
from fixtures.stages.make import make
from suites.hooking import SOME, UP_TO_TWO, echo, numbered, raised, result
from suites.names import FULL, PRE_HOOK
from suites.shapes import one_leaf, one_raises, until_one_raises

ABOUT = "register_forward_pre_hook"
LAZY = st.sampled_from(["LazyLinear", "LazyConv1d", "LazyConv2d", "LazyConvTranspose1d"])


@st.composite
def failing(draw) -> Plan:
    """A module in a container, with pre-hooks and forward hooks; one of the pre-hooks raises."""
    hooks = [*one_raises(draw, "forward_pre"), Hook("forward", "m1", "after"), Hook("forward", "m0", "parent")]
    net = Chain("m0", (one_leaf(draw, "m1"),))
    return Plan(net, (Input(draw(NUMBERS)),), (*hooks, Forward(), Backward()))


@clause(
    "input.returns.raising",
    says="The call raises what a forward pre-hook raises; later hooks of that call run only with always_call=True.",
    source="measured",
    asked="exception inside pre hook stops model does cleanup callback still fire are remaining ones skipped",
    about=("register_forward_pre_hook", "register_forward_hook"),
)
@given(plan=failing())
def test_raising(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    assert trace.calls() == until_one_raises(hooks_of(plan, "forward_pre"))
    assert trace.raised() == [("forward", "Boom")]


@clause(
    "input.returns.only_tuples_are_spread",
    says="Only a tuple that a forward pre-hook returns is spread over the arguments; a list or dict is one argument.",
    see="input.keywords.only_a_pair",
    source=f'{PRE_HOOK} "(unless that value is already a tuple)"',
    asked="returned two inputs in brackets from pre hook forward missing 1 required positional argument unpack",
    device="none",
    value=(tuple,),
    wrong={"never lists": (tuple, list)},
    witness={"returned": [[1, 2]]},
)
@given(returned=st.lists(VALUES, min_size=1, max_size=3))
def test_only_tuples_are_spread(subject: Subject, returned) -> None:
    module, seen, due = echo(), [], [("x",)]
    for value in returned:
        module.register_forward_pre_hook(lambda module, args, value=value: seen.append(args) or value)
        due.append(tuple(value) if isinstance(value, subject.value) else (value,))
    seen.append(module("x")[0])
    assert [type(args) for args in seen] == [tuple] * len(due)
    assert [len(args) for args in seen] == [len(args) for args in due]
    assert all(one is other for args, wanted in zip(seen, due) for one, other in zip(args, wanted))


@clause(
    "input.returns.only_none_keeps",
    says="Only None keeps the input: 0, False, '' or [] that a forward pre-hook returns replaces it.",
    where="inputs are positional",
    see="input.keywords.only_a_pair",
    source="measured",
    asked="pre hook accidentally returned falsy zero and overrode x linear got bool must return nothing",
    device="none",
    value=lambda given: given is None,
    wrong={"never keep": lambda given: not given},
    witness={"returned": [0]},
)
@given(returned=st.lists(MAYBE_VALUES, min_size=1, max_size=4))
def test_only_none_keeps(subject: Subject, returned) -> None:
    module, seen, due = echo(), [], [("x",)]
    for value in returned:
        module.register_forward_pre_hook(lambda module, args, value=value: seen.append(args) or value)
        given_next = value if isinstance(value, tuple) else (value,)
        due.append(due[-1] if subject.value(value) else given_next)
    seen.append(module("x")[0])
    # By repr, for which 0, 0.0 and False differ.
    assert repr(seen) == repr(due)


@clause(
    "input.returns.keyword_only_call",
    says="A forward pre-hook of a call with only keywords is given (); a value it returns goes in by position.",
    where="no other hook returns one",
    source="measured",
    asked="huggingface block invoked as layer hidden_states=x hook sees empty args got multiple values for argument",
    device="none",
    value=lambda keywords: (),
    wrong={"never the keyword": lambda keywords: tuple(keywords.values())},
    witness={"keywords": {"a": 1}, "looks": 1, "returned": None},
)
@given(
    keywords=st.dictionaries(st.sampled_from("abc"), NUMBERS, min_size=1),
    looks=st.integers(0, 3),
    returned=st.one_of(st.none(), NUMBERS, st.lists(NUMBERS, max_size=3).map(tuple)),
)
def test_keyword_only_call(subject: Subject, keywords, looks, returned) -> None:
    import torch

    class Three(torch.nn.Module):
        def forward(self, a=0, b=0, c=0):
            return [a, b, c]

    seen, module = [], Three()
    for _ in range(looks):
        module.register_forward_pre_hook(lambda module, args: seen.append(args))
    module.register_forward_pre_hook(lambda module, args: returned)
    seen.append(result(lambda: module(**keywords), TypeError))
    first = () if returned is None else returned if isinstance(returned, tuple) else (returned,)
    places = dict(zip("abc", first))
    if set(places) & set(keywords):
        due = "TypeError"
    else:
        due = [{**places, **keywords}.get(name, 0) for name in "abc"]
    assert seen == [subject.value(keywords)] * looks + [due]


@clause(
    "input.returns.checked_at_the_call",
    says="A Python function f(module) can be registered as a forward pre-hook; the module's call raises TypeError.",
    source="measured",
    asked="callback with too few parameters takes 1 positional argument but 2 were given crash signature",
    device="none",
    value="call",
    wrong={"never at registration": "register"},
    witness={"wrong": (1, 0, False), "before": 0, "after": 0},
)
@given(wrong=st.one_of(SIGNATURES, st.sampled_from([5, "hook"]), st.none()), before=UP_TO_TWO, after=UP_TO_TWO)
def test_checked_at_the_call(subject: Subject, wrong, before, after) -> None:
    module, ran = echo(), []
    numbered(module, ["forward_pre"] * before, ran)
    where = "register"
    try:
        module.register_forward_pre_hook(function_of(wrong) if isinstance(wrong, tuple) else wrong)
        where = "call"
        numbered(module, ["forward_pre"] * after, ran, first=before)
        ran.append(module("x")[0])
    except TypeError as error:
        ran.append(f"{where} {type(error).__name__}")
    if isinstance(wrong, tuple) and takes(wrong, 2):
        assert ran == [*range(before + after), ("x",)]
    else:
        assert ran == [*range(before if subject.value == "call" else 0), f"{subject.value} TypeError"]


@clause(
    "input.returns.in_place",
    says="An input that a forward pre-hook edits in place is edited for later hooks, forward and the caller.",
    where=("it does not require grad", "no earlier hook replaces it"),
    source="measured",
    asked="pre hook normalizes x with mul_ my original batch got corrupted mutated data side effect",
    value=True,
    wrong={"never a copy": False},
    witness={"shapes": ["tensor"], "edits": [(0, 8)]},
)
@given(
    shapes=st.lists(st.sampled_from(["tensor", "list", "dict"]), min_size=1, max_size=3),
    edits=st.lists(st.tuples(st.integers(0, 2), NUMBERS), min_size=1, max_size=4),
)
def test_in_place(subject: Subject, shapes, edits) -> None:

    made = {"tensor": make.zeros, "list": lambda _: [0.0], "dict": lambda _: {0: 0.0}}
    xs = tuple(made[shape](1) for shape in shapes)
    module, totals, seen, due = echo(), [0.0] * len(xs), [], []

    def hook(module, args):
        place, by = edits[len(seen)]
        seen.append(([one is x for one, x in zip(args, xs)], [float(one[0]) for one in args]))
        args[place % len(args)][0] += by

    for place, by in edits:
        module.register_forward_pre_hook(hook)
        due.append(([subject.value] * len(xs), list(totals)))
        totals[place % len(xs)] += by
    out, _ = module(*xs)
    assert seen == due
    assert [float(one[0]) for one in out] == [float(x[0]) for x in xs] == totals


@clause(
    "input.returns.full_hook_wraps",
    says="A module with a full backward hook gives its forward a new tensor for each input that needs a gradient.",
    where="inputs are positional tensors",
    see="backward.structures.unseen_inputs",
    source='docs: torch.nn.Module.register_full_backward_hook "receive a view of each Tensor passed to the Module"',
    asked="why is x inside layer not the same object as passed identity id differs backwardhookfunction clone",
    needs=FULL,
    value=("pre",),
    wrong={"never the same": ("pre", "forward", "post")},
    witness={"kinds": ["full", "post"], "grads": [True]},
)
@given(
    kinds=st.lists(st.sampled_from(["pre", "post", "full"]), min_size=1, max_size=5),
    # The first input that a hook is to see needs a gradient in torch 1.8; backward.given.frozen_input tells of it.
    grads=st.lists(st.booleans(), max_size=2).map(lambda others: [True, *others]),
)
def test_full_hook_wraps(subject: Subject, kinds, grads) -> None:
    import torch

    xs, seen = [make.ones(1, requires_grad=grad) for grad in grads], []

    def note(name, args):
        seen.append((name, [one is x for one, x, grad in zip(args, xs, grads) if grad]))

    class Sum(torch.nn.Module):
        def forward(self, *args):
            note("forward", args)
            return sum(args)

    module = Sum()
    register = {
        "full": lambda: module.register_full_backward_hook(lambda module, grad_input, grad_output: None),
        "pre": lambda: module.register_forward_pre_hook(lambda module, args: note("pre", args)),
        "post": lambda: module.register_forward_hook(lambda module, args, output: note("post", args)),
    }
    for kind in kinds:
        register[kind]()
    module(*xs)
    names = ["pre"] * kinds.count("pre") + ["forward"] + ["post"] * kinds.count("post")
    assert seen == [(name, [name in subject.value or "full" not in kinds] * sum(grads)) for name in names]


@clause(
    "input.returns.lazy_module",
    says="A forward pre-hook on a lazy module of torch.nn runs after its weights are made, also in the first call.",
    source=(
        "test: test/nn/test_lazy_modules.py TestLazyModules.test_lazy_pre_forward_hook",
        "https://github.com/pytorch/pytorch/issues/60132",
    ),
    asked="lazylinear uninitializedparameter can i read shape of "
    "weight inside pre hook before initialization dummy batch",
    matters_if="forward_pre own ?lazy",
    needs="torch.nn.LazyLinear",
    readings=(
        Reading(
            "weights first",
            ">=1.10",
            "A forward pre-hook on a lazy module of torch.nn runs when its weights are there.",
            value="none",
        ),
        Reading(
            "the first call fails",
            "<1.10",
            "The first call of a lazy module that has another forward pre-hook raises RuntimeError.",
            value="RuntimeError",
            says_the_same=False,
            effect="error",
        ),
    ),
    witness={"kind": "LazyLinear", "size": (2, 3), "hooks": 1, "calls": 1},
)
@given(kind=LAZY, size=st.tuples(SOME, SOME), hooks=SOME, calls=SOME)
def test_lazy_module(subject: Subject, kind, size, hooks, calls) -> None:

    outputs, inputs = size
    kernel = {"LazyLinear": (), "LazyConv2d": (1, 1)}.get(kind, (1,))
    shape = (inputs, outputs, *kernel) if kind == "LazyConvTranspose1d" else (outputs, inputs, *kernel)
    seen, module = [], getattr(make, kind)(outputs, *kernel[:1])
    assert len(module._forward_pre_hooks) == 1  # its own, which makes the weights
    for number in range(hooks):
        module.register_forward_pre_hook(lambda module, _, n=number: seen.append((n, tuple(module.weight.shape))))
    xs = [make.ones(1, inputs, *kernel)] * calls
    error = raised(lambda: [module(x) for x in xs], RuntimeError)
    times = calls if subject.value == "none" else 0
    assert (seen, error) == ([(number, shape) for number in range(hooks)] * times, subject.value)
    assert len(module._forward_pre_hooks) == hooks
