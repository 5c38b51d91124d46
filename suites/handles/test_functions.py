"""What can be a hook: anything that can be called. Nothing but its registration holds it."""

from typing import Any, List

from hypothesis import given
from hypothesis import strategies as st

from fixtures.families import HOOK_KINDS
from fixtures.judge.about import apis
from fixtures.judge.clause import clause
from fixtures.judge.subject import Subject
from fixtures.plan.draw import plans
from fixtures.plan.grammar import Plan

NOTE = "https://github.com/pytorch/pytorch/pull/37785"


@clause(
    "handles.functions.any_callable",
    says="Functions, lambdas, bound methods, partials and objects are hooks alike, held by their registration.",
    source=("measured", NOTE),
    note="Before torch 1.6 a tensor hook without a name may not return a gradient: tutorial.calling.t31_any_callable.",
    level="observed",
    about=apis(HOOK_KINDS, everywhere=True),
)
@given(
    plan=plans(
        kinds=HOOK_KINDS, does=("scale",), depth=1, least=2, most=5, everywhere=True, options=True, functions=True
    )
)
def test_any_callable(subject: Subject, plan: Plan) -> None:
    subject.holds(plan)


@clause(
    "handles.functions.in_many_places",
    says="One function may be a hook in many places, and twice in one; each handle removes one registration.",
    source="measured",
    about=apis(HOOK_KINDS, everywhere=True),
)
@given(
    plan=plans(
        kinds=HOOK_KINDS,
        does=("scale", "drop"),
        depth=1,
        least=3,
        most=6,
        everywhere=True,
        remove=True,
        runs=3,
        alike=True,
        functions=True,
    )
)
def test_in_many_places(subject: Subject, plan: Plan) -> None:
    subject.holds(plan)


@clause(
    "handles.functions.on_a_module",
    says="Whatever is called as a hook around a module is given and may return what a function is and may.",
    source="measured",
    about=apis(("forward_pre", "forward", "backward", "full_backward", "full_backward_pre"), everywhere=True),
)
@given(
    plan=plans(
        kinds=("forward_pre", "forward", "backward", "full_backward", "full_backward_pre"),
        does=("scale", "bare", "single"),
        inputs=(1, 2),
        outputs=(1, 2),
        depth=0,
        least=2,
        most=5,
        everywhere=True,
        options=True,
        runs=2,
        by=True,
        copies=True,
        functions=True,
    )
)
def test_on_a_module(subject: Subject, plan: Plan) -> None:
    subject.holds(plan)


class Made:
    """What a class that is registered as a hook makes of the arguments."""

    def __init__(self, *given: Any) -> None:
        self.given = given


@clause(
    "handles.functions.makes_an_object",
    says="A class, generator function or async def as a hook around forward replaces by the object it makes.",
    source="measured",
    note="The body of a generator function, or of async def, is not run.",
    about=("register_forward_hook", "register_forward_pre_hook"),
    value=[],
    wrong={"run": [1]},
    witness={"kind": "forward", "made": "generator"},
)
@given(
    kind=st.sampled_from(["forward", "forward_pre"]),
    made=st.sampled_from(["Made", "generator", "coroutine", "async_generator"]),
)
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
    out = module(torch.ones(()))
    assert type(out).__name__ == made
    assert ran == (subject.value if made != "Made" else [])
    if made == "coroutine":
        # One that is never waited for warns where it ends.
        out.close()
