"""Whether what a trace shows is the structure that a plan wrote down."""

from typing import Any, Sequence, Tuple

from fixtures.plan.grammar import Pack

#: What a trace calls the classes of structures.
CLASSES = {"Fields": "named", "Data": "data"}


def parts(value: Any) -> Tuple[str, Sequence[Any]]:
    """The kind of a structure in a trace, and what is in it; no kind for what is none."""
    if isinstance(value, dict):
        (name, inside), *more = value.items() or [("", ())]
        if name in CLASSES and not more:
            return CLASSES[name], inside
        return "dict", tuple(value.values())
    if isinstance(value, (tuple, list)):
        return type(value).__name__, value
    return "", ()


def fits(item: Any, value: Any) -> bool:
    """Whether a value is what an item of a `Pack` stands for: a number stands for any tensor."""
    if isinstance(item, Pack):
        kind, inside = parts(value)
        return kind == item.kind and all_fit(item.items, inside)
    return parts(value)[0] == "" and value is not None if isinstance(item, int) else value == item


def all_fit(items: Sequence[Any], values: Sequence[Any]) -> bool:
    return len(items) == len(values) and all(map(fits, items, values))


def positional(takes: Any, tensors: int) -> Sequence[Any]:
    """The items of a call that are positional arguments."""
    return range(tensors) if takes is None else takes.items[: len(takes.items) - len(takes.names)]
