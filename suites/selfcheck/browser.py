"""A browser for the tests of the page: the system's, else Playwright's own, else Debian's package."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Error, sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = (
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--disable-gpu",
)
INSTALLING = 300.0
NONE = "no browser: none on PATH, Playwright's own cannot be downloaded, and no Debian package may be installed"


@contextmanager
def browser() -> Iterator[Browser]:
    """Give a headless browser; without one the test is skipped, and under CI=true it fails."""
    path = executable()
    if path is None:
        if os.environ.get("CI") == "true":
            pytest.fail(NONE, pytrace=False)
        pytest.skip(NONE)
    flags = [*FLAGS, "--no-sandbox"] if is_root() else list(FLAGS)
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=path, args=flags)
        try:
            yield found
        finally:
            found.close()


@cache
def executable() -> str | None:
    """Return the path of a Chromium, installing one where that is possible."""
    return on_path() or playwrights_own() or debians()


def on_path() -> str | None:
    """Return the system's Chromium."""
    return next((found for found in map(shutil.which, NAMES) if found), None)


def playwrights_own() -> str | None:
    """Return the Chromium that Playwright downloads, after downloading it if need be."""
    with sync_playwright() as playwright:
        path = playwright.chromium.executable_path
    if not Path(path).exists() and not succeeds(sys.executable, "-m", "playwright", "install", "chromium"):
        return None
    return path if Path(path).exists() and starts(path) else None


def starts(path: str) -> bool:
    """Say whether the browser runs here: a download may miss the system's libraries."""
    flags = ["--no-sandbox"] if is_root() else []
    with sync_playwright() as playwright:
        try:
            playwright.chromium.launch(executable_path=path, args=flags).close()
        except Error:
            return False
    return True


def debians() -> str | None:
    """Return Debian's Chromium after installing it; only root may, and only where there is apt-get."""
    if not is_root() or shutil.which("apt-get") is None:
        return None
    succeeds("apt-get", "update")
    succeeds("apt-get", "install", "--yes", "--no-install-recommends", "chromium")
    return on_path()


def is_root() -> bool:
    """Say whether the tests run as root, where Chromium's sandbox does not."""
    return hasattr(os, "geteuid") and os.geteuid() == 0


def succeeds(*command: str) -> bool:
    """Run a command quietly and say whether it worked."""
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    try:
        done = subprocess.run(command, env=environment, capture_output=True, timeout=INSTALLING)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0
