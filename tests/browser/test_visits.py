"""One person's second visit: the page between visits, the door, the last page; and a link's button."""

from typing import Any

import pytest
from django.urls import reverse
from playwright.sync_api import Page, expect

from annotator.models import Assignment, Participant
from annotator.panels.services.panel_settings import set_panel
from evaluation.models import Study
from tests.browser import material
from tests.browser.conftest import PHONE, Visitor
from tests.browser.looking import look
from tests.browser.test_screens import ITEMS_ONLY
from tests.browser.walking import fill_by_mouse, resize

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
IDS = "?PROLIFIC_PID=ann&STUDY_ID=there&SESSION_ID="
CODES = {"completed": "FIRST-1", "completed_2": "SECOND-2"}


def make_study(platform: str) -> Study:
    """Four items, two for each of two visits."""
    study = material.make_study(
        "visits",
        steps=ITEMS_ONLY | {"comments": False},
        items_per_participant=2,
        visits=2,
        completion_codes=CODES,
    )
    set_panel(study, platform, {}, "keep")
    return study


def judge_two(page: Page) -> None:
    for _ in range(2):
        judge(page)


def judge(page: Page) -> None:
    page.wait_for_selector("#judge")
    fill_by_mouse(page)
    done = page.locator("#judge").get_attribute("action")
    page.get_by_role("button", name="Submit and continue").click()
    page.wait_for_selector(f'#judge:not([action="{done}"]), .ending')


def judge_too_early(page: Page) -> bool:
    """Submits before every response was opened, where they stand in tabs: the page says which one was not, and sends
    nothing; then judges the item. False where both responses are in view."""
    page.wait_for_selector("#judge")
    page.wait_for_load_state("domcontentloaded")
    has_tabs = page.locator(".tabs .unread").count() > 0
    if has_tabs:
        page.get_by_role("button", name="Submit and continue").click()
        expect(page.locator(".unopened")).to_contain_text("Response 2")
        expect(page.locator(".unopened")).to_be_in_viewport(ratio=1)
    judge(page)
    return has_tabs


def test_the_panel_s_second_visit(visitor: Visitor, live_server: Any) -> None:
    make_study("prolific")
    page, door = visitor.page, live_server.url + reverse("annotator:entry", args=["visits"]) + IDS
    page.goto(f"{door}one")
    expect(page.get_by_text("You can take part up to 2 times")).to_be_visible()
    page.get_by_role("button", name="I agree").click()
    judge_two(page)
    expect(page.get_by_role("heading", name="Visit 1 of 2 is done")).to_be_visible()
    expect(page.locator("#code")).to_have_text("FIRST-1")
    expect(page.get_by_text("take the study once more on Prolific")).to_be_visible()
    look(visitor, "between-visits")

    page.goto(f"{door}two")
    expect(page.get_by_text("Visit 2 of 2")).to_be_visible()
    look(visitor, "second-visit-door")
    page.get_by_role("button", name="Continue").click()
    judge_two(page)
    expect(page.get_by_text("You have done all your 2 visits.")).to_be_visible()
    expect(page.locator("#code")).to_have_text("SECOND-2")
    assert Participant.objects.get().submissions.count() == 2
    assert visitor.complaints == []


def test_items_of_a_second_visit_are_judged_on_a_phone(visitor: Visitor, live_server: Any) -> None:
    make_study("prolific")
    page, door = visitor.page, live_server.url + reverse("annotator:entry", args=["visits"]) + IDS
    resize(page, PHONE)
    page.goto(f"{door}one")
    page.get_by_role("button", name="I agree").click()
    had_tabs = [judge_too_early(page) for _ in range(2)]
    expect(page.locator("#code")).to_have_text("FIRST-1")
    page.goto(f"{door}two")
    page.get_by_role("button", name="Continue").click()
    had_tabs += [judge_too_early(page) for _ in range(2)]
    assert any(had_tabs)
    expect(page.locator("#code")).to_have_text("SECOND-2")
    numbers = Assignment.objects.order_by("reserved_at").values_list("visit_number", flat=True)
    assert list(numbers) == [1, 1, 2, 2]
    assert visitor.complaints == []


def test_the_second_visit_by_a_link(visitor: Visitor, live_server: Any) -> None:
    make_study("link")
    page = visitor.page
    page.goto(live_server.url + reverse("annotator:entry", args=["visits"]))
    page.get_by_role("button", name="I agree").click()
    judge_two(page)
    expect(page.get_by_text("Keep the address of this page")).to_be_visible()
    look(visitor, "between-visits-link")
    page.get_by_role("button", name="Start visit 2").press("Enter")
    judge_two(page)
    expect(page.get_by_text("You have done all your 2 visits.")).to_be_visible()
    assert visitor.complaints == []
