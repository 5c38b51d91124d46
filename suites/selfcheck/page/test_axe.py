"""Every view of the page against axe-core: no violation of WCAG 2.1 AA, wide in light and narrow in dark."""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe

from suites.selfcheck.page.pages import OPEN_ALL, SCREENS, SETTLED, Reader, watched

RULES = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"], "resultTypes": ["violations"]}
VIEWS = ("", "#rely?from=1.9", "#upgrade?from=2.2&to=2.3", "#why", "#build", "#modes", "#disagreements", "clause")


def violations(page):
    """Return what axe-core finds: the rule, and the elements that break it."""
    found = Axe().run(page, options=RULES).response
    assert found["testEngine"]["name"] == "axe-core"
    return {each["id"]: [node["html"][:200] for node in each["nodes"]] for each in found["violations"]}


#: Pages of other kinds: with a chapter on costs, and with warnings and two modes.
OTHERS = [
    ("priced", "#costs"),
    ("noted", ""),
    ("noted", "#?mode=compiled"),
    ("noted", "#rely"),
    ("noted", "#build"),
    ("priced", "#?q=tensor+hook+torch.compile"),
    ("noted", "#upgrade?from=2.14"),
    ("noted", "#upgrade?from=2.16.0a0%2Bgit1a2b3c4+run&from-mode=eager&to-mode=compiled"),
    ("noted", "clause"),
]
on_each_screen = pytest.mark.parametrize(("scheme", "width"), SCREENS)


def opened(page):
    """Open all that opens, and return what axe-core finds then."""
    page.evaluate(SETTLED)  # the drawer fades in
    page.evaluate(OPEN_ALL)
    return violations(page)


@on_each_screen
@pytest.mark.parametrize(("made", "address"), OTHERS)
def test_no_other_page_has_a_violation(browser, request, made, address, scheme, width):
    page_of = request.getfixturevalue(made)
    address = "#" + next(iter(page_of.table)) if address == "clause" else address
    with watched(browser, color_scheme=scheme, viewport={"width": width, "height": 900}, bypass_csp=True) as page:
        Reader(page, page_of.url).open(address)
        assert opened(page) == {}


@on_each_screen
@pytest.mark.parametrize("view", VIEWS)
def test_no_view_has_a_violation(browser, built, view, scheme, width):
    address = "#" + built.having("deviates")[0] if view == "clause" else view
    with watched(browser, color_scheme=scheme, viewport={"width": width, "height": 900}, bypass_csp=True) as page:
        Reader(page, built.url).open(address)
        assert opened(page) == {}


def test_what_is_wrong_is_found(reader):
    """The rule would say so: a field without a name, and text that is too faint."""
    reader.open("#rely")
    reader.page.evaluate("byId('rely-from').closest('label').replaceWith(byId('rely-from'))")
    reader.page.evaluate("document.querySelector('#rely-title').style.color = '#ddd'")
    assert {"select-name", "color-contrast"} <= set(violations(reader.page))
