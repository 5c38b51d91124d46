"""Small models with hooks, and what there is to say of them."""

from __future__ import annotations

import copy
from collections import OrderedDict
from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import nn

from fixtures.hooked.records import Answer
from fixtures.stages.own import ask
from fixtures.stages.own.ways import WAYS, Way

CHEAP = tuple(WAYS)
Function = Callable[[], Any]


def asked(function: Function, ways: Iterable[str] = ("eager",), **own: Way) -> ask.Asked:
    """Ask a model in these ways, and in ways of the user's."""
    return ask.ask(function, {**dict.fromkeys(ways), **own}, lambda _: None)


def faults(made: ask.Asked, way: str = "") -> dict[tuple[str, str], tuple[str, str]]:
    """What is said of hooks beyond what a way has by nature: (site, kind) -> (verdict, cause)."""
    found = [each for each in made.answers if not each.by_nature and way in ("", each.way)]
    return {(each.hook.site, each.hook.kind) if each.hook else ("", ""): (each.verdict, each.cause) for each in found}


def natures(made: ask.Asked, way: str) -> list[Answer]:
    return [each for each in made.answers if each.by_nature and each.way == way]


def nothing(*_: Any) -> None:
    pass


class Two(nn.Module):
    """Two layers, the second called as its user says."""

    def __init__(self, call: Callable[[Any, Any], Any] = lambda layer, x: layer(x)) -> None:
        super().__init__()
        self.a, self.b, self.call = nn.Linear(4, 4), nn.Linear(4, 4), call
        for each in self.parameters():
            nn.init.constant_(each, 0.25)

    def forward(self, x: Any) -> Any:
        return self.call(self.b, torch.relu(self.a(x)))


class Returns(nn.Module):
    """A layer whose output is put into something else by a module around it."""

    def __init__(self, pack: Callable[[Any], Any], unpack: Callable[[Any], Any]) -> None:
        super().__init__()
        self.packed, self.unpack = Packed(pack), unpack

    def forward(self, x: Any) -> Any:
        return self.unpack(self.packed(x))


class Packed(nn.Module):
    def __init__(self, pack: Callable[[Any], Any]) -> None:
        super().__init__()
        self.inner, self.pack = nn.Linear(4, 4), pack

    def forward(self, x: Any) -> Any:
        return self.pack(self.inner(x))


class ModelOutput(OrderedDict):  # type: ignore[type-arg]
    """As transformers returns it."""


def hooked(model: nn.Module, *inputs: Any, **named: Iterable[str]) -> Function:
    """A function that makes the model anew, with hooks that do nothing: of modules by name, or of all parameters."""
    inputs = inputs or (torch.ones(4, 4),)

    def made() -> Any:
        fresh = copy.deepcopy(model)
        modules = dict(fresh.named_modules())
        for register, sites in named.items():
            for site in sites:
                place = modules[site] if site in modules else dict(fresh.named_parameters())[site]
                getattr(place, register)(nothing)
        return fresh, inputs

    return made
