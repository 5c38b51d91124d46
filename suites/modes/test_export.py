"""torch.export: which hooks are in the exported program, and what hooks on its module do."""

from typing import Any, List

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import by_release, clause
from fixtures.clause.rows import Row, each
from fixtures.judge.subject import Subject
from suites.hooking import FEW
from suites.modes.forms import EXPORTED, first_of, straight
from suites.modes.networks import (
    ANYWHERE,
    APIS,
    BACKWARD_APIS,
    BACKWARDS,
    BY,
    FORWARD_APIS,
    FORWARDS,
    FULL_APIS,
    FULLS,
    INNER,
    KINDS,
    OWN,
    called,
    hook,
    hooked,
    network,
    runs,
    taken,
    within,
)
from suites.names import ISSUE, PULL
from suites.tensors import multiplies

ABOUT = APIS
STRICT = "torch.export.export(strict)"
ONLY_TENSORS = (
    'docs: torch.export.export "only the Tensor computation of the function in an Ahead-of-Time (AOT) fashion"'
)
#: The default is True before 2.7 or so: the sentences name it.
LOOSE = "strict=False"
ROOT_HOOKS = (ISSUE + "167329", PULL + "167874")


def exported(net: Any, strict: bool = False) -> Any:
    """The module of the program that torch.export.export makes of a module."""
    import torch

    return torch.export.export(net, (torch.ones(1, 1, dtype=torch.float64),), strict=strict).module()


@each(
    Row(
        "modes.export.forward",
        "An exported program uses what forward hooks and pre-hooks returned during the export, and calls none.",
        ONLY_TENSORS,
        asked="torch.export forward hook baked in exported program hooks traced",
        level="observed",
        where=LOOSE,
        needs=STRICT,
        about=FORWARD_APIS,
        strict=False,
        paths=ANYWHERE,
        value="used",
        wrong={"dropped": "dropped"},
        witness={"path": "block", "kind": "forward", "by": 5, "calls": 1, "form": straight},
    ),
    Row(
        "modes.export.strict_forward",
        "With strict=True a program has in it what forward hooks of inner modules return, and calls none.",
        ONLY_TENSORS,
        asked="torch.export strict=True forward hooks of submodules traced by dynamo",
        level="observed",
        where="compilable hooks, on no nn.LSTM",
        see="modes.export.strict_root",
        needs=STRICT,
        about=FORWARD_APIS,
        strict=True,
        paths=INNER,
        value="used",
        wrong={"dropped": "dropped"},
        witness={"path": "block", "kind": "forward", "by": 5, "calls": 1, "form": straight},
    ),
    path=lambda row: st.sampled_from(row.paths),
    kind=lambda row: st.sampled_from(FORWARDS),
    by=lambda row: BY,
    calls=lambda row: FEW,
    form=lambda row: EXPORTED,
)
def forward(subject: Subject, path: str, kind: str, by: int, calls: int, form: Any, *, row: Any) -> None:
    seen: List[int] = []
    net = network(form)
    hook(net, path, kind, by, lambda given: seen.append(1))
    program = exported(net, row.strict)
    del seen[:]
    eager = hooked(path, kind, by, form=form)
    assert [taken(called(program), eager) for _ in range(calls)] == [subject.value] * calls
    assert not seen


@clause(
    "modes.export.count",
    says="torch.export.export calls a forward hook or pre-hook once for each call of its module.",
    where=LOOSE,
    source="measured",
    asked="how often is forward hook called while torch.export.export runs FakeTensor hook printed",
    needs=STRICT,
    about=FORWARD_APIS,
    matters_if="forward|forward_pre own ?exported",
    readings=by_release(
        "silent",
        ("2.6", "once", 1),
        "torch.export.export calls a forward hook or pre-hook once for each call of its module.",
        ("", "twice", 2),
        "torch.export.export runs the module twice, and so each forward hook and pre-hook.",
    ),
    witness={"path": "block", "kind": "forward", "form": straight},
)
@given(path=st.sampled_from(ANYWHERE), kind=st.sampled_from(FORWARDS), form=EXPORTED)
def test_count(subject: Subject, path: str, kind: str, form: Any) -> None:
    seen: List[int] = []
    net = network(form)
    hook(net, path, kind, 5, lambda given: seen.append(1))
    exported(net)
    assert len(seen) == subject.value * runs(form, path)


