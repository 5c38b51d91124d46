"""What torch does otherwise than a clause says: declared, ranged, witnessed. One that matches nothing fails."""

from typing import Tuple

from fixtures.clause import Deviation

DEVIATIONS: Tuple[Deviation, ...] = (
    Deviation(
        "the type is lost",
        ">=1.5,<1.7",
        "Every exception from a hook arrives as RuntimeError.",
        facts={"engine_keeps_error_type": False},
        clause="gradient.errors.own_type",
        reason="The engine rethrew the text of a Python exception from C++.",
        ref="https://github.com/pytorch/pytorch/pull/43684",
    ),
    Deviation(
        "the object is lost",
        ">=1.5,<1.7",
        "A new RuntimeError with the same text arrives.",
        value=False,
        clause="gradient.errors.same_object",
        reason="The engine rethrew the text of a Python exception from C++.",
        ref="https://github.com/pytorch/pytorch/pull/43684",
    ),
    Deviation(
        "RuntimeError instead",
        ">=1.5,<1.7",
        "The check of the returned type is heard as RuntimeError.",
        value=[("RuntimeError", None)] * 8,
        clause="gradient.errors.wrong_type",
        reason="The engine rethrew the text of a Python exception from C++.",
        ref="https://github.com/pytorch/pytorch/issues/46088",
    ),
    Deviation(
        "RuntimeError instead",
        ">=1.5,<1.7",
        "The TypeError of the call is heard as RuntimeError.",
        value=["registered", "RuntimeError"],
        clause="gradient.errors.not_callable",
        reason="The engine rethrew the text of a Python exception from C++.",
        ref="https://github.com/pytorch/pytorch/issues/46088",
    ),
    Deviation(
        "called all the same",
        ">=2.8",
        "The hook runs with .grad None or stale although nothing was accumulated.",
        facts={"post_accumulate_sees_none": True},
        clause="gradient.accumulated.undefined",
        reason="The early return for undefined gradients moved out of the accumulation in 2.8; not reported upstream.",
        ref="measured",
    ),
)
