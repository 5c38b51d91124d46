"""What a module with forward hooks keeps of its calls: nothing."""

from typing import Any, List

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import clause
from fixtures.judge.subject import Subject
from suites.hooking import AROUND, Holds, fates
from suites.tensors import leaf


@clause(
    "output.lifetime.call",
    says="A module with forward hooks or pre-hooks keeps neither input nor output of its calls alive.",
    where=("its hooks and forward keep none", "nothing else holds them"),
    source="measured",
    asked="does registering a forward hook keep activations in memory by itself, gpu memory of inputs and outputs",
    about=("register_forward_hook", "register_forward_pre_hook"),
    value="at once",
    wrong={"by the collector": "by the collector", "never": "never"},
    witness={"kinds": ["forward"], "passed": True},
)
@given(kinds=st.lists(AROUND, min_size=1, max_size=3), passed=st.booleans())
def test_call(subject: Subject, kinds: List[str], passed: bool) -> None:
    import torch

    class Double(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            return 2 * x

    module = Double()
    for kind in kinds:
        getattr(module, f"register_{kind}_hook")(Holds())

    def made() -> List[Any]:
        x = leaf(1)
        output = module(x)
        if passed:
            output.backward()
        return [x, output]

    assert fates(made) == [subject.value] * 2
