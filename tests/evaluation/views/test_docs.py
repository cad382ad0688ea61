"""The documentation as pages: every page of a study leads to its own, and no link in them leads nowhere."""

import re
from typing import Any

import pytest

from evaluation.admin.pages import docs_url, tabs
from evaluation.views.docs import DOCS
from tests import factories

pytestmark = pytest.mark.django_db
NAMES = [path.relative_to(DOCS).with_suffix("").as_posix() for path in sorted(DOCS.rglob("*.md"))]


def ids(page: str) -> set[str]:
    return set(re.findall(r'<h\d id="([^"]+)"', page))


def test_members_alone_read_it(client: Any) -> None:
    assert client.get("/docs/")["Location"].startswith("/admin/login/")


@pytest.mark.parametrize("name", NAMES)
def test_its_links_lead_somewhere(client: Any, owner: Any, name: str) -> None:
    client.force_login(owner)
    page = client.get(f"/docs/{name}/").content.decode()
    _, _, text = page.partition("<main")
    for href in re.findall(r'(?:href|src)="([^"]+)"', text):
        if href.startswith(("https://", "http://")):
            continue
        address, _, anchor = href.partition("#")
        answer = client.get(address or f"/docs/{name}/")
        assert answer.status_code == 200, href
        assert not anchor or anchor in ids(answer.content.decode()), href


def test_every_place_of_a_study_has_a_page(client: Any, owner: Any) -> None:
    client.force_login(owner)
    # With the addresses come the apps' places.
    client.get("/docs/admin/")
    for key, tab in tabs.items():
        address, _, anchor = docs_url(tab.docs).partition("#")
        page = client.get(address).content.decode()
        assert not anchor or anchor in ids(page), key


def test_acts_of_a_study_lead_to_what_is_written_about_them(client: Any, owner: Any) -> None:
    client.force_login(owner)
    draft, live = factories.make_study("draft", owner=owner), factories.launched_pairs("live", 2, owner=owner)
    anchors = {}
    for study, act in (
        (draft, "upload"),
        (draft, "launch"),
        (draft, "rehearse"),
        (live, "add-items"),
        (live, "pool"),
        (live, "derive"),
    ):
        shown = client.get(f"/studies/{study.slug}/{act}/").context["study_docs"]
        address, _, anchors[act] = shown.partition("#")
        assert anchors[act] in ids(client.get(address).content.decode()), act
    assert len(set(anchors.values()) - {"4-watch"}) == 5


@pytest.mark.parametrize("name", ["nowhere", "../README", "images/trust", "..%2fREADME"])
def test_no_other_file_is_read(client: Any, owner: Any, name: str) -> None:
    client.force_login(owner)
    assert client.get(f"/docs/{name}/").status_code == 404
