"""The screen of ratings by aspect: four answers, their scales, the documents, the best pick."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page

from annotator.models import Participant
from annotator.services.admission.entry import enter
from evaluation.models import Judgment
from tests.browser.conftest import PHONE, WIDE, Visitor
from tests.browser.looking import SHOTS, look, shoot
from tests.browser.rating import chosen, rate_by_keyboard, rate_by_mouse, scales, submit
from tests.browser.test_item import wait_for_saved
from tests.browser.test_screens import DOOR, PANEL
from tests.browser.walking import leave_by, let_pass, press_on, resize, segment, tab_to
from tests.protocol_factories import ITEMS_ONLY, make_aspects_study

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

LONG = "Why is it that " + "water, which everybody knows to be wet and heavy, " * 12 + "can float as a cloud?"


def open_item(visitor: Visitor, **fields: object) -> Page:
    participant = enter(make_aspects_study(**fields), PANEL)
    visitor.go(f"/p/{participant.token}/")
    return visitor.page


def fill_by_mouse(page: Page, best: str = "r2") -> None:
    rate_by_mouse(page)
    segment(page, "best", best)
    page.get_by_label("None is acceptable").check()
    page.get_by_label("Why is it the best?").fill("It says why, and in order.")


def fill_by_keyboard(page: Page) -> dict[str, str]:
    wanted = rate_by_keyboard(page)
    tab_to(page, "[name=best]")
    page.keyboard.press("3")
    tab_to(page, "[name=justification]")
    page.keyboard.type("The others guess.")
    return wanted


def test_looks_right(visitor: Visitor) -> None:
    page = open_item(visitor)
    look(visitor, "aspects")
    page.emulate_media(color_scheme="light")
    for viewport in (WIDE, PHONE):
        resize(page, viewport)
        page.reload()
        # Beside the answers where there is room, else folded away above them.
        assert page.locator("#documents li").first.is_visible() == (viewport == WIDE)
        shoot(page, f"aspects-{viewport['width']}-light")
        rate_by_mouse(page, 1)
        segment(page, "best", "r1")
        page.locator(".rated:visible .about summary").nth(1).click()
        page.screenshot(path=SHOTS / f"aspects_at_work-{viewport['width']}.png")
        if viewport == WIDE:
            # What a page could not send before it was left, the next one sends, and is then loaded once more.
            wait_for_saved(page)
    visitor.assert_calm()


def test_looks_right_with_errors_and_without_documents(visitor: Visitor) -> None:
    page = open_item(visitor, documents=[])
    assert page.locator("#documents").count() == 0
    for tab in page.get_by_role("tab").all():
        tab.click()
    submit(page)
    alert = page.get_by_role("alert")
    assert "Factuality: 4 choices are missing." in alert.text_content()
    assert alert.evaluate("node => node === document.activeElement")
    page.get_by_role("link", name="Factuality").click()
    first = scales(page)[1][0]
    assert page.evaluate("document.activeElement.name || location.hash") in (first, f"#q-{first}")
    look(visitor, "aspects_with_errors")
    visitor.assert_calm()


def test_two_items_by_mouse(visitor: Visitor) -> None:
    page = open_item(visitor)
    for left in (2, 1):
        assert page.locator(".scale").count() == 16
        assert page.text_content(".missing") == "18 answers left"
        rate_by_mouse(page)
        assert page.text_content(".missing") == "2 answers left"
        fill_by_mouse(page)
        assert page.text_content(".missing") == "All questions answered"
        assert Judgment.objects.count() == 2 - left
        submit(page)
    assert page.text_content("#code") == "C1TUA9KX"
    for judgment in Judgment.objects.all():
        answers = {(each.question, each.part): each for each in judgment.answers.all()}
        assert [answers["factuality", f"r{n}"].number for n in range(1, 5)] == [3] * 4
        assert [answers["formality", f"r{n}"].number for n in range(1, 5)] == [1] * 4
        assert answers["best", ""].label == "r2"
        assert answers["none_appropriate", ""].number == 1
    visitor.assert_calm()


def test_an_item_by_keyboard_alone_on_a_phone_s_screen(new_visitor: Callable[..., Visitor]) -> None:
    visitor = new_visitor(viewport=PHONE)
    make_aspects_study(items_per_participant=1)
    visitor.go(DOOR.replace("coffee", "aspects"))
    page = visitor.page
    press_on(page, "button[value=agree]")
    wanted = fill_by_keyboard(page)
    assert chosen(page) == wanted
    assert set(wanted.values()) == {"2", "0"}
    assert page.locator("[name=best]:checked").input_value() != ""
    with page.expect_navigation():
        page.keyboard.press("Control+Enter")
    assert page.text_content("#code") == "C1TUA9KX"
    answers = Judgment.objects.get().answers
    assert answers.get(question="none_appropriate").number == 0
    visitor.assert_calm()


def test_arrows_and_the_key_for_below_zero(visitor: Visitor) -> None:
    page = open_item(visitor)
    name = next(name for name, _ in scales(page) if name.startswith("formality"))
    page.locator(f'[name="{name}"]').first.focus()
    for key, value in (("-", "-1"), ("0", "0"), ("ArrowRight", "1"), ("ArrowLeft", "0"), ("7", "0")):
        page.keyboard.press(key)
        assert chosen(page) == {name: value}
    assert page.locator("[name=best]:checked").count() == 0
    page.get_by_label("Number keys answer").uncheck()
    page.locator(f'[name="{name}"]:checked').focus()
    page.keyboard.press("1")
    assert chosen(page) == {name: "0"}
    visitor.assert_calm()


def test_drafts_survive_a_reload(visitor: Visitor) -> None:
    page = open_item(visitor)
    rate_by_mouse(page, 0)
    page.get_by_label("None is acceptable").check()
    wait_for_saved(page)
    before = chosen(page)
    page.reload()
    assert chosen(page) == before
    assert len(before) == 16
    assert page.get_by_label("None is acceptable").is_checked()
    assert page.text_content(".missing") == "2 answers left"
    visitor.assert_calm()


def test_without_scripts(new_visitor: Callable[..., Visitor]) -> None:
    make_aspects_study(items_per_participant=1)
    visitor = new_visitor(java_script_enabled=False)
    page = visitor.page
    visitor.go(DOOR.replace("coffee", "aspects"))
    leave_by(page.get_by_role("button", name="I agree"))
    assert not page.get_by_role("searchbox").is_visible()
    page.locator("#documents > summary").click()
    assert page.locator("#documents li").count() == 10
    segment(page, scales(page)[0][0], "2")
    leave_by(page.get_by_role("button", name="Submit and continue"))
    assert "Acceptability: 3 choices are missing." in page.text_content("[role=alert]")
    assert chosen(page) == {scales(page)[0][0]: "2"}
    fill_by_mouse(page)
    leave_by(page.get_by_role("button", name="Submit and continue"))
    assert page.text_content("#code") == "C1TUA9KX"


def test_documents_are_searched_in_the_page(visitor: Visitor) -> None:
    page = open_item(visitor)
    box = page.locator("#documents")
    assert box.get_attribute("open") == ""
    search = box.get_by_role("searchbox", name="Search in the documents")
    asked = len(visitor.requests)
    search.fill("horizon LIGHT takes")
    assert box.get_by_role("status").text_content() == "5 matches in 5 of 10 documents"
    assert box.locator("li:visible").count() == 5
    assert box.locator("mark").first.text_content() == "horizon light takes"
    assert box.locator("mark").first.is_visible()
    search.fill("no. 3")
    assert box.get_by_role("status").text_content() == "2 matches in 2 of 10 documents"
    search.fill("Fourth (power")
    assert box.get_by_role("status").text_content() == "No match"
    search.press("Enter")
    search.press("Escape")
    assert box.locator("li:visible").count() == 10
    assert box.locator("mark").count() == 0
    let_pass(page, 800)  # as long as drafts wait
    assert visitor.requests[asked:] == []  # neither sent nor kept as a draft
    link = box.locator("li a").first
    assert link.get_attribute("rel") == "noopener noreferrer"
    assert link.get_attribute("target") == "_blank"
    visitor.assert_calm()


def test_documents_are_one_step_away_on_a_phone(new_visitor: Callable[..., Visitor]) -> None:
    visitor = new_visitor(viewport=PHONE)
    page = open_item(visitor)
    page.get_by_role("tab").nth(2).click()
    page.get_by_role("link", name="Documents").click()
    assert page.locator("#documents li").first.is_visible()
    stays, box = (page.locator(each).bounding_box() for each in (".stays", "#documents"))
    assert stays["y"] + stays["height"] <= box["y"] < 400
    visitor.assert_calm()


@pytest.mark.parametrize("viewport", [WIDE, PHONE], ids=["1280", "390"])
def test_the_question_stays_in_view(visitor: Visitor, viewport: dict[str, int]) -> None:
    resize(visitor.page, viewport)
    page = open_item(visitor)
    question, last = page.locator(".query .prompt"), page.locator("[name=comments]")
    for place in (page.locator(".rated:visible"), last):
        place.scroll_into_view_if_needed()
        box = question.bounding_box()
        assert 0 < box["y"] < 150
        assert page.evaluate("document.documentElement.scrollWidth") <= viewport["width"]


@pytest.mark.parametrize("key", ["Tab", "Shift+Tab"])
@pytest.mark.parametrize("question", ["", LONG], ids=["short", "long"])
def test_focus_is_never_behind_what_sticks(visitor: Visitor, key: str, question: str) -> None:
    resize(visitor.page, PHONE)
    page = open_item(visitor, **({"sky": question} if question else {}))
    hidden = """() => { const at = document.activeElement, box = at.getBoundingClientRect();
        if (at === document.body || at.closest('.foot, .bar, .help, .skip, .stays') || at.id === 'main') return null;
        const across = Math.min(box.width / 2, 20), down = Math.min(box.height - 2, 20);
        const hit = document.elementFromPoint(box.x + across, box.y + down);
        const seen = hit && (at.contains(hit) || hit.contains(at) || hit.closest('label')?.contains(at));
        return seen ? null : at.outerHTML }"""
    page.locator("[name=justification]" if key == "Shift+Tab" else "#documents > summary").first.focus()
    for _ in range(36):
        page.keyboard.press(key)
        assert page.evaluate(hidden) is None


def test_from_consent_to_the_code_with_training(visitor: Visitor) -> None:
    steps = ITEMS_ONLY | {"instructions": True, "training": True}
    make_aspects_study(steps=steps, items_per_participant=1)
    visitor.go(DOOR.replace("coffee", "aspects"))
    page = visitor.page
    leave_by(page.get_by_role("button", name="I agree"))
    assert "How to judge" in page.text_content("main")
    leave_by(page.get_by_role("button", name="Continue"))
    fill_by_mouse(page, best="r2")
    submit(page)
    rows = page.locator(".compare tbody tr").all_inner_texts()
    table = "\n".join(rows)
    assert "Factuality" in table
    assert "3 True throughout" in table
    assert "0 Mostly false or 1 Partly false" in table
    assert "\N{MINUS SIGN}1 Too little" in table
    assert any("None is acceptable" in row and "Yes" in row and "No" in row for row in rows)
    look(visitor, "aspects_feedback")
    leave_by(page.get_by_role("button", name="Continue"))
    fill_by_mouse(page)
    submit(page)
    assert page.text_content("#code") == "C1TUA9KX"
    assert Participant.objects.get().outcome == "completed"
    visitor.assert_calm()


def test_two_answers_are_read_side_by_side(visitor: Visitor) -> None:
    page = open_item(visitor)
    button = page.get_by_role("button", name="Side by side")
    open_panes = page.locator(".pane:not([hidden])")
    button.click()
    one, other = [pane.bounding_box() for pane in open_panes.all()]
    assert one["y"] == other["y"]
    assert one["x"] + one["width"] <= other["x"]
    assert open_panes.locator(".scale:visible").count() == 0
    page.get_by_role("tab").nth(3).click()
    parts = open_panes.evaluate_all("nodes => nodes.map(node => node.id)")
    ids = page.locator(".pane").evaluate_all("nodes => nodes.map(node => node.id)")
    assert parts == [ids[0], ids[3]]
    assert page.locator(".tabs .unread").count() == 1
    button.click()
    assert open_panes.count() == 1
    assert open_panes.locator(".scale:visible").count() == 4
    resize(page, PHONE)
    assert not button.is_visible()
    visitor.assert_calm()
