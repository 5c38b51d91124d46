"""Keyword arguments: hidden from a forward hook unless it was registered with `with_kwargs=True`."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import clause
from fixtures.clause.rows import Row, each
from fixtures.draw.plans import NUMBERS
from fixtures.judge.subject import Subject
from fixtures.plan.grammar import Forward, Hook, Plan, hooks_of
from suites.hooking import raised
from suites.names import CODE, FORWARD_HOOK, GLOBAL_KWARGS, GLOBAL_KWARGS_PULL, KWARGS, KWARGS_PULL
from suites.shapes import alone, scale_maybe


@st.composite
def called_with(draw, with_kwargs=(False,), on: str = "m0") -> Plan:
    """A multiplication with one to four forward hooks, called with `by=` or without."""
    hooks = []
    for number in range(draw(st.integers(1, 4))):
        do, flag = scale_maybe(draw), draw(st.sampled_from(with_kwargs))
        hooks.append(Hook("forward", on, f"h{number}", do, with_kwargs=flag))
    by = draw(NUMBERS) if draw(st.booleans()) else None
    return Plan(*alone(draw), (*hooks, Forward(by)))


def given_to_hooks(plan: Plan):
    """(hook, what it is given), in order."""
    x, by = plan.inputs[0].value, plan.steps[-1].by
    kwargs = {} if by is None else {"by": by}
    out = plan.net.values[0] * x * (1 if by is None else by)
    for hook in hooks_of(plan):
        yield hook, ("m0", (x,), kwargs, out) if hook.with_kwargs else ("m0", (x,), out)
        for action in hook.do:
            out *= action.by


@each(
    Row(
        "output.keywords.hidden",
        "A forward hook without with_kwargs=True is given (module, args, output): no keyword arguments.",
        f'{FORWARD_HOOK} "Keyword arguments won\'t be passed to the hooks and only to the ``forward``"',
        asked="hook inputs tuple is empty for huggingface layer because model passes "
        "hidden_states by name missing kwargs keyword arguments forward hook",
        draws=lambda: called_with((False,)),
    ),
    Row(
        "output.keywords.given",
        "A module's forward hook with with_kwargs=True is given (module, args, kwargs, output); kwargs may be empty.",
        (f'{FORWARD_HOOK} "hook(module, args, kwargs, output) -> None or modified output"', KWARGS_PULL),
        asked="hook signature to see attention_mask and keyword inputs plus "
        "output four parameters order kwargs keyword arguments forward hook",
        see=("handles.removal.keywords_go_first", "output.always.global_keywords_lost"),
        needs=KWARGS,
        draws=lambda: called_with((True,)),
    ),
    Row(
        "output.keywords.mixed_chain",
        "Forward hooks with and without with_kwargs=True form one chain: each is given what the one before left.",
        "measured",
        asked="combining kwargs aware and plain activation modifiers second one sees "
        "modified result or original kwargs keyword arguments forward hook",
        needs=KWARGS,
        draws=lambda: called_with((True, False)),
    ),
    Row(
        "output.keywords.global",
        "In a call that succeeds a global forward hook with with_kwargs=True gets (module, args, kwargs, output).",
        GLOBAL_KWARGS_PULL,
        asked="register_module_forward_hook see keyword inputs for every layer signature "
        "four parameters huggingface logging kwargs keyword arguments forward hook",
        see=("output.always.global_keywords_lost",),
        needs=GLOBAL_KWARGS,
        docs="contradicts",
        note="The docstring of the function still says that keyword arguments are not passed.",
        draws=lambda: called_with((True, False), "*"),
    ),
    plan=lambda row: row.draws(),
)
def given_what_is_due(subject: Subject, plan: Plan, *, row: Any) -> None:
    trace = subject.holds(plan)
    for hook, seen in given_to_hooks(plan):
        assert trace.seen_by(hook.label) == [seen]


@clause(
    "output.keywords.one_dict",
    says="In one call a module's with_kwargs forward hooks get one dict: each sees what earlier ones changed in it.",
    see=("handles.removal.keywords_go_first",),
    source="measured",
    asked="pop or edit kwargs inside hook leaks into next callback shared "
    "mutable mapping side effect kwargs keyword arguments forward hook",
    device="none",
    needs=KWARGS,
    value=True,
    wrong={"never a copy each": False},
    witness={"kwargs": {"a": 2}, "edits": [{"b": 1}, {}]},
)
@given(
    kwargs=st.dictionaries(st.sampled_from("abc"), NUMBERS),
    edits=st.lists(
        st.one_of(st.none(), st.dictionaries(st.sampled_from("abc"), st.one_of(st.none(), NUMBERS))),
        min_size=2,
        max_size=5,
    ),
)
def test_one_dict(subject: Subject, kwargs, edits) -> None:
    import torch

    class Quiet(torch.nn.Module):
        def forward(self, **kwargs):
            return None

    def change(kwargs, edit):
        for name, value in edit.items():
            if value is None:
                kwargs.pop(name, None)
            else:
                kwargs[name] = value

    seen, module, given_to, due = [], Quiet(), dict(kwargs), []
    for edit in edits:
        if edit is None:
            module.register_forward_hook(lambda module, args, output: seen.append(args))
            due.append(())
            continue

        def hook(module, args, kwargs, output, edit=edit):
            seen.append(dict(kwargs))
            change(kwargs, edit)

        module.register_forward_hook(hook, with_kwargs=True)
        due.append(dict(given_to))
        if subject.value:
            change(given_to, edit)
    before = dict(kwargs)
    module(**kwargs)
    assert (seen, kwargs) == (due, before)


@clause(
    "output.keywords.flags_by_name",
    says="register_forward_hook takes options by name only: a second positional argument raises TypeError.",
    source=f'{CODE} "prepend: bool = False, with_kwargs: bool = False, always_call: bool = False"',
    asked="takes 2 positional arguments but 3 were given passing prepend true "
    "without keyword registration error kwargs keyword arguments forward hook",
    device="none",
    needs=KWARGS,
    value="TypeError",
    wrong={"never by position": "none"},
)
def test_flags_by_name(subject: Subject) -> None:
    import torch

    register = torch.nn.Identity().register_forward_hook
    assert raised(lambda: register(lambda module, args, output: None, True), TypeError) == subject.value
