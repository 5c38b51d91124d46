"""Wiring only: the options, the recorder, and the `subject` parameter of every clause."""

import pytest

from fixtures import recorder
from suites.deviations import DEVIATIONS


def pytest_addoption(parser: pytest.Parser) -> None:
    recorder.add_options(parser)


def pytest_configure(config: pytest.Config) -> None:
    recorder.configure(config, DEVIATIONS)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "subject" in metafunc.fixturenames:
        modes = recorder.of(metafunc.config).modes
        metafunc.parametrize("subject", modes, ids=modes)
