"""A draft's design: what is typed is seen at once, as participants and judges will; rows are put in order."""

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from playwright.sync_api import FrameLocator, Page, Route, expect

from evaluation.models import Study
from evaluation.services.studies.creation import add_arms, create_study
from tests.browser.conftest import PHONE, WIDE, Visitor
from tests.browser.test_admin import look, press, sign_in
from tests.browser.walking import resize

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def draft(db: Any) -> Study:
    ada = get_user_model().objects.create_user("ada", password="a-long-password-of-ada", is_staff=True)
    study = create_study(slug="design", title="Four answers", protocol="aspects", owner=ada)
    add_arms(study, [{"key": "all", "label": "All items"}])
    return study


def screen(page: Page) -> FrameLocator:
    return page.frame_locator("#preview-screen iframe >> nth=-1")


def row(page: Page, n: int) -> Any:
    return page.locator("#questions-group .inline-related:not(.empty-form)").nth(n)


def prompts(study: Study) -> list[str]:
    return list(study.questions.order_by("position").values_list("prompt", flat=True))


def test_what_is_typed_is_drawn_ordered_and_saved(new_visitor: Callable[..., Visitor], draft: Study) -> None:
    visitor = new_visitor(viewport=WIDE)
    page = visitor.page
    sign_in(visitor)
    visitor.go(f"/studies/{draft.slug}/design/?page=questions")
    page.get_by_text("this is a demo item of its protocol").wait_for()
    expect(screen(page).get_by_role("tab", name="Response 4")).to_be_visible()
    look(visitor, "design-draft", full=False)

    # Typed, and seen on the screen and in the prompt; nothing is stored.
    row(page, 0).locator("summary").click()
    row(page, 0).get_by_label("Prompt").fill("Would you be content with it?")
    expect(screen(page).get_by_text("Would you be content with it?").first).to_be_visible()
    page.get_by_text("Judge's prompt", exact=True).click()
    expect(page.locator("#preview-prompt")).to_contain_text("Would you be content with it?")
    look(visitor, "design-prompt", full=False)
    page.get_by_text("Participant's screen", exact=True).click()

    # What can't be asked is said at its field, and the last good screen stays.
    row(page, 0).get_by_label("To", exact=True).fill("-7")
    expect(row(page, 0).locator(".field-options .live-error")).to_contain_text("low below high")
    expect(page.locator("#preview-notes")).to_contain_text("Not redrawn")
    expect(screen(page).get_by_text("Would you be content with it?").first).to_be_visible()
    row(page, 0).get_by_label("To", exact=True).fill("3")
    expect(page.locator(".live-error")).to_have_count(0)

    # In order: by the button, by keys, by dragging; each is told to who does not see it.
    page.get_by_role("button", name="Down: Acceptability").click()
    told = page.locator("#questions-group [role=status]")
    expect(told).to_contain_text("Acceptability is now at place 2 of 8.")
    handle = page.get_by_role("button", name="Move: Acceptability")
    handle.press("Enter")
    handle.press("ArrowDown")
    handle.press("Escape")
    expect(told).to_contain_text("Acceptability is back at place 2 of 8.")
    last = page.get_by_role("button", name="Move: Any other comments")
    last.scroll_into_view_if_needed()
    box, above = last.bounding_box(), row(page, 6).bounding_box()
    assert box
    assert above
    page.mouse.move(box["x"] + 8, box["y"] + 8)
    page.mouse.down()
    page.mouse.move(box["x"] + 8, box["y"] - 20, steps=4)
    page.mouse.move(box["x"] + 8, row(page, 6).bounding_box()["y"] - 4, steps=6)
    page.mouse.up()
    expect(told).to_contain_text("Any other comments on these answers? is now at place 7 of 8.")

    # A new question, whole at once: its kind's own fields are there.
    page.get_by_role("button", name="Add another Question").click()
    new = row(page, 8)
    new.get_by_label("Prompt").fill("Is it safe?")
    new.get_by_label("Kind").select_option("choice")
    new.get_by_label("Key").fill("safe")
    new.get_by_role("textbox", name="Choices:").fill("yes | Yes, it is\nno | No")
    expect(screen(page).get_by_text("Yes, it is")).to_be_visible()
    assert draft.questions.count() == 8
    press(page, "Save")
    page.get_by_text("Saved.").wait_for()
    assert prompts(draft) == [
        "Factuality", "Would you be content with it?", "Amount of information", "Formality",
        "Which answer do you like best?", "None is acceptable; this is the least bad.",
        "Any other comments on these answers?", "Why is it the best?", "Is it safe?",
    ]  # fmt: skip
    assert draft.questions.get(key="safe").options["form"]["choices"] == ["yes", "no"]

    shown: Any = page.locator("#preview-screen").bounding_box()
    assert shown["height"] > WIDE["height"] / 2

    resize(page, PHONE)
    look(visitor, "design-phone", full=False)
    field: Any = row(page, 8).get_by_label("Key").bounding_box()
    card: Any = row(page, 8).bounding_box()
    assert field["x"] + field["width"] < card["x"] + card["width"]
    page.locator(".narrow-toggle").get_by_text("Preview", exact=True).click()
    expect(screen(page).get_by_role("tab", name="Response 4")).to_be_visible()
    look(visitor, "design-phone-preview", full=False)


