"""The options that the functions which register forward pre-hooks take."""

from fixtures.judge.clause import clause
from fixtures.judge.subject import Subject
from suites.names import CODE, GLOBAL_PRE, PRE_KWARGS


@clause(
    "input.keywords.flag_is_keyword_only",
    says="The options of register_forward_pre_hook are given by name: a second position raises TypeError.",
    source=f'{CODE} "prepend: bool = False, with_kwargs: bool = False"',
    needs=PRE_KWARGS,
    value="TypeError",
    wrong={"never by position": "none"},
)
def test_flag_is_keyword_only(subject: Subject) -> None:
    import torch

    raised = "none"
    try:
        torch.nn.Identity().register_forward_pre_hook(lambda module, args: None, True)
    except TypeError as error:
        raised = type(error).__name__
    assert raised == subject.value


@clause(
    "input.keywords.never_for_global",
    says="The function that registers a global forward pre-hook takes neither with_kwargs nor prepend.",
    source=f'{CODE} "def register_module_forward_pre_hook(hook: Callable[..., None]) -> RemovableHandle"',
    needs=GLOBAL_PRE,
    value=["TypeError", "TypeError"],
    wrong={"never options": ["none", "none"]},
)
def test_never_for_global(subject: Subject) -> None:
    from torch.nn.modules.module import register_module_forward_pre_hook

    raised = []
    for option in ("with_kwargs", "prepend"):
        try:
            register_module_forward_pre_hook(lambda module, args: None, **{option: True}).remove()
            raised.append("none")
        except TypeError as error:
            raised.append(type(error).__name__)
    assert raised == subject.value
