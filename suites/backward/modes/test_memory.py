"""What full backward hooks keep alive, and what they warn of."""

import gc
import warnings
import weakref
from typing import Any, List

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import Reading, by_release, clause
from fixtures.clause.rows import Row, each
from fixtures.judge.subject import Subject
from fixtures.stages.make import make
from suites.backward.modules import line
from suites.backward.plans import FULL_KINDS
from suites.backward.sources import HOOKS
from suites.hooking import SOME, Holds, fates
from suites.names import CLEARING, FULL, PRE, WARNED

CODE = 'code: torch/utils/hooks.py "self.module = module"'


@each(
    Row(
        "backward.modes.warning_without_input",
        "Full backward hooks of one call that run though no input needs a gradient give one UserWarning.",
        (f'{HOOKS} "Full backward hook is firing when gradients are computed"', WARNED),
        asked="full backward hook is firing when gradients computed with respect to outputs since no inputs require",
        matters_if="full_backward ?inputs_need_no_grad",
        instead="let an input of the hooked module require grad, or filter the warning.",
        where=("inputs are positional", "one backward()"),
        needs=FULL,
        readings=by_release(
            ("warning", "none"),
            ("2.8", "warned", ["UserWarning"]),
            "Where no input needs a gradient, the full backward hooks of one call together give one UserWarning.",
            ("", "in silence", []),
            "Where no input needs a gradient, full backward hooks give no warning.",
        ),
        witness={"hooks": 1, "passes": [False]},
        kind="full_backward",
    ),
    Row(
        "backward.modes.pre_warning_without_input",
        "Full backward pre-hooks alone give no warning where no input needs a gradient.",
        ("https://github.com/pytorch/pytorch/pull/190685", "https://github.com/pytorch/pytorch/issues/189093"),
        asked="register_full_backward_pre_hook on raw data quiet no userwarning about requires_grad why",
        matters_if="full_backward_pre ?inputs_need_no_grad ?alone",
        where="the module returns a tensor or a tuple of tensors",
        needs=PRE,
        readings=(
            Reading(
                "warned all the same",
                ">=2.8,<2.14",
                "Where no input needs a gradient, full backward pre-hooks alone give the full backward hooks' warning.",
                value=["UserWarning"],
                says_the_same=False,
                effect="warning",
            ),
            Reading(
                "no warning",
                "",
                "Full backward pre-hooks alone do not give the warning for full backward hooks.",
                value=[],
            ),
        ),
        witness={"hooks": 1, "passes": [False]},
        kind="full_backward_pre",
    ),
    hooks=lambda row: SOME,
    passes=lambda row: st.lists(st.booleans(), min_size=1, max_size=4),
)
def warnings_of(subject: Subject, hooks: int, passes: List[bool], *, row: Any) -> None:

    module = line([], row.kind, hooks=hooks)
    for needs_grad in passes:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            module(make.tensor(3.0, requires_grad=needs_grad)).backward()
        assert [one.category.__name__ for one in caught] == ([] if needs_grad else subject.value)


@clause(
    "backward.modes.gradients_released",
    says="A full backward hook that has run does not keep grad_output alive, though the output is kept.",
    see="backward.twice.stale",
    source=CLEARING,
    asked="does register_full_backward_hook leak gpu memory by holding grads after training step output stored in list",
    matters_if="full_backward ?kept_alive",
    needs=FULL,
    readings=by_release(
        "silent",
        ("1.13", "released", False),
        "A full backward hook that has run does not keep its grad_output alive.",
        ("", "kept", True),
        "The grad_output that a full backward hook saw lives as long as the graph.",
    ),
)
def test_gradients_released(subject: Subject) -> None:

    module, seen = make.Linear(1, 1), []
    module.register_full_backward_hook(lambda module, inputs, outputs: seen.append(weakref.ref(outputs[0])))
    out = module(make.ones(1, requires_grad=True))
    (out * 2).sum().backward()
    gc.collect()
    assert (seen[0]() is not None) == subject.value


