"""Hooks that are no plain functions: generators, coroutines, context managers; and those with other parameters."""

from contextlib import contextmanager
from typing import Any, Callable, Dict, Iterator, List

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import clause
from fixtures.clause.rows import Row, each
from fixtures.judge.subject import Subject
from suites.handles.written.ways import OF_GRADIENTS, UNSEEN, ends
from suites.hooking import echo

FORWARD, TENSOR, LEGACY = "register_forward_hook", "register_hook", "register_backward_hook"
FULL, SEVERAL = "register_full_backward_hook", "register_multi_grad_hook"


def forms(ran: List[Any]) -> Dict[str, Callable[..., Any]]:
    """Functions whose body does not run when they are called; each notes when it does."""

    def generator(*given: Any) -> Iterator[None]:
        ran.append(given)
        yield

    async def coroutine(*given: Any) -> None:
        ran.append(given)

    async def async_generator(*given: Any) -> Any:
        ran.append(given)
        yield

    @contextmanager
    def manager(*given: Any) -> Iterator[None]:
        ran.append(given)
        yield

    return {
        "generator": generator,
        "coroutine": coroutine,
        "async_generator": async_generator,
        "_GeneratorContextManager": manager,
    }


def quietly(action: Callable[..., Any], *given: Any) -> Any:
    """What an action gives, without the warning that a coroutine was never awaited."""
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        return action(*given)


FORMS = st.sampled_from(sorted(forms([])))


@clause(
    "handles.written.never_runs",
    says="Torch does not run the body of a hook that is a generator, an `async def` or a @contextmanager function.",
    where="nothing iterates over what the hook returns",
    source="measured",
    asked="async def hook or hook with yield never executes coroutine was never awaited callback body not run",
    about=(FORWARD, TENSOR, FULL, SEVERAL),
    value=0,
    wrong={"runs": 1},
    witness={"form": "generator"},
)
@given(form=FORMS)
def test_never_runs(subject: Subject, form: str) -> None:
    ran: List[Any] = []
    found = quietly(ends, forms(ran)[form])
    assert found["forward"] == "goes on"
    assert "refused" not in found.values()
    assert len(ran) == subject.value * len(found)


@each(
    Row(
        "handles.written.never_silent",
        "A multi-grad, step post- or state_dict pre-hook with `yield` or `async` does nothing, and no error comes.",
        "measured",
        asked="multi grad hook async def silently does nothing no error step post hook generator",
        needs="torch.autograd.graph.register_multi_grad_hook",
        about=(SEVERAL, "register_step_post_hook", "register_state_dict_pre_hook"),
        names=UNSEEN,
        value="goes on",
        wrong={"refused": "TypeError"},
        witness={"form": "generator"},
    ),
    Row(
        "handles.written.never_gradient",
        "A tensor, node or module backward hook that is a generator or an `async def` ends backward() in an error.",
        "measured",
        asked="backward hook async def TypeError expected Variable but hook returned coroutine generator",
        about=(TENSOR, FULL, "register_full_backward_pre_hook", LEGACY),
        matters_if="never",
        names=OF_GRADIENTS,
        value="TypeError",
        wrong={"ignored": "goes on"},
        witness={"form": "generator"},
    ),
    form=lambda row: FORMS,
)
def ends_so(subject: Subject, form: str, *, row: Any) -> None:
    found = quietly(ends, forms([])[form], row.names)
    assert found
    assert found == dict.fromkeys(found, subject.value)


@clause(
    "handles.written.never_output",
    says="A module with an `async def` as forward hook returns a coroutine, with a generator function a generator.",
    where="the `async def` has no `yield` in it",
    source="measured",
    asked="module returns coroutine or generator object instead of tensor after forward hook",
    about=FORWARD,
    device="none",
    value="the hook's",
    wrong={"forward's": "forward's"},
    witness={"form": "coroutine"},
)
@given(form=FORMS)
def test_never_output(subject: Subject, form: str) -> None:
    module = echo()
    module.register_forward_hook(forms([])[form])
    found = quietly(lambda: type(module(1)).__name__)
    assert found == (form if subject.value == "the hook's" else "tuple")


@clause(
    "handles.written.parameters",
    says="A hook with too few or too many parameters can be registered; TypeError comes where it is called.",
    where="it is no pack, unpack or comm hook",
    see="input.returns.checked_at_the_call",
    source="measured",
    asked="hook takes 1 positional argument but 3 were given TypeError missing required positional argument",
    about=(FORWARD, TENSOR, FULL, SEVERAL, "register_step_pre_hook"),
    matters_if="never",
    value=("TypeError", "TypeError"),
    wrong={"checked when it is registered": ("refused", "refused")},
    witness={"more": False},
)
@given(more=st.booleans())
def test_parameters(subject: Subject, more: bool) -> None:
    def few() -> None:
        pass

    def many(*given: Any, missing: Any) -> None:
        pass

    found = ends(many if more else few)
    passes = (*OF_GRADIENTS, "several")
    assert "forward" in found
    assert found == {name: subject.value[name in passes] for name in found}
