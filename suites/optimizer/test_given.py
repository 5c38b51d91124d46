"""What step hooks are given, and what they find: arguments, parameters, grad mode."""

from typing import Any, Dict, List, Tuple

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import clause
from fixtures.draw.plans import NUMBERS
from fixtures.judge.subject import Subject
from fixtures.plan.grammar import Plan, hooks_of
from suites.hooking import raised
from suites.optimizer.optimizers import WHEN, optimizer, weight_of
from suites.optimizer.plans import hooks, stepped
from suites.optimizer.sources import AFTER, ALL, CODE, OWN, PRE_HOOK


@clause(
    "optimizer.given.arguments",
    says="A step hook is given the optimizer, a tuple of it and the arguments of step(), and the keyword arguments.",
    source=f'{PRE_HOOK} "hook(optimizer, args, kwargs) -> None or modified args and kwargs"',
    asked="register_step_pre_hook signature optimizer args kwargs why is "
    "args a tuple with the optimizer in it get closure in callback",
    needs=OWN,
    about=ALL,
    see="optimizer.returns.pair",
)
@given(plan=stepped(hooks()))
def test_arguments(subject: Subject, plan: Plan) -> None:
    trace, how = subject.holds(plan), plan.steps[-1].closure
    args, kwargs = ("o", "closure") if how == "args" else ("o",), {"closure": "closure"} if how == "kwargs" else {}
    assert all(trace.seen_by(hook.label) == [("o", args, kwargs)] for hook in hooks_of(plan))


@clause(
    "optimizer.given.parameters",
    says="A step pre-hook finds the parameters as they were before the step, a step post-hook as they are after it.",
    where="no step hook changes them",
    source=AFTER,
    asked="compare weights before and after update in optimizer callback log parameter delta norm of update",
    needs=OWN,
    value={"pre": 0, "post": 1},
    wrong={"both before": {"pre": 0, "post": 0}, "both after": {"pre": 1, "post": 1}},
    witness={"whens": ["pre", "post"], "grads": [2]},
)
@given(whens=st.lists(WHEN, min_size=1, max_size=4), grads=st.lists(NUMBERS, min_size=1, max_size=3))
def test_parameters(subject: Subject, whens: List[str], grads: List[int]) -> None:
    one, seen, now = optimizer(start=5), [], 5
    weight = weight_of(one)
    for when in whens:
        getattr(one, f"register_step_{when}_hook")(lambda *given, when=when: seen.append((when, weight.item())))
    expected: List[Tuple[str, int]] = []
    for grad in grads:
        weight.grad.fill_(grad)
        one.step()
        found: Dict[str, int] = {when: now - grad * subject.value[when] for when in ("pre", "post")}
        expected += [(when, found[when]) for when in sorted(whens, reverse=True)]
        now -= grad
    assert seen == expected


@clause(
    "optimizer.given.grad_mode",
    says="Step hooks run in the grad mode in which step() is called: in grad mode p.mul_(2) raises RuntimeError.",
    where="p is a parameter that requires grad",
    source=("measured", CODE),
    asked="clamp weights in optimizer post step callback leaf variable that "
    "requires grad in-place operation error no_grad weight clipping",
    needs=OWN,
    about=ALL[:2],
    value="RuntimeError",
    wrong={"as in step()": "none"},
    witness={"when": "post", "modes": [True], "name": "SGD"},
)
@given(when=WHEN, modes=st.lists(st.booleans(), min_size=1, max_size=3), name=st.sampled_from(["SGD", "Adam"]))
def test_grad_mode(subject: Subject, when: str, modes: List[bool], name: str) -> None:
    import torch

    one = optimizer(name)

    def changes(*given: Any) -> None:
        weight_of(one).mul_(1)

    getattr(one, f"register_step_{when}_hook")(changes)
    for mode in modes:
        with torch.set_grad_enabled(mode):
            assert raised(one.step, RuntimeError) == (subject.value if mode else "none")
