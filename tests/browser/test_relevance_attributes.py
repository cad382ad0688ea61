"""The attributes of a relevance draft on the Design page: edited by a researcher, frozen, seen by a participant."""

from typing import Any

import pytest
from django.contrib.auth import get_user_model
from playwright.sync_api import Locator

from annotator.services.admission.entry import enter
from evaluation.models import StudyMember
from evaluation.services.studies.launch import launch_study
from tests.browser.conftest import Visitor
from tests.browser.test_admin import DESK, SHOTS, look, press, sign_in
from tests.browser.test_screens import PANEL
from tests.browser.walking import resize
from tests.protocol_factories import add_protocol_item, make_protocol_draft

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

NARROW = {"width": 1280, "height": 800}
PHONE = {"width": 390, "height": 844}


def attributes(visitor: Visitor) -> Locator:
    """A draft's rows, and of a frozen study what they came to."""
    return visitor.page.locator("#attributes-group, [aria-labelledby=spec-attributes]")


def open_second(visitor: Visitor) -> Locator:
    """The row of the second attribute, opened as one opens it to edit it."""
    row = attributes(visitor).locator(".inline-related:not(.empty-form)").nth(1)
    if not row.get_by_label("Values").is_visible():
        row.get_by_text("Edit", exact=True).click()
    return row


def look_at_all_widths(visitor: Visitor, name: str) -> None:
    """Sound at every width, with a picture of the page and of where the attributes begin."""
    for size in (DESK, NARROW, PHONE):
        resize(visitor.page, size)
        look(visitor, f"attributes-{name}-{size['width']}")
        box = attributes(visitor).bounding_box()
        assert box is not None
        top = {"x": 0, "y": box["y"] - 20, "width": size["width"], "height": 1000}
        path = SHOTS / f"admin-attributes-{name}-close-{size['width']}.png"
        visitor.page.screenshot(path=path, full_page=True, clip=top)  # type: ignore[arg-type]
    resize(visitor.page, DESK)


def test_edited_and_then_frozen(new_visitor: Any) -> None:
    researcher = get_user_model().objects.create_user("ada", password="a-long-password-of-ada", is_staff=True)
    study = make_protocol_draft("relevance", "relevance", systems=("aspen",), items_per_participant=1)
    StudyMember.objects.create(study=study, user=researcher, role="owner")
    named = [{"attribute": "expertise", "answer": ""}]
    add_protocol_item(study, "garden", "How do I start a garden?", ("With a raised bed.",), follow_ups=named)
    visitor: Visitor = new_visitor(viewport=DESK)
    sign_in(visitor)
    page = visitor.page
    visitor.go(f"/studies/{study.slug}/design/")
    look_at_all_widths(visitor, "draft")

    values = open_second(visitor).get_by_label("Values")
    assert values.input_value().splitlines()[0] == "Complete beginner"
    values.fill("Nothing\nNothing")
    press(page, "Save")
    assert attributes(visitor).get_by_text("a value appears twice").is_visible()
    look(visitor, "attributes-wrong")
    again = open_second(visitor)
    again.get_by_label("Values").fill("Nothing at all\nA little\nA lot")
    again.get_by_label("Question").fill("How much do you know about gardens?")
    press(page, "Save")
    page.get_by_text("Saved.").wait_for()
    assert study.attributes.get(key="expertise").values == ["Nothing at all", "A little", "A lot"]

    launch_study(study)
    visitor.go(f"/studies/{study.slug}/design/")
    assert attributes(visitor).get_by_text("A little").is_visible()
    assert attributes(visitor).get_by_role("textbox").count() == 0
    look_at_all_widths(visitor, "frozen")

    participant: Visitor = new_visitor()
    participant.go(f"/p/{enter(study, PANEL).token}/")
    shown = participant.page.text_content("main") or ""
    assert "How much do you know about gardens?" in shown
    assert "Nothing at all" in shown
