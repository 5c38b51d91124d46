"""Wiring only: the options, the recorder, and the `subject` parameter of every clause."""

import pytest

from fixtures.run import recorder
from suites.deviations import CAUSES


def pytest_addoption(parser: pytest.Parser) -> None:
    recorder.add_options(parser)


def pytest_configure(config: pytest.Config) -> None:
    recorder.configure(config, CAUSES)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "subject" in metafunc.fixturenames:
        modes, clause = recorder.of(metafunc.config).modes, getattr(metafunc.function, "_clause", None)
        # pytest cuts what it says of a failure in its last lines, but never the name of the test.
        ids = [f"{clause.id}-{mode}" if clause else mode for mode in modes]
        metafunc.parametrize("subject", modes, ids=ids)
