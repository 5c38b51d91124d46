"""`python -m suites.coverage`: how often what a plan may have meets each kind of hook.

Draws plans of the clauses that combine everything, and plays them on the model: a kind meets a feature in a plan
where a hook of that kind is called with it, returns it, or is on a module or tensor that has it. A pair that in none
of these clauses is met in 1 % of the plans is too rare for a search of some hundred: it needs more weight where plans
are drawn (`fixtures/draw/`), or a reason in `APART`.
"""

import argparse
import sys
from collections import Counter
from fnmatch import fnmatch
from typing import Any, Dict, Iterator, List, NamedTuple, Sequence, Set, Tuple

from hypothesis import given, settings
from hypothesis import seed as seeded

from fixtures.clause.clause import CLAUSES
from fixtures.draw.contract import drawing_for
from fixtures.draw.only import ONLY_DRAWS
from fixtures.draw.plans import available
from fixtures.families import KINDS, TOGETHER
from fixtures.graph.errors import Inexact, SharedEdit, SharedThaw, SharedUnrecorded, TooLarge, TooMany
from fixtures.model.contract import Contract, contract_for, installed_version
from fixtures.model.module import expect
from fixtures.plan.forms import contiguous, shown_strides
from fixtures.plan.grammar import (
    FUNCTIONS,
    PACKS,
    Add,
    AutogradGrad,
    Backward,
    Call,
    Forward,
    Freeze,
    Hook,
    InPlace,
    Keywords,
    Pack,
    Plan,
    Raise,
    Recast,
    Remove,
    Retain,
    ReturnNoneAt,
    Reuse,
    Train,
    walk,
)
from fixtures.play.objects import Seen
from fixtures.play.trace import Trace
from suites.packed import parts
from suites.together import test_grammar, test_values

#: The clauses that are to draw the features of a group, the widest first.
PLAIN = (
    "together.grammar.everything",
    "together.forward.any_hooks",
    "together.backward.any_hooks",
    "together.tensor.any_hooks",
    "together.node.any_hooks",
)
FORMED = (
    "together.values.everything",
    "together.values.forward",
    "together.values.backward",
    "together.values.tensor",
    "together.values.node",
)
#: Plans in 10,000 that a kind and a feature are to meet in.
BAR = 100
MANY = 3


class Group(NamedTuple):
    """Features of one sort, and the clauses whose plans are counted."""

    clauses: Sequence[str]
    features: Tuple[str, ...]


GROUPS: Dict[str, Group] = {
    "called": Group(PLAIN, ("called",)),
    "layout": Group(FORMED, ("strided", "expanded", "offset returned")),
    "dtype": Group(FORMED, ("float64", "float32", "float16", "bfloat16", "complex128", "complex64")),
    "shape": Group(FORMED, ("0-dim", "vector", "matrix", "empty")),
    "structure": Group(PLAIN, (*PACKS, "nested", "None", "constant", "keyword", "twice")),
    "three or more": Group(PLAIN, ("hooks", "calls", "entries")),
    "function": Group(PLAIN, (*(f"as {form}" for form in FUNCTIONS), "as before")),
    "in place": Group((*PLAIN, *FORMED), ("edits",)),
    "returned": Group(PLAIN, ("None given", "None returned", "keywords returned")),
    "mode": Group((*PLAIN, *FORMED), ("eval", "frozen", "thawed", "raised once", "left by error")),
}

#: Why a plan is set aside.
ASIDE = (TooLarge, TooMany, Inexact, SharedEdit, SharedUnrecorded, SharedThaw)

#: (kind, feature), as patterns -> why the pair may be rare: it cannot be, or a clause of its own draws it.
APART: Dict[Tuple[str, str], str] = {
    ("forward*", "None *"): "gradients are what backward hooks are given",
    ("[!f]*", "keywords returned"): "a forward pre-hook returns keyword arguments",
    ("full_*", "keywords returned"): "a forward pre-hook returns keyword arguments",
    ("forward", "keywords returned"): "a forward pre-hook returns keyword arguments",
    ("retain_grad", "raised once"): "there is no function to raise",
    ("retain_grad", "left by error"): "there is no handle",
    ("tensor", "None returned"): "None from such a hook is no gradient: it leaves what is there",
    ("tensor", "entries"): "it is given one gradient",
    ("post_accumulate", "entries"): "it is given one tensor",
    ("node*", "entries"): "operations of plans have two operands; nodes of more: gradient.nodes.pre_several",
    ("retain_grad", "as *"): "there is no function",
    ("retain_grad", "hooks"): "there is none but itself",
    ("retain_grad", "calls"): "there is no function to call",
    ("retain_grad", "entries"): "there is no function to give anything to",
    ("post_accumulate", "None returned"): "what such a hook returns is not looked at",
    ("retain_grad", "None *"): "there is no function to give anything to",
    ("retain_grad", "edits"): "there is no function to change anything",
    ("retain_grad", "offset returned"): "there is no function to return anything",
    ("retain_grad", "strided"): "what it keeps is contiguous, whatever arrived: retain.values.own_copy",
    ("retain_grad", "expanded"): "what it keeps is contiguous, whatever arrived: retain.values.own_copy",
}


