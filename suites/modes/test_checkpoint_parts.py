"""torch.utils.checkpoint: which segments of a sequence run again, and what random numbers a hook draws then."""

from typing import Any, List

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import clause
from fixtures.judge.subject import Subject
from suites.modes.nets import ANYWHERE, network, ones, within
from suites.modes.test_checkpoint import FORMS, checkpointed
from suites.tensors import outcome

ABOUT = "register_forward_pre_hook"
PARTS = "torch.utils.checkpoint.checkpoint_sequential"


@clause(
    "modes.checkpoint.segments",
    says="In a pass of checkpoint_sequential pre-hooks run once in the last segment, twice in those before it.",
    where=("nn.Linear layers", "its input needs a gradient"),
    source=f'docs: {PARTS} "All segments except the last will not store the intermediate activations"',
    asked="checkpoint_sequential hook called twice except last chunk",
    needs=f"{PARTS}(use_reentrant)",
    value=(2, 1),
    wrong={"twice everywhere": (2, 2), "once everywhere": (1, 1)},
    witness={"layers": 2, "segments": 2, "reentrant": True},
)
@given(layers=st.integers(1, 5), segments=st.integers(1, 5), reentrant=st.booleans())
def test_segments(subject: Subject, layers: int, segments: int, reentrant: bool) -> None:
    import torch
    from torch.utils.checkpoint import checkpoint_sequential

    segments = min(segments, layers)
    seen: List[int] = []

    def note(number: int) -> Any:
        return lambda module, args: seen.append(number)

    net = torch.nn.Sequential(*(torch.nn.Linear(1, 1).double() for _ in range(layers)))
    for number, layer in enumerate(net):
        layer.register_forward_pre_hook(note(number))
    checkpoint_sequential(net, segments, ones(), use_reentrant=reentrant).sum().backward()
    before = layers // segments * (segments - 1)
    again, once = subject.value
    assert [seen.count(number) for number in range(layers)] == [again] * before + [once] * (layers - before)


@clause(
    "modes.checkpoint.random",
    says="In backward() a pre-hook in checkpoint draws what it drew before; the generator then goes on as without.",
    where="the hook may raise in backward()",
    source='docs: torch.utils.checkpoint.checkpoint "stashing and restoring the RNG state during each checkpoint"',
    asked="noise dropout in hook differs when checkpoint recomputes rng state",
    needs=FORMS,
    value="the same",
    wrong={"other numbers": "others"},
    witness={"path": "last", "reentrant": True, "fails": True, "number": 0},
)
@given(path=st.sampled_from(ANYWHERE), reentrant=st.booleans(), fails=st.booleans(), number=st.integers(0, 9))
def test_random(subject: Subject, path: str, reentrant: bool, fails: bool, number: int) -> None:
    import torch

    def drawn() -> float:
        return torch.rand(1).item()

    net = network()
    draws: List[float] = []

    def draw(module: Any, args: Any) -> None:
        draws.append(drawn())
        if fails and len(draws) == 2:
            raise ValueError("a hook that fails")

    within(net, path).register_forward_pre_hook(draw)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(number)
        output = checkpointed(net, reentrant)(ones())
        between = drawn()
        became = outcome(lambda: output.sum().backward(), (ValueError, RuntimeError))
        after = drawn()
        torch.manual_seed(number)
        first, second, third = drawn(), drawn(), drawn()
    assert (became != "accepted") == fails  # old torch raises another error
    found = "the same" if [*draws, between, after] == [first, first, second, third] else "others"
    assert found == subject.value
