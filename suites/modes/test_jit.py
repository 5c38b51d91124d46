"""torch.jit: which hooks trace and script take over, and what hooks on the modules that they make do."""

from typing import Any, List, Tuple

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import by_release, clause
from fixtures.clause.rows import Row, each
from fixtures.judge.subject import Subject
from suites.hooking import FEW
from suites.modes.forms import ANY, first_of, straight
from suites.modes.networks import (
    ANYWHERE,
    APIS,
    BACKWARD_APIS,
    BACKWARDS,
    BY,
    FORWARD_APIS,
    FORWARDS,
    INNER,
    INSIDE,
    KINDS,
    OWN,
    called,
    hook,
    hooked,
    kinds,
    network,
    ones,
    runs,
    saved,
    taken,
    within,
)
from suites.names import FULL, ISSUE, PRE, PULL
from suites.tensors import multiplies, outcome

ABOUT = APIS
COMPILED = PULL + "49544"


def traced(net: Any) -> Any:
    """What torch.jit.trace makes of a module, without the check that runs it again."""
    import torch

    return torch.jit.trace(net, (ones(),), check_trace=False)


def typed(net: Any, path: str, kind: str, by: int) -> None:
    """Register a hook that torch.jit.script compiles: it is annotated, and finds its factor at its module."""
    import torch

    def after(self, input: Tuple[torch.Tensor], output: torch.Tensor) -> torch.Tensor:
        return output * self.by

    def before(self, input: Tuple[torch.Tensor]) -> Tuple[torch.Tensor]:
        return (input[0] * self.by,)

    module = within(net, path)
    module.by = float(by)
    getattr(module, f"register_{kind}_hook")(after if kind == "forward" else before)


@clause(
    "modes.jit.trace_forward",
    says="Calls of what torch.jit.trace made run no forward hook of the module, but use what these returned before.",
    where="they were there when it was traced",
    source=('docs: torch.jit.trace "recording the operations performed on all"', PULL + "23613"),
    asked="torch.jit.trace forward hook baked into traced model hook not called anymore after tracing",
    level="implied",
    about=FORWARD_APIS,
    value=["used", 1],
    wrong={"dropped": ["dropped", 1], "run in calls": ["used", 2]},
    witness={"path": "block", "kind": "forward", "by": 5, "calls": 1, "form": straight},
)
@given(path=st.sampled_from(ANYWHERE), kind=st.sampled_from(FORWARDS), by=BY, calls=FEW, form=ANY)
def test_trace_forward(subject: Subject, path: str, kind: str, by: int, calls: int, form: Any) -> None:
    seen: List[Any] = []
    net = network(form)
    hook(net, path, kind, by, seen.append)
    made = traced(net)
    for _ in range(calls):
        found = taken(called(made), hooked(path, kind, by, form=form))
        assert [found, len(seen) / runs(form, path)] == subject.value


@clause(
    "modes.jit.trace_checks",
    says="torch.jit.trace calls a forward hook three times, with check_trace=False once.",
    where="check_inputs= is left out",
    source='docs: torch.jit.trace "Check if the same inputs run through"',
    asked="forward hook called three times during torch.jit.trace prints repeated check_trace",
    level="observed",
    about=FORWARD_APIS,
    value=[3, 1],
    wrong={"once": [1, 1]},
    witness={"path": "block", "kind": "forward", "form": straight},
)
@given(path=st.sampled_from(ANYWHERE), kind=st.sampled_from(FORWARDS), form=ANY)
def test_trace_checks(subject: Subject, path: str, kind: str, form: Any) -> None:
    import torch

    found = []
    for check in (True, False):
        seen: List[Any] = []
        net = network(form)
        hook(net, path, kind, 5, seen.append)
        torch.jit.trace(net, (ones(),), check_trace=check)
        found.append(len(seen) / runs(form, path))
    assert found == subject.value


@each(
    Row(
        "modes.jit.trace_backward",
        "torch.jit.trace raises ValueError for a module that, itself or inside, has a full or a legacy backward hook.",
        'code: torch/jit/_trace.py "Modules that have backward hooks assigned can\'t be compiled: "',
        asked="ValueError Modules that have backward hooks assigned "
        "can't be compiled jit trace tensorboard add_graph onnx",
        about=("register_full_backward_hook", "register_backward_hook"),
        kinds=("full_backward", "backward"),
        value="ValueError",
        wrong={"accepted": "dropped"},
        witness={"path": "block", "kind": "backward", "by": 5, "form": straight},
    ),
    Row(
        "modes.jit.trace_backward_pre",
        "torch.jit.trace with check_trace=False drops full backward pre-hooks, with no error.",
        "measured",
        asked="jit trace register_full_backward_pre_hook ignored no error",
        where="only what it made is called, and not saved",
        see="modes.jit.trace_backward",
        needs=PRE,
        kinds=("full_backward_pre",),
        value="dropped",
        wrong={"refused as other ones": "ValueError", "used": "used"},
        witness={"path": "block", "kind": "full_backward_pre", "by": 5, "form": straight},
    ),
    path=lambda row: st.sampled_from(ANYWHERE),
    kind=lambda row: kinds(*row.kinds),
    by=lambda row: BY,
    form=lambda row: ANY,
)
def backward(subject: Subject, path: str, kind: str, by: int, form: Any, *, row: Any) -> None:
    net = network(form)
    hook(net, path, kind, by)
    try:
        found = taken(called(traced(net)), hooked(path, kind, by, form=form))
    except ValueError:
        found = "ValueError"
    assert found == subject.value