def test_of_what_is_typed_while_the_screen_is_drawn_the_last_is_drawn_next(
    new_visitor: Callable[..., Visitor], draft: Study
) -> None:
    visitor = new_visitor(viewport=WIDE)
    page = visitor.page
    sign_in(visitor)
    visitor.go(f"/studies/{draft.slug}/design/?page=questions")
    expect(screen(page).get_by_role("tab", name="Response 4")).to_be_visible()
    page.wait_for_load_state("networkidle")
    before = sum("/design-preview/" in url for url in visitor.requests)
    held: list[Route] = []
    page.route("**/design-preview/*", lambda route: held.append(route))
    page.evaluate(
        "addEventListener('htmx:config:request', () => { window.asked = (window.asked ?? 0) + 1; })"
    )
    row(page, 0).locator("summary").click()
    for n, text in enumerate(("Is it right?", "Is it right and", "Is it right and whole?"), 1):
        row(page, 0).get_by_label("Prompt").fill(text)
        page.wait_for_function("(n) => window.asked === n", arg=n)
    assert len(held) == 1
    page.unroute("**/design-preview/*")  # which lets it go
    expect(screen(page).get_by_text("Is it right and whole?").first).to_be_visible()
    page.wait_for_load_state("networkidle")
    assert sum("/design-preview/" in url for url in visitor.requests) == before + 2
    visitor.assert_calm()


def test_without_scripts_numbers_give_the_order(new_visitor: Callable[..., Visitor], draft: Study) -> None:
    visitor = new_visitor(viewport=WIDE, java_script_enabled=False)
    page = visitor.page
    sign_in(visitor)
    visitor.go(f"/studies/{draft.slug}/design/?page=questions")
    expect(screen(page).get_by_role("heading", name="Response 4")).to_be_visible()
    row(page, 7).locator("summary").click()
    row(page, 7).get_by_label("Position").fill("0")
    row(page, 0).locator("summary").click()
    row(page, 0).get_by_label("Position").fill("3")
    with page.context.expect_page() as opened:
        page.locator("noscript button", has_text="Preview").click()
    opened.value.get_by_role("heading", name="Response 4").wait_for()
    press(page, "Save and add: question")
    page.get_by_text("Saved.").wait_for()
    assert prompts(draft)[0] == "Any other comments on these answers?"
    row(page, 8).get_by_label("Prompt").fill("Is it safe?")
    row(page, 8).get_by_label("Kind").select_option("text")
    row(page, 8).get_by_label("Key").fill("safe")
    row(page, 8).get_by_label("Position").fill("9")
    press(page, "Save")
    assert prompts(draft)[-1] == "Is it safe?"