def packs(item: Any, inside: bool = False) -> Iterator[str]:
    """What an item of a structure has, in words."""
    if isinstance(item, (Pack, Call)):
        if isinstance(item, Pack):
            yield item.kind
            yield from ["nested"] if inside else []
        numbers = [one for one in item.items if isinstance(one, int)]
        yield from ["twice"] if len(set(numbers)) < len(numbers) else []
        yield from ["keyword"] if getattr(item, "names", ()) else []
        for one in item.items:
            yield from packs(one, isinstance(item, Pack))
    elif not isinstance(item, int):
        yield "None" if item is None else "constant"


def structures(plan: Plan) -> Dict[str, Set[str]]:
    """What each module takes and returns, in words."""
    found: Dict[str, Set[str]] = {}
    for module in walk(plan.net):
        for each in (module, *(one for one in getattr(module, "children", ()) if isinstance(one, Reuse))):
            words = found.setdefault(each.name, set())
            for one in (each.takes, getattr(each, "out", None)):
                words.update(packs(one) if one is not None else ())
    return found


def tensors(value: Any) -> Iterator[Seen]:
    """The tensors in what a trace shows."""
    if isinstance(value, Seen):
        yield value
    for one in parts(value)[1]:
        yield from tensors(one)


def form(tensor: Seen) -> Iterator[str]:
    """The layout, dtype and shape of a tensor, in words."""
    yield tensor.dtype
    yield "empty" if 0 in tensor.shape else ("0-dim", "vector", "matrix")[min(len(tensor.shape), 2)]
    if 0 in tensor.strides:
        yield "expanded"
    elif tensor.strides != shown_strides(tensor.shape, contiguous(tensor.shape)):
        yield "strided"


def returned(action: Any) -> Iterator[str]:
    """What an action returns or changes, in words."""
    if isinstance(action, Recast):
        layouts = {"transposed": "strided", "expanded": "expanded", "offset": "offset returned"}
        yield from (word for word in (action.dtype, layouts.get(action.layout, "")) if word)
    if isinstance(action, ReturnNoneAt) or getattr(action, "what", "") == "nones":
        yield "None returned"
    if isinstance(action, InPlace):
        yield "edits"
    if isinstance(action, Keywords):
        yield "keywords returned"
    if isinstance(action, Raise) and action.first:
        yield "raised once"


def modes(steps: Sequence[Any]) -> Iterator[str]:
    """Which modes there are in a plan before its last forward or backward, in words."""
    last = max(place for place, step in enumerate(steps) if isinstance(step, (Forward, Backward, AutogradGrad)))
    for step in steps[:last]:
        if isinstance(step, Train) and not step.mode:
            yield "eval"
        if isinstance(step, Freeze):
            yield "frozen" if step.frozen else "thawed"


def met(plan: Plan, trace: Trace) -> Set[Tuple[str, str]]:
    """The kinds of hooks that are called, each with each feature that they meet."""
    hooks = [step for step in plan.steps if isinstance(step, Hook)]
    hooks += [act.hook for hook in hooks for act in hook.do if isinstance(act, Add)]
    words, everywhere = structures(plan), plan.net.name
    found: Set[Tuple[str, str]] = set()

    def there(target: str) -> Set[str]:
        if target == "*":
            return {word for each in words.values() for word in each}
        name = target.replace(".", ">").partition(">")[0]
        return words.get(name, words[everywhere])  # an input is what the network is called with

    for place, step in enumerate(plan.steps):
        if isinstance(step, Hook) and any(
            isinstance(one, (Forward, Backward, AutogradGrad)) for one in plan.steps[place:]
        ):
            # A structure may be why a hook is not called.
            found.update((step.kind, word) for word in there(step.on))
    around = set(modes(plan.steps))
    failing = {step.label for step in plan.steps if isinstance(step, Remove) and step.failing}
    for hook in hooks:
        calls = trace.seen_by(hook.like or hook.label)
        if calls:
            own = {word for seen in calls for one in seen for each in tensors(one) for word in form(each)}
            own |= {"called"} | around | ({"left by error"} if hook.label in failing else set())
            own.update(word for action in hook.do for word in returned(action))
            own.update([f"as {hook.form}"] if hook.form else ["as before"] if hook.like else [])
            own.update(["calls"] if len(calls) >= MANY else [])
            own.update("entries" for seen in calls for one in seen if len(parts(one)[1]) >= MANY)
            own.update("None given" for seen in calls if hollow(hook.kind, seen))
            found.update((hook.kind, word) for word in own)
    for (kind, _), number in Counter((hook.kind, hook.on) for hook in hooks).items():
        found.update([(kind, "hooks")] if number >= MANY else [])
    for step in plan.steps:
        if isinstance(step, Retain):
            kept = [grads[step.on] for grads in trace.grads() if grads.get(step.on) is not None]
            own = {word for one in kept for each in tensors(one) for word in form(each)} | there(step.on)
            found.update(("retain_grad", word) for word in own | around | {"called"} if kept)
    return found