@clause(
    "backward.modes.never_freed",
    says="A full backward hook of m keeps m for ever after autograd.grad(m(x) ** 2, m.weight, create_graph=True).",
    where=("x requires grad", "no pass goes through the result"),
    source="measured",
    asked="memory leak higher maml inner loop gradients of parameters only "
    "create_graph hooks on the model out of memory",
    instead="ask for the input too: grad(..., [m.weight, x], create_graph=True).",
    matters_if="full_backward ?create_graph",
    needs=FULL,
    readings=by_release(
        "silent",
        ("1.13", "where x is not asked for", (True, False)),
        "A full backward hook of m keeps m for ever after autograd.grad(m(x) ** 2, m.weight, create_graph=True).",
        ("", "in any case", (True, True), "too"),
        "A full backward hook of m keeps m for ever after autograd.grad(m(x) ** 2, ..., create_graph=True).",
    ),
    witness={"weight": 2, "hooks": 1},
)
@given(weight=st.integers(2, 9), hooks=SOME)
def test_never_freed(subject: Subject, weight: int, hooks: int) -> None:
    import torch

    def run(asked: bool) -> Any:
        module, x = line([], "full_backward", weight, hooks), make.tensor(3.0, requires_grad=True)
        torch.autograd.grad(module(x) ** 2, [module.weight, x] if asked else module.weight, create_graph=True)
        return weakref.ref(module)

    refs = [run(asked) for asked in (False, True)]
    make.ones(1, requires_grad=True).sum().backward()  # the thread of a device lets go of a pass when it has another
    gc.collect()
    assert tuple(one() is not None for one in refs) == subject.value


@clause(
    "backward.modes.graph_released",
    says="A full backward hook does not make backward(create_graph=True) leak its graph once .grad is set to None.",
    where="the pass reaches an input of its module",
    see="backward.modes.never_freed",
    source=(CLEARING, "https://github.com/pytorch/pytorch/issues/82528"),
    asked="memory leak gradient penalty double backward with hook reference cycle out of memory",
    matters_if="full_backward ?create_graph",
    needs=FULL,
    readings=by_release(
        "silent",
        ("1.13", "released", 0),
        "A graph of create_graph=True through a module with a full backward hook is freed once .grad is None.",
        ("", "leaked", 5),
        "Each backward(create_graph=True) through a module with a full backward hook leaks its graph.",
    ),
)
def test_graph_released(subject: Subject) -> None:

    marks: List[Any] = []

    class Mark:
        pass

    def run() -> None:
        module, x = line([]), make.tensor(3.0, requires_grad=True)
        y = x * 1
        mark = Mark()
        y.grad_fn.metadata["mark"] = mark
        marks.append(weakref.ref(mark))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            (module(y) ** 2).backward(create_graph=True)
        x.grad = module.weight.grad = None

    for _ in range(5):
        run()
    gc.collect()
    assert sum(mark() is not None for mark in marks) == subject.value


def hooked(kind: str) -> Any:
    """A Linear with a hook of this kind, which refers to nothing."""
    module = make.Linear(1, 1)
    getattr(module, f"register_{kind}_hook")(Holds())
    return module


@clause(
    "backward.modes.module_kept",
    says="A tensor that a module with a full backward hook or pre-hook returned keeps the module alive.",
    where=("the call recorded its graph", "alone or straight in a tuple"),
    see="backward.legacy.dead_module",
    source=CODE,
    asked="deleted layer or model is not freed while its output or loss is kept in a list register_full_backward_hook",
    effect="silent",
    needs=FULL,
    value=("never", "at once"),
    wrong={"never keeps it": ("at once", "at once")},
    witness={"kind": "full_backward", "trainable_input": False, "passed": False},
)
@given(kind=FULL_KINDS, trainable_input=st.booleans(), passed=st.booleans())
def test_module_kept(subject: Subject, kind: str, trainable_input: bool, passed: bool) -> None:
    outputs: List[Any] = []

    def made() -> List[Any]:
        module = hooked(kind)
        outputs.append(module(make.ones(1, 1, requires_grad=trainable_input)))
        if passed:
            outputs[0].sum().backward(retain_graph=True)
        return [module]

    def dropped() -> List[Any]:
        found = made()
        outputs.clear()
        return found

    kept = fates(made)
    outputs.clear()
    assert (*kept, *fates(dropped)) == subject.value


@clause(
    "backward.modes.own_output",
    says="A module with a full backward hook or pre-hook that keeps its own output is never freed.",
    where="its graph leads to a tensor that is a positional argument",
    source=CODE,
    asked="module stores self.output = out activation cache memory leak model never garbage collected backward hook",
    effect="silent",
    needs=FULL,
    value="never",
    wrong={"at once": "at once", "by the collector": "by the collector"},
    witness={"kind": "full_backward", "by_hook": False, "passed": False},
)
@given(kind=FULL_KINDS, by_hook=st.booleans(), passed=st.booleans())
def test_own_output(subject: Subject, kind: str, by_hook: bool, passed: bool) -> None:
    kept: List[Any] = []

    def made() -> List[Any]:
        module = hooked(kind)
        if by_hook:
            module.register_forward_hook(lambda module, args, output: setattr(module, "output", output))
        output = module(make.ones(1, 1, requires_grad=True))
        if passed:
            output.sum().backward()
        if not by_hook:
            module.output = output
        kept.append(weakref.ref(module))
        return [module]

    assert fates(made) == [subject.value]
    kept[0]().output = None
    assert kept[0]() is None