@clause(
    "modes.export.strict_root",
    says="With strict=True an exported program has in it what forward (pre-)hooks of the module itself returned.",
    where="compilable hooks, on no nn.Sequential",
    see="modes.export.strict_forward",
    source=ROOT_HOOKS,
    asked="torch.export strict forward hook on model AssertionError Tried to emit a second graph BackendCompilerFailed",
    needs=STRICT,
    about=FORWARD_APIS,
    matters_if="forward|forward_pre own ?exported",
    readings=by_release(
        "error",
        ("2.10", "used", "used"),
        "With strict=True an exported program has in it what forward (pre-)hooks of the module itself returned.",
        ("", "refused", "RuntimeError"),
        "With strict=True torch.export.export raises RuntimeError for a forward hook of the module itself.",
    ),
    witness={"kind": "forward", "by": 5, "form": straight},
)
@given(kind=st.sampled_from(FORWARDS), by=BY, form=EXPORTED)
def test_strict_root(subject: Subject, kind: str, by: int, form: Any) -> None:
    net = network(form)
    hook(net, OWN, kind, by)
    try:
        found = taken(called(exported(net, strict=True)), hooked(OWN, kind, by, form=form))
    except RuntimeError:
        found = "RuntimeError"
    assert found == subject.value


@clause(
    "modes.export.backward",
    says="torch.export.export drops backward hooks, of the module itself and of inner ones, with no error.",
    where=LOOSE,
    see="modes.export.strict_full",
    source=ONLY_TENSORS,
    asked="torch.export drops backward hooks fine tune exported program full backward hook lost",
    level="observed",
    needs=STRICT,
    about=BACKWARD_APIS,
    value="dropped",
    wrong={"used": "used"},
    witness={"path": "block", "kind": "full_backward", "by": 5, "form": straight},
)
@given(path=st.sampled_from(ANYWHERE), kind=st.sampled_from(BACKWARDS), by=BY, form=EXPORTED)
def test_backward(subject: Subject, path: str, kind: str, by: int, form: Any) -> None:
    seen: List[Any] = []
    net = network(form)
    hook(net, path, kind, by, seen.append)
    assert (taken(called(exported(net)), hooked(path, kind, by, form=form)), seen) == (subject.value, [])


@clause(
    "modes.export.strict_full",
    says="With strict=True torch.export.export raises RuntimeError for a full backward hook of a module that it calls.",
    see="modes.export.backward",
    source="measured",
    asked="torch.export Unsupported Module-level backwards hooks require compiled autograd",
    needs=STRICT,
    about=FULL_APIS,
    value="RuntimeError",
    wrong={"dropped": "dropped"},
    witness={"path": "block", "kind": "full_backward", "by": 5, "form": straight},
)
@given(path=st.sampled_from(INNER), kind=st.sampled_from(FULLS), by=BY, form=EXPORTED)
def test_strict_full(subject: Subject, path: str, kind: str, by: int, form: Any) -> None:
    net = network(form)
    hook(net, path, kind, by)
    try:
        found = taken(called(exported(net, strict=True)), hooked(path, kind, by, form=form))
    except RuntimeError:
        found = "RuntimeError"
    assert found == subject.value


