"""Every screen of participants: no violation that axe knows, nothing wider than the page."""

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from playwright.sync_api import expect

from annotator.models import Participant, Slot, SlotState, Step
from annotator.services.admission.entry import enter
from annotator.services.work.drafts import save_draft
from annotator.services.work.skip import skip
from annotator.services.work.submit import advance_participant, submit
from annotator.visit import Visit
from evaluation.services.studies.launch import pause_study
from tests.browser import material
from tests.browser.conftest import PHONE, Visitor
from tests.browser.looking import look
from tests.browser.walking import leave_by, resize
from tests.crowd import current_assignment, filled_in

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

STEPS = {
    "consent": True,
    "instructions": True,
    "training": True,
    "qualification": {"pass_mark": 1},
    "attention": {"checks": 1, "allowed_failures": 0},
    "comments": True,
}
ITEMS_ONLY = STEPS | {"instructions": False, "training": False, "qualification": None, "attention": None}
PANEL = Visit("prolific", "5f0c", "study", "visit")
DOOR = "/s/coffee/?PROLIFIC_PID=5f0c&STUDY_ID=study&SESSION_ID=visit"


def _home(participant: Participant) -> str:
    return f"/p/{participant.token}/"


def _before(participant: Participant) -> Any:
    participant.refresh_from_db()
    return current_assignment(participant)


def _hand_in(participant: Participant, **values: Any) -> None:
    submit(participant.token, (assignment := _before(participant)).pk, filled_in(assignment, **values))


def _half_done(participant: Participant) -> None:
    """One item judged, the next one half filled in."""
    _hand_in(participant)
    fields = {"preference": "r2", "visible_ms": "9000"}
    cells = [(1, 1, 1), (1, 2, 0), (2, 1, 0), (2, 2, 0), (3, 1, 1), (3, 2, 1)]
    fields |= {f"satisfied.f{row}.r{column}": str(value) for row, column, value in cells}
    save_draft(participant.token, _before(participant).pk, fields)


def entry() -> str:
    material.make_study("coffee", steps=STEPS)
    return "/s/coffee/"


def entry_again() -> str:
    enter(material.make_study("coffee", steps=STEPS), PANEL)
    return DOOR.replace("=visit", "=another")


def instructions() -> str:
    return _home(enter(material.make_study("coffee", steps=STEPS), PANEL))


def training() -> str:
    participant = enter(material.make_study("coffee", steps=STEPS), PANEL)
    advance_participant(participant.token)
    return _home(participant)


def feedback_right() -> str:
    participant = enter(material.make_study("coffee", steps=STEPS), PANEL)
    advance_participant(participant.token)
    satisfied = {f"f{row}.r{column}": "1" for row in range(1, 5) for column in (1, 2)} | {"f1.r2": "0"}
    _hand_in(participant, preference="r1", satisfied=satisfied)
    return _home(participant)


def feedback_wrong() -> str:
    participant = enter(material.make_study("coffee", steps=STEPS), PANEL)
    advance_participant(participant.token)
    _hand_in(participant, preference="tie")
    return _home(participant)


def qualification() -> str:
    return _home(
        enter(material.make_study("coffee", steps=ITEMS_ONLY | {"qualification": {"pass_mark": 1}}), PANEL)
    )


def item_without_context() -> str:
    return _home(enter(material.make_study("coffee", arms=(material.WITHOUT,), steps=ITEMS_ONLY), PANEL))


def item_with_context() -> str:
    participant = enter(material.make_study("coffee", steps=ITEMS_ONLY), PANEL)
    _half_done(participant)
    return _home(participant)


def item_with_ten_follow_ups() -> str:
    return _home(enter(material.make_study("coffee", steps=ITEMS_ONLY, follow_ups=10), PANEL))


def item_lease_ending() -> str:
    participant = enter(material.make_study("coffee", steps=ITEMS_ONLY), PANEL)
    Slot.objects.filter(state="reserved").update(leased_until=timezone.now() + timedelta(seconds=170))
    return _home(participant)


def item_after_a_skip() -> str:
    participant = enter(material.make_study("coffee", steps=ITEMS_ONLY, skips={"per_participant": 1}), PANEL)
    skip(participant.token, _before(participant).pk)
    return _home(participant)


def skipping() -> str:
    participant = enter(material.make_study("coffee", steps=ITEMS_ONLY), PANEL)
    return f"{_home(participant)}a/{_before(participant).pk}/skip/"


def revising() -> str:
    participant = enter(material.make_study("coffee", steps=ITEMS_ONLY), PANEL)
    done = _before(participant)
    _hand_in(participant)
    return f"{_home(participant)}a/{done.pk}/again/"


def waiting() -> str:
    """Two people, two items: the second is done with theirs while the first still holds the other."""
    study = material.make_study("coffee", main=2, steps=ITEMS_ONLY, redundancy=1, items_per_participant=2)
    enter(study, Visit("link"))
    participant = enter(study, PANEL)
    _hand_in(participant)
    return _home(participant)


