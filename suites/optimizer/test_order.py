"""In which order step hooks run: before and after the step, global and own ones."""

from typing import Any, List

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import clause
from fixtures.families.optimizer_step import Optimize
from fixtures.judge.subject import Subject
from fixtures.plan.grammar import Plan
from suites.optimizer.optimizers import NAMES, WHEN, optimizer
from suites.optimizer.plans import hooks, in_order, stepped, steps
from suites.optimizer.sources import AFTER, ALL, BEFORE, CODE, EVERYWHERE, GLOBAL, OWN


@clause(
    "optimizer.order.around",
    says="step() calls global pre-hooks, own pre-hooks, the closure, own post-hooks, then global post-hooks.",
    source=(BEFORE, AFTER, CODE),
    asked="sequence of register_step_pre_hook register_optimizer_step_pre_hook "
    "closure and post callbacks which fires earlier global or own optimizer",
    needs=EVERYWHERE,
    about=ALL,
    see="optimizer.calls.super",
)
@given(plan=stepped(hooks(least=2), st.tuples(st.builds(Optimize, st.sampled_from(["args", "kwargs"])))))
def test_around(subject: Subject, plan: Plan) -> None:
    before, after = in_order(plan)
    found = [event.what for event in subject.holds(plan) if event.what[0] in "hc"]
    assert found == [*before, "closure", *after]


@clause(
    "optimizer.order.registered",
    says="Step pre-hooks of one optimizer are called in the order in which they were registered; so are post-hooks.",
    source=CODE,
    asked="two callbacks on one optimizer step which goes earlier register_step_post_hook order prepend",
    needs=OWN,
    about=ALL[:2],
)
@given(plan=stepped(hooks(on=("o",), least=2), steps(2)))
def test_registered(subject: Subject, plan: Plan) -> None:
    before, after = in_order(plan)
    assert subject.holds(plan).calls() == [*before, *after] * 2


@clause(
    "optimizer.order.every",
    says="A global step hook is called in each full step() of any optimizer, made before or after it.",
    where="its class calls super().__init__(), assigns or wraps no step",
    see=("optimizer.calls.instance", "optimizer.calls.super"),
    source=GLOBAL,
    asked="one callback for all optimizers in process log every update "
    "register_optimizer_step_post_hook optimizer created before",
    needs=EVERYWHERE,
    about=ALL[2:],
    value=True,
    wrong={"later ones": False},
    witness={"names": ["SGD", "Adam"], "at": 1, "when": "pre"},
)
@given(names=st.lists(NAMES, min_size=1, max_size=4), at=st.integers(0, 3), when=WHEN)
def test_every(subject: Subject, names: List[str], at: int, when: str) -> None:
    from torch.optim import optimizer as optimizers

    calls: List[Any] = []
    register = getattr(optimizers, f"register_optimizer_step_{when}_hook")
    made = [optimizer(name) for name in names[:at]]
    handle = register(lambda one, args, kwargs: calls.append(one))
    try:
        made += [optimizer(name) for name in names[at:]]
        for one in made * 2:
            one.step()
    finally:
        handle.remove()
    made[0].step()
    expected = made if subject.value else made[at:]
    assert [id(one) for one in calls] == [id(one) for one in expected * 2]
