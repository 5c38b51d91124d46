"""What can be a hook: anything that can be called. Nothing but its registration holds it."""

from dataclasses import replace
from functools import partial
from typing import Any, List

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.about import apis
from fixtures.clause.clause import clause
from fixtures.clause.rows import Row, each
from fixtures.families import HOOK_KINDS
from fixtures.judge.subject import Subject
from fixtures.plan.grammar import Hook, Plan, hooks_of
from fixtures.play.trace import Event, Trace
from fixtures.stages.make import make
from suites.hooking import AROUND
from suites.names import BACKWARD, FORWARD
from suites.shapes import plans_with, wider

NAMELESS = "Before torch 1.6 a tensor hook without a name may not return a gradient: tutorial.calling.t31_any_callable."
ON_MODULES = (*FORWARD, *BACKWARD)

#: Hooks of any kind that are anything which can be called.
called = partial(plans_with, "everywhere", "functions", kinds=HOOK_KINDS)


def with_own_functions(plan: Plan) -> Plan:
    """The plan with a plain function for each hook, which does the same."""
    does = {hook.label: hook.do for hook in hooks_of(plan)}

    def plain(hook: Hook) -> Hook:
        return replace(hook, form="", like="", do=does[hook.like or hook.label])

    return replace(plan, steps=tuple(plain(step) if isinstance(step, Hook) else step for step in plan.steps))


@each(
    Row(
        "handles.functions.any_callable",
        "A forward, full backward or tensor hook may be a lambda, bound method, partial or object held nowhere else.",
        ("measured", "https://github.com/pytorch/pytorch/pull/37785"),
        asked="does pytorch keep a strong reference to my closure garbage collected if i drop it",
        note=NAMELESS,
        level="observed",
        about=apis(HOOK_KINDS, everywhere=True),
        draws=lambda: called("options", least=2, most=5),
    ),
    Row(
        "handles.functions.in_many_places",
        "A function can be a hook in many places, or twice in one; each handle removes one registration.",
        "measured",
        asked="same callback registered on all layers or double on one layer unregister only one",
        about=apis(HOOK_KINDS, everywhere=True),
        draws=lambda: called("remove", "alike", does=("scale", "drop"), least=3, most=6, runs=3),
    ),
    Row(
        "handles.functions.on_a_module",
        "A bound method, partial or object as forward or full backward hook is given what a function is given.",
        "measured",
        asked="self argument in class based callback signature module input output functools extra parameters",
        about=apis(ON_MODULES, everywhere=True),
        draws=lambda: wider(
            *("everywhere", "options", "by", "copies", "functions"),
            kinds=ON_MODULES,
            does=("scale", "bare", "single"),
            depth=0,
            least=2,
            most=5,
            runs=2,
        ),
    ),
    plan=lambda row: row.draws(),
)
def as_functions_of_their_own(subject: Subject, plan: Plan, *, row: Any) -> None:
    trace = subject.play(with_own_functions(plan))
    names = {hook.label: hook.like for hook in hooks_of(plan) if hook.like}
    assert subject.holds(plan) == Trace(Event(names.get(what, what), seen) for what, seen in trace)


class Made:
    """What a class that is registered as a hook makes of the arguments."""

    def __init__(self, *given: Any) -> None:
        self.given = given


@clause(
    "handles.functions.makes_an_object",
    says="A class or generator function as forward hook replaces the output by the object that its call makes.",
    where="there is no legacy backward hook",
    source="measured",
    asked="yield inside callback returns generator model output becomes strange object passing a type",
    note="The body of a generator function, or of async def, is not run.",
    about=("register_forward_hook", "register_forward_pre_hook"),
    value=[],
    wrong={"run": [1]},
    witness={"kind": "forward", "made": "generator"},
)
@given(kind=AROUND, made=st.sampled_from(["Made", "generator", "coroutine", "async_generator"]))
def test_makes_an_object(subject: Subject, kind: str, made: str) -> None:
    import torch

    ran: List[int] = []

    def generator(*given: Any) -> Any:
        ran.append(1)
        yield given

    async def coroutine(*given: Any) -> None:
        ran.append(1)

    async def async_generator(*given: Any) -> Any:
        ran.append(1)
        yield given

    hooks = {"Made": Made, "generator": generator, "coroutine": coroutine, "async_generator": async_generator}
    module = torch.nn.Identity()
    getattr(module, f"register_{kind}_hook")(hooks[made])
    out = module(make.ones(()))
    assert type(out).__name__ == made
    assert ran == (subject.value if made != "Made" else [])
    if made == "coroutine":
        # One that is never waited for warns where it ends.
        out.close()
