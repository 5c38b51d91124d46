"""Which global backward hooks run: for every module, before its own, full or legacy."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import clause
from fixtures.draw.plans import NUMBERS
from fixtures.judge.subject import Subject
from fixtures.plan.grammar import OPS, Backward, Chain, Forward, Hook, Input, Leaf, Plan, hooks_of
from suites.backward.plans import MAYBE_SCALE, row, steps_on_line
from suites.backward.sources import GLOBAL_DOCS, MIXED
from suites.hooking import SOME
from suites.names import FULL, GLOBAL_FULL


@clause(
    "backward.membership.global_no_mixing",
    says="Global backward hooks are all full or all legacy; the own hooks of a module may be of the other kind.",
    source=MIXED,
    asked="register_module_backward_hook and register_module_full_backward_hook together error cannot combine",
    needs=(FULL, GLOBAL_FULL),
)
@given(
    plan=st.lists(
        st.tuples(st.sampled_from(["backward", "full_backward"]), st.sampled_from(["m0", "*"])), min_size=2, max_size=4
    ).map(
        lambda hooks: steps_on_line(
            *[Hook(kind, on, f"h{index}") for index, (kind, on) in enumerate(hooks)], Forward(), Backward()
        )
    )
)
def test_global_no_mixing(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    hooks = [step for step in plan.steps if isinstance(step, Hook)]
    first = {hook.on: hook.kind for hook in reversed(hooks)}
    assert trace.raised() == [("hook", "RuntimeError") for hook in hooks if hook.kind != first[hook.on]]
    assert sorted(trace.calls()) == [hook.label for hook in hooks if hook.kind == first[hook.on]]


@clause(
    "backward.membership.global_everywhere",
    says="A global full backward hook runs for each module of a chain, before that module's own full backward hooks.",
    where="each takes and makes a tensor that requires grad",
    see=("backward.given.dict_output", "backward.inplace.input"),
    source=(
        f'{GLOBAL_DOCS} "Register a backward hook common to all the modules"',
        f'{GLOBAL_DOCS} "Hooks registered using this function will be called before hooks registered"',
    ),
    asked="register_module_full_backward_hook fires for all layers order relative to local per layer hook",
    needs=GLOBAL_FULL,
)
@given(
    plan=st.builds(
        lambda own, everywhere, values: Plan(
            row(values),
            (Input(2),),
            (
                Hook("full_backward", "m1", "own", own),
                Hook("full_backward", "*", "all", everywhere),
                Forward(),
                Backward(),
            ),
        ),
        MAYBE_SCALE,
        MAYBE_SCALE,
        st.tuples(NUMBERS, NUMBERS),
    )
)
def test_global_everywhere(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    assert [(event.what, event.seen[0]) for event in trace if event.what in ("own", "all")] == [
        ("all", "m2"),
        ("all", "m1"),
        ("own", "m1"),
        ("all", "m0"),
    ]


@st.composite
def hooked_everywhere(draw: Any) -> Plan:
    """Global legacy hooks, and a chain of modules, some of which return their input as it is."""
    ops = draw(st.lists(st.sampled_from(["same", "scale", "affine"]), min_size=1, max_size=4))
    leaves = [Leaf(f"m{place}", op, tuple(draw(NUMBERS) for _ in OPS[op][2])) for place, op in enumerate(ops, 1)]
    hooks = [Hook("backward", "*", f"h{place}", draw(MAYBE_SCALE)) for place in range(draw(SOME))]
    x = Input(draw(NUMBERS), leaf=draw(st.booleans()))
    return Plan(Chain("m0", tuple(leaves)), (x,), (*hooks, Forward(), Backward((draw(NUMBERS),))))


@clause(
    "backward.membership.global_legacy",
    says="A global legacy backward hook runs for every module whose first output has a grad_fn.",
    where=("that output is in the loss", "nothing changes it in place"),
    see=("backward.given.legacy_first_output", "backward.legacy.dead_module"),
    source="test: test/nn/test_module_hooks.py TestModuleGlobalHooks.test_module_global_hooks",
    asked="register_module_backward_hook on all layers in network which ones trigger deprecated debug everything",
    needs="torch.nn.modules.module.register_module_backward_hook",
)
@given(plan=hooked_everywhere())
def test_global_legacy(subject: Subject, plan: Plan) -> None:
    trace, due = subject.holds(plan), []
    computed = not plan.inputs[0].leaf
    for leaf in plan.net.children:
        computed = computed or leaf.op != "same"
        due += [leaf.name] * computed
    due += ["m0"] * computed
    for hook in hooks_of(plan):
        assert sorted(module for module, *_ in trace.seen_by(hook.label)) == sorted(due)
