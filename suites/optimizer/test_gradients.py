"""What step hooks change of the gradients."""

from math import prod

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import clause
from fixtures.draw.plans import FACTORS
from fixtures.judge.subject import Subject
from fixtures.plan.grammar import InPlace, Plan, Scale, hooks_of
from suites.optimizer.plans import POST, PRE, by_gradients, hooks, left, stepped, steps
from suites.optimizer.sources import AFTER, ALL, BEFORE, OWN

CHANGES = st.builds(Scale, FACTORS) | st.builds(InPlace, FACTORS)
CHANGED = CHANGES.map(lambda one: (one,)) | st.just(())


@clause(
    "optimizer.gradients.before",
    says="A step uses the .grad that its step pre-hooks leave, whether they assign one or change it in place.",
    where="no closure computes it anew",
    source=BEFORE,
    asked="clip gradients in optimizer pre step callback clip_grad_norm_ "
    "noise to gradient register_step_pre_hook does update use it",
    needs=OWN,
    about=(ALL[0], ALL[2]),
)
@given(plan=stepped(hooks(kinds=(PRE,), do=CHANGED)))
def test_before(subject: Subject, plan: Plan) -> None:
    by = prod(act.by for hook in hooks_of(plan) for act in hook.do)
    assert left(subject.holds(plan)) == [by_gradients(plan, by)]


@clause(
    "optimizer.gradients.after",
    says="The next step, not this one, is given the .grad that a step post-hook changed.",
    where="only step hooks change .grad",
    source=AFTER,
    asked="zero_grad in optimizer post step callback clear gradients "
    "automatically set p.grad after update register_step_post_hook",
    needs=OWN,
    about=(ALL[1], ALL[3]),
)
@given(plan=stepped(hooks(kinds=(POST,), do=CHANGED), steps(2)))
def test_after(subject: Subject, plan: Plan) -> None:
    by = prod(act.by for hook in hooks_of(plan) for act in hook.do)
    assert left(subject.holds(plan)) == [by_gradients(plan, 1), by_gradients(plan, 1 + by)]
