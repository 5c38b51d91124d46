"""Hooks that are no plain functions: generators, coroutines, context managers; and those with other parameters."""

from contextlib import contextmanager
from typing import Any, Callable, Dict, Iterator, List

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import clause
from fixtures.clause.rows import Row, each
from fixtures.judge.subject import Subject
from suites.handles.written.doors import DOORS, OF_GRADIENT, OF_OUTPUT, UNSEEN, ends, goes_on, here

FORWARD, TENSOR = "register_forward_hook", "register_hook"
FULL, MULTI = "register_full_backward_hook", "register_multi_grad_hook"


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


def quietly(action: Callable[[], Any]) -> Any:
    """What an action gives, without the warning that a coroutine was never awaited."""
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        return action()


FORMS = st.sampled_from(sorted(forms([])))


@each(
    Row(
        "handles.written.never_runs",
        "Torch does not run the body of a hook that is a generator, an `async def` or a @contextmanager function.",
        "measured",
        asked="async def hook or hook with yield never executes coroutine was never awaited callback body not run",
        about=(FORWARD, TENSOR, FULL, MULTI),
        doors=tuple(DOORS),
        value=0,
        wrong={"runs": 1},
        witness={"form": "generator"},
    ),
    form=lambda row: FORMS,
)
def never_runs(subject: Subject, form: str, *, row: Any) -> None:
    found = {}
    for name in here(row.doors):
        ran: List[Any] = []
        assert quietly(lambda name=name, ran=ran: ends(name, forms(ran)[form])) != "refused"
        found[name] = len(ran)
    assert found == dict.fromkeys(found, subject.value)


@each(
    Row(
        "handles.written.never_silent",
        "A multi-grad, step post-, state_dict pre- or load pre-hook with `yield` or `async` does nothing: no error.",
        "measured",
        asked="multi grad hook async def silently does nothing no error step post hook generator",
        needs="torch.autograd.graph.register_multi_grad_hook",
        about=(MULTI, "register_step_post_hook", "register_state_dict_pre_hook"),
        doors=UNSEEN,
        value="goes on",
        wrong={"refused": "TypeError"},
        witness={"form": "generator"},
    ),
    Row(
        "handles.written.never_gradient",
        "A tensor, node or backward hook that is a generator function or an `async def` ends backward() in an error.",
        "measured",
        asked="backward hook async def TypeError expected Variable but hook returned coroutine generator",
        about=(TENSOR, FULL, "register_full_backward_pre_hook", "register_backward_hook"),
        doors=(*OF_GRADIENT, "accumulated"),
        value="TypeError",
        wrong={"ignored": "goes on"},
        witness={"form": "generator"},
    ),
    form=lambda row: FORMS,
)
def ends_so(subject: Subject, form: str, *, row: Any) -> None:
    found = {name: quietly(lambda name=name: ends(name, forms([])[form])) for name in here(row.doors)}
    assert found == dict.fromkeys(found, subject.value)


@clause(
    "handles.written.never_output",
    says="A module whose forward hook is an `async def` returns a coroutine, and with a `yield` in it a generator.",
    source="measured",
    asked="module returns coroutine or generator object instead of tensor after forward hook",
    about=(FORWARD, "register_module_forward_hook"),
    device="none",
    value=True,
    wrong={"own output": False},
    witness={"form": "coroutine"},
)
@given(form=FORMS)
def test_never_output(subject: Subject, form: str) -> None:
    for name in OF_OUTPUT:
        found = quietly(lambda name=name: type(goes_on(name, forms([])[form])[0]).__name__)
        assert found == (form if subject.value else "int")


@clause(
    "handles.written.parameters",
    says="A hook with too few or too many parameters can be registered; TypeError comes where it is called.",
    where="it is no pack or unpack hook",
    see="input.returns.checked_at_the_call",
    source="measured",
    asked="hook takes 1 positional argument but 3 were given TypeError missing required positional argument",
    about=(FORWARD, TENSOR, FULL, MULTI, "register_step_pre_hook"),
    value="TypeError",
    wrong={"checked when it is registered": "refused"},
    witness={"more": False},
)
@given(more=st.booleans())
def test_parameters(subject: Subject, more: bool) -> None:
    def few() -> None:
        pass

    def many(*given: Any, missing: Any) -> None:
        pass

    doors = here([name for name in DOORS if name not in ("pack", "unpack")])
    found = {name: ends(name, many if more else few) for name in doors}
    assert found == dict.fromkeys(found, subject.value)
