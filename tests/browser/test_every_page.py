"""Every page that has an address, as a researcher who may do everything sees it: nothing that axe finds.

The list is made of the site's addresses, so that a new page is looked at without being named here. Pictures are drawn
of those where researchers spend their time.
"""

import re
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from django.conf import settings
from django.test import Client
from playwright.sync_api import Error

from tests.browser.conftest import WIDE, Visitor
from tests.browser.looking import look
from tests.config.addresses import ROUTES, world_of
from tests.evaluation.admin.conftest import make_user

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

OFTEN = {
    "studies/",
    "studies/<slug:slug>/",
    "studies/<slug:slug>/report/",
    "admin/",
    "studies/<slug:slug>/design/",
}
# Those that leave the site as they are answered, and the API, which has no pages.
NO_PAGES = ("admin/logout/", "api/")
SHARES = 3


@pytest.fixture
def world(settings: Any, tmp_path: Any) -> SimpleNamespace:
    settings.ASSAY_JOB_FILES = str(tmp_path / "jobs")
    return world_of("lens", make_user("chief", is_superuser=True))


@pytest.fixture
def chief(new_visitor: Callable[..., Visitor], world: SimpleNamespace) -> Visitor:
    """Signed in."""
    client = Client()
    client.force_login(world.owner)
    visitor = new_visitor(viewport=WIDE)
    cookie = client.cookies[settings.SESSION_COOKIE_NAME].value
    visitor.page.context.add_cookies(
        [{"name": settings.SESSION_COOKIE_NAME, "value": cookie, "url": visitor.base}]
    )
    return visitor


def is_page(visitor: Visitor, address: str) -> bool:
    """Opened: no file, no part of a page, no data, and nothing that leads elsewhere."""
    try:
        answer = visitor.page.goto(visitor.base + address)
    except Error as error:
        if not re.search("Download is starting|ERR_ABORTED", str(error)):
            raise
        return False
    assert answer is not None
    is_text = answer.headers.get("content-type", "").startswith("text/html")
    return (
        answer.status == 200 and not answer.request.redirected_from and is_text and b"<html" in answer.body()
    )


@pytest.mark.parametrize("share", range(SHARES))
def test_every_page(share: int, world: SimpleNamespace, chief: Visitor) -> None:
    routes = [each for each in dict.fromkeys(ROUTES) if not each.startswith(NO_PAGES)][share::SHARES]
    seen = set()
    for route in routes:
        given = {"token": world.token} if "<token:" in route else {}
        address = world.find(route, **given)
        if not is_page(chief, address):
            continue
        seen.add(route)
        name, is_often = "page" + address.replace("/", "-").rstrip("-"), route in OFTEN
        look(chief, name, pictures=is_often)
    assert set(ROUTES) >= OFTEN
    assert OFTEN & {*routes} <= seen


def test_the_page_to_sign_in(visitor: Visitor) -> None:
    visitor.go("/admin/login/")
    look(visitor, "page-sign-in")


def test_the_page_of_strangers_leads_to_the_one_to_sign_in(visitor: Visitor) -> None:
    visitor.go("/")
    look(visitor, "page-home")
    visitor.page.get_by_role("link", name="Sign in").click()
    visitor.page.get_by_role("heading", name="Sign in").wait_for()
