"""Erasing a participant as an owner does it, and withdrawing where the study erases on request."""

from collections.abc import Callable

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from annotator.models import Participant
from evaluation.services.studies.creation import PAPER_ARMS
from tests.browser.conftest import PHONE, WIDE, Visitor
from tests.browser.looking import look
from tests.browser.test_members import let_in
from tests.browser.walking import leave_by
from tests.crowd import come, hand_in, make_crowd_study
from tests.evaluation.admin.conftest import make_user, work_on

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.mark.parametrize("viewport", [WIDE, PHONE], ids=["wide", "phone"])
def test_from_the_participants_page_to_the_list_without_them(
    new_visitor: Callable[..., Visitor], viewport: dict[str, int]
) -> None:
    world = work_on("erasing", make_user("ada"))
    gone = come(world.study, "somebody-who-asked")
    hand_in(gone.token)
    visitor = let_in(new_visitor(viewport=viewport), world.owner)
    page = visitor.page
    visitor.go(reverse("admin:annotator_participant_page", args=[world.study.slug, gone.pk]))
    leave_by(page.get_by_role("link", name="Erase this participant"))
    # What axe loads complains of itself: a sheet of Django's imports another.
    visitor.assert_calm()
    look(visitor, "erasure")
    page.get_by_role("radio", name="Open again").check()
    page.get_by_label("Reason").fill("They asked for it.")
    page.get_by_label("Pseudonym").fill(gone.rater.pseudonym)
    leave_by(page.get_by_role("button", name="Erase this participant"))
    expect(page.get_by_text("Erased a participant: 1 judgment, whose slot opens again.")).to_be_visible()
    assert not Participant.objects.filter(pk=gone.pk).exists()


@pytest.mark.parametrize("language", ["en", "ar"])
def test_withdrawing_where_the_study_erases(new_visitor: Callable[..., Visitor], language: str) -> None:
    study = make_crowd_study(
        "asked", queries=3, arms=PAPER_ARMS[:1], language=language, erases_withdrawn=True
    )
    token = come(study, "somebody").token
    visitor = new_visitor(viewport=PHONE)
    visitor.go(f"/p/{token}/withdraw/")
    look(visitor, f"withdraw_erasing_{language}")
    visitor.page.get_by_role("checkbox").check()
    leave_by(visitor.page.locator("button.bad"))
    assert Participant.objects.get(token=token).erasure_asked_at is not None
    visitor.assert_calm()
