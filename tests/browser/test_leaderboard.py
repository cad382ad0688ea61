"""A leaderboard: published by its owner, read by a stranger, wide and on a phone, and withdrawn."""

from collections.abc import Callable

import pytest

from evaluation.models import PublishedLeaderboard, Study
from tests.browser.conftest import WIDE, Visitor
from tests.browser.test_report_page import assert_calm, assert_sound, assert_sound_in_both, member, study
from tests.browser.walking import leave_by

__all__ = ["member", "study"]
pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
CONFIRM = "I want anybody with the address"


def test_a_leaderboard_is_published_read_and_withdrawn(
    study: Study, member: Callable[..., Visitor], new_visitor: Callable[..., Visitor]
) -> None:
    owner = member(viewport=WIDE)
    owner.go("/studies/contexteval/report/?whole=1")
    owner.page.get_by_role("link", name="Publish", exact=True).click()
    owner.page.get_by_role("heading", name="Publication").wait_for()
    assert_sound(owner)
    # The browser itself asks for the tick.
    owner.page.get_by_role("button", name="Publish").click()
    assert not PublishedLeaderboard.objects.exists()
    owner.page.get_by_label("Short description").fill("Answers with and without context.")
    owner.page.get_by_label(CONFIRM).check()
    leave_by(owner.page.get_by_role("button", name="Publish"))
    assert PublishedLeaderboard.objects.count() == 1
    owner.go("/studies/contexteval/leaderboard/")
    assert_sound_in_both(owner, "study-leaderboard")
    stranger = new_visitor()
    stranger.go("/leaderboards/contexteval/")
    assert stranger.page.get_by_text("Answers with and without context.").is_visible()
    assert_sound_in_both(stranger, "leaderboard")
    stranger.page.get_by_role("navigation", name="Raters").get_by_role("link").nth(1).click()
    stranger.page.wait_for_url("**/?by=*")
    assert_calm(stranger)
    owner.page.get_by_label("I want nobody but members").check()
    leave_by(owner.page.get_by_role("button", name="Withdraw"))
    assert not PublishedLeaderboard.objects.exists()
