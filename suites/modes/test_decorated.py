"""Hooks that are decorated with a grad mode or with inference mode: they run in it, whatever is on around the call."""

from typing import Any, Dict, List, Tuple

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import by_release, clause
from fixtures.judge.subject import Subject
from suites.modes.forms import ANY, straight
from suites.modes.networks import ANYWHERE, FORWARD_APIS, FORWARDS, network, ones, runs, within

#: Whether gradients are recorded in a mode, and whether it is inference mode; None: as around it.
MODES: Dict[str, Tuple[Any, Any]] = {
    "no_grad": (False, None),
    "enable_grad": (True, None),
    "inference_mode": (False, True),
    "inference_mode off": (True, False),
}


def mode(name: str) -> Any:
    """What a function is decorated with, or a block is run in."""
    import torch

    word, _, off = name.partition(" ")
    made = getattr(torch, word)
    return made(mode=not off) if word == "inference_mode" else made()


@clause(
    "modes.decorated.forward",
    says="@no_grad, @enable_grad or @inference_mode on a forward (pre-)hook sets the mode for that hook only.",
    source="measured",
    asked="decorate hook function with torch.no_grad or inference_mode",
    needs="torch.inference_mode",
    about=FORWARD_APIS,
    matters_if="forward_pre|forward ?decorated",
    readings=by_release(
        "silent",
        ("1.11", "its own", "its own"),
        "A forward (pre-)hook decorated with @no_grad, @enable_grad or @inference_mode runs in that mode.",
        ("", "never off", "never off"),
        "@no_grad and @enable_grad hooks run in that mode; @inference_mode(False) on a hook turns inference mode on.",
    ),
    witness={
        "kind": "forward",
        "path": "last",
        "inner": "inference_mode off",
        "outer": "inference_mode",
        "form": straight,
    },
)
@given(
    kind=st.sampled_from(FORWARDS),
    path=st.sampled_from(ANYWHERE),
    inner=st.sampled_from(sorted(MODES)),
    outer=st.sampled_from(sorted(MODES)),
    form=ANY,
)
def test_forward(subject: Subject, kind: str, path: str, inner: str, outer: str, form: Any) -> None:
    import torch

    def here() -> Tuple[bool, bool]:
        return torch.is_grad_enabled(), torch.is_inference_mode_enabled()

    seen: List[Any] = []

    @mode(inner)
    def note(module: Any, *rest: Any) -> None:
        seen.append(here())

    net = network(form)
    register = getattr(within(net, path), f"register_{kind}_hook")
    register(note)
    register(lambda module, *rest: seen.append(here()))
    with mode(outer):
        around = here()
        net(ones())
    known = inner if subject.value == "its own" else inner.partition(" ")[0]
    own = tuple(one if one is not None else other for one, other in zip(MODES[known], around))
    assert seen == [own, around] * runs(form, path)
