"""A tool for authors: what a sentence leaves open, and the only program of its test does not vary.

`python -m suites.selfcheck.author.substitutions CLAUSE` runs the test of a clause that draws no plan once more with
each substitution of the table in place: another network, another form of what is compiled, a subclass of the layer or
the optimizer, a documented switch, another form of the hook function. It prints what becomes of the test. Where it
fails, the sentence must exclude the substitution, or say less: a reader decides. Of a network that the test leaves out
and that fails it prints the reason. A substitution that the test never meets is listed as such: there the sentence was
not tried.
"""

from __future__ import annotations

import argparse
import functools
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from types import ModuleType
from typing import Any
from unittest.mock import patch

from hypothesis import settings
from hypothesis.errors import UnsatisfiedAssumption

from fixtures.clause.clause import CLAUSES, Clause
from fixtures.draw.contract import drawing_for
from fixtures.judge.corpus import by_coverage, drawn_of, pairs
from fixtures.judge.subject import Subject
from fixtures.model.contract import contract_for, installed_version
from fixtures.stages.stage import missing
from suites.examples import import_suites
from suites.modes.forms import FORMS, LEFT_OUT, straight

#: How many examples of a test that draws are tried next to its witness, and of how many they are chosen.
TRIED, OF = 2, 30

#: How the names of networks begin.
NETWORK = "network: "

Met = Callable[[], None]
Patch = Callable[[Met], Any]


# --- networks: what tests call network() builds another form, also where the test draws one -------------------------


def other_network(form: Callable[[Any], Any]) -> Patch:
    """Replace network() where a test finds it, whatever form it asks for."""

    def changed(met: Met, made: Callable[..., Any], *given: Any, **named: Any) -> Any:
        met()
        return made(form, *given[1:], **{name: one for name, one in named.items() if name != "form"})

    return lambda met: in_suites("network", functools.partial(changed, met))


def left_out(clause: Clause) -> dict[str, str]:
    """The forms that a test of several networks does not draw, by their names in the table, each with the reason."""
    drawn = clause.function.hypothesis._given_kwargs.get("form") if clause.draws else None  # type: ignore[attr-defined]
    return {NETWORK + name: why for name, why in LEFT_OUT.get(drawn, {}).items()}


def other_compiled(form: Callable[..., Any]) -> Patch:
    """Replace compiled() where a test finds it."""

    def changed(met: Met, made: Callable[..., Any], net: Any, **options: Any) -> Any:
        met()
        made(net)  # forgets what was compiled
        return form(net, {"backend": "eager", **options})

    return lambda met: in_suites("compiled", functools.partial(changed, met))


@contextmanager
def in_suites(name: str, changed: Callable[..., Any]) -> Iterator[None]:
    """Give every module of suites.modes another function of this name, which is given the one that was there."""
    with ExitStack() as stack:
        for module in list(sys.modules.values()):
            there = getattr(module, "__name__", "").startswith("suites.modes") and name in vars(module)
            if there and callable(getattr(module, name)):
                stack.enter_context(patch.object(module, name, functools.partial(changed, getattr(module, name))))
        yield


# --- classes, switches, hooks ---------------------------------------------------------------------------------------


def subclass(home: Callable[[], ModuleType], name: str, method: str) -> Patch:
    """A subclass in the place of a class of torch: its method calls that of the class."""

    def patched(met: Met) -> Any:
        kind = getattr(home(), name)

        def own(self: Any, *given: Any, **named: Any) -> Any:
            met()
            return getattr(kind, method)(self, *given, **named)

        return patch.object(home(), name, type(name, (kind,), {method: own}))

    return patched


def switch(manager: Callable[[], Any]) -> Patch:
    """A context manager around the whole test."""

    def patched(met: Met) -> Any:
        met()
        return manager()

    return patched


def hook_form(form: Callable[[Any], Any]) -> Patch:
    """Another form of the function wherever a module or a tensor is given a hook."""

    @contextmanager
    def patched(met: Met) -> Iterator[None]:
        import torch

        def changed(register: Any) -> Any:
            @functools.wraps(register)
            def call(self: Any, hook: Any, *given: Any, **named: Any) -> Any:
                met()
                return register(self, form(hook), *given, **named)

            return call

        with ExitStack() as stack:
            for home in (torch.nn.Module, torch.Tensor):
                for name in [one for one in dir(home) if one.startswith("register_") and one.endswith("hook")]:
                    if not name.startswith("register_module"):
                        stack.enter_context(patch.object(home, name, changed(getattr(home, name))))
            yield

    return patched


class Callback:
    """A hook that is an object."""

    def __init__(self, hook: Any) -> None:
        self.hook = hook

    def __call__(self, *given: Any, **named: Any) -> Any:
        return self.hook(*given, **named)

    def method(self, *given: Any, **named: Any) -> Any:
        return self.hook(*given, **named)


def printing(hook: Any) -> Any:
    """A hook that prints first."""

    def call(*given: Any, **named: Any) -> Any:
        print(end="")
        return hook(*given, **named)

    return call


def nn() -> ModuleType:
    import torch

    return torch.nn