@clause(
    "modes.export.tensor",
    says="A tensor hook that a forward hook registers on an output is dropped by torch.export.export.",
    where=LOOSE,
    source="measured",
    asked="output.register_hook in forward torch.export gradient hook lost "
    "cannot register a hook on a tensor that doesn't require gradient",
    needs=STRICT,
    about=("register_hook", "register_forward_hook"),
    matters_if="tensor inner ?exported",
    readings=by_release(
        "error",
        ("2.6", "dropped", "dropped"),
        "A tensor hook that a forward hook registers on an output is dropped by torch.export.export.",
        ("", "refused", "RuntimeError"),
        "A tensor hook that a forward hook registers makes torch.export.export raise RuntimeError.",
    ),
    witness={"path": "block", "by": 5, "form": straight},
)
@given(path=st.sampled_from(ANYWHERE), by=BY, form=EXPORTED)
def test_tensor(subject: Subject, path: str, by: int, form: Any) -> None:
    seen: List[Any] = []
    net = network(form)

    def after(module: Any, args: Any, output: Any) -> None:
        first_of(output).register_hook(multiplies(by, seen.append))

    within(net, path).register_forward_hook(after)
    try:
        found = taken(called(exported(net)), [6, 6 * by])
    except RuntimeError:
        found = "RuntimeError"
    assert (found, seen) == (subject.value, [])


@clause(
    "modes.export.module",
    says="Hooks on the module that module() of an exported program returned run in its calls and backward passes.",
    see="modes.export.inner",
    source="measured",
    asked="add forward hook to exported program ep.module()",
    needs=STRICT,
    value="used",
    wrong={"dropped": "dropped"},
    witness={"kind": "forward", "by": 5, "calls": 1, "form": straight},
)
@given(kind=st.sampled_from(KINDS), by=BY, calls=FEW, form=EXPORTED)
def test_module(subject: Subject, kind: str, by: int, calls: int, form: Any) -> None:
    seen: List[int] = []
    program = exported(network(form))
    hook(program, OWN, kind, by, lambda given: seen.append(1))
    eager = hooked(OWN, kind, by, form=form)
    assert [taken(called(program), eager) for _ in range(calls)] == [subject.value] * calls
    assert len(seen) == (calls if subject.value == "used" else 0)


@clause(
    "modes.export.inner",
    says="Forward and backward hooks on your inner modules in ep.module(), ep an exported program, are never called.",
    see="modes.export.module",
    source="measured",
    asked="intermediate activations of exported program hook on submodule of ep.module() not called",
    needs=STRICT,
    matters_if="forward_pre|forward|full_backward_pre|full_backward|backward own ?exported",
    readings=by_release(
        "error",
        ("2.3", "dropped", "dropped"),
        "Forward and backward hooks on your inner modules in ep.module(), ep an exported program, are never called.",
        ("", "not there", "AttributeError"),
        "module() of an exported program has no inner modules.",
    ),
    witness={"path": "block", "kind": "forward", "by": 5, "form": straight},
)
@given(path=st.sampled_from(INNER), kind=st.sampled_from(KINDS), by=BY, form=EXPORTED)
def test_inner(subject: Subject, path: str, kind: str, by: int, form: Any) -> None:
    seen: List[Any] = []
    program = exported(network(form))
    try:
        hook(program, path, kind, by, seen.append)
        found = taken(called(program), hooked(path, kind, by, form=form))
    except AttributeError:
        found = "AttributeError"
    assert (found, seen) == (subject.value, [])


@clause(
    "modes.export.late",
    says="An exported program calls no forward or backward hook that the original module gets after the export.",
    source=ONLY_TENSORS,
    asked="hook registered after torch.export.export has no effect on exported program",
    level="observed",
    needs=STRICT,
    value="dropped",
    wrong={"used": "used"},
    witness={"path": "block", "kind": "forward", "by": 5, "strict": False, "form": straight},
)
@given(path=st.sampled_from(ANYWHERE), kind=st.sampled_from(KINDS), by=BY, strict=st.booleans(), form=EXPORTED)
def test_late(subject: Subject, path: str, kind: str, by: int, strict: bool, form: Any) -> None:
    seen: List[Any] = []
    net = network(form)
    program = exported(net, strict)
    hook(net, path, kind, by, seen.append)
    assert (taken(called(program), hooked(path, kind, by, form=form)), seen) == (subject.value, [])
