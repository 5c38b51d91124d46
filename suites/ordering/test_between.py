"""The order between kinds of hooks, and between global hooks and those of a module."""

from hypothesis import given
from hypothesis import strategies as st

from fixtures.judge.clause import clause
from fixtures.judge.subject import Subject
from fixtures.plan.draw import FACTORS, NUMBERS
from fixtures.plan.grammar import Again, Backward, Chain, Forward, Hook, Input, Leaf, Plan, Scale, hooks_of

CALLED = 'docs: torch.nn.Module.register_{}_hook "called every time {}"'
AROUND = (
    CALLED.format("forward_pre", "before :func:`forward` is invoked"),
    CALLED.format("forward", "after :func:`forward` has computed an output"),
)
#: kind of hook -> where the documentation says that global ones come first.
GLOBAL = {
    kind: f'docs: torch.nn.modules.module.register_module_{kind}_hook "{quote}"'
    for kind, quote in (
        ("forward_pre", "has precedence over the specific module hooks registered with"),
        ("forward", "will be executed before specific module hooks registered with"),
        ("full_backward", "will be called before hooks registered using"),
        ("full_backward_pre", "will be called before hooks registered using"),
    )
}
PREPENDED = 'docs: torch.nn.Module.register_{}_hook "will fire before all hooks registered by this method"'


@st.composite
def everywhere_and_own(draw, *kinds: str, on=("*", "m0"), prepend: bool = False) -> Plan:
    """A leaf module with two to six hooks of some kinds, each on the module itself or on every module."""
    hooks = []
    for number in range(draw(st.integers(2, 6))):
        kind, place = draw(st.sampled_from(kinds)), draw(st.sampled_from(on))
        do = (Scale(draw(FACTORS)),) if draw(st.booleans()) and kind != "backward" else ()
        first = prepend and place == "m0" and draw(st.booleans())
        hooks.append(Hook(kind, place, f"h{number}", do, prepend=first))
    net = Leaf("m0", "affine", (draw(NUMBERS), draw(NUMBERS)))
    return Plan(net, (Input(draw(NUMBERS)),), (*hooks, Forward(), Backward((draw(NUMBERS),))))


def lined_up(plan: Plan, *kinds: str):
    """Kind by kind, the labels of the global hooks and then of the module's own, each line as registered."""
    order = []
    for kind in kinds:
        for target in ("*", "m0"):
            line = []
            for hook in hooks_of(plan, kind):
                if hook.on == target:
                    line.insert(0 if hook.prepend else len(line), hook.label)
            order += line
    return order


