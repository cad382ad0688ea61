"""An owner invites a colleague, who makes an account with the link and stands in the study."""

from collections.abc import Callable
from typing import Any

import pytest
from django.conf import settings
from django.test import Client

from evaluation.models import Study
from tests import factories
from tests.browser.conftest import PHONE, WIDE, Visitor
from tests.browser.looking import look
from tests.browser.walking import leave_by, resize
from tests.evaluation.admin.conftest import make_user

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def let_in(visitor: Visitor, user: Any) -> Visitor:
    """Signed in, without the way over the login's page."""
    client = Client()
    client.force_login(user)
    cookie = client.cookies[settings.SESSION_COOKIE_NAME].value
    visitor.page.context.add_cookies(
        [{"name": settings.SESSION_COOKIE_NAME, "value": cookie, "url": visitor.base}]
    )
    return visitor


@pytest.fixture
def study(db: Any) -> Study:
    return factories.make_study("contrast", owner=make_user("ada"))


def test_a_colleague_is_invited_by_a_link(new_visitor: Callable[..., Visitor], study: Study) -> None:
    owner = let_in(new_visitor(), study.members.get().user)
    owner.go(f"/studies/{study.slug}/members/")
    look(owner, "members")
    owner.page.locator("#invite-role").select_option("viewer")
    leave_by(owner.page.get_by_role("button", name="Invite"))
    link = owner.page.locator("#invitation-link").inner_text()
    look(owner, "members-invited")
    resize(owner.page, PHONE)
    withdraw: Any = owner.page.get_by_role("button", name="Withdraw").bounding_box()
    assert withdraw["x"] + withdraw["width"] <= PHONE["width"]
    resize(owner.page, WIDE)

    guest = new_visitor()
    guest.page.goto(link)
    look(guest, "invitation")
    guest.page.get_by_label("Username").fill("ada")
    guest.page.get_by_label("Password", exact=True).fill("seven green bottles")
    guest.page.get_by_label("Password confirmation").fill("seven green bottles")
    guest.page.get_by_role("button", name="Make an account and join").click()
    guest.page.get_by_text("already exists").wait_for()
    look(guest, "invitation-refused")
    guest.page.get_by_label("Username").fill("nadia")
    guest.page.get_by_label("Password", exact=True).fill("seven green bottles")
    guest.page.get_by_label("Password confirmation").fill("seven green bottles")
    guest.page.get_by_role("button", name="Make an account and join").click()
    guest.page.wait_for_url("**/studies/*/")
    assert study.members.get(user__username="nadia").role == "viewer"

    late = new_visitor()
    late.page.goto(link)
    assert late.page.get_by_text("already been used").is_visible()
    late.complaints.clear()  # the console mentions 410
    look(late, "invitation-used")


def test_who_has_an_account_joins_with_one_button(new_visitor: Callable[..., Visitor], study: Study) -> None:
    owner = let_in(new_visitor(), study.members.get().user)
    owner.go(f"/studies/{study.slug}/members/")
    leave_by(owner.page.get_by_role("button", name="Invite"))
    link = owner.page.locator("#invitation-link").inner_text()
    colleague = let_in(new_visitor(), make_user("grace"))
    colleague.page.goto(link)
    look(colleague, "invitation-signed-in")
    colleague.page.get_by_role("button", name="Join the study").click()
    colleague.page.wait_for_url("**/studies/*/")
    owner.go(f"/studies/{study.slug}/members/")
    assert (
        owner.page.get_by_role("cell", name="grace")
        .or_(owner.page.get_by_role("rowheader", name="grace"))
        .first.is_visible()
    )
    assert not owner.page.get_by_role("heading", name="Open invitations").is_visible()
