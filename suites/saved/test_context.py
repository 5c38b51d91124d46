"""How far saved_tensors_hooks and save_on_cpu reach: after they were left, in each other, in threads and in passes."""

from typing import Any, List

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import by_release, clause
from fixtures.judge.subject import Subject
from fixtures.plan.grammar import Forward, Plan, Remove, hooks_of
from suites.hooking import FEW
from suites.saved.plans import (
    BOOLEANS,
    C0,
    C1,
    MAYBE,
    NET,
    ON_CPU_HOOK,
    PASSES,
    TWO,
    factors,
    nested,
    packs_and_unpacks,
    pair,
    product,
    starts,
)
from suites.saved.sources import CONTEXT_NOTE, HAS, HAS_CPU, PACKS
from suites.tensors import leaf


@clause(
    "saved.context.left",
    says="After saved_tensors_hooks is left, its unpack hook is called for what it packed; its pack hook no more.",
    source=PACKS,
    asked="must backward run inside the saved_tensors_hooks with block or can i leave it before loss.backward",
    needs=HAS,
)
@given(
    plan=product(
        pair(do=MAYBE, back=MAYBE),
        after=st.builds(
            lambda leave, failing, passes: (Remove("c", leave, failing and leave), *passes, Forward(), *passes),
            BOOLEANS,
            BOOLEANS,
            PASSES,
        ),
    )
)
def test_left(subject: Subject, plan: Plan) -> None:
    trace = subject.holds(plan)
    assert trace.calls() == ["c.pack"] * 2 + ["c.unpack"] * len(starts(plan))


@clause(
    "saved.context.order",
    says="If the outer of two nested saved_tensors_hooks is left first, the inner pair of hooks is the one removed.",
    source="measured",
    asked="exit stack leaves saved tensor contexts in wrong order wrong pack hook removed manual __exit__",
    needs=HAS,
    matters_if="saved ?nested_contexts",
    readings=by_release(
        "error",
        ("1.11", "the inner pair", {"saved_hooks_nest": True}),
        "If the outer of two nested saved_tensors_hooks is left first, the inner pair of hooks is the one removed.",
        ("", "refused", {"saved_hooks_nest": False}),
        "Inside saved_tensors_hooks another one raises RuntimeError: none can be left too early.",
    ),
    witness=Plan(NET, TWO, (C0, C1, Remove("c0"), Forward())),
)
@given(
    plan=product(
        st.builds(lambda hooks, leave: (*hooks, Remove("c0", leave)), nested(2, 3), BOOLEANS),
        after=st.builds(lambda passes: (Remove("c1"), *passes, Forward()), PASSES),
    )
)
def test_order(subject: Subject, plan: Plan) -> None:
    trace, inner = subject.holds(plan), [hook.label for hook in hooks_of(plan)][1:]
    if subject.reading.facts["saved_hooks_nest"]:
        # With three the first that is left removes the innermost, and the second the next one.
        left = ["c0.pack"] * 2 if len(inner) == 2 else []
        assert trace.calls() == packs_and_unpacks(plan, f"c{len(inner) - 1}") + left
    else:
        assert trace.raised()[: len(inner)] == [("hook", "RuntimeError")] * len(inner)


@clause(
    "saved.context.save_on_cpu",
    says="save_on_cpu changes no gradient of tensors that are on the CPU.",
    where=("no saved tensor is changed in place", "pin_memory= is left out"),
    see="saved.check.save_on_cpu",
    source='docs: torch.autograd.graph.save_on_cpu "If the graph was already on CPU, no tensor copy is performed"',
    asked="does save_on_cpu activation offloading change my gradients results same on cpu tensors",
    level="observed",
    device="cpu",
    needs=HAS_CPU,
)
@given(plan=product(st.just((ON_CPU_HOOK,))))
def test_save_on_cpu(subject: Subject, plan: Plan) -> None:
    grads = subject.holds(plan).grads()[-1]
    x, y = factors(plan)
    assert list(grads.values()) == [sum(starts(plan)) * y * (1 if plan.inputs[0].leaf else 2), sum(starts(plan)) * x]


@clause(
    "saved.context.thread",
    says="A pack hook of saved_tensors_hooks is called only for operations of the thread that entered it.",
    where="all is on the CPU",
    source=f'{CONTEXT_NOTE} "The hooks defined with this context manager are thread-local"',
    asked="saved_tensors_hooks DataParallel threads pack hook not called in worker thread thread local",
    device="cpu",
    needs=HAS,
    value="own",
    wrong={"all threads": "all"},
    witness={"threads": 1},
)
@given(threads=FEW)
def test_thread(subject: Subject, threads: int) -> None:
    import threading

    import torch

    seen: List[int] = []
    with torch.autograd.graph.saved_tensors_hooks(seen.append, lambda packed: packed):
        made = [threading.Thread(target=lambda: leaf(2).sin()) for _ in range(threads)]
        for one in made:
            one.start()
        for one in made:
            one.join()
        leaf(2).sin()
    assert len(seen) == (1 if subject.value == "own" else threads + 1)


@clause(
    "saved.context.create_graph",
    says="In saved_tensors_hooks a backward pass packs only with create_graph=True: what the new graph saves.",
    where="nothing in the pass switches grad mode on",
    source="measured",
    asked="pack hook called during backward double backward create_graph activation offload second order",
    needs=HAS,
    value="with create_graph=True",
    wrong={"never": "never"},
    witness={"creates": [True, False]},
)
@given(creates=st.lists(BOOLEANS, min_size=1, max_size=4))
def test_create_graph(subject: Subject, creates: List[bool]) -> None:
    import torch

    x = leaf(2)
    y = x.sin()
    found = []
    for create in creates:
        seen: List[Any] = []
        with torch.autograd.graph.saved_tensors_hooks(
            lambda tensor, seen=seen: seen.append(tensor.item()), lambda packed: packed
        ):
            torch.autograd.grad(y, x, retain_graph=True, create_graph=create)
        found.append(2.0 in seen)
    assert found == [create and subject.value != "never" for create in creates]


@clause(
    "saved.context.inside_backward",
    says="A saved_tensors_hooks entered before a pass and left by a tensor hook is active again after the pass.",
    source="measured",
    asked="exit saved tensors context inside backward hook still active afterwards hooks come back",
    needs=HAS,
    value=(0, 1, 0),
    wrong={"stays left": (0, 0, 0)},
    isolated=True,
    note="What contexts are active is kept for each thread, and put back as it was before each node of the pass.",
)
def test_inside_backward(subject: Subject) -> None:
    import torch

    seen: List[Any] = []
    found: List[int] = []

    def count() -> None:
        seen.clear()
        with torch.enable_grad():
            leaf(2).sin()
        found.append(len(seen))

    context = torch.autograd.graph.saved_tensors_hooks(seen.append, lambda packed: packed)

    def leave(grad: Any) -> None:
        context.__exit__(None, None, None)
        count()

    y = leaf(2) * 1
    y.register_hook(leave)
    context.__enter__()
    y.backward()
    count()
    if found[1]:
        context.__exit__(None, None, None)
    count()
    assert tuple(found) == subject.value
