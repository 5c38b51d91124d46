"""Which calls run forward hooks, what may come out of one, and edits in place."""

from fixtures.clause import Reading, clause
from fixtures.subject import Subject

FORWARD_HOOK = "docs: torch.nn.Module.register_forward_hook"


@clause(
    "output.calls.forward_runs_none",
    says="Calling module.forward() runs no hook of any kind; calling the module does.",
    source="docs: torch.nn.Module.forward",
    readings=(
        Reading("none", "", "Hooks belong to the call of the module.", value=["call", "pre", "post", "forward"]),
        Reading(
            "never all", "never", "Hooks belong to forward.", value=["call", "pre", "post", "forward", "pre", "post"]
        ),
    ),
    covers=("module_forward.call.direct_forward",),
)
def test_forward_runs_none(subject: Subject) -> None:
    import torch

    calls, module = [], torch.nn.Identity()
    module.register_forward_pre_hook(lambda module, args: calls.append("pre"))
    module.register_forward_hook(lambda module, args, output: calls.append("post"))
    calls.append("call")
    module(torch.ones(1))
    calls.append("forward")
    module.forward(torch.ones(1))
    assert calls == subject.value


@clause(
    "output.calls.super_forward",
    says="super().forward() inside forward does not run the hooks a second time.",
    source="measured",
    readings=(
        Reading("once", "", "One call of the module, one run of its hooks.", value=["post"]),
        Reading("never twice", "never", "Each forward runs them.", value=["post", "post"]),
    ),
    covers=("module_forward.call.super_forward",),
)
def test_super_forward(subject: Subject) -> None:
    import torch

    class Wrapped(torch.nn.Identity):
        def forward(self, x):
            return super().forward(x)

    calls, module = [], Wrapped()
    module.register_forward_hook(lambda module, args, output: calls.append("post"))
    module(torch.ones(1))
    assert calls == subject.value


@clause(
    "output.calls.train_and_eval",
    says="Forward hooks run in training and in evaluation alike, with or without gradients.",
    source="measured",
    readings=(
        Reading(
            "always",
            "",
            "Neither train() nor no_grad() matters.",
            value=[(True, True), (True, False), (False, True), (False, False)],
        ),
        Reading("never training only", "never", "They are for training.", value=[(True, True)]),
    ),
    covers=("module_forward.fwd.train_eval",),
)
def test_train_and_eval(subject: Subject) -> None:
    import torch

    seen, module = [], torch.nn.Linear(1, 1)
    module.register_forward_hook(lambda module, args, output: seen.append((module.training, output.requires_grad)))
    for training in (True, False):
        for grad in (True, False):
            with torch.set_grad_enabled(grad):
                module.train(training)(torch.ones(1))
    assert seen == subject.value


@clause(
    "output.calls.grad_mode",
    says="A hook runs in the caller's grad mode, not in that of a decorated forward.",
    source="measured",
    readings=(
        Reading("the caller's", "", "no_grad around forward ends with forward.", value=[True, False, True]),
        Reading("never forward's", "never", "no_grad around forward covers the hooks.", value=[False, False, False]),
    ),
    covers=("module_forward.fwd.grad_mode",),
)
def test_grad_mode(subject: Subject) -> None:
    import torch

    modes = []

    class Quiet(torch.nn.Module):
        @torch.no_grad()
        def forward(self, x):
            modes.append(torch.is_grad_enabled())
            return x

    module = Quiet()
    module.register_forward_pre_hook(lambda module, args: modes.append(torch.is_grad_enabled()))
    module.register_forward_hook(lambda module, args, output: modes.append(torch.is_grad_enabled()))
    module(torch.ones(1))
    assert modes == subject.value


@clause(
    "output.calls.only_none_keeps",
    says="Only None keeps the output: a value that is merely false replaces it, and None never can.",
    source=FORWARD_HOOK,
    readings=(
        Reading("replace", "", "0, False, '' and () are outputs like any other.", value=[0, False, "", (), "x"]),
        Reading("never keep", "never", "A false value keeps the output.", value=["x", "x", "x", "x", "x"]),
    ),
    covers=("module_forward.fwd.falsy_replaces", "module_forward.fwd.cannot_set_none"),
)
def test_only_none_keeps(subject: Subject) -> None:
    import torch

    seen = []
    for value in (0, False, "", (), None):
        module = torch.nn.Identity()
        module.register_forward_hook(lambda module, args, output, value=value: value)
        seen.append(module("x"))
    assert seen == subject.value


