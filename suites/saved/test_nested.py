"""saved_tensors_hooks and save_on_cpu, one in the other."""

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import by_release, clause
from fixtures.judge.subject import Subject
from fixtures.plan.grammar import Forward, Plan, Remove, hooks_of
from suites.saved.plans import C0, C1, MAYBE, NET, ON_CPU_HOOK, PASSES, TWO, nested, packs_and_unpacks, pair, product
from suites.saved.sources import HAS, HAS_CPU, INNERMOST, NESTING


@clause(
    "saved.nested.innermost",
    says="Of nested saved_tensors_hooks only the hooks of the innermost are called.",
    source=(INNERMOST, NESTING),
    asked="two activation hooks at once nested saved_tensors_hooks "
    "outer pack hook not called combine offload and quantize",
    needs=HAS,
    matters_if="saved ?nested_contexts",
    readings=by_release(
        "error",
        ("1.11", "innermost", {"saved_hooks_nest": True}),
        "Of nested saved_tensors_hooks only the hooks of the innermost are called.",
        ("", "refused", {"saved_hooks_nest": False}),
        "Inside saved_tensors_hooks another one raises RuntimeError.",
    ),
    witness=Plan(NET, TWO, (C0, C1, Forward())),
)
@given(plan=product(nested(2, 4)))
def test_innermost(subject: Subject, plan: Plan) -> None:
    trace, labels = subject.holds(plan), [hook.label for hook in hooks_of(plan)]
    nest = subject.reading.facts["saved_hooks_nest"]
    assert trace.calls() == packs_and_unpacks(plan, labels[-1 if nest else 0])
    assert trace.raised() == ([] if nest else [("hook", "RuntimeError")] * len(labels[1:]))


@clause(
    "saved.nested.save_on_cpu",
    says="save_on_cpu inside saved_tensors_hooks takes its place: no hook of the outer one is called.",
    source=(INNERMOST, NESTING),
    asked="my pack hook is not called inside save_on_cpu combine compression with cpu offloading",
    needs=HAS_CPU,
    matters_if="saved|save_on_cpu ?nested_contexts",
    readings=by_release(
        "error",
        ("1.11", "takes its place", {"saved_hooks_nest": True}),
        "save_on_cpu inside saved_tensors_hooks takes its place: no hook of the outer one is called.",
        ("", "refused", {"saved_hooks_nest": False}),
        "Inside saved_tensors_hooks save_on_cpu raises RuntimeError.",
    ),
    witness=Plan(NET, TWO, (C0, ON_CPU_HOOK, Forward(), Remove("cpu"), Forward())),
)
@given(
    plan=product(
        st.builds(lambda hooks: (*hooks, ON_CPU_HOOK), pair(do=MAYBE, back=MAYBE)),
        after=st.builds(lambda passes: (Remove("cpu"), Forward(), *passes), PASSES),
    )
)
def test_save_on_cpu(subject: Subject, plan: Plan) -> None:
    trace, nest, label = subject.holds(plan), subject.reading.facts["saved_hooks_nest"], hooks_of(plan)[0].label
    assert trace.calls() == [f"{label}.pack"] * (0 if nest else 2) + packs_and_unpacks(plan, label)
    assert trace.raised() == ([] if nest else [("hook", "RuntimeError")])
    assert trace[0].what == ("returns" if nest else "raises")
