"""Text of twice its size on a phone: nothing lies over anything else, and most of the window is for reading."""

from typing import Any

import pytest

from tests.browser import ranking
from tests.browser.checking import come
from tests.browser.conftest import PHONE, Visitor
from tests.browser.looking import Setting, set_up
from tests.browser.walking import resize
from tests.protocol_factories import make_context_validation_study, make_relevance_study

pytestmark = [pytest.mark.browser, pytest.mark.audit, pytest.mark.django_db(transaction=True)]

LARGE = Setting(width=PHONE["width"], text=200)


def test_the_question_scrolls_away(visitor: Visitor) -> None:
    come(visitor, make_context_validation_study())
    page = visitor.page
    resize(page, PHONE)
    question = page.locator(".stays")
    page.locator(".follow-up").last.scroll_into_view_if_needed()
    assert box(question)["y"] >= 0
    set_up(page, LARGE)
    page.locator(".follow-up .check").last.scroll_into_view_if_needed()
    assert box(question)["y"] + box(question)["height"] <= 0
    sticking = box(page.locator(".bar"))["height"] + box(page.locator(".foot"))["height"]
    assert sticking < PHONE["height"] / 2


def test_no_choice_lies_over_what_it_is_about(visitor: Visitor) -> None:
    come(visitor, make_context_validation_study())
    set_up(visitor.page, LARGE)
    for check in visitor.page.locator(".follow-up .check").all():
        asked, choice = box(check.locator("> :first-child")), box(check.locator(".seg"))
        assert asked["y"] + asked["height"] <= choice["y"] or asked["x"] + asked["width"] <= choice["x"]


def test_a_ranked_text_is_as_wide_as_its_card(visitor: Visitor) -> None:
    ranking.come(visitor, n=3, main=1)
    set_up(visitor.page, LARGE)
    for entry in visitor.page.locator(".entry").all():
        assert box(entry.locator(".body"))["width"] > box(entry)["width"] * 0.9
        button = box(entry.locator(".arrows button").last)
        assert button["x"] + button["width"] <= PHONE["width"]


def test_the_points_of_a_scale_stand_below_each_other(visitor: Visitor) -> None:
    come(visitor, make_relevance_study())
    page = visitor.page
    points = page.locator(".seg.words").first.locator("label")
    set_up(page, LARGE)
    assert len({round(box(each)["x"]) for each in points.all()}) == 1
    set_up(page, Setting(width=PHONE["width"]))
    assert len({round(box(each)["y"]) for each in points.all()}) == 1


def box(of: Any) -> dict[str, float]:
    found: dict[str, float] = of.bounding_box()
    return found
