"""Interrupts work in the self-check even where a shell started it in the background; and the page, built and opened."""

import os
import signal

import pytest

# A pytest that a test starts is no worker of this one: pytest-benchmark would take it for one and refuse.
os.environ.pop("PYTEST_XDIST_WORKER", None)
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="module")
def browser():
    from suites.selfcheck.page import browser  # loaded here: no other test needs a browser

    with browser.browser() as found:
        yield found


@pytest.fixture(scope="session")
def built(tmp_path_factory):
    """Build one page from recorded verdicts of all versions, with two scripts."""
    from suites.selfcheck import synthetic
    from suites.selfcheck.page import pages

    folder = tmp_path_factory.mktemp("page")
    table = synthetic.clauses(80, seed=5, claims=12)
    synthetic.write_verdicts(folder / "verdicts", table)
    synthetic.write_scripts(folder / "upstream", table)
    return pages.build(folder, table)


@pytest.fixture(scope="session")
def recorded(tmp_path_factory):
    """Build the page of the committed verdicts, with what its building cost."""
    from suites.selfcheck.page import pages

    return pages.build_recorded(tmp_path_factory.mktemp("recorded"))


@pytest.fixture(scope="session")
def noted(tmp_path_factory):
    """Build a page with all that is rare."""
    from suites.selfcheck.page import pages

    return pages.build_noted(tmp_path_factory.mktemp("noted"))


@pytest.fixture(scope="session")
def priced(tmp_path_factory):
    """Build a page with a chapter on costs."""
    from suites.selfcheck.page import pages

    return pages.build_priced(tmp_path_factory.mktemp("costs"))


@pytest.fixture
def reader(browser, built):
    from suites.selfcheck.page.pages import Reader, watched

    with watched(browser) as page:
        yield Reader(page, built.url).open()
