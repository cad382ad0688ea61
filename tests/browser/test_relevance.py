"""The screen of relevance by attribute value, in both its shapes."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page

from annotator.services.admission.entry import enter
from evaluation.models import Judgment
from tests.browser.conftest import PHONE, Visitor
from tests.browser.looking import look
from tests.browser.rating import chosen, rate_by_keyboard, rate_by_mouse, scales, submit
from tests.browser.test_screens import DOOR, PANEL
from tests.browser.walking import leave_by, press_on, segment, take
from tests.protocol_factories import make_relevance_study

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

ALL = ["f1.v1", "f1.v2", "f1.v3", "f2.v1", "f2.v2", "f3.v1", "f3.v2", "f3.v3"]


def open_item(visitor: Visitor, **fields: object) -> Page:
    participant = enter(make_relevance_study(**fields), PANEL)
    visitor.go(f"/p/{participant.token}/")
    return visitor.page


@pytest.mark.parametrize("chosen_value", [False, True], ids=["all", "one"])
def test_looks_right(visitor: Visitor, chosen_value: bool) -> None:
    page = open_item(visitor, chosen=chosen_value)
    shape = "one_value" if chosen_value else "all_values"
    look(visitor, f"relevance_{shape}")
    submit(page)
    n = 1 if chosen_value else 8
    assert f"{n} choice{'s are' if n > 1 else ' is'} missing" in page.text_content("[role=alert]")
    look(visitor, f"relevance_{shape}_with_errors")
    visitor.assert_calm()


def test_two_items_by_mouse(visitor: Visitor) -> None:
    page = open_item(visitor)
    for _ in range(2):
        assert [name for name, _ in scales(page)] == [f"relevance.{part}" for part in ALL]
        assert page.text_content(".missing") == "8 answers left"
        for n, part in enumerate(ALL):
            segment(page, f"relevance.{part}", str(n % 5 + 1))
        submit(page)
    assert page.text_content("#code") == "C1TUA9KX"
    for judgment in Judgment.objects.all():
        given = {answer.part: answer.number for answer in judgment.answers.all()}
        assert given == {part: n % 5 + 1 for n, part in enumerate(ALL)}
    visitor.assert_calm()


def test_the_value_that_a_response_was_written_for(visitor: Visitor) -> None:
    page = open_item(visitor, chosen=True, items_per_participant=1)
    assert [name for name, _ in scales(page)] == ["relevance.f1.v1"]
    group = page.get_by_role(
        "radiogroup", name="How much do you know about the subject? Imagine: Nothing", exact=True
    )
    take(group.get_by_role("radio", name="4 Well", exact=True))
    submit(page)
    assert page.text_content("#code") == "C1TUA9KX"
    assert Judgment.objects.get().answers.get().number == 4
    visitor.assert_calm()


def test_an_item_by_keyboard_alone_on_a_phone_s_screen(new_visitor: Callable[..., Visitor]) -> None:
    visitor = new_visitor(viewport=PHONE)
    make_relevance_study(items_per_participant=1)
    visitor.go(DOOR.replace("coffee", "relevance"))
    page = visitor.page
    press_on(page, "button[value=agree]")
    wanted = rate_by_keyboard(page)
    assert chosen(page) == wanted == {f"relevance.{part}": "4" for part in ALL}
    with page.expect_navigation():
        page.keyboard.press("Control+Enter")
    assert page.text_content("#code") == "C1TUA9KX"
    visitor.assert_calm()


def test_without_scripts(new_visitor: Callable[..., Visitor]) -> None:
    make_relevance_study(items_per_participant=1)
    visitor = new_visitor(java_script_enabled=False)
    page = visitor.page
    visitor.go(DOOR.replace("coffee", "relevance"))
    leave_by(page.get_by_role("button", name="I agree"))
    rate_by_mouse(page, 0)
    leave_by(page.get_by_role("button", name="Submit and continue"))
    assert page.text_content("#code") == "C1TUA9KX"
    assert Judgment.objects.get().answers.filter(number=1).count() == 8
