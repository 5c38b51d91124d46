"""Edits in place: of the output and of the input, by a forward hook."""

from hypothesis import given
from hypothesis import strategies as st

from fixtures.clause.clause import clause
from fixtures.draw.plans import NUMBERS
from fixtures.judge.subject import Subject
from suites.names import FORWARD_HOOK

ABOUT = "register_forward_hook"
#: What is added in place, one hook after another.
ADDED = st.lists(NUMBERS, min_size=1, max_size=4)


@clause(
    "output.calls.edited_in_place",
    says="Later forward hooks of the module and the caller see what a forward hook changed in the output in place.",
    where=("no backward hook is there", "no hook replaces it"),
    source="measured",
    asked="modify activation with zero_ or mul_ without return does it affect next layer and subsequent callbacks",
    value=True,
    wrong={"never lost": False},
    witness={"shape": "list", "added": [9]},
)
@given(shape=st.sampled_from(["tensor", "list", "dict", "tensor in tuple"]), added=ADDED)
def test_edited_in_place(subject: Subject, shape, added) -> None:
    import torch

    module, seen = torch.nn.Identity(), []
    made = {"tensor": torch.zeros(()), "list": [], "dict": {}, "tensor in tuple": (torch.zeros(()),)}[shape]
    total, edit = {
        "tensor": (lambda held: held.item(), lambda held, by: held.add_(by)),
        "list": (sum, lambda held, by: held.append(by)),
        "dict": (lambda held: sum(held.values()), lambda held, by: held.update({len(held): by})),
        "tensor in tuple": (lambda held: held[0].item(), lambda held, by: held[0].add_(by)),
    }[shape]
    for by in added:

        def hook(module, args, output, by=by):
            seen.append(total(output))
            edit(output, by)

        module.register_forward_hook(hook)
    seen.append(total(module(made)))
    assert seen == [sum(added[:number]) if subject.value else 0 for number in range(len(added) + 1)]


@clause(
    "output.calls.input_edited_late",
    says="A forward hook that changes the input in place changes what forward returned only if both share memory.",
    where="forward returns a tensor",
    source=f'{FORWARD_HOOK} "modify the input inplace but it will not have effect on forward"',
    asked="modify x after layer computed no effect on result unless identity view inplace relu dropout eval",
    value=("same", "view"),
    wrong={"never seen": ()},
    witness={"does": "same", "added": [8]},
)
@given(does=st.sampled_from(["product", "copy", "same", "view"]), added=ADDED)
def test_input_edited_late(subject: Subject, does, added) -> None:
    import torch

    class Does(torch.nn.Module):
        def forward(self, x):
            return {"product": x * 2, "copy": x.clone(), "same": x, "view": x.view(1, 1)[0]}[does]

    module, seen = Does(), []

    def hook(module, args, output):
        seen.append((args[0].item(), output.item()))
        args[0].add_(added[len(seen) - 1])

    for _ in added:
        module.register_forward_hook(hook)
    x = torch.ones(1)
    seen.append((module(x).item(), x.item()))
    edited = [1 + sum(added[:number]) for number in range(len(added) + 1)]
    kept = edited if does in subject.value else [2 if does == "product" else 1] * len(edited)
    assert seen == list(zip(edited[:-1], kept)) + [(kept[-1], edited[-1])]
