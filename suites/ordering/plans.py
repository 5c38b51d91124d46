"""Sources of hooks that run around forward, and what ran around the modules of a plan."""

from fixtures.plan.grammar import Plan, hooks_of

CALLED = 'docs: torch.nn.Module.register_{}_hook "called every time {}"'
AROUND = (
    CALLED.format("forward_pre", "before :func:`forward` is invoked"),
    CALLED.format("forward", "after :func:`forward` has computed an output"),
)


def called(plan: Plan, trace):
    """(kind, target) of every call, in order."""
    where = {hook.label: (hook.kind, hook.on) for hook in hooks_of(plan)}
    return [where[label] for label in trace.calls()]
