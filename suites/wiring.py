"""The plug-in of pytest: wires the options, what a session is made of, and the parameter `subject` of every clause."""

import pytest

from fixtures.run import plugin
from suites.deviations import CAUSES


def pytest_addoption(parser: pytest.Parser) -> None:
    plugin.add_options(parser)


def pytest_configure(config: pytest.Config) -> None:
    plugin.configure(config, CAUSES)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "subject" in metafunc.fixturenames:
        clause = getattr(metafunc.function, "_clause", None)
        modes = plugin.modes_of(metafunc.config, clause)
        # pytest cuts what it says of a failure in its last lines, but never the name of the test.
        ids = [f"{clause.id}-{mode}" if clause else mode for mode in modes]
        metafunc.parametrize("subject", modes, ids=ids)
