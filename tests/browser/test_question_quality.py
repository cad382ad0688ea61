"""The screen of question quality: one clarifying question and seven scales from 1 to 10."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page

from annotator.services.admission.entry import enter
from evaluation.models import Judgment
from tests.browser.conftest import PHONE, Visitor
from tests.browser.looking import look
from tests.browser.rating import chosen, rate_by_keyboard, rate_by_mouse, scales, submit
from tests.browser.test_screens import DOOR, PANEL
from tests.browser.walking import leave_by, let_pass, press_on, take
from tests.protocol_factories import make_question_quality_study

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def open_item(visitor: Visitor, **fields: object) -> Page:
    participant = enter(make_question_quality_study(**fields), PANEL)
    visitor.go(f"/p/{participant.token}/")
    return visitor.page


def test_looks_right(visitor: Visitor) -> None:
    page = open_item(visitor)
    look(visitor, "question_quality")
    take(page.locator("input[value='7']").first)
    submit(page)
    assert page.get_by_role("alert").locator("li").count() == 6
    look(visitor, "question_quality_with_errors")
    visitor.assert_calm()


def test_two_items_by_mouse(visitor: Visitor) -> None:
    page = open_item(visitor)
    for _ in range(2):
        assert [len(values) for _, values in scales(page)] == [10] * 7
        assert page.text_content(".missing") == "7 answers left"
        rate_by_mouse(page)
        assert page.text_content(".missing") == "All questions answered"
        submit(page)
    assert page.text_content("#code") == "C1TUA9KX"
    for judgment in Judgment.objects.all():
        assert [answer.number for answer in judgment.answers.all()] == [10] * 7
    visitor.assert_calm()


def test_an_item_by_keyboard_alone_on_a_phone_s_screen(new_visitor: Callable[..., Visitor]) -> None:
    visitor = new_visitor(viewport=PHONE)
    make_question_quality_study(items_per_participant=1)
    visitor.go(DOOR.replace("coffee", "quality"))
    page = visitor.page
    press_on(page, "button[value=agree]")
    wanted = rate_by_keyboard(page)
    assert chosen(page) == wanted == {name: "9" for name, _ in scales(page)}
    for keys in ("0", "10"):  # ten has a key for short, and both its signs
        page.keyboard.press("4")
        let_pass(page, 1000)  # a digit that comes this much later is a number of its own
        for key in keys:
            page.keyboard.press(key)
        assert chosen(page)["overall.r1"] == "10"
    with page.expect_navigation():
        page.keyboard.press("Control+Enter")
    assert page.text_content("#code") == "C1TUA9KX"
    assert Judgment.objects.get().answers.get(question="overall").number == 10
    visitor.assert_calm()


def test_ten_points_are_wide_enough_for_a_finger(new_visitor: Callable[..., Visitor]) -> None:
    visitor = new_visitor(viewport=PHONE)
    page = open_item(visitor)
    boxes = [each.bounding_box() for each in page.locator(".scale").first.locator("label").all()]
    assert len(boxes) == 10
    assert len({round(box["y"]) for box in boxes}) == 2
    assert min(box["width"] for box in boxes) >= 44
    assert min(box["height"] for box in boxes) >= 44
    visitor.assert_calm()


def test_without_scripts(new_visitor: Callable[..., Visitor]) -> None:
    make_question_quality_study(items_per_participant=1)
    visitor = new_visitor(java_script_enabled=False)
    page = visitor.page
    visitor.go(DOOR.replace("coffee", "quality"))
    leave_by(page.get_by_role("button", name="I agree"))
    leave_by(page.get_by_role("button", name="Submit and continue"))
    assert "On topic: 1 choice is missing." in page.text_content("[role=alert]")
    rate_by_mouse(page, 0)
    leave_by(page.get_by_role("button", name="Submit and continue"))
    assert page.text_content("#code") == "C1TUA9KX"
    assert Judgment.objects.get().answers.filter(number=1).count() == 7
