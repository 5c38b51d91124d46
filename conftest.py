"""Wiring only: the options, the recorder, and the `subject` parameter of every clause."""

import os

import pytest

from fixtures import recorder

#: Folders of suites/ that are no part of the contract: they run when they are named.
APART = ("selfcheck", "timing")


def pytest_addoption(parser: pytest.Parser) -> None:
    recorder.add_options(parser)


def pytest_configure(config: pytest.Config) -> None:
    recorder.configure(config)


def pytest_ignore_collect(collection_path: "os.PathLike[str]", config: pytest.Config) -> "bool | None":
    folder = os.path.basename(str(collection_path))
    if folder in APART and not any(folder in str(argument) for argument in config.args):
        return True
    return None


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "subject" in metafunc.fixturenames:
        modes = metafunc.config.pluginmanager.get_plugin("hook-conformance").modes
        metafunc.parametrize("subject", modes, ids=modes)