def waiting_briefly() -> str:
    address = waiting()
    Slot.objects.filter(state=SlotState.RESERVED).update(leased_until=timezone.now() + timedelta(seconds=90))
    return address


def paused() -> str:
    study = material.make_study("coffee", steps=ITEMS_ONLY)
    participant = enter(study, PANEL)
    pause_study(study)
    _hand_in(participant)
    return _home(participant)


def comments() -> str:
    participant = enter(material.make_study("coffee", steps=ITEMS_ONLY, items_per_participant=1), PANEL)
    _hand_in(participant)
    return _home(participant)


def withdrawing() -> str:
    return _home(enter(material.make_study("coffee", steps=ITEMS_ONLY), PANEL)) + "withdraw/"


def nothing_here() -> str:
    return "/p/nobody-has-this-token-here/"


# How a way ends is looked at in test_end_pages.py.
SCREENS: list[Callable[[], str]] = [
    entry, entry_again, instructions, training, feedback_right, feedback_wrong, qualification, item_without_context,
    item_with_context, item_with_ten_follow_ups, item_lease_ending, item_after_a_skip, skipping, revising, waiting,
    waiting_briefly, paused, comments, withdrawing, nothing_here,
]  # fmt: skip


@pytest.mark.parametrize("screen", SCREENS, ids=lambda screen: screen.__name__)
def test_screen(screen: Callable[[], str], visitor: Visitor) -> None:
    visitor.go(screen())
    look(visitor, screen.__name__)
    visitor.complaints = [text for text in visitor.complaints if "404" not in text]
    visitor.assert_calm()


def test_who_waits_on_a_phone_finishes_instead(visitor: Visitor) -> None:
    resize(visitor.page, PHONE)
    visitor.go(waiting())
    page = visitor.page
    expect(page.get_by_role("heading", name="You can finish now")).to_be_visible()
    leave_by(page.get_by_role("button", name="Check again"))
    leave_by(page.get_by_role("button", name="Finish now"))
    expect(page.locator("#comments")).to_be_visible()
    visitor.assert_calm()


def test_screen_with_errors(visitor: Visitor) -> None:
    visitor.go(item_with_context())
    leave_by(visitor.page.get_by_role("button", name="Submit"))
    assert visitor.page.get_by_role("alert").evaluate("node => node === document.activeElement")
    look(visitor, "item_with_errors")
    visitor.assert_calm()


def test_screen_skip_dialog(visitor: Visitor) -> None:
    visitor.go(item_with_context())
    page = visitor.page
    page.get_by_label("Why?").fill("Half a reason")
    page.get_by_role("button", name="Skip this item").click()
    dialog = page.get_by_role("dialog", name="Skip this item?")
    dialog.wait_for()
    assert "You can skip 3 more items" in (dialog.text_content() or "")
    look(visitor, "skip_dialog")
    dialog.get_by_role("button", name="No, go back").click()
    dialog.wait_for(state="hidden")
    assert page.get_by_label("Why?").input_value() == "Half a reason"
    page.get_by_role("button", name="Skip this item").click()
    dialog.wait_for()
    page.keyboard.press("Escape")
    dialog.wait_for(state="hidden")
    page.get_by_role("button", name="Skip this item").press("Enter")
    dialog.wait_for()
    dialog.get_by_role("button", name="Skip it").press("Enter")
    page.get_by_role("button", name="Undo the skip").press("Enter")
    page.get_by_text("Here is the item you skipped.").wait_for()
    assert page.get_by_label("Why?").input_value() == "Half a reason"
    visitor.assert_calm()


def test_on_a_phone_no_skip_stands_beside_the_submit(visitor: Visitor) -> None:
    resize(visitor.page, PHONE)
    visitor.go(item_with_context())
    skip_button = visitor.page.get_by_role("button", name="Skip this item")
    assert skip_button.count() == 1
    assert visitor.page.locator(".foot").get_by_role("button", name="Skip").count() == 0
    assert visitor.page.locator(".foot").get_by_role("button", name="Submit").is_visible()


def test_screen_no_consent(visitor: Visitor) -> None:
    visitor.go(entry() + "?PROLIFIC_PID=5f0c&STUDY_ID=study&SESSION_ID=visit")
    leave_by(visitor.page.get_by_role("button", name="I do not agree"))
    assert "stored" in visitor.page.text_content("main")
    assert not Participant.objects.exists()
    look(visitor, "no_consent")
    visitor.assert_calm()


def test_screen_help_open(visitor: Visitor) -> None:
    visitor.go(item_with_context())
    for details in visitor.page.locator(".help details").all():
        details.locator("summary").click()
    look(visitor, "help_open")
    assert re.search("What is wrong with it", visitor.page.text_content(".help"))
    assert Participant.objects.get().step == Step.ITEMS
    visitor.assert_calm()


def test_screen_patterns(visitor: Visitor, settings: Any) -> None:
    settings.DEBUG = True
    visitor.go("/patterns/")
    look(visitor, "patterns")
    visitor.assert_calm()