def optim() -> ModuleType:
    import torch

    return torch.optim


def torch_compile(call: Any, options: Any) -> Any:
    import torch

    return torch.compile(call, **options)


def in_function(net: Any, options: Any) -> Any:
    def call(*given: Any) -> Any:
        return net(*given)

    return torch_compile(call, options)


def dynamo(**options: Any) -> Any:
    import torch._dynamo

    return torch._dynamo.config.patch(**options)


def anomaly() -> Any:
    import torch

    return torch.autograd.set_detect_anomaly(True)


TABLE: dict[str, Patch] = {
    **{NETWORK + form.__name__: other_network(form) for form in FORMS if form is not straight},
    "compiled: a function": other_compiled(in_function),
    "compiled: the method forward": other_compiled(lambda net, options: torch_compile(net.forward, options)),
    "compiled: dynamic=True": other_compiled(lambda net, options: torch_compile(net, {"dynamic": True, **options})),
    "compiled: aot_eager": other_compiled(lambda net, options: torch_compile(net, {**options, "backend": "aot_eager"})),
    "layer: a subclass of nn.Linear": subclass(nn, "Linear", "forward"),
    "layer: a subclass of nn.Sequential": subclass(nn, "Sequential", "forward"),
    "optimizer: a subclass of SGD": subclass(optim, "SGD", "step"),
    "optimizer: a subclass of Adam": subclass(optim, "Adam", "step"),
    "switch: compiled_autograd": switch(lambda: dynamo(compiled_autograd=True)),
    "switch: capture_scalar_outputs": switch(lambda: dynamo(capture_scalar_outputs=True)),
    "switch: anomaly detection": switch(anomaly),
    "hook: a partial": hook_form(functools.partial),
    "hook: an object": hook_form(Callback),
    "hook: a bound method": hook_form(lambda hook: Callback(hook).method),
    "hook: it prints": hook_form(printing),
}


# --- trying them ----------------------------------------------------------------------------------------------------


def examples(clause: Clause, subject: Subject) -> list[dict[str, Any]]:
    """What the test is called with: its witness, and a few more where it draws."""
    if not clause.draws:
        return [{}]
    witness = clause.witness_for(subject.reading)
    first = [dict(witness)] if isinstance(witness, dict) else []
    with drawing_for(subject.contract):
        drawn = [one for one in drawn_of(clause, OF, True) if one not in first]
    return first + by_coverage(drawn, TRIED, pairs, before=first)


def outcome(clause: Clause, subject: Subject, given: list[dict[str, Any]]) -> str:
    """Return how the test fails on the first example on which it does; "" where it holds."""
    for arguments in given:
        try:
            with drawing_for(subject.contract):
                clause.test()(subject=subject, **arguments)
        except UnsatisfiedAssumption:
            continue
        except Exception as error:  # noqa: BLE001 - whatever a substitution makes torch or the test raise is the answer
            lines = [line for line in str(error).splitlines() if line.strip()]
            return f"{type(error).__name__}: {lines[0] if lines else ''}"[:200]
    return ""


def tried(clause: Clause, names: list[str]) -> dict[str, str | None]:
    """Return how the test fails under each substitution, "" where it holds, None where the test does not meet it."""
    version = installed_version()
    contract, reading = contract_for(version), clause.reading_for(version)
    subject = Subject("eager", "cpu", version, contract, reading, unplayed)
    given = examples(clause, subject)
    found: dict[str, str | None] = {}
    for name in names:
        met: list[bool] = []
        with TABLE[name](lambda met=met: met.append(True)):
            how = outcome(clause, subject, given)
        found[name] = how if met else None
    return found


def unplayed(plan: Any) -> Any:
    raise AssertionError("this clause plays plans: see suites.selfcheck.core.counterexamples")


def main() -> int:
    """Print what becomes of each test; 1 where one fails."""
    parser = argparse.ArgumentParser(prog="python -m suites.selfcheck.author.substitutions", description=__doc__)
    parser.add_argument("clauses", nargs="+", metavar="CLAUSE", help="clauses by their ids or how these begin")
    parser.add_argument("--only", default="", metavar="WORDS", help="substitutions whose name begins so")
    options = parser.parse_args()
    import_suites()
    settings.register_profile("substitutions", deadline=None, database=None)
    settings.load_profile("substitutions")
    asked = [one for one in CLAUSES.values() if one.id.startswith(tuple(options.clauses)) and not one.played]
    asked = [one for one in asked if not missing(one.needs) and not one.isolated]
    names = [name for name in TABLE if name.startswith(options.only)]
    if not asked or not names:
        parser.error("name a clause that this torch has and that draws no plan, or how its id begins")
    failed = 0
    for clause in asked:
        found, out = tried(clause, names), left_out(clause)
        print(clause.stated)
        for name, how in found.items():
            if how and name in out:
                print(f"  left out  {name}: {out[name]}")
            elif how:
                failed += 1
                print(f"  fails  {name}: {how}")
        same = [name for name, how in found.items() if how == ""]
        print(f"  holds with {len(same)}: {'; '.join(same)}" if same else "  none is met by its test")
        sys.stdout.flush()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
