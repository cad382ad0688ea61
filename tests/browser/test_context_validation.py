"""Context validation as a participant sees it: a card per follow-up question."""

import pytest

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
from tests.browser.walking import leave_by, segment, tab_to
from tests.factories import launch
from tests.protocol_factories import (
    add_protocol_item,
    make_context_validation_study,
    make_protocol_draft,
)

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

ASKED = ("important", "realistic", "complete", "diverse")


def names(visitor: Visitor) -> list[str]:
    """The fields of the page, in its order."""
    return visitor.page.locator(".follow-up input[value='1']").evaluate_all(
        "all => all.map(each => each.name)"
    )


def fill_by_mouse(visitor: Visitor) -> None:
    for name in names(visitor):
        segment(visitor.page, name, "0" if name.startswith("complete") else "1")


def test_two_items_by_mouse_and_one_by_keyboard(visitor: Visitor) -> None:
    study = make_context_validation_study()
    come(visitor, study)
    for _ in range(2):
        fill_by_mouse(visitor)
        assert visitor.page.text_content(".missing") == "All questions answered"
        hand_in(visitor)
    be_on_a_phone(visitor)
    for name in names(visitor):
        choose_by_keyboard(visitor, name, "0" if name.endswith("f1") else "1")
    tab_to(visitor.page, "textarea[name=comments]")
    visitor.page.keyboard.type("The first one is not worth asking.")
    hand_in_by_keyboard(visitor)
    assert visitor.page.locator("#code").count()
    given = answers_of(study)
    assert len(given) == 3
    for each in given[:2]:
        assert {key for key, _ in each} == set(ASKED)
        assert all(value == (key != "complete") for (key, _), value in each.items())
    assert given[2].pop(("comments", "")) == "The first one is not worth asking."
    assert all(value == (part != "f1") for (_, part), value in given[2].items())
    visitor.assert_calm()


def test_the_checks_stand_with_the_question_that_they_are_about(visitor: Visitor) -> None:
    come(visitor, make_context_validation_study(main=1, items_per_participant=1))
    cards = visitor.page.locator(".follow-up")
    assert cards.count() == 3
    assert cards.nth(1).locator("h2").text_content() == "How many cups do you drink in a day?"
    assert cards.nth(1).locator("li").all_text_contents() == ["None so far", "One or two", "Three or more"]
    groups = cards.nth(1).get_by_role("radiogroup")
    assert groups.count() == 4
    named = cards.nth(1).get_by_role("radiogroup", name="Are the answers realistic? Follow-up question 2")
    assert named.count() == 1
    look(visitor, "context_validation")
    visitor.assert_calm()


def test_what_is_open_is_said_where_it_is(visitor: Visitor) -> None:
    come(visitor, make_context_validation_study(main=1, items_per_participant=1))
    for name in names(visitor):
        if not name.endswith("f2"):
            segment(visitor.page, name, "1")
    assert visitor.page.text_content(".missing") == "4 answers left"
    assert_still_open(visitor, "context_validation_open", lines=4)
    assert visitor.page.locator(".follow-up .error").count() == 4
    assert visitor.page.locator("input[name='diverse.f3'][value='1']").is_checked()
    visitor.assert_calm()


def test_a_draft_comes_back(visitor: Visitor) -> None:
    come(visitor, make_context_validation_study(main=1, items_per_participant=1))
    segment(visitor.page, "realistic.f2", "0")
    wait_for_saved(visitor.page)
    visitor.page.reload()
    assert visitor.page.locator("input[name='realistic.f2'][value='0']").is_checked()
    assert visitor.page.locator(".follow-up input:checked").count() == 1


def test_without_scripts(new_visitor) -> None:
    study = make_context_validation_study(main=1, items_per_participant=1)
    visitor = new_visitor(java_script_enabled=False)
    come(visitor, study)
    leave_by(visitor.page.get_by_role("button", name="Submit and continue"))
    assert "There is a problem with " in visitor.page.text_content("[role=alert]")
    for name in [f"{key}.f{number}" for key in ASKED for number in (1, 2, 3)]:
        segment(visitor.page, name, "1")
    leave_by(visitor.page.get_by_role("button", name="Submit and continue"))
    assert visitor.page.locator("#code").count()
    assert len(answers_of(study)[0]) == 12


def test_questions_and_answers_have_their_lines(visitor: Visitor) -> None:
    study = make_protocol_draft("context_validation", "lines", systems=(), items_per_participant=1)
    question, answer = "Which of these do you drink?\nTea\nCoffee", "Tea,\nblack"
    add_protocol_item(
        study, "lines", "?", (), follow_ups=[{"question": question, "answers": [answer, "None"]}]
    )
    come(visitor, launch(study))
    assert visitor.page.locator(".follow-up h2").inner_text() == question
    assert visitor.page.locator(".answers li").first.inner_text() == answer
