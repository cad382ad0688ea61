"""The panel's page as a researcher works on it: what they see, and every form behind it."""

import uuid
from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth import get_user_model
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotator.models import (
    KnownMismatch,
    Panel,
    PanelAct,
    PanelRecord,
    Submission,
    UnreadArrivals,
)
from annotator.panels import tasks
from annotator.panels.services.reading_jobs import begin_reading
from evaluation.models import Job
from tests.annotator.panels.conftest import prolific  # noqa: F401 - a fixture
from tests.annotator.panels.panel_rows import (
    act,
    fail_check,
    finished_long_ago,
    make_panel_study,
    record,
    work,
)
from tests.browser.axe import run_axe
from tests.browser.conftest import PHONE, WIDE, Visitor
from tests.browser.walking import leave_by, resize

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
SHOTS = Path(__file__).resolve().parent.parent.parent / "screenshots"
# Ids as long as the panel's are.
NAMES = [f"{n:x}" for n in range(0x5F3A9C1E2B7D4A6881E0C3D1, 0x5F3A9C1E2B7D4A6881E0C3D1 + 12)]


@pytest.fixture
def panel(db: Any) -> Panel:
    """Eleven visits: four to approve, and something to see to about each of the others."""
    owner = get_user_model().objects.create_user("ada", password="a-long-password-of-ada", is_staff=True)
    panel = make_panel_study("answers", owner=owner, places=16, redundancy=7)
    for name in NAMES[:4]:
        work(panel.study, name)
        record(panel, name, "awaiting_review", code="CDONE", session=f"visit-{name}")
    careless = work(panel.study, NAMES[4])
    record(panel, NAMES[4], "awaiting_review", code="CDONE", submission=careless.submissions.get())
    for _ in range(2):
        fail_check(careless)
    work(panel.study, NAMES[5], 1)
    record(panel, NAMES[5], "returned")
    work(panel.study, NAMES[6])
    paid = record(panel, NAMES[6], "approved", code="CDONE")
    act(panel, paid, "approve", "done")
    act(panel, paid, "bonus", "unknown", amount=Decimal("0.50"), purpose="goodwill",
        note="Batch 66f1 was to be paid when the line broke.")  # fmt: skip
    record(panel, NAMES[7], "awaiting_review", code="CDONE")
    finished_long_ago(work(panel.study, NAMES[8]))
    record(panel, NAMES[8], "active")
    work(panel.study, NAMES[9], 1)
    record(panel, NAMES[9], "timed_out")
    work(panel.study, "")
    Submission.objects.filter(external_id="").update(outcome="completed")
    KnownMismatch.objects.create(
        panel=panel,
        key=f"returned_useful:visit-{NAMES[9]}:timed_out:1",
        note="Kept: they wrote to us.",
        by=owner,
    )
    return panel


@pytest.fixture
def ada(new_visitor: Callable[..., Visitor], panel: Panel) -> Visitor:
    """Signed in already: signing in is another test's matter."""
    visitor = new_visitor(viewport=WIDE)
    client = Client()
    client.force_login(get_user_model().objects.get(username="ada"))
    cookie = client.cookies[settings.SESSION_COOKIE_NAME].value
    visitor.page.context.add_cookies(
        [{"name": settings.SESSION_COOKIE_NAME, "value": cookie, "url": visitor.base}]
    )
    return visitor


def look(visitor: Visitor, name: str, *sizes: Any) -> None:
    """At both widths: no complaints, nothing that axe finds, nothing wider than the window."""
    page = visitor.page
    for size in sizes or (WIDE, PHONE):
        resize(page, size)
        assert visitor.complaints == [], (name, visitor.complaints)
        found = run_axe(page)
        visitor.complaints.clear()  # axe itself sets styles, which the policy refuses
        assert found.violations_count == 0, f"{name}: {found.generate_report()}"
        widths = page.evaluate("[document.documentElement.scrollWidth, document.documentElement.clientWidth]")
        assert widths[0] <= widths[1], f"{name} is wider than the window of {size['width']}: {widths}"
        SHOTS.mkdir(exist_ok=True)
        page.screenshot(path=SHOTS / f"panel-{name}-{size['width']}.png", full_page=True)
    resize(page, WIDE)


