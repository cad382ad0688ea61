"""What was filled in and is not sent yet: what is wrong with it, what a reload leaves of it, and a lost line."""

import re

import pytest
from playwright.sync_api import expect

from evaluation.models import Judgment
from tests.browser.checking import answers_of, come, hand_in
from tests.browser.conftest import PHONE, Visitor
from tests.browser.looking import look
from tests.browser.test_item import draft_of, open_item, wait_for_saved
from tests.browser.walking import fill_by_mouse, leave_by, resize, segment, until
from tests.protocol_factories import make_justification_coding_study

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
SUBMIT = "Submit and continue"


def test_a_reason_is_counted_refused_and_mended(visitor: Visitor) -> None:
    """The count stands beside the field, and what is red is red no longer once it is put right."""
    participant = open_item(visitor)
    page = visitor.page
    fill_by_mouse(page)
    why, count = page.get_by_label("Why?"), page.locator(".typed")
    why.fill("short    one")
    expect(count).to_have_text("9/15")
    expect(page.locator(".missing")).to_have_text("1 answer left")
    leave_by(page.get_by_role("button", name=SUBMIT))
    assert not Judgment.objects.exists()
    assert why.input_value() == "short    one"
    expect(page.get_by_role("alert").locator("a")).to_have_text(["Why? Write at least 15 characters."])
    expect(why).to_have_attribute("aria-invalid", "true")
    look(visitor, "reason_too_short")
    why.fill("short one more")
    expect(why).to_have_attribute("aria-invalid", "true")
    why.fill("short one more!")
    expect(count).to_have_text("15/15")
    expect(why).not_to_have_attribute("aria-invalid", "true")
    expect(page.locator("#judge .error")).to_have_count(0)
    expect(page.locator(".errors")).to_be_hidden()
    expect(page.locator(".missing")).to_have_text("All questions answered")
    leave_by(page.get_by_role("button", name=SUBMIT))
    judgment = Judgment.objects.get()
    assert judgment.rater == participant.rater
    assert re.fullmatch("[0-9a-z]{1,7}", judgment.trace["screen"]["browser"])
    assert "translated" not in judgment.trace["screen"]
    visitor.assert_calm()


def test_each_answer_loses_its_red_by_itself(visitor: Visitor) -> None:
    open_item(visitor)
    page = visitor.page
    leave_by(page.get_by_role("button", name=SUBMIT))
    lines = page.locator(".errors li")
    before = page.locator("#judge [aria-invalid]").count()
    segment(page, "preference", "tie")
    expect(page.locator("#judge [aria-invalid]")).to_have_count(before - 1)
    expect(lines.filter(has_text="Which response is better")).to_have_class("mended")
    expect(lines.filter(has_text="choices are missing")).not_to_have_class("mended")
    fill_by_mouse(page)
    expect(page.locator("#judge .error, #judge .wrong, #judge [aria-invalid]")).to_have_count(0)
    expect(page.locator(".errors")).to_be_hidden()
    visitor.assert_calm()


def test_none_of_these_is_a_tick_of_its_own(visitor: Visitor) -> None:
    study = make_justification_coding_study(main=1, items_per_participant=1)
    come(visitor, study)
    page = visitor.page
    expect(page.locator(".missing")).to_have_text("1 answer left")
    page.get_by_role("button", name=SUBMIT).click()
    expect(page.get_by_role("alert").locator("a")).to_have_text(
        ["What is the reason about? Tick what applies, or “None of these”."]
    )
    none, tone = (
        page.get_by_role("checkbox", name="None of these"),
        page.get_by_role("checkbox", name="Tone", exact=True),
    )
    tone.check()
    expect(page.locator("#judge .error")).to_have_count(0)
    none.check()
    expect(tone).not_to_be_checked()
    tone.check()
    expect(none).not_to_be_checked()
    none.check()
    expect(page.locator(".missing")).to_have_text("All questions answered")
    wait_for_saved(page)
    page.reload()
    expect(none).to_be_checked()
    resize(page, PHONE)
    look(visitor, "none_of_these")
    hand_in(visitor)
    assert [set(each.values()) for each in answers_of(study)] == [{0}]
    visitor.assert_calm()


def test_a_reload_at_once_loses_nothing(visitor: Visitor) -> None:
    participant = open_item(visitor)
    page = visitor.page
    segment(page, "preference", "tie")
    page.get_by_label("Why?").press_sequentially("Both say what was asked")
    # What the leaving page sends comes too late, or never.
    page.route("**/draft/", lambda route: route.abort())
    page.reload()
    page.unroute("**/draft/")
    page.reload()
    expect(page.get_by_label("Why?")).to_have_value("Both say what was asked")
    expect(page.locator("[name=preference][value=tie]")).to_be_checked()
    until(page, lambda: draft_of(participant).get("justification") == "Both say what was asked")


def test_a_submit_without_a_line_waits_for_it(visitor: Visitor) -> None:
    open_item(visitor)
    page = visitor.page
    fill_by_mouse(page)
    wait_for_saved(page)
    address = page.url
    page.context.set_offline(True)
    page.get_by_label("Why?").fill("Written while the line was down.")
    expect(page.get_by_role("status").filter(has_text=re.compile("^Not saved$"))).to_have_count(1)
    page.get_by_role("button", name=SUBMIT).click()
    note = page.get_by_role("alert").filter(has_text="You are offline. Nothing is lost")
    expect(note).to_be_visible()
    assert page.url == address
    look(visitor, "offline")
    kept = page.evaluate("JSON.stringify(sessionStorage)")
    assert "Written while the line was down." in kept
    with page.expect_navigation():
        page.context.set_offline(False)
    assert (
        Judgment.objects.get().answers.get(question="justification").text
        == "Written while the line was down."
    )
    assert "Written" not in page.evaluate("JSON.stringify(sessionStorage)")


def test_a_browser_is_asked_not_to_translate_what_is_judged(visitor: Visitor) -> None:
    """Query, context and responses, and nothing of ours: instructions may be translated, and that is recorded."""
    open_item(visitor)
    page = visitor.page
    exempt = page.locator("[translate=no]")
    said = " ".join(exempt.all_inner_texts())
    for text in (
        "Is coffee good for you?",
        "Do you have high blood pressure?",
        "For most healthy adults",
        "63 mg",
    ):
        assert text in said
    assert page.locator("[translate=no] :is(button, input, label), h1[translate=no]").count() == 0
    assert exempt.evaluate_all(
        "all => all.every(each => each.querySelector('[dir]') || each.matches('bdi, [dir=auto]'))"
    )
    page.evaluate("document.documentElement.classList.add('translated-ltr')")
    fill_by_mouse(page)
    leave_by(page.get_by_role("button", name=SUBMIT))
    assert Judgment.objects.get().trace["screen"]["translated"] is True
