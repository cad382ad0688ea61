"""Every page that has an address, as a researcher who may do everything sees it: nothing that axe finds.

The list is made of the site's addresses, so that a new page is looked at without being named here. Pictures are drawn
of those where researchers spend their time.
"""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from django.conf import settings
from django.test import Client

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
def chief(new_visitor: Callable[..., Visitor], world: SimpleNamespace) -> tuple[Visitor, Client]:
    """Signed in, in a browser and in a client that tells which addresses have pages."""
    client = Client()
    client.force_login(world.owner)
    visitor = new_visitor(viewport=WIDE)
    cookie = client.cookies[settings.SESSION_COOKIE_NAME].value
    visitor.page.context.add_cookies(
        [{"name": settings.SESSION_COOKIE_NAME, "value": cookie, "url": visitor.base}]
    )
    return visitor, client


def is_page(client: Client, address: str) -> bool:
    response: Any = client.get(address)
    if response.status_code != 200 or not response.headers.get("Content-Type", "").startswith("text/html"):
        return False
    return (
        not response.streaming
        and b"<html" in response.content
        and not response.has_header("Content-Disposition")
    )


@pytest.mark.parametrize("share", range(SHARES))
def test_every_page(share: int, world: SimpleNamespace, chief: tuple[Visitor, Client]) -> None:
    visitor, client = chief
    routes = [each for each in dict.fromkeys(ROUTES) if not each.startswith(NO_PAGES)][share::SHARES]
    seen = set()
    for route in routes:
        given = {"token": world.token} if "<token:" in route else {}
        address = world.find(route, **given)
        if not is_page(client, address):
            continue
        seen.add(route)
        visitor.go(address)
        name, is_often = "page" + address.replace("/", "-").rstrip("-"), route in OFTEN
        look(visitor, name, pictures=is_often)
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
