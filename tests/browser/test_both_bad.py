"""Four votes as a participant gives them: one response, the other, both are good, both are bad."""

import pytest

from evaluation.models import Judgment, Study
from evaluation.services.answers import load_answers
from tests.browser import material
from tests.browser.checking import be_on_a_phone, choose_by_keyboard, come, hand_in, hand_in_by_keyboard
from tests.browser.conftest import Visitor
from tests.browser.looking import look
from tests.browser.walking import open_tabs_by_keyboard, tab_to_reason
from tests.factories import NO_STEPS, launch
from tests.four_way import FORM

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def make_four_way_study(main: int = 2) -> Study:
    study = material.make_draft(
        "four-way", arms=(material.WITHOUT,), steps=NO_STEPS, items_per_participant=main
    )
    study.questions.filter(key="preference").update(options={"tie": "Tie", **FORM})
    for number in range(main):
        material.add_item(
            study, study.arms.get(), f"item-{number}", "Is coffee good for you?", material.COFFEE
        )
    return launch(study)


def test_by_key_and_by_keyboard_on_a_phone(visitor: Visitor) -> None:
    study = make_four_way_study()
    come(visitor, study)
    page = visitor.page
    values = page.locator("[name=preference]").evaluate_all("all => all.map(each => each.value)")
    assert values[1:3] == ["tie", "both_bad"]
    look(visitor, "pairwise_both_bad")
    assert page.get_by_label("Keys 1, T, B and 2 choose an answer").is_checked()
    asked = page.get_by_role("radiogroup", name="Which response is better overall?")
    assert asked.get_by_label("Both are good").get_attribute("value") == "tie"
    for key, value in (("t", "tie"), ("1", values[0]), ("2", values[3]), ("b", "both_bad")):
        page.keyboard.press(key)
        assert page.locator("[name=preference]:checked").get_attribute("value") == value
    page.get_by_label("Why?").fill("Neither of them says what to do.")
    hand_in(visitor)
    be_on_a_phone(visitor)
    look(visitor, "pairwise_both_bad_phone")
    open_tabs_by_keyboard(page)
    choose_by_keyboard(visitor, "preference", "tie")
    tab_to_reason(page)
    page.keyboard.type("Both of them say what to do.")
    hand_in_by_keyboard(visitor)
    assert page.locator("#code").count()
    judgments = Judgment.objects.filter(study=study).order_by("pk")
    assert [load_answers(each)[0].label for each in judgments] == ["both_bad", "tie"]
