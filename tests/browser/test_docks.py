"""Long responses: tabs are all opened, the dock folds and lets go, and keys lead through every scale to the choice."""

import pytest

from evaluation.models import Judgment
from tests.browser import material
from tests.browser.axe import run_axe
from tests.browser.conftest import FULL_SCREEN as PHONE
from tests.browser.conftest import WIDE as LAPTOP
from tests.browser.conftest import Visitor
from tests.browser.long_items import aspects, pairwise
from tests.browser.test_item import wait_for_saved
from tests.browser.walking import resize, until

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

# Of all that a selector finds: what is not wholly on the screen, or lies under something else.
HIDDEN = """selectors => selectors.flatMap(selector => {
    const found = [...document.querySelectorAll(`#judge :is(${selector})`)]
        .map(node => node.closest('label') ?? node);
    if (!found.length) return [`${selector}: not there`];
    return found.filter(node => {
        const box = node.getBoundingClientRect();
        const hit = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);
        const isOn = box.top >= 0 && box.bottom <= innerHeight && box.left >= 0 && box.right <= innerWidth;
        return !(isOn && box.height > 20 && (node.contains(hit) || hit?.contains(node)));
    }).map(node => `${selector}: ${JSON.stringify(node.getBoundingClientRect())}`);
})"""


def test_both_tabs_are_opened_before_submit_and_the_trace_tells(visitor: Visitor) -> None:
    path = pairwise(material.WITHOUT)
    page = visitor.page
    resize(page, PHONE)
    visitor.go(path)
    first, second = page.get_by_role("tab").all()
    assert (first.get_attribute("aria-selected"), second.get_attribute("aria-label")) == (
        "true",
        "Response 2, not opened yet",
    )
    page.evaluate("scrollTo(0, 400)")
    page.keyboard.press("2")
    assert page.locator("[name=preference]:checked").count() == 1
    chosen = page.locator("[name=preference]:checked").input_value()
    page.locator("textarea[name=justification]").click()
    page.keyboard.type("Not 1, n or t, that is.")
    assert page.locator("[name=preference]:checked").input_value() == chosen
    assert page.evaluate("scrollY") == 400
    page.get_by_role("button", name="Submit and continue").click()
    assert page.get_by_role("alert").text_content() == "Open Response 2 before you submit."
    assert second.evaluate("node => node === document.activeElement")
    assert not any("/submit/" in url for url in visitor.requests)
    page.keyboard.press("ArrowRight")
    assert page.get_by_role("tabpanel").get_attribute("aria-labelledby") == second.get_attribute("id")
    assert not page.get_by_role("alert").is_visible()
    # A response that is new is read from its beginning, the other one on where it was left.
    panel, bar = page.get_by_role("tabpanel").bounding_box(), page.locator(".tabs").bounding_box()
    assert abs(panel["y"] - bar["y"] - bar["height"]) < 2
    first.click()
    assert page.evaluate("scrollY") == 400
    assert run_axe(page).violations_count == 0
    # What was opened is opened, also when the page is loaded once more.
    wait_for_saved(page)
    page.reload()
    assert page.locator(".tabs .unread").count() == 0
    with page.expect_navigation():
        page.get_by_role("button", name="Submit and continue").click()
    resize(page, LAPTOP)
    page.reload()
    assert page.get_by_role("tab").count() == 0
    page.keyboard.press("t")
    page.locator("textarea[name=justification]").fill("They are much alike.")
    with page.expect_navigation():
        page.get_by_role("button", name="Submit and continue").click()
    tabbed, wide = Judgment.objects.order_by("pk")
    for judgment, layout in ((tabbed, "tabs"), (wide, "columns")):
        screen = judgment.trace["screen"]
        assert (screen["layout"], screen["docked"]) == (layout, True)
        assert screen["in_view"].keys() == {"r1", "r2"}
        assert all(0 < ms <= judgment.duration_ms for ms in screen["in_view"].values())
    assert tabbed.trace["screen"]["first"] == tabbed.shown.split(",")[0]
    visitor.assert_calm()


def test_the_dock_folds_lets_go_and_keeps_clear_of_a_keyboard(visitor: Visitor) -> None:
    path = pairwise(material.WITH)
    page = visitor.page
    resize(page, PHONE)
    visitor.go(path)
    dock, why = page.locator(".dock"), page.locator("textarea[name=justification]")
    position = "() => getComputedStyle(document.querySelector('.dock')).position"
    page.evaluate("scrollTo(0, 300)")
    before = page.locator(".pane .body p").first.bounding_box()
    fold = dock.get_by_role("button", name="Why?")
    fold.click()
    assert not why.is_visible()
    assert dock.bounding_box()["height"] < 100
    assert page.locator(".pane .body p").first.bounding_box() == before
    page.keyboard.press("t")
    assert page.evaluate(HIDDEN, ["[name=preference]"]) == []
    wait_for_saved(page)
    page.reload()
    assert not why.is_visible()
    # What is open is listed, and one press leads there, also into the folded dock.
    page.locator(".missing").click()
    listed = page.locator(".open-answers").get_by_role("button")
    assert listed.all_inner_texts()[-1] == "Why?"
    listed.last.click()
    assert why.evaluate("node => node === document.activeElement")
    assert fold.get_attribute("aria-expanded") == "true"
    # A window that a keyboard has made smaller: the field that is written in stays in sight.
    resize(page, {"width": 390, "height": 450})
    box = why.bounding_box()
    assert 0 < box["y"] < box["y"] + box["height"] <= 450
    resize(page, PHONE)
    why.evaluate("node => node.blur()")
    until(page, lambda: page.evaluate(position) == "sticky")
    # Very large text would cover more than a third.
    page.evaluate("() => { document.documentElement.style.fontSize = '200%' }")
    until(page, lambda: page.evaluate(position) != "sticky")
    visitor.assert_calm()


def test_next_by_key_leads_through_all_scales_to_the_choice(visitor: Visitor) -> None:
    path = aspects()
    page = visitor.page
    resize(page, LAPTOP)
    visitor.go(path)
    for number in range(4):
        for _ in range(4):
            page.keyboard.press("n")
            page.keyboard.press("1")
        states = page.get_by_role("tab").locator(".state").all_text_contents()
        assert states == ["\N{CHECK MARK}"] * (number + 1) + ["0/4"] * (3 - number)
        assert page.locator(".pane:not([hidden])").count() == 1
    page.keyboard.press("n")
    page.keyboard.press("3")
    page.keyboard.press("n")
    page.keyboard.type("n is 1 letter, and nothing else.")
    assert page.locator("textarea[name=justification]").input_value() == "n is 1 letter, and nothing else."
    assert page.locator(".missing").text_content() == "All questions answered"
    assert run_axe(page).violations_count == 0
    with page.expect_navigation():
        page.keyboard.press("Control+Enter")
    screen = Judgment.objects.get().trace["screen"]
    assert (screen["layout"], len(screen["in_view"])) == ("tabs", 4)
    visitor.assert_calm()
