"""Answers are revised in the browser: what is filled in is kept, left alone it changes nothing, submitted it counts."""

import re
from collections.abc import Callable
from dataclasses import dataclass

import pytest
from django.test import Client
from playwright.sync_api import Page

from annotator.models import Assignment, Participant
from annotator.services.admission.entry import enter
from evaluation.models import Judgment, Study
from evaluation.services.answers import load_answers
from tests import protocol_factories
from tests.annotator.pages import Form
from tests.browser import material
from tests.browser.conftest import Visitor
from tests.browser.looking import look
from tests.browser.test_screens import ITEMS_ONLY, PANEL
from tests.browser.walking import leave_by, segment, until
from tests.crowd import before

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def make_pairwise() -> Study:
    return material.make_study("coffee", steps=ITEMS_ONLY)


def choose_the_other(page: Page) -> None:
    segment(page, "preference", "r2")


def rate_lower(page: Page) -> None:
    scale = page.locator(".scale").first
    value = scale.locator("input").last.get_attribute("value")
    name = scale.locator("input").last.get_attribute("name")
    segment(page, name or "", value or "")


def move_the_first_down(page: Page) -> None:
    page.locator(".ranks .down").first.click()


def reword_an_entry(page: Page) -> None:
    page.locator("[data-kind=entries] textarea[name$='.condition']").first.fill("In another year")


@dataclass
class Kind:
    """A protocol with something to do on its page, which the page then shows."""

    make: Callable[[], Study]
    change: Callable[[Page], None]


KINDS = {
    "pairwise": Kind(make_pairwise, choose_the_other),
    "aspects": Kind(protocol_factories.make_aspects_study, rate_lower),
    "ranking": Kind(protocol_factories.make_ranking_study, move_the_first_down),
    "calibration": Kind(protocol_factories.make_condition_calibration_study, reword_an_entry),
}


def submit_one(study: Study) -> tuple[Participant, Assignment]:
    """Somebody who has submitted their first item."""
    participant, client = enter(study, PANEL), Client()
    home, done = f"/p/{participant.token}/", before(participant.token)
    form = Form(client.get(home).content.decode())
    answer = client.post(f"{home}a/{done.pk}/submit/", form.filled_in())
    assert "refused" not in answer["Location"]
    return participant, done


def answers(done: Assignment) -> set[object]:
    return set(load_answers(Judgment.objects.get(assignment=done)))


def shown(page: Page) -> dict[str, str]:
    """What the form would send, without what only counts."""
    sent: dict[str, str] = page.evaluate("Object.fromEntries(new FormData(document.getElementById('judge')))")
    return {name: value for name, value in sent.items() if not name.startswith(("~", "trace."))}


def revise(page: Page) -> None:
    """Opens the answers submitted before; the form is whole only once the page has loaded."""
    page.get_by_role("link", name="Revise a previous answer").click()
    page.wait_for_url("**/again/")
    page.get_by_role("heading", name="Revise your answers").wait_for()


def wait_for_saved(page: Page) -> None:
    page.locator(".saved", has_text=re.compile("^Saved$")).wait_for()


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_answers_are_revised(visitor: Visitor, kind: Kind, request: pytest.FixtureRequest) -> None:
    participant, done = submit_one(kind.make())
    first, page = answers(done), visitor.page
    visitor.go(f"/p/{participant.token}/")
    revise(page)
    recorded = shown(page)
    # Who only looks has begun nothing.
    leave_by(page.get_by_role("link", name="Keep my submitted answers"))
    revise(page)
    assert page.get_by_text("Your submitted answers count until you submit the revised ones").count() == 0
    assert shown(page) == recorded
    kind.change(page)
    wait_for_saved(page)
    changed = shown(page)
    assert changed != recorded
    page.reload()
    assert shown(page) == changed
    page.get_by_text("Your submitted answers count until you submit the revised ones").wait_for()
    look(visitor, f"revising_{request.node.callspec.id}")
    # Left alone, what was submitted counts, and what was begun is still there.
    leave_by(page.get_by_role("link", name="Keep my submitted answers"))
    assert answers(done) == first
    revise(page)
    assert shown(page) == changed
    leave_by(page.get_by_role("button", name="Show my submitted answers"))
    assert shown(page) == recorded
    kind.change(page)
    page.get_by_role("button", name="Submit the revised answers").click()
    page.get_by_text("Your revised answers were saved. Here is what comes next").wait_for()
    judgment = Judgment.objects.get(assignment=done)
    assert answers(done) != first
    assert judgment.trace["revised"] == 1
    assert len(judgment.trace["first_answers"]) == len(first)
    revise(page)
    assert shown(page) == changed
    visitor.assert_calm()


def test_what_was_typed_last_is_kept_as_the_page_is_left(visitor: Visitor) -> None:
    participant, done = submit_one(make_pairwise())
    page = visitor.page
    visitor.go(f"/p/{participant.token}/a/{done.pk}/again/")
    said = "On second thought, the other."
    page.get_by_label("Why?").fill(said)
    leave_by(page.get_by_role("link", name="Keep my submitted answers"))
    page.get_by_role("link", name="Revise a previous answer").wait_for()
    until(page, lambda: Assignment.objects.get(pk=done.pk).draft.get("justification") == said)
    visitor.go(f"/p/{participant.token}/a/{done.pk}/again/")
    assert page.get_by_label("Why?").input_value() == said
    # Cleared on purpose it stays empty, and is refused with what was filled in.
    page.get_by_label("Why?").fill("")
    page.get_by_role("button", name="Submit the revised answers").click()
    page.get_by_role("alert").wait_for()
    page.reload()
    assert page.get_by_label("Why?").input_value() == ""
    assert {answer.text for answer in answers(done)} >= {"It says what was asked, and it says why."}
    visitor.assert_calm()
