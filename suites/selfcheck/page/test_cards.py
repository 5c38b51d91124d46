"""Cards on the page of the committed verdicts: they say what `rely --api` prints, and the first screen leads there."""

from __future__ import annotations

import pytest

from reports.cards.card import card, shown
from reports.data.atlas import build
from reports.data.verdicts import read_recorded, read_table
from suites.selfcheck.page.pages import CONTRAST, FRAME, OPEN_ALL, SCREENS, Reader, watched
from suites.selfcheck.page.test_axe import violations
from suites.selfcheck.page.test_layout import CUT, SIDEWAYS

LINES = "all => all.map((line) => [line.querySelector('a').hash.slice(1), line.querySelector('a').textContent])"


@pytest.fixture(scope="module")
def atlas():
    """Give what is recorded."""
    return build(read_table(), read_recorded())


@pytest.mark.parametrize("api", ["register_full_backward_hook", "register_multi_grad_hook", "Node.register_hook"])
def test_a_card_says_what_is_printed(browser, recorded, atlas, api):
    with watched(browser) as page:
        for at, column in enumerate(atlas.columns):
            if column.label not in ("1.8", "1.13", "2.15"):
                continue
            wanted = card(atlas, api, atlas.columns[: at + 1], "eager")
            Reader(page, recorded.url).open(f"#card?api={api}&on={column.label}")
            head = page.inner_text("#card-said")
            assert head.startswith(f"{wanted.call}: ")
            assert ("does not have it" in head, f"since torch {wanted.since}." in head) == (
                not wanted.there,
                bool(wanted.since),
            )
            lines = page.eval_on_selector_all(".card li:has(a)", LINES)
            told = [line for line in wanted.lines if line.clause]
            assert [name for name, _ in lines] == [line.clause for line in told]
            assert [says for (_, says), line in zip(lines, told, strict=True) if says not in line.says] == []
            assert page.locator(".card .hint b").count() == len({line.clause + line.says for line in wanted.changes})
            left = page.locator("#view-card .left-out").all_inner_texts()
            assert [int(text.split()[0]) for text in left] == [sum(wanted.left.values())] * bool(wanted.left)


def test_every_card_can_be_drawn_on_every_release(browser, recorded, atlas):
    apis = [api for group in shown(atlas).values() for api in group]
    with watched(browser) as page:
        Reader(page, recorded.url).open("#card")
        drawn = page.evaluate(
            """() => [...byId("card-api").options].map(({ value }) => COLUMNS.map(({ key }) => {
              [byId("card-api").value, byId("card-on").value] = [value, key];
              drawCard();
              return document.querySelectorAll(".card section").length;
            }))"""
        )
        assert page.eval_on_selector_all("#card-api option", "all => all.map((one) => one.value)") == apis
    assert [len(counts) for counts in drawn] == [len(atlas.columns)] * len(apis)
    assert all(counts[-1] > 6 for counts in drawn)


@pytest.mark.parametrize(("width", "height"), [(1280, 800), (390, 844)])
def test_the_cards_are_on_the_first_screen_and_lead_on(browser, recorded, width, height):
    with watched(browser, viewport={"width": width, "height": height}) as page:
        reader = Reader(page, recorded.url).open()
        tops = [
            page.locator(each).first.bounding_box()["y"] for each in (".lead", "#q", ".views a", ".cards a", ".more")
        ]
        assert tops == sorted(tops)
        assert tops[3] < height
        page.locator(".cards a").first.press("Enter")
        page.wait_for_function("() => view === 'card' && document.activeElement.id === 'view-card'")
        assert reader.address() == "#card?api=register_forward_pre_hook"
        page.select_option("#card-api", "register_full_backward_hook")
        page.click("#view-card p a >> text=register_module_full_backward_hook")
        page.wait_for_function("() => byId('card-said').textContent.includes('register_module_full_backward_hook')")
        page.locator(".card a").first.press("Enter")
        assert reader.opened() == "backward.membership.global_everywhere"
        reader.close()
        assert page.evaluate("document.activeElement.closest('.card') !== null")
        page.go_back()  # from the clause
        page.go_back()  # from the card that the other one leads to
        page.wait_for_function("() => byId('card-said').textContent.includes('nn.Module.register_full_backward_hook')")


@pytest.mark.parametrize(("scheme", "width"), SCREENS)
def test_a_card_and_the_first_screen_can_be_read(browser, recorded, scheme, width):
    with watched(browser, color_scheme=scheme, viewport={"width": width, "height": 844}, bypass_csp=True) as page:
        Reader(page, recorded.url).open("#card?api=register_full_backward_hook&on=1.13")
        page.evaluate(OPEN_ALL)
        page.evaluate(FRAME)
        assert page.evaluate(CUT) == []
        assert page.evaluate(SIDEWAYS) <= 0
        assert page.evaluate(CONTRAST) == []
        assert violations(page) == {}
