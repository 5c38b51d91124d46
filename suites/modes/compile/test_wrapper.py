"""The wrapper that torch.compile returns: hooks on it, global hooks that run for it, and copies of it."""

import copy
import pickle
from collections import Counter
from typing import Any, List

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import by_release, clause
from fixtures.judge.subject import Subject
from suites.hooking import raised
from suites.modes.compile.networks import (
    APIS,
    EVERYWHERE,
    INNER,
    became,
    called,
    compiled,
    everywhere,
    hook,
    network,
    noting,
)
from suites.modes.compile.sources import OWN, UNBROKEN
from suites.modes.forms import ANY, BREAKS, LAYERS, PARTS, networks, straight
from suites.modes.networks import BY
from suites.modes.sources import COMPILE, EAGER

ABOUT = APIS
TIMES = 'code: torch/_dynamo/eval_frame.py "this will cause the hooks to fire an extra time"'


@clause(
    "modes.compile.wrapper",
    says="A forward (pre-)hook or full backward pre-hook on what torch.compile returns is given that, not the module.",
    where=EAGER,
    source="measured",
    asked="hook on optimizedmodule register_forward_hook on compiled model goes where",
    needs=COMPILE,
    about=APIS[:3],
    value=["OptimizedModule"],
    wrong={"handed on to the module": ["Network"]},
    witness={"kind": "forward", "late": True, "form": straight},
)
@given(kind=st.sampled_from(["forward_pre", "forward", "full_backward_pre"]), late=st.booleans(), form=ANY)
def test_wrapper(subject: Subject, kind: str, late: bool, form: Any) -> None:
    net = network(form)
    seen: List[str] = []
    call = compiled(net)
    if late:
        called(call)
    getattr(call, f"register_{kind}_hook")(noting(seen))
    called(call)
    called(net)
    assert seen == subject.value


@clause(
    "modes.compile.wrapper_backward",
    says="A full or legacy backward hook registered on what torch.compile returns never runs.",
    where=EAGER,
    source="measured",
    asked="register_full_backward_hook on torch.compile(model) never called",
    needs=COMPILE,
    about=APIS[3:],
    matters_if="full_backward|backward own ?wrapper",
    readings=by_release(
        "silent",
        ("2.4", "never", "ignored"),
        "A full or legacy backward hook registered on what torch.compile returns never runs.",
        ("", "runs", "runs"),
        "A full or legacy backward hook registered on what torch.compile returns runs in each pass.",
    ),
    witness={"kind": "full_backward", "late": False, "by": 5, "form": straight},
)
@given(kind=st.sampled_from(["full_backward", "backward"]), late=st.booleans(), by=BY, form=ANY)
def test_wrapper_backward(subject: Subject, kind: str, late: bool, by: int, form: Any) -> None:
    eager, plain = network(form), called(network(form))
    hook(eager, "", kind, by)
    call = compiled(network(form))
    if late:
        called(call)
    hook(call, "", kind, by)
    assert became(called(call), called(eager), plain) == subject.value


@clause(
    "modes.compile.wrapper_mixing",
    says="After register_full_backward_hook on what torch.compile returns, the module refuses legacy backward hooks.",
    where=EAGER,
    see="modes.compile.wrapper_backward",
    source="measured",
    asked="cannot use both regular backward hooks and full backward hooks after hooking optimizedmodule",
    needs=COMPILE,
    about=APIS[3:],
    matters_if="full_backward|backward own ?wrapper ?hooked_again",
    readings=by_release(
        "none",
        ("2.4", "refuses", "RuntimeError"),
        "After register_full_backward_hook on what torch.compile returns, the module refuses legacy backward hooks.",
        ("", "accepts", "none"),
        "After register_full_backward_hook on what torch.compile returns, the module accepts legacy backward hooks.",
    ),
    witness={"late": False, "form": straight},
)
@given(late=st.booleans(), form=ANY)
def test_wrapper_mixing(subject: Subject, late: bool, form: Any) -> None:
    net = network(form)
    call = compiled(net)
    if late:
        called(call)
    hook(call, "", "full_backward", 5)
    assert raised(lambda: hook(net, "", "backward", 5), RuntimeError) == subject.value


