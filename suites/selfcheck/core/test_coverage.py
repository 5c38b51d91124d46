"""What the whole grammar draws: each kind of hook meets each feature in some of a few thousand plans."""

import pytest

from fixtures.graph.array import Array
from fixtures.graph.engine import Engine
from fixtures.graph.errors import Shared, SharedEdit, SharedThaw, SharedUnrecorded, TooMany
from fixtures.graph.graph import Tensor
from fixtures.model.contract import contract_for, installed_version
from fixtures.model.module import expect
from fixtures.plan.grammar import Forward, Freeze, Hook, InPlace, Input, Leaf, Of, Plan, Retain, ReturnMore, ReturnWrong
from fixtures.stages.stage import Torch, perform
from suites import coverage
from suites.coverage import APART, ASIDE, BAR, Table, draw, reason, tables

#: Of each clause; with 10,000 the command says the same more exactly.
PLANS = 600
#: How many of a thousand plans may be set aside.
FEW = 100


def test_no_pair_is_rare_each_reason_excuses_one_and_few_plans_are_set_aside() -> None:
    """One test, since workers would draw the plans of each: most of its time."""
    drawn = draw(PLANS)
    found = tables(drawn)
    assert [each for table in found for each in table.rare()] == []
    rare = {pair for table in found for pair, (rate, _) in table.rates.items() if rate < BAR}
    for kind, feature in APART:
        assert [pair for pair in rare if reason(*pair) == APART[kind, feature]], (kind, feature)
    for name, each in drawn.items():
        assert 1000 * (each.ends.total() - each.ends["played"]) <= FEW * each.ends.total(), name
        assert set(each.ends) <= {"played", *(why.__name__ for why in ASIDE)}, name
    assert {"TooLarge", "Inexact"} <= {why for each in drawn.values() for why in each.ends}


def test_a_plan_whose_structures_grow_by_powers_is_set_aside() -> None:
    pair = Hook("forward", "m0", "h0", (ReturnWrong("single"),)), Hook("forward", "m0", "h1", (ReturnMore(12),))
    net, contract = (Leaf("m0", "same"), (Input(1),)), contract_for(installed_version())
    few = Plan(*net, (*pair * 3, Forward()))
    assert expect(few, contract) == perform(few, Torch())
    with pytest.raises(TooMany):
        expect(Plan(*net, (*pair * 6, Forward())), contract)


EDIT = Engine.edit
TURNED = (Leaf("m0", "turned"), (Input(Of(1, (2, 3), layout="transposed")),))


def edit_alone(engine: Engine, tensor: Tensor, by: int) -> Tensor:
    """Change a tensor as if no other had its memory."""
    if isinstance(tensor.value, Array):
        tensor.value.memory = None
    return EDIT(engine, tensor, by)


def thaw_alone(tensor: Tensor, requires_grad: bool) -> Tensor:
    tensor.requires_grad = requires_grad
    return tensor


@pytest.mark.parametrize(
    ("reason", "plan", "place", "alone"),
    [
        (
            SharedEdit,
            Plan(*TURNED, (Hook("forward", "m0", "h0", (InPlace(2),)), Forward())),
            (Engine, "edit"),
            edit_alone,
        ),
        (
            SharedUnrecorded,
            Plan(*TURNED, (Forward(grad=False), Hook("tensor", "m0>0", "h0"))),
            (Tensor, "shared"),
            Tensor.view,
        ),
        (
            SharedThaw,
            Plan(
                Leaf("m0", "both"),
                (Input(1), Input(1, grad=False)),
                (Hook("full_backward", "m0", "h0"), Forward(), Freeze("x1", False), Retain("m0>1")),
            ),
            (Tensor, "requires_grad_"),
            thaw_alone,
        ),
    ],
)
def test_a_plan_that_shares_memory_would_be_predicted_wrongly(
    reason: type[Shared], plan: Plan, place: tuple[type, str], alone: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    contract = contract_for(installed_version())
    with pytest.raises(reason):
        expect(plan, contract)
    monkeypatch.setattr(*place, alone)
    assert expect(plan, contract) != perform(plan, Torch())


def test_a_rare_pair_is_named(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    table = Table("layout", ["tensor"], ["strided"], {("tensor", "strided"): (BAR - 1, "a.b.c")})
    monkeypatch.setattr(coverage, "tables", lambda counts: [table])
    monkeypatch.setattr(coverage, "draw", lambda number, seed: {})
    monkeypatch.setattr("sys.argv", ["coverage"])
    assert coverage.main() == 1
    assert "too rare: tensor and strided: 99 of 10,000 plans of a.b.c" in capsys.readouterr().out