@clause(
    "ordering.between.pre_then_forward",
    says="The forward pre-hooks of a module run before its forward hooks, whatever was registered first.",
    source=AROUND,
)
@given(plan=everywhere_and_own("forward_pre", "forward", on=("m0",)))
def test_pre_then_forward(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    assert trace.calls() == lined_up(plan, "forward_pre", "forward")


@clause(
    "ordering.between.global_forward_pre_first",
    says="Global forward pre-hooks run before those of the module, whatever was registered first.",
    source=GLOBAL["forward_pre"],
    needs="torch.nn.modules.module.register_module_forward_pre_hook",
)
@given(plan=everywhere_and_own("forward_pre"))
def test_global_forward_pre_first(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    assert trace.calls() == lined_up(plan, "forward_pre")


@clause(
    "ordering.between.global_forward_first",
    says="Global forward hooks run before those of the module, whatever was registered first.",
    source=GLOBAL["forward"],
    needs="torch.nn.modules.module.register_module_forward_hook",
)
@given(plan=everywhere_and_own("forward"))
def test_global_forward_first(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    assert trace.calls() == lined_up(plan, "forward")


@clause(
    "ordering.between.global_full_backward_first",
    says="Global full backward hooks run before those of the module, whatever was registered first.",
    source=GLOBAL["full_backward"],
    needs="torch.nn.modules.module.register_module_full_backward_hook",
)
@given(plan=everywhere_and_own("full_backward"))
def test_global_full_backward_first(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    assert trace.calls() == lined_up(plan, "full_backward")


@clause(
    "ordering.between.global_full_backward_pre_first",
    says="Global full backward pre-hooks run before those of the module, whatever was registered first.",
    source=GLOBAL["full_backward_pre"],
    needs="torch.nn.modules.module.register_module_full_backward_pre_hook",
)
@given(plan=everywhere_and_own("full_backward_pre"))
def test_global_full_backward_pre_first(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    assert trace.calls() == lined_up(plan, "full_backward_pre")


@clause(
    "ordering.between.global_legacy_first",
    says="Global legacy backward hooks run before those of the module, whatever was registered first.",
    source="test: test/nn/test_module_hooks.py TestModuleGlobalHooks.test_global_and_local_hooks_order",
    needs="torch.nn.modules.module.register_module_backward_hook",
)
@given(plan=everywhere_and_own("backward"))
def test_global_legacy_first(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    assert trace.calls() == lined_up(plan, "backward")


@clause(
    "ordering.between.global_before_prepended",
    says="A hook that a module prepends still runs after the global hooks of its kind.",
    source=tuple(PREPENDED.format(kind) for kind in ("forward_pre", "forward", "full_backward_pre", "full_backward")),
    needs="torch.nn.Module.register_forward_hook(prepend)",
)
@given(plan=everywhere_and_own("forward_pre", "forward", "full_backward_pre", "full_backward", prepend=True))
def test_global_before_prepended(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    assert trace.calls() == lined_up(plan, "forward_pre", "forward", "full_backward_pre", "full_backward")


@clause(
    "ordering.between.pre_then_full_backward",
    says="For one call of a module, all full pre-hooks, global ones too, run before its full hooks.",
    source="test: test/nn/test_module_hooks.py TestModuleHooks.test_mixed_hooks",
    needs="torch.nn.Module.register_full_backward_pre_hook",
)
@given(plan=everywhere_and_own("full_backward_pre", "full_backward"))
def test_pre_then_full_backward(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    assert trace.calls() == lined_up(plan, "full_backward_pre", "full_backward")


@st.composite
def all_around(draw, *wheres) -> Plan:
    """One hook for each (kind, target) around a module of one multiplication, in any order of registration."""
    hooks = [Hook(kind, on, f"h{number}") for number, (kind, on) in enumerate(draw(st.permutations(wheres)))]
    late = [hook for hook in hooks if hook.on == "m0>0"]
    early = [hook for hook in hooks if hook not in late]
    leaf = draw(st.booleans())
    return Plan(
        Leaf("m0", "scale", (draw(NUMBERS),)),
        (Input(draw(NUMBERS), leaf=leaf),),
        (*early, Forward(), *late, Backward((draw(NUMBERS),))),
    )


def called(plan: Plan, trace):
    """(kind, target) of every call, in order."""
    where = {hook.label: (hook.kind, hook.on) for hook in hooks_of(plan)}
    return [where[label] for label in trace.calls()]


AROUND_FULL = (("tensor", "m0>0"), ("tensor", "m0.weight"), ("full_backward", "m0"), ("tensor", "x0"))


@clause(
    "ordering.between.tensors_around_full",
    says="Hooks around one multiplication called once run so: output's, weight's, module's (full), input's.",
    source="measured",
    needs="torch.nn.Module.register_full_backward_hook",
)
@given(plan=all_around(*AROUND_FULL))
def test_tensors_around_full(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    assert called(plan, trace) == list(AROUND_FULL)


AROUND_PRE = (("tensor", "m0>0"), ("full_backward_pre", "m0"), ("tensor", "m0.weight"), ("tensor", "x0"))


@clause(
    "ordering.between.tensors_around_pre",
    says="Around one multiplication a full pre-hook runs after its output's hooks, before its weight's.",
    source="measured",
    needs="torch.nn.Module.register_full_backward_pre_hook",
)
@given(plan=all_around(*AROUND_PRE))
def test_tensors_around_pre(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    assert called(plan, trace) == list(AROUND_PRE)


AROUND_LEGACY = (("tensor", "m0>0"), ("backward", "m0"), ("tensor", "m0.weight"), ("tensor", "x0"))


@clause(
    "ordering.between.tensors_around_legacy",
    says="Around one multiplication a legacy hook runs after its output's hooks, before its weight's.",
    source="measured",
    about=("register_backward_hook", "register_hook"),
)
@given(plan=all_around(*AROUND_LEGACY))
def test_tensors_around_legacy(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    assert called(plan, trace) == list(AROUND_LEGACY)


@st.composite
def used(draw) -> Plan:
    """A module that is called once to three times in a row, with hooks on it, and behind its weight and its input."""
    wheres = draw(
        st.permutations((("post_accumulate", "m1.weight"), ("full_backward", "m1"), ("post_accumulate", "x0")))
    )
    hooks = [Hook(kind, on, f"h{number}") for number, (kind, on) in enumerate(wheres)]
    leaf = Leaf("m1", "scale", (draw(NUMBERS),))
    net = Chain("m0", (leaf,) + (Again("m1"),) * draw(st.integers(0, 2)))
    return Plan(net, (Input(draw(NUMBERS)),), (*hooks, Forward(), Backward((draw(NUMBERS),))))


@clause(
    "ordering.between.weights_before_full",
    says="Where the input needs a gradient, a weight of one call has its .grad before that call's full hook.",
    source="measured",
    needs="torch.Tensor.register_post_accumulate_grad_hook",
)
@given(plan=used())
def test_weights_before_full(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    # Of several calls only the first, which goes back last, comes after the weight.
    full = ("full_backward", "m1")
    earlier = [full] * (len(plan.net.children) - 1)
    assert called(plan, trace) == [*earlier, ("post_accumulate", "m1.weight"), full, ("post_accumulate", "x0")]
