"""Which calls of an optimizer call step hooks, and how often."""

from typing import Any, List

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import clause
from fixtures.judge.subject import Subject
from fixtures.stages.make import make
from suites.names import POST_ACCUMULATE
from suites.optimizer.optimizers import WHENS, counting, optimizer
from suites.optimizer.sources import ALL, CODE, OWN, PRE_HOOK

ABOUT = ALL[:2]

#: What else one does with an optimizer.
OTHERS = {
    "zero_grad": lambda one: one.zero_grad(),
    "add_param_group": lambda one: one.add_param_group({"params": [another()]}),
    "state_dict": lambda one: one.state_dict(),
    "load_state_dict": lambda one: one.load_state_dict(one.state_dict()),
    "repr": repr,
}


def another() -> Any:
    """Another parameter."""
    import torch

    return torch.nn.Parameter(make.ones(()))


@clause(
    "optimizer.calls.others",
    says="zero_grad(), add_param_group(), state_dict() and load_state_dict() call no step hook.",
    source=("measured", CODE),
    asked="does optimizer.zero_grad or state_dict or load_state_dict trigger step callback",
    needs=OWN,
    about=ALL[:2],
    value=0,
    wrong={"each": 1},
    witness={"whens": ["pre"], "acts": ["zero_grad"]},
)
@given(whens=WHENS, acts=st.lists(st.sampled_from([*OTHERS, "step"]), min_size=1, max_size=6))
def test_others(subject: Subject, whens: List[str], acts: List[str]) -> None:
    one, expected = optimizer(), 0
    calls = counting(one, whens)
    for act in acts:
        one.step() if act == "step" else OTHERS[act](one)
        expected += len(whens) * (1 if act == "step" else subject.value)
    assert len(calls) == expected


@clause(
    "optimizer.calls.closure",
    says="A step() that calls its closure several times, as LBFGS does, calls each step hook once.",
    source="measured",
    asked="LBFGS closure evaluated many times how often is optimizer step callback fired per iteration",
    needs=OWN,
    about=ALL[:2],
    value=1,
    wrong={"with each closure": 0},
    witness={"whens": ["pre"], "times": 3, "lbfgs": True},
)
@given(whens=WHENS, times=st.integers(2, 4), lbfgs=st.booleans())
def test_closure(subject: Subject, whens: List[str], times: int, lbfgs: bool) -> None:
    import torch

    weight, closures = torch.nn.Parameter(make.ones(())), []

    class Several(torch.optim.Optimizer):
        def step(self, closure: Any) -> None:
            for _ in range(times):
                closure()

    def closure() -> Any:
        closures.append(1)
        weight.grad = None
        loss = (weight - 3) ** 4
        loss.backward()
        return loss

    one = torch.optim.LBFGS([weight], max_iter=times, lr=0.1) if lbfgs else Several([weight], {})
    calls = counting(one, whens)
    one.step(closure)
    assert len(closures) > 1
    assert len(calls) == len(whens) * (subject.value or len(closures))


@clause(
    "optimizer.calls.scheduler",
    says="With a learning-rate scheduler each o.step() calls each step hook once, and scheduler.step() calls none.",
    source="measured",
    asked="lr_scheduler.step triggers optimizer callback twice learning rate scheduler wraps step",
    needs=OWN,
    about=ALL[:2],
    value=0,
    wrong={"too": 1},
    witness={"whens": ["pre"], "schedulers": 1, "acts": "os", "late": False},
)
@given(
    whens=WHENS,
    schedulers=st.integers(1, 3),
    acts=st.text("os", min_size=1, max_size=5).map("o".__add__),
    late=st.booleans(),
)
def test_scheduler(subject: Subject, whens: List[str], schedulers: int, acts: str, late: bool) -> None:
    import torch

    one = optimizer()
    calls = [] if late else counting(one, whens)
    made = [torch.optim.lr_scheduler.StepLR(one, 1) for _ in range(schedulers)]
    calls = counting(one, whens) if late else calls
    for act in acts:
        for each in [one] if act == "o" else made:
            each.step()
    expected = acts.count("o") + subject.value * acts.count("s") * schedulers
    assert len(calls) == len(whens) * expected


