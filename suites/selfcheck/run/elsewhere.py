"""A plug-in of pytest: another default device during each test, and a note of which tests made a tensor by `make`.

`ELSEWHERE` is the file of the notes: a line for each test, its clause and whether it did. A child process writes, too.
"""

import os
from collections.abc import Iterator
from typing import Any

import pytest
import torch

from fixtures.run.judging import cell_of
from fixtures.stages.make import Make

_asked = Make.__getattr__
_tensor = torch.tensor
made: list[str] = []


def _make(self: Make, name: str) -> Any:
    made.append(name)
    return _asked(self, name)


def _of_program(*given: Any, **named: Any) -> Any:
    """Programs of small grammars call it with the device of the run, and the stage of plans does."""
    made.extend(["tensor"] * ("device" in named))
    return _tensor(*given, **named)


Make.__getattr__ = _make  # type: ignore[method-assign]
torch.tensor = _of_program


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item: Any) -> Iterator[None]:
    made.clear()
    torch.set_default_device("meta")
    yield
    torch.set_default_device(None)
    with open(os.environ["ELSEWHERE"], "a", encoding="utf-8") as file:
        file.write(f"{cell_of(item)[0]} {bool(made)}\n")