def hollow(kind: str, seen: Sequence[Any]) -> bool:
    """Whether a hook was given an undefined gradient."""
    return "forward" not in kind.split("_") and any(None in parts(one)[1] or one is None for one in seen)


class Drawn(NamedTuple):
    """Plans of one clause: in how many of them each pair is met, how many were played, and why others are set aside."""

    pairs: "Counter[Tuple[str, str]]"
    ends: "Counter[str]"


def counted(name: str, number: int, seed: int, contract: Contract) -> Drawn:
    """Draw so many plans of a clause and count what they meet."""
    drawn = Drawn(Counter(), Counter())

    @seeded(seed)
    @settings(ONLY_DRAWS, max_examples=number)
    @given(plan=CLAUSES[name].function.hypothesis._given_kwargs["plan"])  # type: ignore[attr-defined]
    def collect(plan: Plan) -> None:
        try:
            trace = expect(plan, contract)
        except TooLarge as why:
            drawn.ends[type(why).__name__] += 1
            return
        drawn.ends["played"] += 1
        drawn.pairs.update(met(plan, trace))

    with drawing_for(contract):
        collect()
    return drawn


def reason(kind: str, feature: str) -> str:
    """Why a pair may be rare; "" where it may not."""
    return next((why for (one, two), why in APART.items() if fnmatch(kind, one) and fnmatch(feature, two)), "")


class Table(NamedTuple):
    """In how many of 10,000 plans pairs are met, and in those of which clause: where it is most."""

    group: str
    kinds: Sequence[str]
    features: Sequence[str]
    rates: Dict[Tuple[str, str], Tuple[int, str]]

    def rare(self) -> List[str]:
        """The pairs below the bar that nothing excuses."""
        return [
            f"{kind} and {feature}: {rate} of 10,000 plans of {clause}"
            for (kind, feature), (rate, clause) in self.rates.items()
            if rate < BAR and not reason(kind, feature)
        ]


def draw(number: int, seed: int = 0) -> Dict[str, Drawn]:
    """So many plans of each clause that combines everything."""
    contract = contract_for(installed_version())
    return {name: counted(name, number, seed, contract) for name in (*PLAIN, *FORMED)}


def tables(counts: Dict[str, Drawn]) -> List[Table]:
    """The tables of all groups."""
    contract = contract_for(installed_version())
    # Families that are apart have a clause of `together` of their own, most plans of which call their hooks.
    kinds = available(contract, [kind.name for family in TOGETHER for kind in family.kinds])
    made = []
    for group, (clauses, features) in GROUPS.items():
        here = [one for one in features if group != "dtype" or one in contract.dtypes]
        rates = {
            (kind, one): max(
                (10_000 * counts[name].pairs[kind, one] // counts[name].ends["played"], name) for name in clauses
            )
            for kind in kinds
            for one in here
        }
        made.append(Table(group, kinds, here, rates))
    return made


def main() -> int:
    """Print the tables. Returns 1 when a pair is too rare."""
    parser = argparse.ArgumentParser(prog="python -m suites.coverage", description=__doc__)
    parser.add_argument("--plans", type=int, default=10_000, metavar="N", help="plans of each clause (default 10000)")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="where drawing begins (default 0)")
    options = parser.parse_args()
    print(f"in how many of 10,000 plans a kind of hook meets what (torch {installed_version()}, seed {options.seed}):")
    counts = draw(options.plans, options.seed)
    found = tables(counts)
    width = max(map(len, KINDS))
    for table in found:
        print(f"\n{table.group:<{width}}", *(f"{feature:>13}" for feature in table.features))
        for kind in table.kinds:
            print(f"{kind:<{width}}", *(f"{cell(table, kind, feature):>13}" for feature in table.features))
    print("\nset aside:")
    for why in ASIDE:
        print(f"{why.__name__:<{width}}", why.__doc__)
    for name, drawn in counts.items():
        print(f"{name:<30}", ", ".join(f"{times} {why}" for why, times in sorted(drawn.ends.items())))
    rare = [each for table in found for each in table.rare()]
    print(f"\nbar: {BAR} in one of the clauses; * is below for a reason: see APART in suites/coverage.py")
    for each in rare:
        print("too rare:", each)
    return int(bool(rare))


def cell(table: Table, kind: str, feature: str) -> str:
    rate = table.rates[kind, feature][0]
    return f"{rate}{' ' if rate >= BAR else '*' if reason(kind, feature) else '!'}"


assert all((test_grammar, test_values))  # importing them registers their clauses

if __name__ == "__main__":
    sys.exit(main())