@clause(
    "modes.compile.global",
    says="A global forward (pre-)hook that returns None runs once more in a call of what torch.compile(net) returns.",
    where=(OWN, EAGER),
    see=("modes.compile.global_late", "modes.compile.in_place_global"),
    source=TIMES,
    asked="global forward hook called extra time optimizedmodule torch compile fire twice",
    needs=COMPILE,
    about=EVERYWHERE[:2],
    value=1,
    wrong={"as often as in eager mode": 0},
    witness={"pre": False, "calls": 1, "form": straight},
)
@given(pre=st.booleans(), calls=st.integers(1, 2), form=networks(**dict.fromkeys(BREAKS, PARTS), in_layers=LAYERS))
def test_global(subject: Subject, pre: bool, calls: int, form: Any) -> None:
    seen: List[str] = []
    call = compiled(network(form))
    with everywhere("forward_pre" if pre else "forward", noting(seen)):
        eager = noted(form, seen)
        for _ in range(calls):
            called(call)
    more = ["OptimizedModule"] * subject.value
    assert seen == ((more + eager) if pre else (eager + more)) * calls


def noted(form: Any, seen: List[str]) -> List[str]:
    """What a global hook notes in `seen` where such a network runs in eager mode; they are taken out of it again."""
    called(network(form))
    found = seen[:]
    del seen[:]
    return found


@clause(
    "modes.compile.global_returns",
    says="What a global forward hook returns is used once more in a call of what torch.compile(module) returns.",
    where=(OWN, EAGER),
    source=TIMES,
    asked="global forward hook modifies output twice torch compile valueerror",
    needs=COMPILE,
    about=EVERYWHERE[1],
    matters_if="forward everywhere returns ?compiled",
    readings=by_release(
        "error",
        ("2.4", "once more", 1),
        "What a global forward hook returns is used once more in a call of what torch.compile(module) returns.",
        ("", "refused", "ValueError"),
        "With a global forward hook that returns something, a compiled call raises ValueError.",
    ),
    witness={"by": 5, "form": straight},
)
@given(by=BY, form=networks(**dict.fromkeys(BREAKS, PARTS), in_layers=LAYERS, two_outputs="the hook is given both"))
def test_global_returns(subject: Subject, by: int, form: Any) -> None:
    call = compiled(network(form))
    found: Any = None
    with everywhere("forward", lambda module, args, output: output * by):
        eager = called(network(form))[0][0]
        try:
            found = called(call)[0][0] / eager
        except ValueError as error:
            found = type(error).__name__
    assert found == (by**subject.value if isinstance(subject.value, int) else subject.value)


@clause(
    "modes.compile.global_backward",
    says="A global full backward (pre-)hook runs once more in a pass through what torch.compile returns.",
    where=("forward is your own", EAGER),
    source=TIMES,
    asked="register_module_full_backward_hook with torch compile graphmodule called",
    needs=COMPILE,
    about=EVERYWHERE[2:4],
    matters_if="full_backward_pre|full_backward everywhere ?compiled",
    readings=by_release(
        "silent",
        ("2.4", "for the wrapper", False),
        "A global full backward (pre-)hook runs once more in a pass through what torch.compile returns.",
        ("", "for parts, too", True),
        "A global full backward (pre-)hook runs also for the parts that torch.compile makes of a module.",
    ),
    witness={"pre": False, "form": straight},
)
@given(pre=st.booleans(), form=networks(in_layers=LAYERS))
def test_global_backward(subject: Subject, pre: bool, form: Any) -> None:
    seen: List[str] = []
    call = compiled(network(form))
    with everywhere("full_backward_pre" if pre else "full_backward", noting(seen)):
        eager = noted(form, seen)
        called(call)
    more = Counter(seen)
    more.subtract(eager)
    wrapper = more.pop("OptimizedModule")
    assert ("GraphModule" in more, wrapper > 1, any(more.values())) == (subject.value,) * 3


@clause(
    "modes.compile.global_late",
    says="A late global forward hook runs for the compiled module and its wrapper only until torch compiles anew.",
    where=(UNBROKEN, EAGER),
    see="modes.compile.late_inner",
    source="measured",
    asked="register_module_forward_hook after compile only root module",
    needs=COMPILE,
    about=EVERYWHERE[1],
    matters_if="forward everywhere ?compiled",
    readings=by_release(
        "silent",
        ("2.7", "these two", -1),
        "A late global forward hook runs for the compiled module and its wrapper only until torch compiles anew.",
        ("", "all", 0),
        "A global forward hook added after a compiled call runs for all modules and the wrapper.",
    ),
    witness={"calls": 1, "form": straight},
)
@given(
    calls=st.integers(1, 2),
    form=networks(**BREAKS, in_layers=LAYERS),
)
def test_global_late(subject: Subject, calls: int, form: Any) -> None:
    call = compiled(network(form))
    for _ in range(calls):
        called(call)
    seen: List[str] = []
    with everywhere("forward", noting(seen)):
        eager = noted(form, seen)
        called(call)
    assert seen == [*eager[subject.value :], "OptimizedModule"]


