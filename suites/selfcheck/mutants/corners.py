"""Plans, and programs of the small grammar, that few draws reach: each for a part of the model that no other shows."""

from fixtures.families.lifetime import LetGo
from fixtures.plan.grammar import (
    Add,
    Backward,
    Call,
    Chain,
    Copy,
    Forward,
    Hook,
    InPlace,
    Input,
    Leaf,
    Like,
    Of,
    Pack,
    Plan,
    Recast,
    Retain,
    ReturnNoneAt,
    ReturnWrong,
)
from fixtures.state.grammar import Buffer, Delete, Duplicate, Load, On, Save, Set, Tree
from fixtures.state.plan import StatePlan

INNER = Tree("a", (("w", 2),), children=(Tree("c", (("w", 3),)),))
BOTH = Tree("root", (("w", 1),), (Buffer("n", 4),), (INNER,))
ROUND = (Save(), Load())
HOOKS = (On("save_post", "a", "h0"), On("load_with", "a", "h1"))

CORNERS = {
    "a module in two places": StatePlan(
        BOTH, (*HOOKS, Set("root", "z", "module", value="a"), *ROUND, Duplicate(), Save("copied"))
    ),
    "None in place of a module": StatePlan(BOTH, (*HOOKS, Set("root", "a", "module", value=None), *ROUND, Duplicate())),
    "a tensor in place of a module": StatePlan(BOTH, (*HOOKS, Set("root", "a", "buffer"), *ROUND)),
    "a module in place of a buffer": StatePlan(BOTH, (*HOOKS, Set("root", "n", "module"), *ROUND)),
    "two buffers": StatePlan(Tree("root", buffers=(Buffer("n", 4), Buffer("o", 5))), ROUND),
    "a buffer that is saved in place of one that is not": StatePlan(
        Tree("root", buffers=(Buffer("n", 4, persistent=False),)),
        (Save(), Delete("root", "n"), Set("root", "n", "buffer", "method", 5), *ROUND),
    ),
}

TWO = Chain("m0", (Leaf("m1", "scale", (2,)), Leaf("m2", "scale", (3,))))
X = (Input(3),)
NONES = Hook("node", "m2>0", "h0", (ReturnWrong("nones"),))


def hooked_in_a_pass(on: str, also: str) -> Plan:
    """A hook of two tensors is registered where nothing is recorded."""
    inner = Hook("multi_all", on, "h1", also=(also,))
    return Plan(TWO, X, (Forward(), Hook("tensor", "m2>0", "h0", (Add(inner),)), Backward((1,)), Backward((1,))))


PLANS = {
    "a parameter of the original lives on behind a copy": Plan(
        Leaf("m0", "scale", (2,)),
        (Input(1),),
        (Hook("multi_all", "m0.weight", "h0"), Copy(), Forward(), LetGo()),
    ),
    "a retained gradient, then None": Plan(TWO, X, (Forward(), Retain("m1>0"), Backward((1,)), NONES, Backward((1,)))),
    "a number in place of None": Plan(
        TWO, X, (Forward(), NONES, Hook("tensor", "m1>0", "h1", (ReturnWrong("number"),)), Backward((1,)))
    ),
    "a leaf behind another tensor": hooked_in_a_pass("m1>0", "x0"),
    "two tensors, none of them a leaf": hooked_in_a_pass("m1>0", "m2>0"),
    "a legacy hook and a dict of two": Plan(
        Leaf("m0", "split", (2, 3), out=Pack("dict", (0, 1))),
        X,
        (Hook("backward", "m0", "h0"), Forward(), Backward((1, 1))),
    ),
    "a tensor that is saved twice and changed when it is unpacked": Plan(
        Leaf("m0", "mul", takes=Call((0, 0))),
        X,
        (Hook("saved", "", "h0", back=(InPlace(2),)), Forward(), Backward((1,))),
    ),
    "text in place of a tensor": Plan(
        Chain("m0", (Leaf("m1", "split", (2, 3), out=Pack("dict", (0, 1))), Leaf("m2", "scale", (2,)))),
        X,
        (Hook("forward", "m1", "h0", (ReturnNoneAt(0),)), Forward()),
    ),
    "a cast of a tensor by columns": Plan(
        Leaf("m0", "float16"), (Input(Of(1, (2, 3), layout="transposed")),), (Forward(), Backward((Like(1),)))
    ),
    "a gradient whose numbers share a place gets another": Plan(
        Leaf("m0", "wide"),
        (Input(Of(1, (2, 3))),),
        (Hook("post_accumulate", "x0", "h0", (Recast(layout="expanded"),)), *(Forward(), Backward((Like(1),))) * 2),
    ),
}