@clause(
    "modes.jit.trace_tensor",
    says="A tensor hook that a forward hook registers on an output is not called for what torch.jit.trace made.",
    source=ISSUE + "56935",
    asked="gradient hook registered in forward lost in traced module gradient reversal register_hook jit trace",
    about=("register_hook", "register_forward_hook"),
    value=0,
    wrong={"called": 1},
    witness={"path": "block", "by": 5, "form": straight},
)
@given(path=st.sampled_from(ANYWHERE), by=BY, form=ANY)
def test_trace_tensor(subject: Subject, path: str, by: int, form: Any) -> None:
    seen: List[Any] = []
    net = network(form)

    def after(module: Any, args: Any, output: Any) -> None:
        first_of(output).register_hook(multiplies(by, seen.append))

    within(net, path).register_forward_hook(after)
    made = traced(net)
    assert (called(made), len(seen)) == ([6, 6], subject.value)


@each(
    Row(
        "modes.jit.traced_forward",
        "A forward hook or pre-hook that is registered on what torch.jit.trace made is called in each call.",
        "measured",
        asked="can I add register_forward_hook to a traced torchscript model",
        where="no other traced or scripted module calls it",
        see="modes.jit.traced_inner",
        about=FORWARD_APIS,
        kinds=FORWARDS,
        paths=[OWN],
        value="used",
        wrong={"dropped": "dropped"},
        witness={"path": "", "kind": "forward", "by": 5, "calls": 1, "form": straight},
    ),
    Row(
        "modes.jit.traced_full",
        "A full backward hook that is registered on what torch.jit.trace made is never called.",
        "measured",
        asked="register_full_backward_hook on traced ScriptModule never fires grad cam torchscript",
        needs=FULL,
        kinds=["full_backward"],
        paths=[OWN],
        value="dropped",
        wrong={"used": "used"},
        witness={"path": "", "kind": "full_backward", "by": 5, "calls": 1, "form": straight},
    ),
    Row(
        "modes.jit.traced_inner",
        "Forward and backward hooks registered on inner modules of what torch.jit.trace made are never called.",
        "measured",
        asked="get intermediate activations of traced torchscript model hook on submodule never called",
        see="modes.jit.traced_forward",
        where="only what was traced is called",
        kinds=KINDS,
        paths=INNER,
        value="dropped",
        wrong={"used": "used"},
        witness={"path": "block", "kind": "forward", "by": 5, "calls": 1, "form": straight},
    ),
    path=lambda row: st.sampled_from(row.paths),
    kind=lambda row: kinds(*row.kinds),
    by=lambda row: BY,
    calls=lambda row: FEW,
    form=lambda row: ANY,
)
def on_traced(subject: Subject, path: str, kind: str, by: int, calls: int, form: Any, *, row: Any) -> None:
    seen: List[Any] = []
    made = traced(network(form))
    hook(made, path, kind, by, seen.append)
    eager = hooked(path, kind, by, form=form)
    assert [taken(called(made), eager) for _ in range(calls)] == [subject.value] * calls
    assert len(seen) == (calls if subject.value == "used" else 0)


@clause(
    "modes.jit.script_forward",
    says="torch.jit.script compiles annotated forward hooks and pre-hooks; each call of what it made runs them.",
    where="TorchScript can compile them",
    source=COMPILED,
    asked="torchscript forward hooks supported annotate Tuple torch.Tensor hook script",
    about=FORWARD_APIS,
    matters_if="forward|forward_pre own ?scripted",
    readings=by_release(
        "silent",
        ("1.8", "compiled", "used"),
        "torch.jit.script compiles annotated forward hooks and pre-hooks; each call of what it made runs them.",
        ("", "dropped", "dropped"),
        "torch.jit.script drops forward hooks and pre-hooks, with no error.",
    ),
    witness={"path": "block", "kind": "forward", "by": 5, "load": False},
)
@given(path=st.sampled_from([OWN, INSIDE]), kind=st.sampled_from(FORWARDS), by=BY, load=st.just(False))
def test_script_forward(subject: Subject, path: str, kind: str, by: int, load: bool) -> None:
    import torch

    net = network()
    typed(net, path, kind, by)
    made = torch.jit.script(net)
    assert taken(called(saved(made) if load else made), hooked(path, kind, by)) == subject.value


