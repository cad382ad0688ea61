"""Answer pairs as a participant sees them: two answers, compared four times."""

import pytest

from evaluation.models import Judgment
from tests.browser.checking import (
    answers_of,
    assert_still_open,
    be_on_a_phone,
    choose_by_keyboard,
    come,
    hand_in,
    hand_in_by_keyboard,
)
from tests.browser.conftest import Visitor
from tests.browser.looking import look
from tests.browser.test_item import wait_for_saved
from tests.browser.walking import leave_by, segment, tab_to_reason
from tests.protocol_factories import make_answer_pairs_study

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

GIVEN = {"relevance": "r1", "usefulness": "r2", "naturalness": "tie", "overall": "r1"}


def labels(answers: dict) -> dict:
    return {key: value for (key, _), value in answers.items()}


def test_two_items_by_mouse_and_one_by_keyboard(visitor: Visitor) -> None:
    study = make_answer_pairs_study()
    come(visitor, study)
    for _ in range(2):
        for name, value in GIVEN.items():
            segment(visitor.page, name, value)
        assert visitor.page.text_content(".missing") == "All questions answered"
        hand_in(visitor)
    be_on_a_phone(visitor)
    shown = visitor.page.locator("[name=overall]").evaluate_all("all => all.map(each => each.value)")
    for name in GIVEN:
        choose_by_keyboard(visitor, name, shown[2])
    tab_to_reason(visitor.page)
    visitor.page.keyboard.type("It says where.")
    hand_in_by_keyboard(visitor)
    assert visitor.page.locator("#code").count()
    first, second, third = answers_of(study)
    assert labels(first) == labels(second) == GIVEN
    assert labels(third) == dict.fromkeys(GIVEN, shown[2]) | {"justification": "It says where."}
    orders = Judgment.objects.filter(study=study).order_by("id").values_list("shown", flat=True)
    assert list(orders)[2].split(",")[1] == shown[2]
    visitor.assert_calm()


def test_what_was_needed_and_asked_stands_over_the_answers(visitor: Visitor) -> None:
    come(visitor, make_answer_pairs_study(main=1, items_per_participant=1))
    query = visitor.page.locator(".query").inner_text()
    said = [
        "dinosaurs",
        "Pictures and models of dinosaurs in museums near Chicago.",
        "Do you want to see dinosaurs",
    ]
    assert [text in query for text in said] == [True] * 3
    assert sorted(said, key=query.index) == said
    choices = visitor.page.get_by_role("radiogroup", name="Which is more relevant?").locator("label")
    assert [text.split()[0] for text in choices.all_inner_texts()] == ["Response", "Equal", "Response"]
    look(visitor, "answer_pairs")
    visitor.assert_calm()


def test_a_key_answers_the_question_that_has_the_focus_or_the_first_open_one(visitor: Visitor) -> None:
    come(visitor, make_answer_pairs_study(main=1, items_per_participant=1))
    page = visitor.page
    page.keyboard.press("t")
    assert page.locator("[name=relevance][value=tie]").is_checked()
    page.keyboard.press("Tab")
    page.keyboard.press("1")
    assert page.locator("[name=usefulness]:checked").get_attribute("data-key") == "1"
    page.keyboard.press("2")
    assert page.locator("[name=usefulness]:checked").get_attribute("data-key") == "2"
    page.locator(".query").click()
    page.keyboard.press("2")
    assert page.locator("[name=naturalness]:checked").get_attribute("data-key") == "2"
    assert page.locator("[name=overall]:checked").count() == 0
    visitor.assert_calm()


def test_what_is_open_is_said_and_the_rest_is_kept(visitor: Visitor) -> None:
    come(visitor, make_answer_pairs_study(main=1, items_per_participant=1))
    segment(visitor.page, "usefulness", "tie")
    segment(visitor.page, "overall", "r2")
    assert_still_open(visitor, "answer_pairs_open", lines=2)
    assert visitor.page.locator("[name=overall][value=r2]").is_checked()
    assert visitor.page.locator(".ask .error").all_text_contents() == ["Please choose one."] * 2
    visitor.assert_calm()


def test_a_draft_comes_back(visitor: Visitor) -> None:
    come(visitor, make_answer_pairs_study(main=1, items_per_participant=1))
    segment(visitor.page, "naturalness", "tie")
    wait_for_saved(visitor.page)
    visitor.page.reload()
    assert visitor.page.locator("[name=naturalness][value=tie]").is_checked()


def test_without_scripts(new_visitor) -> None:
    study = make_answer_pairs_study(main=1, items_per_participant=1)
    visitor = new_visitor(java_script_enabled=False)
    come(visitor, study)
    for name, value in GIVEN.items():
        segment(visitor.page, name, value)
    leave_by(visitor.page.get_by_role("button", name="Submit and continue"))
    assert visitor.page.locator("#code").count()
    assert [labels(each) for each in answers_of(study)] == [GIVEN]