@clause(
    "output.calls.none_output",
    says="An output that is None reaches the hook as None, and may be replaced.",
    source="measured",
    readings=(
        Reading("as None", "", "None is an output like any other.", value=([None], "new")),
        Reading("never skipped", "never", "Without an output there is nothing to hook.", value=([], None)),
    ),
    covers=("module_forward.fwd.none_output",),
)
def test_none_output(subject: Subject) -> None:
    import torch

    seen, module = [], torch.nn.Identity()
    module.register_forward_hook(lambda module, args, output: seen.append(output) or "new")
    assert (seen, module(None)) == subject.value


@clause(
    "output.calls.same_object",
    says="A hook is given the very object that forward returned, and the caller the one a hook returned.",
    source="measured",
    readings=(
        Reading("itself", "", "Nothing is copied.", value=([True, True, True], True)),
        Reading("never a copy", "never", "Containers are rebuilt.", value=([False, False, False], False)),
    ),
    covers=("module_forward.fwd.nontensor_outputs", "module_forward.fwd.any_type"),
)
def test_same_object(subject: Subject) -> None:
    import torch

    same, module, new = [], torch.nn.Identity(), [2]

    def replace(module, args, output):
        same.append(output is args[0])
        return new

    module.register_forward_hook(replace)
    results = [module(value) for value in ([1], {"y": 1}, torch.ones(1))]
    assert (same, all(result is new for result in results)) == subject.value


@clause(
    "output.calls.edited_in_place",
    says="An edit of the output in place by a hook that returns None is seen by the caller.",
    source=FORWARD_HOOK,
    readings=(
        Reading("seen", "", "The hook is given the output itself.", value=([9.0], [1, 9])),
        Reading("never lost", "never", "The hook is given a copy.", value=([1.0], [1])),
    ),
    covers=("module_forward.fwd.output_inplace",),
)
def test_edited_in_place(subject: Subject) -> None:
    import torch

    tensors, lists = torch.nn.Identity(), torch.nn.Identity()
    tensors.register_forward_hook(lambda module, args, output: output.fill_(9) and None)
    lists.register_forward_hook(lambda module, args, output: output.append(9))
    assert (tensors(torch.ones(1)).tolist(), lists([1])) == subject.value


@clause(
    "output.calls.input_edited_late",
    says="An edit of the input in a forward hook comes too late for forward, unless the output is that input.",
    source=("measured", FORWARD_HOOK),
    readings=(
        Reading("late", "", "What was computed stays; what aliases the input changes.", value=[[2.0], [9.0]]),
        Reading("never seen", "never", "No edit of the input reaches the output.", value=[[2.0], [1.0]]),
    ),
    covers=("module_forward.fwd.input_mutation_late", "module_forward.fwd.input_mutation_aliased"),
)
def test_input_edited_late(subject: Subject) -> None:
    import torch

    class Twice(torch.nn.Module):
        def forward(self, x):
            return x * 2

    seen = []
    for module in (Twice(), torch.nn.Identity()):
        module.register_forward_hook(lambda module, args, output: args[0].fill_(9) and None)
        seen.append(module(torch.ones(1)).tolist())
    assert seen == subject.value


@clause(
    "output.calls.arity",
    says="A forward hook written for (module, output) raises TypeError at the call, not when registered.",
    source="measured",
    readings=(
        Reading("three", "", "A hook takes the module, the inputs and the output.", value=["call TypeError"]),
        Reading("never two", "never", "A hook may leave out the inputs.", value=[]),
    ),
    covers=("module_forward.fwd.arity_short",),
)
def test_arity(subject: Subject) -> None:
    import torch

    raised, where, module = [], "register", torch.nn.Identity()
    try:
        module.register_forward_hook(lambda module, output: None)
        where = "call"
        module(torch.ones(1))
    except TypeError as error:
        raised.append(f"{where} {type(error).__name__}")
    assert raised == subject.value
