"""Keyword arguments: hidden from a forward pre-hook unless it was registered with `with_kwargs=True`."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import clause
from fixtures.clause.rows import Row, each
from fixtures.draw.plans import FACTORS, NUMBERS
from fixtures.draw.values import MAYBE_VALUES, VALUES
from fixtures.judge.subject import Subject
from fixtures.plan.grammar import Bare, Drop, Forward, Hook, Plan, Scale, hooks_of
from fixtures.stages.make import make
from suites.hooking import UP_TO_TWO, echo, raised, result
from suites.names import CODE, GLOBAL_FORWARD_PRE, KWARGS, KWARGS_PULL, PRE_HOOK, PRE_KWARGS
from suites.shapes import alone, dropped, product

KEYWORDS = st.dictionaries(st.sampled_from("abc"), NUMBERS, max_size=2)
PAIRS = st.tuples(st.lists(NUMBERS, max_size=2).map(tuple), KEYWORDS)


@st.composite
def called_with(draw, *actions: type, with_kwargs=(False,), by: bool = True) -> Plan:
    """A multiplication with one to four pre-hooks that do the actions, called with `by=` or without."""
    hooks = []
    for number in range(draw(st.integers(1, 4))):
        action = draw(st.sampled_from(actions)) if actions else None
        flag = draw(st.sampled_from(with_kwargs))
        do = (action(draw(FACTORS)),) if action else ()
        hooks.append(Hook("forward_pre", "m0", f"h{number}", do, with_kwargs=flag))
    keyword = draw(NUMBERS) if by else None
    return Plan(*alone(draw), (*hooks, Forward(keyword)))


def given_to_hooks(plan: Plan):
    """(hook, what it is given), in order."""
    x, by = plan.inputs[0].value, plan.steps[-1].by
    kwargs = {} if by is None else {"by": by}
    for hook in hooks_of(plan):
        yield hook, ("m0", (x,), kwargs) if hook.with_kwargs else ("m0", (x,))
        x *= product([hook])


@each(
    Row(
        "input.keywords.hidden",
        "A forward pre-hook without with_kwargs=True is not given the keyword arguments and does not change them.",
        f'{PRE_HOOK} "Keyword arguments won\'t be passed to the hooks and only to the ``forward``"',
        asked="input tuple is empty huggingface layer called by name "
        "attention_mask missing in hook kwargs keyword arguments pre-hook",
        draws=lambda: called_with(Scale, Bare),
    ),
    Row(
        "input.keywords.given",
        "A forward pre-hook with with_kwargs=True is given (module, args, kwargs).",
        (f'{PRE_HOOK} "hook(module, args, kwargs) -> None or a tuple of modified input and kwargs"', KWARGS_PULL),
        asked="signature to access attention_mask hidden_states named inputs "
        "before layer runs transformer kwargs keyword arguments pre-hook",
        see="input.keywords.removed_meanwhile",
        needs=PRE_KWARGS,
        draws=lambda: called_with(with_kwargs=(True,)),
    ),
    Row(
        "input.keywords.none_given",
        "A with_kwargs forward pre-hook is given {} as kwargs by a call without keyword arguments.",
        (KWARGS_PULL, "measured"),
        asked="kwargs empty dictionary or nonetype when layer called with "
        "only positional inputs kwargs keyword arguments pre-hook",
        where="no earlier hook adds one",
        level="observed",
        needs=PRE_KWARGS,
        draws=lambda: called_with(Scale, with_kwargs=(True,), by=False),
    ),
    Row(
        "input.keywords.mixed_chain",
        "With or without with_kwargs=True, a forward pre-hook is given the args that the one before it left.",
        "measured",
        asked="combine plain and kwargs aware input callbacks order does each "
        "see earlier modification kwargs keyword arguments pre-hook",
        needs=PRE_KWARGS,
        draws=lambda: called_with(Scale, with_kwargs=(True, False)),
    ),
    plan=lambda row: row.draws(),
)
def given_what_is_due(subject: Subject, plan: Plan, *, row: Any) -> None:
    trace, by = subject.holds(plan), plan.steps[-1].by
    for hook, seen in given_to_hooks(plan):
        assert trace.seen_by(hook.label) == [seen]
    due = plan.net.values[0] * plan.inputs[0].value * product(hooks_of(plan))
    assert trace.returns() == [due if by is None else due * by]


@clause(
    "input.keywords.flag_is_keyword_only",
    says="register_forward_pre_hook takes its options by name: a second positional argument raises TypeError.",
    source=f'{CODE} "prepend: bool = False, with_kwargs: bool = False"',
    asked="register_forward_pre_hook takes 2 positional arguments but "
    "3 were given passing true kwargs keyword arguments pre-hook",
    device="none",
    needs=PRE_KWARGS,
    value="TypeError",
    wrong={"never by position": "none"},
)
def test_flag_is_keyword_only(subject: Subject) -> None:
    import torch

    register = torch.nn.Identity().register_forward_pre_hook
    assert raised(lambda: register(lambda module, args: None, True), TypeError) == subject.value


@clause(
    "input.keywords.never_for_global",
    says="register_module_forward_pre_hook, for global hooks, takes neither with_kwargs nor prepend.",
    source=f'{CODE} "def register_module_forward_pre_hook(hook: Callable[..., None]) -> RemovableHandle"',
    asked="access named inputs for all modules at once unexpected keyword "
    "argument prepend error kwargs keyword arguments pre-hook",
    device="none",
    needs=GLOBAL_FORWARD_PRE,
    value=["TypeError", "TypeError"],
    wrong={"never options": ["none", "none"]},
)
def test_never_for_global(subject: Subject) -> None:
    from torch.nn.modules.module import register_module_forward_pre_hook

    def register(option):
        register_module_forward_pre_hook(lambda module, args: None, **{option: True}).remove()

    asked = ("with_kwargs", "prepend")
    assert [raised(lambda option=option: register(option), TypeError) for option in asked] == subject.value


@clause(
    "input.keywords.removed_meanwhile",
    says="A with_kwargs forward pre-hook that an earlier one of its module removes is called as hook(module, args).",
    where="it is removed in the same call",
    source="measured",
    asked="typeerror missing kwargs parameter input callback unregistered "
    "by earlier callback mid run kwargs keyword arguments pre-hook",
    needs=PRE_KWARGS,
    note="The hooks of a call are those it began with, while with_kwargs is looked up when each one's turn comes.",
)
@given(plan=dropped("forward_pre"))
def test_removed_meanwhile(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    first, *others = hooks_of(plan)
    for hook in others:
        gone = Drop(hook.label) in first.do
        assert [len(seen) for seen in trace.seen_by(hook.label)] == ([2] if gone else [3, 3])


@clause(
    "input.keywords.pair_replaces_both",
    says="A with_kwargs forward pre-hook that returns (args, kwargs) replaces both for the next hook or forward.",
    where="args is a tuple",
    source=(f'{PRE_HOOK} "both the args and kwargs should be returned"', KWARGS_PULL),
    asked="override attention_mask and hidden_states before transformer layer "
    "modify named inputs steering kwargs keyword arguments pre-hook",
    device="none",
    needs=PRE_KWARGS,
    value=lambda old, new: new,
    wrong={"never merged": lambda old, new: {**old, **new}},
    witness={"caller": ((1,), {"a": 2}), "returned": [((5, 6), {"b": 7})]},
)
@given(caller=PAIRS, returned=st.lists(st.one_of(st.none(), PAIRS, st.just("plain")), min_size=1, max_size=5))
def test_pair_replaces_both(subject: Subject, caller, returned) -> None:
    (args, kwargs), seen, due, module = caller, [], [], echo()

    def hook(module, args, kwargs):
        seen.append((args, dict(kwargs)))
        return returned[len(seen) - 1]

    for pair in returned:
        if pair == "plain":
            module.register_forward_pre_hook(lambda module, args: seen.append(args))
            due.append(args)
            continue
        module.register_forward_pre_hook(hook, with_kwargs=True)
        due.append((args, kwargs))
        if pair is not None:
            args, kwargs = pair[0], subject.value(kwargs, pair[1])
    assert module(*caller[0], **caller[1]) == (args, kwargs)
    assert seen == due


@clause(
    "input.keywords.forward_hook_sees_them",
    says="A with_kwargs forward hook is given the keyword arguments that the forward pre-hooks left.",
    where="no earlier forward hook changes them",
    see=("output.keywords.one_dict", "handles.removal.keywords_go_first"),
    source=(
        'docs: torch.nn.Module.register_forward_hook "will be passed the ``kwargs`` given to the forward function"',
        "test: test/nn/test_module_hooks.py TestModuleHooks.test_kwarg_hooks",
    ),
    asked="output callback kwargs modified or original attention_mask "
    "changed before layer kwargs keyword arguments pre-hook",
    device="none",
    needs=(PRE_KWARGS, KWARGS),
    value="forward",
    wrong={"never original": "caller"},
    witness={"caller": ((1,), {"a": 2}), "returned": [((5,), {"a": 7})], "flags": [True]},
)
@given(
    caller=PAIRS,
    returned=st.lists(st.one_of(st.none(), PAIRS), max_size=3),
    flags=st.lists(st.booleans(), min_size=1, max_size=3),
)
def test_forward_hook_sees_them(subject: Subject, caller, returned, flags) -> None:
    seen, module = [], echo()
    for flag in flags:
        module.register_forward_hook(lambda module, *given: seen.append(given[:-1]), with_kwargs=flag)
    for pair in returned:
        module.register_forward_pre_hook(lambda module, args, kwargs, pair=pair: pair, with_kwargs=True)
    out = module(*caller[0], **caller[1])
    left = {"forward": out, "caller": caller}[subject.value]
    assert out == ([caller] + [pair for pair in returned if pair is not None])[-1]
    assert seen == [left if flag else left[:1] for flag in flags]


@clause(
    "input.keywords.dict_is_a_copy",
    says="A key that a with_kwargs forward pre-hook sets in its dict reaches forward, not the caller's dict.",
    where=("the hook returns None", "no later hook changes it"),
    source="measured",
    asked="modify kwargs inplace add attention_mask side effect on "
    "my original dictionary kwargs keyword arguments pre-hook",
    device="none",
    needs=PRE_KWARGS,
    value=False,
    wrong={"never the caller's": True},
    witness={"mine": {"a": 2}, "edits": [{"a": 9}]},
)
@given(mine=KEYWORDS, edits=st.lists(KEYWORDS, min_size=1, max_size=4))
def test_dict_is_a_copy(subject: Subject, mine, edits) -> None:
    module, seen, due, before = echo(), [], [dict(mine)], dict(mine)

    def hook(module, args, kwargs):
        seen.append(dict(kwargs))
        kwargs.update(edits[len(seen) - 1])

    for edit in edits:
        module.register_forward_pre_hook(hook, with_kwargs=True)
        due.append({**due[-1], **edit})
    seen.append(module(**mine)[1])
    assert (seen, mine) == (due, due[-1] if subject.value else before)


@clause(
    "input.keywords.only_a_pair",
    says="A call raises RuntimeError when a with_kwargs forward pre-hook returns neither None nor a tuple of two.",
    see="input.keywords.removed_meanwhile",
    source=('code: torch/nn/modules/module.py "forward pre-hook must return None or a tuple"', KWARGS_PULL),
    asked="forward pre-hook must return none or a tuple of new_args "
    "new_kwargs error returned tensor kwargs keyword arguments pre-hook",
    device="none",
    needs=PRE_KWARGS,
    value=lambda given: False,
    wrong={"never wrapped": lambda given: not isinstance(given, (list, tuple))},
    witness={"wrong": 5, "before": 0, "after": 0},
)
@given(
    wrong=st.one_of(
        VALUES.filter(lambda value: not (isinstance(value, tuple) and len(value) == 2)),
        PAIRS.map(list),
        PAIRS.map(lambda pair: (*pair, None)),
        PAIRS.map(lambda pair: pair[:1]),
    ),
    before=UP_TO_TWO,
    after=UP_TO_TWO,
)
def test_only_a_pair(subject: Subject, wrong, before, after) -> None:
    module, ran = echo(), []
    for number in range(before + 1 + after):
        module.register_forward_pre_hook(
            lambda module, args, kwargs, number=number: ran.append(number) or (wrong if number == before else None),
            with_kwargs=True,
        )
    ran.append(result(lambda: module(1), RuntimeError))
    if subject.value(wrong):
        assert ran == [*range(before + 1 + after), ((wrong,), {})]
    else:
        assert ran == [*range(before + 1), "RuntimeError"]


@clause(
    "input.keywords.args_are_spread",
    says="In the pair that a with_kwargs forward pre-hook returns, args may be any iterable: forward gets its items.",
    where="there is no other hook",
    source="measured",
    asked="return list or generator instead of tuple for positional "
    "part from kwargs pre hook kwargs keyword arguments pre-hook",
    needs=PRE_KWARGS,
    value=object,
    wrong={"never refused": tuple},
    witness={"items": ["a"], "shape": "list", "kwargs": {}},
    note="The docs ask for a pair of new args and kwargs, and leave open what args have to be.",
)
@given(
    items=st.lists(st.sampled_from("abc"), max_size=3, unique=True),
    shape=st.sampled_from(["tuple", "list", "text", "dict", "generator", "tensor", "number"]),
    kwargs=KEYWORDS,
)
def test_args_are_spread(subject: Subject, items, shape, kwargs) -> None:

    made = {"tuple": tuple(items), "list": items, "text": "".join(items), "dict": dict.fromkeys(items), "number": 7}
    made["generator"] = (one for one in items)
    made["tensor"] = make.tensor([[ord(one), 0] for one in items]).reshape(len(items), 2)
    module = echo()
    module.register_forward_pre_hook(lambda module, args, old: (made[shape], kwargs), with_kwargs=True)
    later = []
    module.register_forward_pre_hook(lambda module, args: later.append(args))
    module.register_forward_hook(lambda module, args, output: later.append(args))
    try:
        args, seen = module(0)
        seen = ([chr(one[0]) if shape == "tensor" else one for one in args], seen)
    except TypeError as error:
        seen = type(error).__name__
    assert seen == ((items, kwargs) if shape != "number" and isinstance(made[shape], subject.value) else "TypeError")
    # The hooks behind it are given the object itself, no tuple of it.
    assert len(later) == (1 if shape == "number" else 2)
    assert all(args is made[shape] for args in later)


@clause(
    "input.keywords.pair_of_inputs",
    says="A tuple of two inputs that a with_kwargs forward pre-hook returns is read as (args, kwargs).",
    source="measured",
    asked="second tensor mistaken for named arguments lstm hidden state "
    "must be a mapping error kwargs keyword arguments pre-hook",
    device="none",
    needs=PRE_KWARGS,
    value=False,
    wrong={"never both": True},
    witness={"x": 1, "y": 2},
)
@given(x=VALUES, y=MAYBE_VALUES)
def test_pair_of_inputs(subject: Subject, x, y) -> None:
    module = echo()
    module.register_forward_pre_hook(lambda module, args, kwargs: args, with_kwargs=True)
    seen = result(lambda: module(x, y), TypeError)
    if subject.value:
        due = ((x, y), {})
    elif isinstance(x, (list, tuple, str, dict)) and isinstance(y, dict):
        due = (tuple(x), y)
    else:
        due = "TypeError"
    assert seen == due
