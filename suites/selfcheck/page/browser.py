"""The browser that tests the page: the system's Chromium, else Playwright's own. `install.py` fetches one."""

from __future__ import annotations

import os
import shutil
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
NONE = "no browser here: python -m suites.selfcheck.install browser, or install chromium with the system's packages"


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
    """Return the path of a Chromium that is here: the system's, else Playwright's own."""
    return next((found for found in map(shutil.which, NAMES) if found), None) or playwrights_own()


def playwrights_own() -> str | None:
    """Return the Chromium that Playwright downloaded, where it was and where it runs."""
    with sync_playwright() as playwright:
        path = playwright.chromium.executable_path
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


def is_root() -> bool:
    """Say whether the tests run as root, where Chromium's sandbox does not."""
    return hasattr(os, "geteuid") and os.geteuid() == 0