@each(
    Row(
        "modes.jit.saved_script",
        "What torch.jit.load makes runs the forward hooks and pre-hooks that torch.jit.script compiled.",
        COMPILED,
        asked="are forward hooks saved in torchscript file jit.save jit.load hooks c++",
        about=FORWARD_APIS,
        matters_if="forward|forward_pre own ?scripted",
        script=True,
        readings=by_release(
            "silent",
            ("1.8", "compiled", "used"),
            "What torch.jit.load makes runs the forward hooks and pre-hooks that torch.jit.script compiled.",
            ("", "dropped", "dropped"),
            "What torch.jit.load makes runs no forward hook: torch.jit.script compiles none.",
        ),
        witness={"kind": "forward", "by": 5, "form": straight},
    ),
    Row(
        "modes.jit.saved_traced",
        "torch.jit.save drops forward hooks and pre-hooks that were registered on what torch.jit.trace made.",
        "measured",
        asked="hook on traced model gone after torch.jit.save and load",
        see="modes.jit.traced_forward",
        about=FORWARD_APIS,
        script=False,
        value="dropped",
        wrong={"saved": "used"},
        witness={"kind": "forward", "by": 5, "form": straight},
    ),
    kind=lambda row: st.sampled_from(FORWARDS),
    by=lambda row: BY,
    form=lambda row: st.just(straight) if row.script else ANY,  # TorchScript compiles no other one
)
def loaded(subject: Subject, kind: str, by: int, form: Any, *, row: Any) -> None:
    import torch

    if row.script:
        net = network(form)
        typed(net, OWN, kind, by)
        made = torch.jit.script(net)
    else:
        made = traced(network(form))
        hook(made, OWN, kind, by)
    assert taken(called(saved(made)), hooked(OWN, kind, by)) == subject.value


@clause(
    "modes.jit.script_untyped",
    says="torch.jit.script raises an error where a forward hook or pre-hook has no annotations.",
    where=("forward takes an input", "the hook is written with def"),
    source=(COMPILED, ISSUE + "53421"),
    asked="jit.script fails Hook on module expected the input argument to be typed as a Tuple",
    about=FORWARD_APIS,
    matters_if="forward|forward_pre own ?scripted",
    readings=by_release(
        ("error", "silent"),
        ("1.8", "refused", "RuntimeError"),
        "torch.jit.script raises an error where a forward hook or pre-hook has no annotations.",
        ("", "dropped", "accepted"),
        "torch.jit.script raises nothing where a forward hook or pre-hook has no annotations.",
    ),
    witness={"path": "block", "kind": "forward"},
)
@given(path=st.sampled_from(ANYWHERE), kind=st.sampled_from(FORWARDS))
def test_script_untyped(subject: Subject, path: str, kind: str) -> None:
    import torch

    def after(module, args, output):
        return output

    def before(module, args):
        return args

    net = network()
    getattr(within(net, path), f"register_{kind}_hook")(after if kind == "forward" else before)
    assert outcome(lambda: torch.jit.script(net)) == subject.value


@clause(
    "modes.jit.script_backward",
    says="torch.jit.script drops the backward hooks of a module and of the modules in it, with no error.",
    source=(ISSUE + "34329", ISSUE + "51969"),
    asked="torch.jit.script backward hooks ignored silently gradient not captured",
    about=BACKWARD_APIS,
    value="dropped",
    wrong={"used": "used"},
    witness={"path": "block", "kind": "backward", "by": 5},
)
@given(path=st.sampled_from(ANYWHERE), kind=kinds(*BACKWARDS), by=BY)
def test_script_backward(subject: Subject, path: str, kind: str, by: int) -> None:
    import torch

    seen: List[Any] = []
    net = network()
    hook(net, path, kind, by, seen.append)
    assert (taken(called(torch.jit.script(net)), hooked(path, kind, by)), seen) == (subject.value, [])


@clause(
    "modes.jit.register",
    says="Registering a hook on what torch.jit.script made or torch.jit.load read raises RuntimeError.",
    where="it is a forward or a backward hook of a module",
    source=('code: torch/jit/_script.py " is not supported on ScriptModules"', ISSUE + "86818"),
    asked="register_forward_hook is not supported on ScriptModules RuntimeError loaded model features",
    value="RuntimeError",
    wrong={"accepted": "accepted"},
    witness={"path": "", "kind": "forward", "load": False},
)
@given(path=st.sampled_from(ANYWHERE), kind=kinds(*KINDS), load=st.booleans())
def test_register(subject: Subject, path: str, kind: str, load: bool) -> None:
    import torch

    made = torch.jit.script(network())
    made = saved(made) if load else made
    assert outcome(lambda: hook(made, path, kind)) == subject.value


@clause(
    "modes.jit.late",
    says="What torch.jit.trace and torch.jit.script made calls no hook that the original module gets later.",
    where="the hook is on a module",
    source="measured",
    asked="hook registered on model after jit trace or script has no effect on scripted model",
    value="dropped",
    wrong={"used": "used"},
    witness={"path": "block", "kind": "forward", "by": 5, "script": False},
)
@given(path=st.sampled_from(ANYWHERE), kind=kinds(*KINDS), by=BY, script=st.booleans())
def test_late(subject: Subject, path: str, kind: str, by: int, script: bool) -> None:
    import torch

    seen: List[Any] = []
    net = network()
    made = torch.jit.script(net) if script else traced(net)
    hook(net, path, kind, by, seen.append)
    assert (taken(called(made), hooked(path, kind, by)), seen) == (subject.value, [])
