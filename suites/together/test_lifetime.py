"""What nothing frees once a program has let go of all that it has, and removed no hook: what the model predicts."""

from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.about import apis
from fixtures.clause.clause import clause
from fixtures.draw.chosen import pick
from fixtures.families import KINDS, every_hook
from fixtures.families.lifetime import REFERRED, LetGo
from fixtures.judge.subject import Subject
from fixtures.plan.grammar import Plan
from suites.names import GLOBAL_KWARGS
from suites.together.plans import ALSO, EVERYTHING
from suites.together.test_grammar import SAVED, WIDE, nested


@st.composite
def letting_go(draw: Any) -> Plan:
    """Plans with kinds of up to three families; two of three hooks refer to something, before all is let go."""
    plan = draw(nested(*ALSO, "no_grad", kinds=WIDE, families=3, most=5, many=1, edits=1))
    hooks = [hook for hook in every_hook(plan) if KINDS[hook.kind].functions(hook) and not hook.like]
    referred = [(hook.label, pick(draw, ("", *REFERRED, ""))) for hook in hooks]
    return replace(plan, steps=(*plan.steps, LetGo(tuple(one for one in referred if one[1]))))


@clause(
    "together.lifetime.never_freed",
    says="Which hooks, leaves, modules and tensors are never freed is what the model predicts.",
    where="everything is let go of, and no hook is removed",
    source="measured",
    checks_model=True,
    needs=GLOBAL_KWARGS,  # before 2.6 a pair of hooks whose context is refused is never freed, before 2.3 much else
    note="Hooks refer to nothing, to what they are on, to the network, its output or their handle.",
    about=(*EVERYTHING, *apis(("multi_all", *SAVED))),
)
@given(plan=letting_go())
def test_never_freed(subject: Subject, plan: Plan) -> None:
    subject.holds(plan)