def test_an_hour_at_the_panel(ada: Visitor, panel: Panel, monkeypatch: Any) -> None:
    sent: list[int] = []
    monkeypatch.setattr(tasks.send_panel_acts, "delay", sent.append)
    page, home = ada.page, reverse("admin:evaluation_study_panel", args=[panel.study.slug])
    ada.go(home)
    look(ada, "page")

    leave_by(page.get_by_role("link", name="Approve all 4 that are complete and pass"))
    look(ada, "approve", PHONE)
    page.get_by_role("button", name="Approve all 4").click()
    page.get_by_text("Approving 4 submissions").wait_for()
    assert sent == [panel.pk]

    # A rejection: the rules stand above, characters are counted, and what is forbidden is said.
    page.get_by_role("link", name=f"Reject {NAMES[4]}").first.click()
    page.get_by_label("Reason, shown to the participant").fill("Two checks were   failed.")
    page.get_by_text("23 of at least 100 characters").wait_for()
    page.get_by_label("Category").select_option("FAILED_CHECK")
    page.get_by_role("button", name="Reject").click()
    page.get_by_text("the panel requires at least 100").wait_for()
    look(ada, "reject")
    page.get_by_label("Reason, shown to the participant").fill(
        "Both attention checks, on the second and fourth item, were answered with another option "
        "than their text asks "
        "for in so many words."
    )
    page.get_by_role("button", name="Reject").click()
    page.get_by_text("Rejecting visit-").wait_for()

    # Bonuses: ticked in the list, an amount each, the sum, then the press that pays.
    for name in NAMES[:2]:
        page.get_by_role("checkbox", name=name).check()
    leave_by(page.get_by_role("button", name="Bonuses for ticked"))
    lines = page.get_by_label("Bonuses, one per line")
    lines.fill("\n".join(f"{line}0.75" for line in lines.input_value().splitlines()))
    page.get_by_label("Purpose").fill("a longer text than planned")
    page.get_by_role("button", name="Show the total").click()
    page.get_by_role("heading", name="1.50 GBP in 2 bonuses").wait_for()
    look(ada, "bonuses")
    assert PanelAct.objects.filter(kind="bonus", state="intended").count() == 0
    page.get_by_role("button", name="Pay 1.50 GBP").click()
    page.get_by_text("Paying 2 bonuses of 1.50 GBP").wait_for()

    # What waits for a person.
    leave_by(page.get_by_role("link", name="Settle").first)
    look(ada, "settle", WIDE)
    page.get_by_label("It happened").check()
    page.get_by_label("How you know").fill("Their page there shows it.")
    page.get_by_role("button", name="Settle").click()
    page.get_by_text("Settled: it happened.").wait_for()

    # By keyboard alone: a mismatch that may stand.
    row = page.get_by_role("row").filter(has_text="Returned; 1 of their judgments")
    row.get_by_role("link", name="Acknowledge").focus()
    page.keyboard.press("Enter")
    page.get_by_label("Reason").focus()
    page.keyboard.type("Their words are worth keeping.")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.get_by_text("Acknowledged: Returned or timed out").wait_for()
    page.get_by_text("2 acknowledged mismatches").click()
    page.get_by_text("Their words are worth keeping.").first.wait_for()
    look(ada, "later", WIDE)
    assert Panel.objects.get().acts.filter(by__username="ada").count() == 7


