"""spectral_norm: which hooks it is made of, and which hooks of the user live on."""

from hypothesis import given

from fixtures.clause.clause import clause
from fixtures.judge.subject import Subject
from suites.built.modules import WAYS, linear, weight_hooks_live
from suites.hooking import FEW
from suites.names import PULL
from suites.tensors import outcome

REMOVES_ALL = 'code: torch/nn/utils/spectral_norm.py "for k, hook in module._load_state_dict_pre_hooks.items():"'


@clause(
    "built.spectral_norm.weight",
    says="After torch.nn.utils.spectral_norm a tensor hook that the weight had before is still called.",
    where=("its module is called", "pickle finds the hook by name"),
    source="measured",
    asked="spectral_norm weight_orig gradient hook registered before still fires",
    about="register_hook",
    value=True,
    wrong={"lost": False},
    witness={"hooks": 1, "passes": 1},
)
@given(hooks=FEW, passes=FEW)
def test_weight(subject: Subject, hooks: int, passes: int) -> None:
    assert weight_hooks_live(["spectral_norm"], hooks, passes) == subject.value


@clause(
    "built.spectral_norm.removed",
    says="After remove_spectral_norm a module loads the state dict that it then gives.",
    source=(REMOVES_ALL, PULL + "22545"),
    asked="Missing key weight_orig weight_u in state_dict after remove_spectral_norm load_state_dict fails",
    matters_if="never",
    about="register_forward_pre_hook",
    value="accepted",
    wrong={"refuses": "RuntimeError"},
    witness={"modules": 1},
)
@given(modules=FEW)
def test_removed(subject: Subject, modules: int) -> None:
    import torch

    net = torch.nn.Sequential(*[linear() for _ in range(modules)])
    WAYS["spectral_norm"](net[-1])
    torch.nn.utils.remove_spectral_norm(net[-1])
    assert outcome(lambda: net.load_state_dict(net.state_dict())) == subject.value
