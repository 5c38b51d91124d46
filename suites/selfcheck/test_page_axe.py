"""Every view of the page against axe-core: no violation of WCAG 2.1 AA, in both themes, wide and narrow."""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe

from suites.selfcheck import synthetic
from suites.selfcheck.pages import Reader, watched

RULES = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"], "resultTypes": ["violations"]}
VIEWS = ("", "#rely?from=1.9", "#upgrade?from=2.2&to=2.3", "#build", "#disagreements", "clause")


def violations(page):
    """Return what axe-core finds: the rule, and the elements that break it."""
    found = Axe().run(page, options=RULES).response
    assert found["testEngine"]["name"] == "axe-core"
    return {each["id"]: [node["html"][:200] for node in each["nodes"]] for each in found["violations"]}


@pytest.mark.parametrize("width", [390, 1440])
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("view", VIEWS)
def test_no_view_has_a_violation(browser, built, tmp_path, view, scheme, width):
    address = "#" + built.having("deviates")[0] if view == "clause" else view
    with watched(browser, color_scheme=scheme, viewport={"width": width, "height": 900}, bypass_csp=True) as page:
        Reader(page, built.url).open(address)
        if view == "#build":
            run = synthetic.write_run(tmp_path / "run.jsonl", built.table, "2.3.0")
            page.set_input_files("#build-file", str(run))
            page.select_option("#build-with", "2.2")
            page.wait_for_selector("#view-build .found")
        page.wait_for_timeout(300)  # the drawer fades in
        page.evaluate("document.querySelectorAll('details').forEach(each => (each.open = true))")
        page.wait_for_timeout(50)
        assert violations(page) == {}


def test_what_is_wrong_is_found(reader):
    """The rule would say so: a field without a name, and text that is too faint."""
    reader.open("#build")
    reader.page.evaluate("document.querySelector('.file').replaceWith(document.querySelector('#build-file'))")
    reader.page.evaluate("document.querySelector('#build-title').style.color = '#ddd'")
    assert {"label", "color-contrast"} <= set(violations(reader.page))