def test_whom_to_take_as_a_researcher_sets_it(ada: Visitor, panel: Panel, prolific: Any) -> None:  # noqa: F811
    """A preset first, then its fields; what Prolific does not know is said, and the draft says whom it takes."""
    Panel.objects.filter(pk=panel.pk).update(external_id="", drafted_at=None, status="")
    make_panel_study("pilot", owner=get_user_model().objects.get(username="ada"))
    page = ada.page
    ada.go(reverse("admin:evaluation_study_panel_preset", args=[panel.study.slug]))
    page.get_by_label("HREF", exact=False).check()
    page.get_by_role("button", name="Use the preset").click()
    leave_by(page.get_by_role("link", name="Eligibility"))
    look(ada, "whom")
    page.get_by_label("Living in any of").fill("Kanada")
    page.get_by_label("pilot").check()
    page.get_by_role("button", name="Save").click()
    page.get_by_text("has no choice 'Kanada'; similar are Canada").wait_for()
    look(ada, "whom-wrong", WIDE)
    page.get_by_label("Living in any of").fill("Canada")
    page.get_by_role("button", name="Save").click()
    page.get_by_text("living in Canada").first.wait_for()
    page.get_by_role("link", name="Create draft on Prolific").click()
    page.get_by_text("Eligibility: living in Canada").wait_for()
    look(ada, "draft", WIDE)


def test_a_long_reading_can_be_watched(ada: Visitor, panel: Panel) -> None:
    begun = begin_reading(panel, None)
    running = {
        "state": "running",
        "lease": uuid.uuid4(),
        "phase": "reading bonuses",
        "done": 120,
        "total": 300,
    }
    Job.objects.filter(pk=begun.pk).update(sent_at=timezone.now(), **running)
    page = ada.page
    ada.go(reverse("admin:evaluation_study_panel", args=[panel.study.slug]))
    page.get_by_text("reading bonuses, 120 of 300").wait_for()
    look(ada, "reading")
    Job.objects.filter(pk=begun.pk).update(done=240)
    page.get_by_text("reading bonuses, 240 of 300").wait_for()
    Job.objects.filter(pk=begun.pk).update(state="done", lease=None, message="Read back: 300 submissions.")
    page.get_by_text("Read back: 300 submissions.").wait_for()
    assert page.locator("progress").count() == 0


def test_what_the_panel_shows_of_a_bonus_in_doubt(ada: Visitor, panel: Panel) -> None:
    doubted = PanelAct.objects.get(kind="bonus")
    now = timezone.now()
    PanelAct.objects.filter(pk=doubted.pk).update(sent_at=now - timedelta(hours=1))
    PanelRecord.objects.filter(pk=doubted.record_id).update(bonuses=Decimal("0.50"), bonuses_at=now)
    PanelRecord.objects.filter(participant_id=NAMES[7]).update(bonuses=Decimal("0.25"), bonuses_at=now)
    page = ada.page
    ada.go(reverse("admin:evaluation_study_panel", args=[panel.study.slug]))
    look(ada, "evidence", WIDE)
    leave_by(page.get_by_role("link", name="Settle as paid"))
    look(ada, "settle-paid", PHONE)
    page.get_by_role("button", name="Settle as paid").click()
    page.get_by_text("Settled as paid: 1 bonus.").wait_for()
    page.get_by_role("link", name="Record it").click()
    page.get_by_label("How you know").fill("Paid on its page there.")
    page.get_by_role("button", name="Record it").click()
    page.get_by_text("Recorded: a bonus of 0.25").wait_for()


def test_a_panel_that_sends_people_without_being_set_is_cautioned(ada: Visitor, panel: Panel) -> None:
    """On the overview, where it is set, and on the study's page; with the way to set it."""
    study = panel.study
    Panel.objects.filter(pk=panel.pk).update(platform="link", settings={}, drafted_at=None)
    UnreadArrivals.objects.create(
        study=study, day=timezone.localdate(), names="PROLIFIC_PID STUDY_ID SESSION_ID", n=12
    )
    caution = ada.page.get_by_text(
        "12 visits came with Prolific's parameters (PROLIFIC_PID, STUDY_ID, SESSION_ID)"
    )
    ada.go(f"/studies/{study.slug}/")
    caution.wait_for()
    look(ada, "study-unread")
    ada.go(reverse("admin:evaluation_study_overview", args=[study.slug]))
    caution.wait_for()
    look(ada, "overview-unread")
    ada.page.get_by_role("link", name="Set Prolific").click()
    caution.wait_for()
    look(ada, "platform-unread")
