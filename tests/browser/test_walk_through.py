"""A draft walked through at the width of a computer and in a frame of a phone's, from its page to the end."""

import pytest
from django.contrib.auth import get_user_model

from evaluation.services.studies.creation import create_study
from tests.browser.axe import run_axe
from tests.browser.conftest import PHONE, WIDE, Visitor
from tests.browser.test_admin import SHOTS, press, sign_in
from tests.browser.test_screens import STEPS
from tests.browser.walking import leave_by, resize, take

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def look(visitor: Visitor, name: str) -> None:
    """Sound at both widths, and a picture of each."""
    page = visitor.page
    for width, viewport in (("1280", WIDE), ("390", PHONE)):
        resize(page, viewport)
        found = run_axe(page)
        assert found.violations_count == 0, f"{name} {width}: {found.generate_report()}"
        assert page.evaluate("document.documentElement.scrollWidth") <= viewport["width"], name
        SHOTS.mkdir(exist_ok=True)
        page.screenshot(path=SHOTS / f"walk-{name}-{width}.png")
    resize(page, WIDE)
    visitor.complaints.clear()  # axe itself sets styles, which the policy refuses


def answer(page, *, preference: str) -> None:
    for cell in page.get_by_role("radio", name="Yes").all():
        take(cell)
    take(page.locator(f"[name=preference][value={preference}]"))
    page.get_by_role("textbox", name="Why").first.fill("It says what was asked.")
    leave_by(page.get_by_role("button", name="Submit and continue"))


def test_a_draft_is_walked_through_on_a_computer_and_on_a_phone(visitor: Visitor) -> None:
    owner = get_user_model().objects.create_user("ada", password="a-long-password-of-ada", is_staff=True)
    create_study(slug="coffee", title="Coffee", protocol="pairwise", owner=owner, steps=STEPS)
    page = visitor.page
    sign_in(visitor)
    visitor.go("/studies/coffee/")
    press(page, "Walk through as a participant")
    page.get_by_text("Stations").click()
    page.get_by_text("Missing before launch").click()
    page.get_by_text("The study has no items.").wait_for()
    look(visitor, "entry")
    press(page, "I agree")
    look(visitor, "instructions")
    press(page, "Continue")
    leave_by(page.get_by_role("button", name="Submit and continue"))
    page.get_by_role("heading", name="There is a problem").wait_for()
    look(visitor, "refused")
    answer(page, preference="r1")
    page.get_by_role("heading", name="Our answer").wait_for()
    look(visitor, "feedback")
    press(page, "Continue")
    page.get_by_text("Stations").click()
    page.get_by_role("link", name="Items", exact=True).click()
    page.get_by_text("0 of").or_(page.get_by_text("1 of")).first.wait_for()
    look(visitor, "item")
    page.get_by_role("link", name="Show as on a phone").click()
    page.wait_for_url("**/phone/**")
    phone = page.frame_locator("iframe")
    phone.get_by_role("button", name="Skip this item").click()
    phone.get_by_role("button", name="Skip it").click()
    phone.get_by_text("You skipped an item.").wait_for()
    assert page.frames[1].evaluate("innerWidth") == 390
    page.screenshot(path=SHOTS / "walk-phone.png", full_page=True)
    phone.get_by_role("link", name="Show as on a computer").click()
    page.get_by_text("You skipped an item.").wait_for()
    assert page.frames == [page.main_frame]
    page.get_by_text("Stations").click()
    page.get_by_role("link", name="Failed attention checks").click()
    page.get_by_text("nothing leads back").wait_for()
    look(visitor, "end")
    assert visitor.complaints == []
    assert visitor.strange_requests == []