def doubled(module: Any, args: Any, output: Any) -> Any:
    """A forward hook that pickle finds by name."""
    return output * 2


def wrapped(net: Any, hooks: int) -> Any:
    """What torch.compile makes of a module, with so many hooks on it and one on the module."""
    net.register_forward_hook(doubled)
    call = compiled(net)
    for _ in range(hooks):
        call.register_forward_hook(doubled)
    return call


@clause(
    "modes.compile.deepcopy",
    says="copy.deepcopy of what torch.compile returns drops the forward hooks on it and keeps those of the module.",
    where=("the module has no __deepcopy__", EAGER),
    source="measured",
    asked="copy.deepcopy compiled model loses hooks",
    needs=COMPILE,
    about=APIS[1],
    matters_if="forward own ?wrapper ?copied",
    readings=by_release(
        "silent",
        ("2.4", "dropped", 0),
        "copy.deepcopy of what torch.compile returns drops the forward hooks on it and keeps those of the module.",
        ("", "kept", 1),
        "copy.deepcopy of what torch.compile returns keeps the forward hooks on it and those of the module.",
    ),
    witness={"hooks": 1, "used": True, "form": straight},
)
@given(hooks=st.integers(1, 2), used=st.booleans(), form=ANY)
def test_deepcopy(subject: Subject, hooks: int, used: bool, form: Any) -> None:
    call = wrapped(network(form), hooks)
    if used:
        called(call)
    copied = copy.deepcopy(call)
    assert [len(copied._forward_hooks), len(copied._orig_mod._forward_hooks)] == [hooks * subject.value, 1]
    assert called(copied)[1][0] == called(call)[1][0] / 2 ** (hooks * (1 - subject.value))


@clause(
    "modes.compile.pickled",
    says="A pickle of what torch.compile returns drops the forward hooks on it and keeps those of the module.",
    where=("pickle finds hooks by name", EAGER),
    source="measured",
    asked="pickle torch compile model hooks lost cannot pickle local object convert_frame",
    needs=COMPILE,
    about=APIS[1],
    matters_if="forward own ?wrapper ?copied",
    readings=by_release(
        "error",
        ("2.4", "dropped", [0, 1]),
        "A pickle of what torch.compile returns drops the forward hooks on it and keeps those of the module.",
        ("", "refused", "AttributeError"),
        "pickle of what torch.compile returns raises AttributeError.",
    ),
    witness={"hooks": 1, "used": True},
)
@given(hooks=st.integers(0, 2), used=st.booleans())
def test_pickled(subject: Subject, hooks: int, used: bool) -> None:
    import torch

    call = wrapped(torch.nn.Linear(1, 1).double(), hooks)
    if used:
        called(call)
    found: Any = None
    try:
        there = pickle.loads(pickle.dumps(call))
        found = [len(there._forward_hooks), len(there._orig_mod._forward_hooks)]
    except AttributeError as error:
        found = type(error).__name__
    assert found == subject.value


@clause(
    "modes.compile.state_dict",
    says="state_dict() of what torch.compile returns gives state_dict hooks of inner modules the prefix '_orig_mod.…'.",
    where=EAGER,
    source="measured",
    asked="_orig_mod prefix in state dict hook compiled",
    needs=(COMPILE, "torch.nn.Module.register_state_dict_post_hook"),
    value="_orig_mod.",
    wrong={"that of the module": ""},
    witness={"path": "second.inner", "used": False, "form": straight},
)
@given(path=INNER, used=st.booleans(), form=ANY)
def test_state_dict(subject: Subject, path: str, used: bool, form: Any) -> None:
    net = network(form)
    call = compiled(net)
    if used:
        called(call)
    seen: List[str] = []
    net.get_submodule(path).register_state_dict_post_hook(lambda module, state, prefix, meta: seen.append(prefix))
    net.state_dict()
    eager = seen[:]
    call.state_dict()
    assert seen[len(eager) :] == [subject.value + prefix for prefix in eager]
