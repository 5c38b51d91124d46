"""Valid HTML, by the Nu checker: the page as it is served and as its scripts leave it, in every view; and the badge."""

from __future__ import annotations

import pytest

from reports.__main__ import main
from suites.selfcheck import npm
from suites.selfcheck.page import nu
from suites.selfcheck.page.pages import OPEN_ALL, Reader, watched
from suites.selfcheck.page.test_axe import VIEWS

#: The data of the page is no script that runs, so no policy speaks of it; the checker does not tell them apart.
EMBEDDED = "Inline script violates Content Security Policy (meta tag): blocked by “script-src” directive"
#: What is put into a page that is well, and what the checker must say of it.
BREAKS = {
    '<p id="shown">': "Duplicate ID “shown”.",
    "<ul><p>One.</p></ul>": "Element “p” not allowed as child of element “ul”",
    '<img src="data:,">': "An “img” element must have an “alt” attribute",
    '<p colour="red">One.</p>': "Attribute “colour” not allowed on element “p”",
    '<p aria-hidden="perhaps">One.</p>': "Bad value “perhaps” for attribute “aria-hidden”",
    '<p style="width: red">One.</p>': "CSS: “width”",
    "<section><h2>One</h2>": "Unclosed element “section”.",
}
END = "<noscript><p"


def serialised(page):
    """Return the document as the scripts left it, with all that opens opened and drawn."""
    page.evaluate(OPEN_ALL)
    return "<!doctype html>\n" + page.evaluate("document.documentElement.outerHTML")


@pytest.fixture(scope="module")
def complaints(browser, built, priced, noted, recorded, tmp_path_factory):
    """Give what the checker says of every document; it starts once for all."""
    folder = tmp_path_factory.mktemp("checked")
    served, badge = recorded.path.read_text("utf-8"), folder / "hooks.svg"
    assert main(["badge", "--torch", "2.15", "--out", str(badge)]) == 0
    small = built.path.read_text("utf-8")
    assert small.count(END) == 1
    documents = {"served.html": served, "hooks.svg": badge.read_text("utf-8")}
    documents |= {f"{name}.html": made.path.read_text("utf-8") for name, made in (("costs", priced), ("noted", noted))}
    documents["broken.html"] = small.replace(END, "".join(BREAKS) + END)
    documents["broken.svg"] = documents["hooks.svg"].replace("<rect ", '<rect colour="red" ')
    for view in VIEWS:
        address = "#" + built.having("deviates")[0] if view == "clause" else view
        with watched(browser) as page:
            Reader(page, built.url).open(address)
            documents[f"{name_of(view)}.html"] = serialised(page)
    return nu.messages(documents, folder)


def name_of(view):
    return view.strip("#").partition("?")[0] or "matrix"


@pytest.mark.parametrize("document", ["served", "costs", "noted", *map(name_of, VIEWS)])
def test_the_page_is_valid(complaints, document):
    first, *others = complaints[f"{document}.html"]
    assert first.startswith(EMBEDDED)
    assert '<script type="application/json" id="data">' in first
    assert others == []


def test_the_badge_is_valid(complaints):
    assert complaints["hooks.svg"] == []


@pytest.mark.parametrize("markup", BREAKS)
def test_what_is_wrong_is_found(complaints, markup):
    assert any(message.startswith(BREAKS[markup]) for message in complaints["broken.html"])


def test_a_wrong_badge_is_found(complaints):
    assert complaints["broken.svg"][0].startswith("Attribute “colour” not allowed on element “rect”")


def test_without_a_checker_one_line_says_so(monkeypatch):
    monkeypatch.setitem(npm.VERSIONS, "vnu-jar", "0")
    for value, outcome in (("", pytest.skip.Exception), ("true", pytest.fail.Exception)):
        monkeypatch.setenv("CI", value)
        with pytest.raises(outcome, match="no vnu-jar 0 here: python -m suites"):
            nu.checker()
