"""The options that the functions which register forward pre-hooks take."""

from fixtures.clause.clause import clause
from fixtures.judge.subject import Subject
from suites.hooking import raised
from suites.names import CODE, GLOBAL_FORWARD_PRE, PRE_KWARGS


@clause(
    "input.keywords.flag_is_keyword_only",
    says="register_forward_pre_hook takes its options by name: a second positional argument raises TypeError.",
    source=f'{CODE} "prepend: bool = False, with_kwargs: bool = False"',
    asked="register_forward_pre_hook takes 2 positional arguments but "
    "3 were given passing true kwargs keyword arguments pre-hook",
    needs=PRE_KWARGS,
    value="TypeError",
    wrong={"never by position": "none"},
)
def test_flag_is_keyword_only(subject: Subject) -> None:
    import torch

    register = torch.nn.Identity().register_forward_pre_hook
    assert raised(lambda: register(lambda module, args: None, True), TypeError) == subject.value


@clause(
    "input.keywords.never_for_global",
    says="register_module_forward_pre_hook, for global hooks, takes neither with_kwargs nor prepend.",
    source=f'{CODE} "def register_module_forward_pre_hook(hook: Callable[..., None]) -> RemovableHandle"',
    asked="access named inputs for all modules at once unexpected keyword "
    "argument prepend error kwargs keyword arguments pre-hook",
    needs=GLOBAL_FORWARD_PRE,
    value=["TypeError", "TypeError"],
    wrong={"never options": ["none", "none"]},
)
def test_never_for_global(subject: Subject) -> None:
    from torch.nn.modules.module import register_module_forward_pre_hook

    def register(option):
        register_module_forward_pre_hook(lambda module, args: None, **{option: True}).remove()

    asked = ("with_kwargs", "prepend")
    assert [raised(lambda option=option: register(option), TypeError) for option in asked] == subject.value
