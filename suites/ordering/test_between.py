"""The order between kinds of hooks, and between global hooks and those of a module."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import clause
from fixtures.clause.rows import Row, each
from fixtures.draw.plans import FACTORS, NUMBERS
from fixtures.judge.subject import Subject
from fixtures.plan.grammar import Backward, Chain, Forward, Hook, Input, Leaf, Plan, Reuse, Scale, hooks_of
from suites.names import FORWARD, FULL, GLOBAL_FORWARD, GLOBAL_FORWARD_PRE, POST_ACCUMULATE, PRE, PREPEND, PREPENDING
from suites.ordering.plans import AROUND, called
from suites.shapes import in_line

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
    return [hook.label for kind in kinds for hook in in_line(hooks_of(plan, kind))]


@each(
    Row(
        "ordering.between.pre_then_forward",
        "In each call a module's forward pre-hooks run before its forward hooks, whatever was registered first.",
        AROUND,
        asked="time a layer start and stop callbacks is the start one always called earlier than end",
        kinds=FORWARD,
        drawn={"on": ("m0",)},
    ),
    Row(
        "ordering.between.global_forward_pre_first",
        "In each call of a module global forward pre-hooks run before its own, whatever was registered first.",
        GLOBAL["forward_pre"],
        asked="register_module_forward_pre_hook versus layer specific "
        "one who sees the inputs earliest sequence precedence",
        needs=GLOBAL_FORWARD_PRE,
        kinds=("forward_pre",),
    ),
    Row(
        "ordering.between.global_forward_first",
        "In each call of a module global forward hooks run before its own, whatever was registered first.",
        GLOBAL["forward"],
        asked="which fires earlier all modules logger register_module_forward_hook or per layer callback after output",
        needs=GLOBAL_FORWARD,
        kinds=("forward",),
    ),
    Row(
        "ordering.between.global_full_backward_first",
        "For a call of a module global full backward hooks run before its own, whatever was registered first.",
        GLOBAL["full_backward"],
        asked="register_module_full_backward_hook versus layer specific grad_input "
        "callback which fires earlier gradient logging for all layers",
        where=("they were there before the call", "one backward()"),
        needs="torch.nn.modules.module.register_module_full_backward_hook",
        kinds=("full_backward",),
    ),
    Row(
        "ordering.between.global_full_backward_pre_first",
        "For a call of a module global full backward pre-hooks run before its own, whatever was registered first.",
        GLOBAL["full_backward_pre"],
        asked="register_module_full_backward_pre_hook versus per layer grad_output "
        "callback which triggers earlier scale incoming gradient everywhere",
        where=("they were there before the call", "one backward()"),
        needs="torch.nn.modules.module.register_module_full_backward_pre_hook",
        kinds=("full_backward_pre",),
    ),
    Row(
        "ordering.between.global_legacy_first",
        "For a call of a module global legacy backward hooks run before its own, whatever was registered first.",
        "test: test/nn/test_module_hooks.py TestModuleGlobalHooks.test_global_and_local_hooks_order",
        asked="old register_module_backward_hook deprecated versus "
        "register_backward_hook on one layer which triggers earlier",
        where=("they were there before the call", "one backward()"),
        needs="torch.nn.modules.module.register_module_backward_hook",
        kinds=("backward",),
    ),
    Row(
        "ordering.between.global_before_prepended",
        "For one call a module's hook with prepend=True still runs after the global hooks of its kind.",
        tuple(PREPENDED.format(kind) for kind in PREPENDING),
        asked="put my layer callback ahead of register_module_forward_hook profiler is prepend enough to be very first",
        needs=PREPEND,
        kinds=PREPENDING,
        drawn={"prepend": True},
        where=("the hooks were there before the call", "one backward()"),
    ),
    Row(
        "ordering.between.pre_then_full_backward",
        "For one call all full backward pre-hooks, also global ones, run before all full backward hooks.",
        "test: test/nn/test_module_hooks.py TestModuleHooks.test_mixed_hooks",
        asked="does grad_output callback always trigger earlier than "
        "grad_input callback in same layer measuring backward time",
        where="one backward()",
        needs=PRE,
        kinds=("full_backward_pre", "full_backward"),
    ),
    plan=lambda row: everywhere_and_own(*row.kinds, **getattr(row, "drawn", {})),
)
def line_by_line(subject: Subject, plan: Plan, *, row: Any) -> None:
    assert subject.holds(plan).calls() == lined_up(plan, *row.kinds)


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


@each(
    Row(
        "ordering.between.tensors_around_full",
        "For y = m(x) that is x * w, backward() runs y's hooks, w's, the full backward hook of m, x's hooks.",
        "measured",
        asked="sequence of events in backprop activation register_hook parameter "
        "register_hook and layer grad_input callback which goes last",
        where=("x requires grad", "w is a parameter used here only"),
        see="ordering.nested.input_without_grad",
        needs=FULL,
        order=(("tensor", "m0>0"), ("tensor", "m0.weight"), ("full_backward", "m0"), ("tensor", "x0")),
    ),
    Row(
        "ordering.between.tensors_around_pre",
        "For y = m(x) that is x * w, backward() runs y's hooks, the full backward pre-hook of m, then w's hooks.",
        "measured",
        asked="register_full_backward_pre_hook relative to activation "
        "register_hook and parameter register_hook which fires earlier",
        where="y is hooked after the call",
        needs=PRE,
        order=(("tensor", "m0>0"), ("full_backward_pre", "m0"), ("tensor", "m0.weight"), ("tensor", "x0")),
    ),
    Row(
        "ordering.between.tensors_around_legacy",
        "For y = m(x) that is x * w, backward() runs y's hooks, the legacy backward hook of m, then w's hooks.",
        "measured",
        asked="old deprecated register_backward_hook relative to parameter "
        "register_hook and activation register_hook which fires earlier",
        about=("register_backward_hook", "register_hook"),
        order=(("tensor", "m0>0"), ("backward", "m0"), ("tensor", "m0.weight"), ("tensor", "x0")),
    ),
    plan=lambda row: all_around(*row.order),
)
def tensors_around(subject: Subject, plan: Plan, *, row: Any) -> None:
    trace = subject.holds(plan)
    assert called(plan, trace) == list(row.order)


@st.composite
def used(draw) -> Plan:
    """A module that is called once to three times in a row, with hooks on it, and behind its weight and its input."""
    wheres = draw(
        st.permutations((("post_accumulate", "m1.weight"), ("full_backward", "m1"), ("post_accumulate", "x0")))
    )
    hooks = [Hook(kind, on, f"h{number}") for number, (kind, on) in enumerate(wheres)]
    leaf = Leaf("m1", "scale", (draw(NUMBERS),))
    net = Chain("m0", (leaf,) + (Reuse("m1"),) * draw(st.integers(0, 2)))
    return Plan(net, (Input(draw(NUMBERS)),), (*hooks, Forward(), Backward((draw(NUMBERS),))))


@clause(
    "ordering.between.weights_before_full",
    says="For y = m(x) that is x * w, backward() fills w.grad before it runs the full backward hook of m.",
    where=("x requires grad", "w is used here only"),
    see=("ordering.nested.input_without_grad", "backward.structures.unseen_inputs"),
    source="measured",
    asked="can i read layer weight.grad inside register_full_backward_hook is it still none or already accumulated",
    needs=POST_ACCUMULATE,
)
@given(plan=used())
def test_weights_before_full(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    # Of several calls only the first, which goes back last, comes after the weight.
    full = ("full_backward", "m1")
    earlier = [full] * (len(plan.net.children) - 1)
    assert called(plan, trace) == [*earlier, ("post_accumulate", "m1.weight"), full, ("post_accumulate", "x0")]
