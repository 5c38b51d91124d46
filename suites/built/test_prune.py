"""prune: which hook it is made of, and which hooks of the user live on."""

from typing import List

from hypothesis import given

from fixtures.clause.clause import clause
from fixtures.judge.subject import Subject
from suites.built.modules import WAYS, called, linear, weight_hooks_live
from suites.hooking import FEW, UP_TO_TWO


@clause(
    "built.prune.weight",
    says="After torch.nn.utils.prune a tensor hook that the weight had before is still called.",
    where="its module is called",
    source="measured",
    asked="gradient hook on pruned weight_orig does it survive torch.nn.utils.prune",
    about="register_hook",
    value=True,
    wrong={"lost": False},
    witness={"hooks": 1, "passes": 1},
)
@given(hooks=FEW, passes=FEW)
def test_weight(subject: Subject, hooks: int, passes: int) -> None:
    assert weight_hooks_live(["prune"], hooks, passes) == subject.value


@clause(
    "built.prune.removed",
    says="prune.remove takes prune's forward pre-hook away and leaves those of the user, in their order.",
    source='docs: torch.nn.utils.prune.remove "and the pruning method from the forward hook"',
    asked="prune.remove deletes which forward_pre_hooks make pruning permanent my hook stays",
    about="register_forward_pre_hook",
    value=0,
    wrong={"stays": 1},
    witness={"before": 1, "behind": 1},
)
@given(before=UP_TO_TWO, behind=UP_TO_TWO)
def test_removed(subject: Subject, before: int, behind: int) -> None:
    import torch.nn.utils.prune

    ran: List[int] = []
    module = linear()
    for number in range(before + behind + 1):
        if number == before:
            WAYS["prune"](module)
        else:
            module.register_forward_pre_hook(lambda module, args, number=number: ran.append(number))
    torch.nn.utils.prune.remove(module, "weight")
    called(module)
    own = [number for number in range(before + behind + 1) if number != before]
    assert (ran, len(module._forward_pre_hooks) - len(own)) == (own, subject.value)