@clause(
    "optimizer.calls.scaler",
    says="GradScaler.step(o) that finds a gradient that is not finite calls no step hook of o.",
    where=("the scaler is enabled", "o was made without fused=True"),
    source="measured",
    asked="optimizer callback not fired with GradScaler inf nan skipped update mixed precision count real steps",
    needs=(OWN, "torch.amp.GradScaler"),
    about=ALL[:2],
    value=0,
    wrong={"all the same": 1},
    witness={"whens": ["pre"], "grads": ["inf"]},
)
@given(whens=WHENS, grads=st.lists(st.sampled_from(["1", "inf", "-2", "nan"]), min_size=1, max_size=4))
def test_scaler(subject: Subject, whens: List[str], grads: List[str]) -> None:
    import torch

    weight = torch.nn.Parameter(make.ones(()))
    one, scaler, expected = torch.optim.SGD([weight], lr=1.0), torch.amp.GradScaler("cpu", init_scale=2.0), 0
    calls = counting(one, whens)
    for grad in map(float, grads):
        weight.grad = None
        scaler.scale(weight * grad).backward()
        scaler.step(one)
        scaler.update()
        expected += len(whens) * (1 if abs(grad) < 9 else subject.value)
    assert len(calls) == expected


@clause(
    "optimizer.calls.super",
    says="A step() that calls super().step() calls step hooks once more if an optimizer of the base class was made.",
    where="the base class has a step() of its own",
    source=(PRE_HOOK, f'{CODE} "if not hooked"'),
    asked="optimizer step callback called twice custom subclass of "
    "Adam super().step() double count register_step_post_hook",
    docs="contradicts",
    note="Whether the hooks run once or twice is up to what else the process has made: the first object wraps step().",
    needs=OWN,
    about=ALL,
    value=1,
    wrong={"once in a step": 0},
    witness={"whens": ["pre"], "depth": 1, "made": [1]},
)
@given(whens=WHENS, depth=st.integers(1, 3), made=st.lists(st.integers(0, 3), max_size=3))
def test_super(subject: Subject, whens: List[str], depth: int, made: List[int]) -> None:
    import torch

    class Base(torch.optim.Optimizer):
        def step(self, closure: Any = None) -> None:
            """Do nothing."""

    classes = [Base]
    for _ in range(depth):

        class Next(classes[-1]):  # type: ignore[misc]
            def step(self, closure: Any = None, above: Any = classes[-1]) -> None:
                above.step(self, closure)

        classes.append(Next)
    # From the class itself upwards: 0 is the class whose object takes the step.
    others = {level for level in made if 0 < level <= depth}
    for level in sorted(others):
        classes[depth - level]([another()], {})
    one = classes[-1]([another()], {})
    calls = counting(one, whens)
    one.step()
    assert len(calls) == len(whens) * (1 + subject.value * len(others))


@clause(
    "optimizer.calls.instance",
    says="A step that is set on one optimizer, o.step = f, calls no step hook.",
    where="f is no step() and calls none",
    source="measured",
    asked="optimizer.step monkeypatched wrapper callback never fires "
    "register_step_pre_hook not called accelerate wraps step",
    needs=OWN,
    about=ALL[:2],
    value=0,
    wrong={"too": 1},
    witness={"whens": ["pre"], "late": False, "before": 0},
)
@given(whens=WHENS, late=st.booleans(), before=st.integers(0, 2))
def test_instance(subject: Subject, whens: List[str], late: bool, before: int) -> None:
    one = optimizer()
    calls = [] if late else counting(one, whens)
    for _ in range(before):
        one.step()
    one.step = lambda: None
    calls = counting(one, whens) if late else calls
    one.step()
    assert len(calls) == len(whens) * ((0 if late else before) + subject.value)


@clause(
    "optimizer.calls.post_accumulate",
    says="If post-accumulate hooks of weights call o.step(), step hooks of o are called once for each weight.",
    where=("backward() reaches the weights", "each has one hook"),
    source=("measured", "https://docs.pytorch.org/tutorials/intermediate/optimizer_step_in_backward_tutorial.html"),
    asked="optimizer in backward per parameter step how often register_step_post_hook fires fused update",
    needs=(OWN, POST_ACCUMULATE),
    about=(*ALL[:2], "register_post_accumulate_grad_hook"),
    value=True,
    wrong={"once in a pass": False},
    witness={"whens": ["pre"], "leaves": 2, "passes": 1, "own": False},
)
@given(whens=WHENS, leaves=st.integers(1, 4), passes=st.integers(1, 3), own=st.booleans())
def test_post_accumulate(subject: Subject, whens: List[str], leaves: int, passes: int, own: bool) -> None:
    import torch

    weights = [another() for _ in range(leaves)]
    groups = [[weight] for weight in weights] if own else [weights]
    made = [torch.optim.SGD(group, lr=1.0) for group in groups]
    calls = [counting(one, whens) for one in made]
    for place, weight in enumerate(weights):
        weight.register_post_accumulate_grad_hook(lambda _, one=made[place if own else 0]: one.step())
    for _ in range(passes):
        sum(weight * 2 for weight in weights).backward()
    expected = passes * (leaves if subject.value else 1)
    assert sum(map(len, calls)) == len(whens) * expected
