"""A graded preference as a participant sees it, and pasting into the reason for it."""

import pytest

from evaluation.models import Judgment, Study
from tests.browser import material
from tests.browser.checking import (
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
from tests.browser.walking import leave_by, open_tabs_by_keyboard, segment, tab_to_reason
from tests.factories import NO_STEPS, launch

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def make_graded_study(points: int = 7, main: int = 3) -> Study:
    study = material.make_draft(
        "graded", arms=(material.WITHOUT,), steps=NO_STEPS, items_per_participant=main
    )
    study.questions.filter(key="preference").update(options={"tie": "Tie", "form": {"points": points}})
    for number in range(main):
        material.add_item(
            study, study.arms.get(), f"item-{number}", "Is coffee good for you?", material.COFFEE
        )
    return launch(study)


def shown(visitor: Visitor) -> list[str]:
    return visitor.page.locator("[name=preference]").evaluate_all("all => all.map(each => each.value)")


def test_by_mouse_by_key_and_by_keyboard_on_a_phone(visitor: Visitor) -> None:
    study = make_graded_study()
    come(visitor, study)
    page = visitor.page
    first = page.locator(".response h2").first.get_attribute("id").removeprefix("h-")
    assert shown(visitor) == [str(grade) for grade in (range(-3, 4) if first == "r1" else range(3, -4, -1))]
    look(visitor, "pairwise_graded")
    much = page.get_by_role("radiogroup", name="Which response is better overall?").get_by_label(
        "Response 2 much better"
    )
    assert much.get_attribute("value") == shown(visitor)[-1]
    segment(page, "preference", "-2")
    page.get_by_label("Why?").fill("It says what to do.")
    assert page.text_content(".missing") == "All questions answered"
    wait_for_saved(page)
    page.reload()
    assert page.locator("[name=preference]:checked").get_attribute("value") == "-2"
    hand_in(visitor)
    # The seventh key is the last point, and a pasted reason is counted, but not what is moved about within it.
    page.keyboard.press("7")
    last = shown(visitor)[-1]
    assert page.locator("[name=preference]:checked").get_attribute("value") == last
    reason = page.get_by_label("Why?")
    reason.fill("Because it is right.")
    reason.press("Control+a")
    reason.press("Control+x")
    reason.press("Control+v")
    paste = """(area, text) => { const data = new DataTransfer(); data.setData("text/plain", text);
        area.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true })) }"""
    reason.evaluate(paste, "x" * 40)
    reason.evaluate(paste, "y" * 2)
    hand_in(visitor)
    be_on_a_phone(visitor)
    open_tabs_by_keyboard(page)
    choose_by_keyboard(visitor, "preference", shown(visitor)[4])
    fifth = shown(visitor)[4]
    tab_to_reason(page)
    page.keyboard.type("All of it by keyboard.")
    hand_in_by_keyboard(visitor)
    assert page.locator("#code").count()
    judgments = list(Judgment.objects.filter(study=study).order_by("pk"))
    given = [judgment.answers.get(question="preference") for judgment in judgments]
    assert [(answer.label, answer.number) for answer in given] == [
        ("r1", -2),
        ("r2" if int(last) > 0 else "r1", int(last)),
        ("r2" if int(fifth) > 0 else "r1", int(fifth)),
    ]
    assert [judgment.trace["justification"] for judgment in judgments] == [
        [{"pasted": 0}],
        [{"pasted": 42}],
        [{"pasted": 0}],
    ]
    visitor.assert_calm()


def test_what_is_open_is_said(visitor: Visitor) -> None:
    come(visitor, make_graded_study(points=5, main=1))
    visitor.page.get_by_label("Why?").fill("It is the better one.")
    assert_still_open(visitor, "pairwise_graded_open", lines=1)


def test_without_scripts_nothing_is_said_of_pasting(new_visitor) -> None:
    study = make_graded_study(points=5, main=1)
    plain = new_visitor(java_script_enabled=False)
    come(plain, study)
    segment(plain.page, "preference", "0")
    plain.page.get_by_label("Why?").fill("They are the same.")
    leave_by(plain.page.get_by_role("button", name="Submit and continue"))
    assert plain.page.locator("#code").count()
    judgment = Judgment.objects.get(study=study)
    answer = judgment.answers.get(question="preference")
    assert (answer.label, answer.number, judgment.trace) == (
        "tie",
        0,
        {"screen": {"layout": "plain"}},
    )
