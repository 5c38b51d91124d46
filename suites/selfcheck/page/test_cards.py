"""Cards on the page of the committed verdicts: they say what `rely --api` prints, and the first screen leads there."""

from __future__ import annotations

import pytest

from reports.data.atlas import build
from reports.data.verdicts import read_recorded, read_table
from suites.selfcheck.page.pages import CONTRAST, OPEN_ALL, SCREENS, Reader, watched
from suites.selfcheck.page.test_axe import violations
from suites.selfcheck.page.test_layout import CUT, SIDEWAYS
from suites.selfcheck.readers.test_cards import card_of

LINES = "all => all.map((line) => [line.querySelector('a').hash.slice(1), line.querySelector('a').textContent])"
DRAWN = """() => [...byId("card-api").options].map(({ value }) => COLUMNS.map(({ key }) => {
  [byId("card-api").value, byId("card-on").value] = [value, key];
  drawCard();
  return document.querySelectorAll(".card section").length;
}))"""


def test_a_card_says_what_is_printed(browser, recorded):
    atlas = build(read_table(), read_recorded())
    with watched(browser) as page:
        for api in ("register_full_backward_hook", "register_multi_grad_hook"):
            for at, column in enumerate(atlas.columns):
                if column.label not in ("1.8", "1.13", "2.15"):
                    continue
                Reader(page, recorded.url).open(f"#card?api={api}&on={column.label}")
                wanted, head = card_of(atlas, api, atlas.columns[: at + 1]), page.inner_text("#card-said")
                assert head.startswith(f"{wanted.call}: ")
                assert ("does not have it" in head) == (not wanted.there)
                assert head.endswith(f"{wanted.since}.")
                lines = page.eval_on_selector_all(".card li:has(a)", LINES)
                told = [line for line in wanted.lines if line.clause]
                assert [name for name, _ in lines] == [line.clause for line in told]
                assert [says for (_, says), line in zip(lines, told, strict=True) if says not in line.says] == []
                assert page.locator(".card .hint b").count() == len(wanted.before)
                left = page.locator("#view-card .left-out").all_inner_texts()
                assert [int(text.split()[0]) for text in left] == [sum(wanted.left.values())] * bool(wanted.left)
        drawn = page.evaluate(DRAWN)
    assert {len(counts) for counts in drawn} == {len(atlas.columns)}
    assert all(counts[-1] > 6 for counts in drawn)


@pytest.mark.parametrize(("scheme", "width"), SCREENS)
def test_the_first_screen_leads_to_cards_that_can_be_read(browser, recorded, scheme, width):
    with watched(browser, color_scheme=scheme, viewport={"width": width, "height": 800}, bypass_csp=True) as page:
        reader = Reader(page, recorded.url).open()
        order = (".lead", "#q", ".views a", ".cards a", ".more")
        tops = [page.locator(each).first.bounding_box()["y"] for each in order]
        assert tops == sorted(tops)
        assert tops[3] < 800
        page.locator(".cards a").first.press("Enter")
        page.wait_for_function("() => view === 'card' && document.activeElement.id === 'view-card'")
        assert reader.address() == "#card?api=register_forward_hook"
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
        page.evaluate(OPEN_ALL)
        assert (page.evaluate(CUT), page.evaluate(CONTRAST), page.evaluate(SIDEWAYS) > 0) == ([], [], False)
        assert violations(page) == {}
